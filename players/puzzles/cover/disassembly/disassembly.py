"""`take_apart`: an assembly becomes a tree of separations, down to single pieces or groups that may stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.disassembly.assembly import Assembly
from players.puzzles.cover.disassembly.separation import (
    MOST_PLACES,
    Step,
    TooManyArrangementsError,
    separate,
)


@dataclass(frozen=True, slots=True)
class Disassembly:
    """How far an assembly, or a part of one, comes apart.

    Attributes:
        pieces: the pieces of this part, by their numbers in the whole assembly.
        steps: the fewest moves that free some of them from the others; none for what stays together.
        parts: what comes of both sides then; none for what stays together.
        apart: True if all comes apart that has to, False if something never does, None if that is not known:
            too many arrangements.
        states: arrangements looked at for this separation.
    """

    pieces: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    parts: tuple[Disassembly, ...] = ()
    apart: bool | None = True
    states: int = 0

    @property
    def level(self) -> tuple[int, ...]:
        """The moves of each separation, the outermost first: (5, 3) is a puzzle of level 5.3."""
        own = (len(self.steps),) if self.steps else ()
        return own + tuple(moves for part in self.parts for moves in part.level)

    @property
    def moves(self) -> int:
        """The moves of all separations together."""
        return sum(self.level)

    def separations(self) -> Iterator[Disassembly]:
        """The separations, in the order in which they are made."""
        if self.steps:
            yield self
        for part in self.parts:
            yield from part.separations()


def take_apart(
    assembly: Assembly, *, most: int = MOST_PLACES, goes_on: Callable[[], bool] = lambda: True
) -> Disassembly:
    """Take an assembly apart with the fewest moves at each separation.

    After a separation each side is an assembly of its own, and lies as it lay then. Only moves along the
    ways of the assembly's grid are looked for, no turns. ``most`` is the number of arrangements kept for a
    separation; ``goes_on`` is asked every few milliseconds, and ends the search when it says no.

    >>> two = Assembly.of([[(0, 0, 0)], [(1, 0, 0), (2, 0, 0)]])
    >>> take_apart(two).level
    (1,)
    """
    return _part(assembly, tuple(range(assembly.pieces)), most, goes_on)


def _part(
    assembly: Assembly, numbers: tuple[int, ...], most: int, goes_on: Callable[[], bool]
) -> Disassembly:
    """Take some pieces apart; the assembly is of these alone."""
    if assembly.may_stay_together():
        return Disassembly(numbers)
    try:
        separation = separate(assembly, most=most, goes_on=goes_on)
    except TooManyArrangementsError:
        return Disassembly(numbers, apart=None)
    if separation is None:
        return Disassembly(numbers, apart=False)
    now = _shifted(assembly, separation.places)
    out = separation.steps[-1].pieces
    rest = tuple(piece for piece in range(assembly.pieces) if piece not in out)
    sides = tuple(
        _part(now.part(side), tuple(numbers[piece] for piece in side), most, goes_on) for side in (rest, out)
    )
    steps = tuple(
        Step(tuple(numbers[piece] for piece in step.pieces), step.way, step.out) for step in separation.steps
    )
    verdicts = {side.apart for side in sides}
    apart = False if False in verdicts else None if None in verdicts else True
    return Disassembly(numbers, steps, sides, apart, separation.states)


def _shifted(assembly: Assembly, places: NDArray[np.int16]) -> Assembly:
    """The assembly after its pieces have moved so far."""
    owner = np.repeat(np.arange(assembly.pieces), np.diff(assembly.starts))
    cells = (assembly.cells + places[owner]).astype(np.int32)
    return Assembly(cells, assembly.starts, assembly.motion, assembly.groups, assembly.names)
