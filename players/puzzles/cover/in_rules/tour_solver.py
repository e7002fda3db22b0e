"""Tours and other games in which every move uses something up: unrolled over the moves, for a SAT solver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from players.puzzles.cover.in_rules.sat import SatSearch, available
from players.puzzles.solver import Certainty, LineSolver, Promise, Task
from propnet.kernels.records import unpack

if TYPE_CHECKING:
    from players.puzzles.cover.in_rules.clocks import Clocks, Flags
    from propnet.analysis.ternary import Ternary
    from propnet.machine import PropnetMachine

_SLICE = 0.02
"""Seconds that the SAT solver works at once."""
_LARGEST = 400_000
"""Gate inputs and moves, of all steps together."""


class TourSolver(LineSolver):
    """Goes through the goal values from the highest, and the lengths that lines with it may have.

    The formula is exact: where there is no line for any length, the value is out of reach. So the first line
    that is found is the best, and proven.
    """

    name: ClassVar[str] = "tours"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        start = np.asarray(machine.network.initial, np.bool_)
        if not available() or _looked_at(machine, start) is None:
            return None
        return Promise(Certainty.FINDS, alike=True)

    def step(self, deadline: float) -> bool:
        return any(time.monotonic() >= deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        from players.puzzles.cover.in_rules.clocks import possible_ends
        from players.puzzles.cover.in_rules.formula import FormulaSizeError
        from players.puzzles.cover.in_rules.unrolled import unrolled

        network = self.machine.network
        start = unpack(self.machine.records([self.start]), len(network.bases))[0].astype(np.bool_)
        found = _looked_at(self.machine, start)
        if found is None:
            return
        ternary, clocks, first, longest = found
        yield
        for value, length in _ends(possible_ends(ternary, clocks), len(clocks.values), longest):
            try:
                lines = yield from unrolled(network, start, value, length, first)
            except FormulaSizeError:
                return
            yield
            search = SatSearch(lines.clauses)
            try:
                while search.step(time.monotonic() + _SLICE):
                    yield
            finally:
                search.close()
            if search.answer:
                self.states += 1
                line = lines.line(search.model)
                self.report(self._value(line), line)
                self.proven = value
                return

    def _value(self, line: list[int]) -> int:
        """The goal value that a line ends with, by the machine."""
        state = self.start
        for move in line:
            state = self.machine.next_state(state, [move])
        return self.machine.result(state, 0) or 0


def _ends(ends: list[tuple[int, int | None]], steps: int, longest: int) -> Iterator[tuple[int, int]]:
    """The goal values and lengths of lines, the highest values first; lines from ``steps`` on have settled
    clocks."""
    for value, length in ends:
        lengths = range(steps, longest + 1) if length is None else (length,)
        yield from ((value, chosen) for chosen in lengths if chosen <= longest)


def _looked_at(machine: PropnetMachine, start: Flags) -> tuple[Ternary, Clocks, Flags, int] | None:
    """The simulation of a game, its clocks, what its moves use up, and how many moves that allows; None if it
    is no game for this solver: order does not matter in it, it is too large, or moves use nothing up."""
    from players.puzzles.cover.in_rules.clocks import followed
    from players.puzzles.cover.in_rules.consumption import used_up
    from players.puzzles.cover.in_rules.latch_game import effects, latch_game
    from propnet.analysis.ternary import Ternary

    network = machine.network
    found = effects(network)
    if found is None:
        return None
    ternary = Ternary(network)
    first = used_up(ternary, found)
    if first is None or latch_game(ternary, start, found) is not None:
        return None
    # A move that would use up what is used up from the start is never legal.
    spent = np.where(found.adds.any(axis=0), start, ~start)
    first[(first & spent).any(axis=1)] = False
    clocks = followed(ternary, start, found.clock)
    amounts = first.sum(axis=1)
    if not amounts.any():
        return None
    least = int(amounts[amounts > 0].min())
    longest = int(first.any(axis=0).sum()) // least
    if clocks.ends:
        longest = min(longest, len(clocks.values) - 1)
    elif longest >= len(clocks.values) and not clocks.settled:
        return None
    size = longest * (len(network.gate_inputs) + network.move_count)
    return (ternary, clocks, first, longest) if size <= _LARGEST else None
