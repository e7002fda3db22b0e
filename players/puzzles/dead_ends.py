"""Nested rollout policy adaptation that does not play into dead ends which a projection of the game shows:
dead sets (:mod:`propnet.dead_sets`) as gates of the network for its playouts
(:mod:`propnet.guides.dead_ends`)."""

from __future__ import annotations

import time

from players.puzzles.nrpa import MEMORY, NestedPolicy
from players.puzzles.solver import Certainty, Promise, Task
from propnet.dead_sets.search import LARGEST, DeadSets, search_dead_sets
from propnet.guides.dead_ends import with_nogoods
from propnet.machine import PropnetMachine

EFFORT = 200_000_000
"""For the search of dead sets, in gate inputs for 64 cases (see docs/measurements.md)."""
_GROWTH, _ROOM = 3, 2_000
"""The gates may be so many times those of the game, and so many inputs more."""


class DeadEndPolicy(NestedPolicy):
    """First looks for dead sets, then plays as :class:`NestedPolicy`, but leaves out moves into states that
    contain one, where other moves are left. It is done at once where the game has no dead sets."""

    name = "dead-ends"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._course = search_dead_sets(task.machine, effort=EFFORT, patient=False)
        self._looking = True

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        if len(machine.network.gate_inputs) > LARGEST:
            return None
        return Promise(Certainty.MAY_FIND, memory=MEMORY)

    def step(self, deadline: float) -> bool:
        while self._looking:
            try:
                next(self._course)
            except StopIteration as end:
                self._looking = False
                return self._take_up(end.value)
            if time.monotonic() >= deadline:
                return True
        return super().step(deadline)

    def _take_up(self, found: DeadSets) -> bool:
        """Play on with what was found; returns whether that is anything."""
        limit = _GROWTH * len(self.machine.network.gate_inputs) + _ROOM
        self.playing = with_nogoods(self.machine, found.sets, strict=False, most_inputs=limit)
        return self.playing is not self.machine
