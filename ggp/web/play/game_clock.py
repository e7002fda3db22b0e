"""The clocks of a match: the time of each role for all of its moves, and for one."""

from __future__ import annotations

import time
from collections.abc import Iterable
from math import inf

_MOVES_AHEAD = 30
"""The moves among which a player divides its time."""
_OF_INCREMENT = 0.8
"""The share of the increment that it thinks in addition."""
_LEAST_SECONDS = 0.05


class GameClock:
    """The clocks of all roles, which stand at first. Moments are those of time.monotonic().

    Args:
        roles: the number of roles.
        whole: seconds that each has for the match; 0 for no limit.
        increment: seconds more after each of its moves.
        each: seconds for a move of a person; 0 for no limit.
    """

    def __init__(self, roles: int, whole: float, increment: float, each: float) -> None:
        self._increment, self._each = increment, each or inf
        self._left = [whole or inf] * roles
        self._since: dict[int, float] = {}

    def left(self, role: int, now: float | None = None) -> float:
        """The seconds that a role has left for the match, 0 if it has run out of time."""
        return max(0.0, self._left[role] - self._used(role, now))

    def allowed(self, role: int, now: float | None = None) -> float:
        """The seconds that a person has left for its move."""
        return min(self.left(role, now), max(0.0, self._each - self._used(role, now)))

    def run(self, roles: Iterable[int]) -> None:
        """Start the clocks of these roles; those that run already go on."""
        for role in roles:
            self._since.setdefault(role, time.monotonic())

    def halt(self) -> None:
        """Stop all clocks, without an increment."""
        self._left = [self.left(role) for role in range(len(self._left))]
        self._since.clear()

    def moved(self, role: int, now: float | None = None) -> None:
        """Stop the clock of a role that has chosen its move, and add the increment."""
        self._left[role] = self.left(role, now) + self._increment
        self._since.pop(role, None)

    def share(self, role: int) -> float:
        """The seconds that a player should think about its next move: a thirtieth of its time and
        most of the increment, but never more than half of its time."""
        left = self.left(role)
        return max(_LEAST_SECONDS, min(left / _MOVES_AHEAD + _OF_INCREMENT * self._increment, left / 2))

    def _used(self, role: int, now: float | None) -> float:
        now = time.monotonic() if now is None else now
        return max(0.0, now - self._since.get(role, now))
