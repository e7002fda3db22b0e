"""The simplest players, to read first: the first legal move, a random move, the move that looks best at once.

:mod:`players.montecarlo` comes next. Stronger players are measured against all of these.
"""

from __future__ import annotations

import math
import random
import time
from itertools import product

from gdl.machine import State
from gdl.words import counted
from players.player import Candidate, Choice, Player


class LegalPlayer(Player):
    """Plays the first legal move; the same one on every machine."""

    name = "legal"

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self.in_order(options)[0])


class RandomPlayer(Player):
    """Plays uniformly at random; the same seed plays the same moves on every machine."""

    name = "random"

    def prepare(self, state: State, deadline: float) -> None:
        self._rng = random.Random(f"{self.seed} {self.role}")

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self._rng.choice(self.in_order(options)))


_REPLIES = 16
"""At most this many joint moves of the other roles are tried against each own move."""


class GreedyPlayer(Player):
    """Plays the move after which its goal is highest on average over random moves of the others.

    States that give it no goal count as 50. Ties are broken at random.
    """

    name = "greedy"

    def prepare(self, state: State, deadline: float) -> None:
        self._rng = random.Random(f"{self.seed} {self.role}")

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        machine = self.machine
        others = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        others[self.role] = options[:1]  # stands for any of them
        replies = self._replies(others)
        shuffled = self.in_order(options)
        self._rng.shuffle(shuffled)
        candidates: list[tuple[float, int, int]] = []
        for move in shuffled:
            if not replies or time.monotonic() >= deadline:
                break
            values = []
            for reply in replies:
                joint = list(reply)
                joint[self.role] = move
                values.append(self._value(machine.next_state(state, joint)))
                if time.monotonic() >= deadline:
                    break
            candidates.append((sum(values) / len(values), len(values), move))
        if not candidates:
            return Choice(shuffled[0], (), "no time to look ahead")
        candidates.sort(key=lambda candidate: -candidate[0])
        listed = tuple(Candidate(move, tries, value) for value, tries, move in candidates)
        return Choice(listed[0].move, listed, f"looked at {counted(len(candidates), 'move')}")

    def _replies(self, others: list[list[int]]) -> list[tuple[int, ...]]:
        if math.prod(map(len, others)) <= _REPLIES:
            return list(product(*others))
        return [tuple(self._rng.choice(moves) for moves in others) for _ in range(_REPLIES)]

    def _value(self, state: State) -> float:
        value = self.machine.result(state, self.role)
        return 50.0 if value is None else float(value)
