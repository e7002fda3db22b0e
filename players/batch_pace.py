"""Chooses the size of the next batch of playouts so that the search ends before its deadline."""

from __future__ import annotations

from players.player import MARGIN

_SAFETY = 1.3
_FIRST_STEPS, _FEWEST_STEPS, _MOST_STEPS = 32, 4, 4096
_AIM_SECONDS = 0.05
_MOST_SCALAR = 64
_DEAR = 4.0
"""An estimate this many times the usual cost of a step is doubted, and shorter batches test it."""


class Pace:
    """Learns from each batch the cost of the next: an amount of time for each step of its longest playout.

    Playouts are cut after a number of steps that starts small and doubles while playouts are cut and batches
    stay short, so that endless games cannot make a batch long. An estimate may be too high because another
    process took the processor, or because something had to be compiled. Small batches then lower it again,
    within the same turn if it is far above the usual cost of steps.
    """

    def __init__(self, width: int, most: int, step_seconds: float = 0.0) -> None:
        """For machines on which ``width`` playouts cost about as much as one. ``step_seconds`` is the time of
        a step, 0 if unknown: of a single playout if ``width`` is 1, otherwise of a batch of ``most``."""
        self._scalar = width == 1
        self._most = min(most, _MOST_SCALAR) if self._scalar else most
        self._batched = 1 if self._scalar else self._most
        self._limit = _FIRST_STEPS
        self._longest = float(_FIRST_STEPS)
        self._step_seconds = step_seconds
        self._usual = step_seconds

    @property
    def limit(self) -> int:
        """The steps after which playouts are cut, whatever the time left."""
        return self._limit

    def plan(self, left: float, first: bool) -> tuple[int, int]:
        """The number of playouts to start, and their maximum number of steps, ``left`` seconds before the
        deadline; (0, 0) for none. For the ``first`` batch of a turn, even playouts that must be cut are
        started."""
        left -= MARGIN
        if left <= 0:
            return 0, 0
        per_step = self._step_seconds * self._dearer * _SAFETY
        affordable = int(left / per_step) if per_step else _MOST_STEPS
        if affordable >= min(self._longest, self._limit):
            return self._batched, min(self._limit, affordable)
        if self._scalar and (fewer := int(self._batched * affordable / self._longest)) > 0:
            return fewer, self._limit
        if (first or self._doubted) and affordable >= _FEWEST_STEPS:
            return (1 if self._scalar else self._batched), affordable
        if first:
            self._step_seconds /= 2
        return 0, 0

    def learn(self, playouts: int, seconds: float, longest: int, cut: int, left: float) -> None:
        """Record the results of a batch: its playouts, its time, the steps of the longest playout, the number
        of cut playouts, and the seconds left to the deadline."""
        if self._scalar:
            seconds *= self._batched / playouts
        per_step = seconds / (longest + 1) / self._dearer
        self._step_seconds = max(per_step, 0.7 * self._step_seconds)
        self._usual = min(per_step, 2 * self._usual) if self._usual else per_step
        self._longest = max(longest, 0.9 * self._longest)
        short = seconds < max(_AIM_SECONDS, 0.02 * left) / 2
        if cut * 20 > playouts and short and self._limit < _MOST_STEPS:
            self._limit *= 2
        elif self._scalar and short and self._batched < self._most and not self._doubted:
            self._batched *= 2
        elif self._scalar and seconds > 4 * _AIM_SECONDS and self._batched > 1:
            self._batched //= 2

    @property
    def _dearer(self) -> int:
        """By what factor a step of a whole batch costs more than ``_step_seconds``."""
        return self._batched if self._scalar else 1

    @property
    def _doubted(self) -> bool:
        return self._step_seconds > _DEAR * self._usual
