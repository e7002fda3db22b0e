"""A table of information sets: numbers for each action of a set, found by what its role has observed."""

from __future__ import annotations

from typing import Any

import numpy as np

from propnet.jit.arrays import Floats, Ints, Words
from propnet.jit.decorators import inner

_PROBES = 64


class SetTable:
    """Information sets that were met, each with a place for every action, as kernels take them.

    Attributes:
        keys: uint64, a power of two of slots: the history of a role, mixed with the role; 0 in free slots.
        places: int64: where the actions of the set begin in the next ones.
        visits, totals: float64: numbers of each action, which mean what the algorithm says.
        used: int64, shape (2,): how many places and how many sets are taken.
    """

    def __init__(self, actions: int = 1 << 21) -> None:
        slots = max(16, actions // 2)
        self.keys: Words = np.zeros(slots, np.uint64)
        self.places: Ints = np.zeros(slots, np.int64)
        self.visits: Floats = np.zeros(actions)
        self.totals: Floats = np.zeros(actions)
        self.used: Ints = np.zeros(2, np.int64)

    @property
    def filled(self) -> float:
        """Which share of it is taken."""
        places, sets = self.used.tolist()
        return float(max(places / len(self.visits), 2 * sets / len(self.keys)))

    def clear(self) -> None:
        """Forget all."""
        taken = int(self.used[0])
        self.keys[:] = 0
        self.visits[:taken] = self.totals[:taken] = 0
        self.used[:] = 0


@inner
def key_of(history: Any, role: Any) -> Any:
    """The key of a role's information set."""
    return history ^ (np.uint64(role + 1) * np.uint64(0xD1B54A32D192ED03))


@inner
def find_set(
    keys: Words, places: Ints, used: Ints, capacity: Any, history: Any, role: Any, actions: Any, add: Any
) -> Any:
    """Where the actions of a set begin; -1 where it is not known and not to be added, or the table is full.
    A set that is added is told by -2 - its place."""
    key = key_of(history, role)
    mask = len(keys) - 1
    slot = np.int64(key & np.uint64(mask))
    for _ in range(_PROBES):
        if keys[slot] == key:
            return places[slot]
        if keys[slot] == 0:
            if not add or used[0] + actions > capacity or 4 * used[1] > 3 * len(keys):
                return np.int64(-1)
            keys[slot] = key
            places[slot] = used[0]
            used[0] += actions
            used[1] += 1
            return -2 - places[slot]
        slot = (slot + 1) & mask
    return np.int64(-1)
