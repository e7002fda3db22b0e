"""Rollouts of one-player games that do not step into a state that is known to be dead: equal chances, on
gates that know the game's dead sets (:mod:`propnet.dead_sets`, :mod:`propnet.nogoods`). The sets
are looked for while the search goes on, beside its tree or, where this policy was asked for by name,
between its batches."""

from __future__ import annotations

import math
from typing import ClassVar

from players.companions import Companion
from players.puzzles.dead_sets.search import LARGEST, SharedSearch, shared_search
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.rollouts import Rollouts
from propnet.machine import PropnetMachine
from propnet.nogoods import with_nogoods

_SECONDS = 0.02
"""CPU time that each batch of rollouts gives to that search, about, until it is over."""
_RATE = 0.3
"""What it gets beside a tree, for each second of the tree."""


class DeadEndRollouts(RolloutPolicy):
    """Leaves out moves into states that contain a dead set, where other moves are left: a rollout in which
    all moves are known to be fatal goes on to some end, whose goal may still be worth something.

    Attributes:
        better: the machine with the gates; the game's own while the sets are not known, or if there are none.
    """

    name: ClassVar[str] = "dead-ends"

    def __init__(self, machine: PropnetMachine) -> None:
        self._plain = self.better = machine
        self._search: SharedSearch | None = shared_search(machine) if len(machine.roles) == 1 else None

    def work(self, seconds: float, deadline: float = math.inf) -> bool:
        """Look for dead sets for about so many CPU seconds, at most to about the deadline. Returns whether
        that is over."""
        if self._search is not None and self._search.work(seconds, deadline):
            report, self._search = self._search.report, None
            assert report is not None
            self.better = with_nogoods(self._plain, report.sets)
        return self._search is None

    @property
    def knows(self) -> bool:
        """Whether there are moves that it leaves out."""
        return self.better is not self._plain

    def network(self, machine: PropnetMachine) -> PropnetMachine:
        self.work(_SECONDS)
        ours, theirs = self._plain.network, machine.network
        # A faster machine of the same game numbers states and moves alike.
        alike = ours is theirs or (ours.bases == theirs.bases and ours.moves == theirs.moves)
        return self.better if alike and self.knows else machine


class DeadEndFinder(Companion):
    """Looks for dead sets beside a tree; if there are any, ``rollouts`` leave out moves into them from then
    on."""

    name = "dead ends"
    least = _SECONDS
    rate = _RATE

    def __init__(self, machine: PropnetMachine, rollouts: Rollouts) -> None:
        self._rollouts = rollouts
        self._policy: DeadEndRollouts | None = None
        if max(len(machine.network.gate_inputs), 3 * len(machine.network.bases)) <= LARGEST:
            self._policy = DeadEndRollouts(machine)

    @property
    def active(self) -> bool:
        return self._policy is not None

    def step(self, seconds: float, deadline: float) -> bool:
        policy = self._policy
        if policy is not None and policy.work(seconds, deadline):
            self._policy = None
            if policy.knows:
                self._rollouts.policy = policy
        return False
