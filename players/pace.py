"""How large the next batch of playouts may be, so that the search ends before its deadline."""

from __future__ import annotations

MARGIN = 0.01
"""Seconds kept between the expected end of the last batch and the deadline."""

_SAFETY = 1.3
_FIRST_STEPS = 32
_MOST_STEPS = 4096
_AIM_SECONDS = 0.05
_MOST_SCALAR = 64


class Pace:
    """Learns from each batch what the next will cost.

    Playouts are cut after a number of steps that starts small and doubles while playouts are
    cut and batches stay short, so that games without an end cannot make a batch long.

    Attributes:
        lanes: playouts in the next batch.
        steps: step limit of the next batch.
    """

    def __init__(self, width: int, most: int) -> None:
        """Args:
        width: playouts that cost about as much as one.
        most: the most playouts in one batch.
        """
        self._scalar = width == 1
        self._most = min(most, _MOST_SCALAR) if self._scalar else most
        self.lanes = 1 if self._scalar else self._most
        self.steps = _FIRST_STEPS
        self._seconds = 0.0

    def plan(self, left: float) -> int:
        """How many playouts may start with ``left`` seconds to the deadline; 0 for none."""
        left -= MARGIN
        if left <= 0:
            return 0
        expected = self._seconds * _SAFETY
        if expected <= left:
            return self.lanes
        return int(self.lanes * left / expected) if self._scalar else 0

    def learn(self, lanes: int, seconds: float, cut: int, left: float) -> None:
        """Take note of a batch: its playouts, its time, how many of them were cut, and how
        many seconds are left to the deadline."""
        per_batch = seconds * self.lanes / lanes if self._scalar else seconds
        self._seconds = max(per_batch, 0.9 * self._seconds)
        short = self._seconds < max(_AIM_SECONDS, 0.02 * left) / 2
        if cut * 20 > lanes and short and self.steps < _MOST_STEPS:
            self.steps *= 2
            self._seconds *= 2
        elif self._scalar and short and self.lanes < self._most:
            self.lanes *= 2
            self._seconds *= 2
        elif self._scalar and self._seconds > 4 * _AIM_SECONDS and self.lanes > 1:
            self.lanes //= 2
            self._seconds /= 2
