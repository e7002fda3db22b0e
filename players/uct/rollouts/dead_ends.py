"""Rollouts of one-player games that do not step into a state that is known to be dead: equal chances, on
gates that know the game's dead sets (:mod:`propnet.dead_sets`, :mod:`propnet.guides.dead_ends`)."""

from __future__ import annotations

import time
from typing import ClassVar

from players.uct.rollouts.policy import RolloutPolicy
from propnet.dead_sets.search import search_dead_sets
from propnet.guides.dead_ends import with_nogoods
from propnet.machine import PropnetMachine

EFFORT = 200_000_000
"""For the search of dead sets, in gate inputs for 64 cases (see docs/measurements.md)."""
_SECONDS = 0.02
"""CPU time that each batch of rollouts gives to that search, about, until it is over."""


class DeadEndRollouts(RolloutPolicy):
    """Leaves out moves into states that contain a dead set, where other moves are left: a rollout in which
    all moves are known to be fatal goes on to some end, whose goal may still be worth something."""

    name: ClassVar[str] = "dead-ends"

    def __init__(self, machine: PropnetMachine) -> None:
        self._plain = self._better = machine
        one = len(machine.roles) == 1
        self._course = search_dead_sets(machine, effort=EFFORT, patient=False) if one else None

    def network(self, machine: PropnetMachine) -> PropnetMachine:
        end = time.thread_time() + _SECONDS
        while self._course is not None and time.thread_time() < end:
            try:
                next(self._course)
            except StopIteration as over:
                self._course = None
                self._better = with_nogoods(self._plain, over.value.sets, strict=False)
        ours, theirs = self._plain.network, machine.network
        # A faster machine of the same game numbers states and moves alike.
        alike = ours is theirs or (ours.bases == theirs.bases and ours.moves == theirs.moves)
        return self._better if alike and self._better is not self._plain else machine
