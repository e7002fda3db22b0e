"""The clocks of a whole match: minutes for each role, and an increment after each of its moves."""

from __future__ import annotations

import time
from collections.abc import Iterable

_MOVES_AHEAD = 30
"""The moves among which a player divides what it has left."""
_OF_INCREMENT = 0.8
"""The share of the increment that it thinks in addition."""
_LEAST_SECONDS = 0.05


class GameClock:
    """The time that each role has left; all clocks stand at first.

    Args:
        roles: the number of roles.
        minutes: for each of them.
        increment: seconds that a role gets after each of its moves.
    """

    def __init__(self, roles: int, minutes: float, increment: float) -> None:
        self.increment = increment
        self._left = [60.0 * minutes] * roles
        self._since: dict[int, float] = {}

    def left(self, role: int) -> float:
        """The seconds that a role has left, 0 if it has run out of time."""
        now = time.monotonic()
        return max(0.0, self._left[role] - (now - self._since.get(role, now)))

    def run(self, roles: Iterable[int]) -> None:
        """Start the clocks of these roles; those that run already go on."""
        for role in roles:
            self._since.setdefault(role, time.monotonic())

    def halt(self) -> None:
        """Stop all clocks, without an increment."""
        for role in list(self._since):
            self._left[role] = self.left(role)
            del self._since[role]

    def moved(self, role: int) -> None:
        """Stop the clock of a role that has chosen its move, and add the increment."""
        self._left[role] = self.left(role) + self.increment
        self._since.pop(role, None)

    def share(self, role: int) -> float:
        """The seconds that a player should think about its next move: a thirtieth of what it has left and
        most of the increment, but never more than half of what it has left."""
        left = self.left(role)
        return max(_LEAST_SECONDS, min(left / _MOVES_AHEAD + _OF_INCREMENT * self.increment, left / 2))
