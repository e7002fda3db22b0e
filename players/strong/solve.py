"""A whole game is solved: from the machine to every state's value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from players.strong.backward import Keep, values_by_layers
from players.strong.endless import values_by_rounds
from players.strong.forward import Watch, reachable
from players.strong.outcomes import Outcomes
from players.strong.row_sets import SetSignature
from propnet.machine import PropnetMachine


@dataclass(frozen=True, slots=True)
class SolvedGame:
    """What was found of a game all of whose states have values.

    Attributes:
        machine: of the game.
        outcomes: what the values' numbers mean.
        sizes: how many states each layer has: what is first reached after 0, 1, ... joint moves, or has the
            rank 0, 1, ...
        cyclic: whether play may come back to a state.
        start: the goals of each role under best play from the start.
        distance: joint moves to the end from there; None where play need not end.
        symmetries: how many automorphisms one state of each orbit stands for.
        codec: how states become words (:class:`players.strong.ranked.codec.StateCodec`), for the table; None
            where its records are the machine's.
    """

    machine: PropnetMachine
    outcomes: Outcomes
    sizes: list[int]
    cyclic: bool
    start: tuple[int, ...]
    distance: int | None
    symmetries: int = 1
    codec: dict[str, Any] | None = None

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(self.sizes)


def solve_game(
    machine: PropnetMachine,
    memory: int,
    keep: Keep = lambda *_: None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game. (A network whose next state is the
    smallest of its orbit makes a machine of orbits, whose states are then what is found.)

    ``memory`` is the size that the process may have, in bytes. ``keep`` takes the states with their values:
    those that are first reached after so many joint moves, the last layer first; or, where plays may meet a
    state at different times, all in one. Raises TooLargeError for more states, GdlError for games whose value
    is not one in pure strategies (:mod:`players.strong.backward`, :mod:`players.strong.endless`).
    """
    found = reachable(machine, memory, watch)
    outcomes = Outcomes(len(machine.roles))
    sizes = [len(layer) for layer in found.layers]
    start = found.layers[0].rows()
    if found.layered:
        first, cyclic = values_by_layers(machine, found, outcomes, keep, watch), False
    else:
        first, cyclic = values_by_rounds(machine, found, outcomes, watch)
        keep(0, first, SetSignature.of(first.rows))
    place = int((first.rows == start).all(axis=1).argmax())
    goals = outcomes.vectors[int(first.values[place])]
    return SolvedGame(machine, outcomes, sizes, cyclic, goals, known_distance(int(first.distances[place])))


def known_distance(distance: int) -> int | None:
    """A distance as it stands in a layer, None where play need not end."""
    from players.strong.choice_kernels import UNKNOWN

    return None if distance == UNKNOWN else distance
