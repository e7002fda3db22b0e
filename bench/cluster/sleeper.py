"""A player that sleeps: its matches cost time, and no processor."""

from __future__ import annotations

import time

from gdl.machine import State
from players.player import Choice, Player

SECONDS = 0.1
"""For each move."""


class Sleeper(Player):
    """See the module's first line."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        """The first move, after a while."""
        time.sleep(SECONDS)
        return Choice(self.in_order(options)[0])
