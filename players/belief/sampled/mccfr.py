"""Outcome sampling as a player: from the initial state in the startclock, and in each turn from what its role
may hold for possible, the others' moves weighed by what is known of their strategies (after Lisy, Lanctot and
Bowling, Online Monte Carlo Counterfactual Regret Minimization, 2015).
"""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np

from gdl.information import hides, playing
from gdl.machine import Machine, State
from gdl.words import counted
from players.belief.belief import Belief
from players.belief.sampled.ismcts import IsmctsPlayer, SetSearch
from players.belief.sampled.outcome_sampling import OutcomeSampling
from players.belief.sampled.recollection import Recollection, SetTable
from players.options import Option, at_least
from players.player import Candidate, Choice, Player, same_numbering
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine

_FROM_START = 0.3
"""Share of a turn's time for matches from the initial state."""
_LANES = 256
"""Matches side by side in a turn."""
_FULL = 0.95
_NEVER = 0.02
"""Moves with a smaller share in the average strategy are not made."""


class MccfrPlayer(Player):
    """Learns strategies by sampled matches in games of two roles. With other numbers of roles, and on
    machines without lanes, it plays as ``ismcts``."""

    name = "mccfr"
    OPTIONS = (Option("playouts", int, None, "matches per turn after which it stops", public=at_least(1)),)

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self._most: int = self.options["playouts"] or 1 << 62
        self._other = IsmctsPlayer(seed=seed)
        self._sampling: OutcomeSampling | None = None
        self._past: Recollection | None = None

    def prepare(self, state: State, deadline: float) -> None:
        self._other.start(self.machine, self.role, state, 0.0, time.monotonic())
        self._begin()
        if self._sampling is not None:
            self._sampling.run_from_start(deadline, self._most)

    def update_machine(self, machine: Machine) -> None:
        lanes, sampling = lane_machine(machine), self._sampling
        kept = sampling is not None and same_numbering(self.machine, machine)
        super().update_machine(machine)
        self._other.update_machine(machine)
        if kept and lanes is not None and sampling is not None:
            sampling.move_to(lanes)
            self._past = Recollection(lanes, self.role, self.seed, likelihoods=sampling.likelihoods)
        else:
            self._begin()

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._other.decide(state, options, deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        past, sampling = self._past, self._sampling
        if past is None or sampling is None or not past.catch_up(belief.history, deadline):
            return self._other.choose_from(belief, deadline)
        if sampling.table.filled > _FULL:
            sampling.clear()
        now, before = time.monotonic(), sampling.matches
        sampling.run_from_start(now + _FROM_START * (deadline - now), before + int(_FROM_START * self._most))
        longest, began = 0.0, time.monotonic()
        while sampling.matches < before + self._most and began + longest < deadline:
            sampling.run(*past.draw(min(_LANES, before + self._most - sampling.matches)))
            ended = time.monotonic()
            longest, began = max(longest, ended - began), ended
        options = belief.legal_moves()
        own = [self.machine.move_id(self.role, belief.machine.move(self.role, move)) for move in options]
        order = sorted(range(len(own)), key=own.__getitem__)  # as the table has them
        shares, total = sampling.average(past.histories[0, self.role], self.role, len(options))
        if not total:
            return self._other.choose_from(belief, deadline)
        kept = [share if share >= _NEVER else 0.0 for share in shares.tolist()]
        rng = random.Random(f"{self.seed} {self.role} {self._drawn}")
        self._drawn += 1
        chosen = rng.choices(order, kept)[0]
        places = sorted(range(len(order)), key=lambda place: (order[place] != chosen, -shares[place]))
        candidates = tuple(Candidate(options[order[p]], round(1000 * shares[p])) for p in places)
        told = counted(sampling.matches - before, "match", "matches")
        return Choice(options[chosen], candidates, f"learnt from {told}, drawn by its share")

    def stop(self) -> None:
        self._other.stop()
        self._sampling = self._past = None

    def _begin(self) -> None:
        """Begin to learn, unless there are not two players, or no lanes."""
        self._sampling = self._past = None
        self._drawn = 0
        lanes = lane_machine(self.machine)
        if lanes is not None and len(playing(lanes.roles)) == 2 and hides(lanes.rules):
            self._sampling = OutcomeSampling(lanes, self.seed, 1 << 21)
            self._past = Recollection(lanes, self.role, self.seed, likelihoods=self._sampling.likelihoods)


def warm_up(machine: PropnetMachine) -> None:
    """Have the kernels of this folder compiled, on a machine of a game of several roles."""
    past = Recollection(machine, 0)
    search = SetSearch(past, SetTable(1 << 10), 1.0, [0])
    search.run(math.inf, 1)
    history = past.histories[0, 0]
    search.statistics(history, 0, 1)
    sampling = OutcomeSampling(machine, 0, 1 << 10)
    sampling.run(*past.draw(2))
    sampling.average(history, 0, 1)
    sampling.likelihoods(past.histories, 0, np.ones(1, np.int32), np.zeros(1, np.int32))
