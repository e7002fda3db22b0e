"""Nested rollout policy adaptation that does not play into dead ends which a projection of the game shows:
dead sets (:mod:`propnet.dead_sets`) as gates of the network for its playouts
(:mod:`propnet.nogoods`)."""

from __future__ import annotations

import math

from players.puzzles.dead_sets.search import LARGEST, DeadSetReport, shared_search
from players.puzzles.nrpa import MEMORY, NestedPolicy
from players.puzzles.solver import Certainty, Promise, Task
from propnet.machine import PropnetMachine
from propnet.nogoods import with_nogoods

_GROWTH, _ROOM = 3, 2_000
"""The gates may be so many times those of the game, and so many inputs more."""


class DeadEndPolicy(NestedPolicy):
    """First looks for dead sets, then plays as :class:`NestedPolicy`, but leaves out moves into states that
    contain one, where other moves are left. It is done at once where the game has no dead sets."""

    name = "dead-ends"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._search = shared_search(task.machine)
        self._looking = True

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        if len(machine.network.gate_inputs) > LARGEST:
            return None
        return Promise(Certainty.MAY_FIND, memory=MEMORY)

    def step(self, deadline: float) -> bool:
        if self._looking:
            if not self._search.work(math.inf, deadline):
                return True
            self._looking = False
            assert self._search.report is not None
            return self._take_up(self._search.report)
        return super().step(deadline)

    def _take_up(self, found: DeadSetReport) -> bool:
        """Play on with what was found; returns whether that is anything."""
        limit = _GROWTH * len(self.machine.network.gate_inputs) + _ROOM
        self.playing = with_nogoods(self.machine, found.sets, strict=False, most_inputs=limit)
        return self.playing is not self.machine
