"""A player that answers at once, unless the playclock is long: then it thinks to its end."""

from __future__ import annotations

import time

from gdl.machine import State
from players.player import Choice, Player

LONG = 60.0
"""Seconds to a deadline that are thought about."""


class Thinker(Player):
    """See the module's first line."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        """The first move."""
        left = deadline - time.monotonic()
        if left > LONG:
            time.sleep(left)
        return Choice(self.in_order(options)[0])
