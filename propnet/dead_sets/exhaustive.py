"""All states of a small one-player game, and which of them can still lead to a goal: retrograde analysis of
the game itself, which projections are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import TooLargeError
from gdl.grounding.graph import spread
from propnet.expander import Expander
from propnet.machine import PropnetMachine

MOST = 1_000_000
"""States unless told otherwise."""
_FRONT = 1 << 13


@dataclass(frozen=True, slots=True)
class AllStates:
    """The states that can be reached from the initial one.

    Attributes:
        records: uint64, shape (n, words); the initial state is row 0.
        alive: bool, shape (n,): whether an end with the wanted goal can be reached.
        source, target: int64, shape (transitions,): rows of states and of their successors.
    """

    records: NDArray[np.uint64]
    alive: NDArray[np.bool_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]


def all_states(machine: PropnetMachine, goal: int, most: int = MOST) -> AllStates:
    """Visit all states, and look back from the ends with at least this goal. Raises TooLargeError for more
    than ``most`` states."""
    numbers: dict[bytes, int] = {}
    front = machine.records([machine.initial_state()]).copy()
    numbers[front[0].tobytes()] = 0
    layers, sources, targets = [front], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    expander = Expander(machine, _FRONT)
    first = 0
    while len(front):
        fresh: list[NDArray[np.uint64]] = []
        for chunk in expander.stream(front):
            found = np.empty(len(chunk), np.int64)
            for row, key in enumerate(map(bytes, chunk.records)):
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(numbers)
                    fresh.append(chunk.records[row].copy())
                found[row] = number
            sources.append(first + chunk.parents.astype(np.int64))
            targets.append(found)
            if len(numbers) > most:
                raise TooLargeError(f"the game has more than {most:,} states")
        first += len(front)
        front = np.array(fresh, np.uint64).reshape(-1, machine.words)
        layers.append(front)
    records = np.concatenate(layers)
    outputs = machine.evaluate(records)
    alive = outputs.terminal & (outputs.goals[:, 0] >= goal)
    source, target = np.concatenate(sources), np.concatenate(targets)
    spread(alive, target, source)
    return AllStates(records, alive, source, target)
