"""A whole game is solved: from the machine to every state's value."""

from __future__ import annotations

from dataclasses import dataclass

from players.strong.backward import ValuedSet, values_by_layers
from players.strong.endless import values_by_rounds
from players.strong.forward import Watch, reachable
from players.strong.outcomes import Outcomes
from players.strong.row_sets import SetSignature
from propnet.machine import PropnetMachine


@dataclass(frozen=True, slots=True)
class SolvedGame:
    """Every reachable state of a game with its value.

    Attributes:
        machine: of the game.
        layers: the states with their values: those that are first reached after as many joint moves, or,
            where plays may meet a state at different times, all in one.
        signatures: one for each of the layers.
        outcomes: what the values' numbers mean.
        sizes: how many states are first reached after 0, 1, ... joint moves.
        cyclic: whether play may come back to a state.
        start: the goals of each role under best play from the start.
        distance: joint moves to the end from there; None where play need not end.
    """

    machine: PropnetMachine
    layers: list[ValuedSet]
    signatures: list[SetSignature]
    outcomes: Outcomes
    sizes: list[int]
    cyclic: bool
    start: tuple[int, ...]
    distance: int | None

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(self.sizes)


def solve_game(machine: PropnetMachine, memory: int, watch: Watch = lambda *_: None) -> SolvedGame:
    """Find the value of every reachable state.

    ``memory`` is the size that the process may have, in bytes. Raises TooLargeError for more states; GdlError
    for a game whose value is not one in pure strategies (:mod:`players.strong.backward`,
    :mod:`players.strong.endless`).
    """
    found = reachable(machine, memory, watch)
    outcomes = Outcomes(len(machine.roles))
    first = found.layers[0]
    sizes = [len(layer) for layer in found.layers]
    if found.layered:
        layers, signatures, cyclic = (
            values_by_layers(machine, found, outcomes, watch),
            found.signatures,
            False,
        )
        place = 0
    else:
        whole, cyclic = values_by_rounds(machine, found, outcomes, watch)
        layers, signatures = [whole], [SetSignature.of(whole.rows)]
        place = int((whole.rows == first).all(axis=1).argmax())
    value, distance = int(layers[0].values[place]), int(layers[0].distances[place])
    goals = outcomes.vectors[value]
    return SolvedGame(machine, layers, signatures, outcomes, sizes, cyclic, goals, known_distance(distance))


def known_distance(distance: int) -> int | None:
    """A distance as it stands in a layer, None where play need not end."""
    from players.strong.choice_kernels import UNKNOWN

    return None if distance == UNKNOWN else distance
