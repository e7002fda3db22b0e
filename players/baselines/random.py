"""The random player: each legal move with equal probability."""

from __future__ import annotations

import random

from gdl.machine import State
from players.player import Choice, Player


class RandomPlayer(Player):
    """Plays uniformly at random; the same seed plays the same moves on every machine."""

    name = "random"

    def prepare(self, state: State, deadline: float) -> None:
        self._rng = random.Random(f"{self.seed} {self.role}")

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self._rng.choice(self.in_order(options)))
