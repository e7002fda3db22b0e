"""How many playouts should start from each leaf, by what paths and playouts cost.

Leaf parallelization: Cazenave and Jouandeau 2007.
"""

from __future__ import annotations

PLAYOUT_SHARE = 0.87
"""Share of the time that playouts are to take; so many start from each leaf, ..."""
MOST_EACH = 6
"""... but not more than this: more states in the tree are worth more (see docs/measurements.md)."""
MOST_IDLE = 256
"""So many at most where lanes would otherwise be idle."""
_FEWEST_MEASURED = 128


class LeafPlayouts:
    """Learns how many playouts should start from each leaf.

    Attributes:
        each: so many.
    """

    def __init__(self, width: int) -> None:
        """``width``: playouts that cost about as much as one."""
        self.each = 1
        self._width = width
        self._path_seconds = self._playout_seconds = 0.0

    def learn(self, seconds: float, paths: int, rolled: float, playouts: int) -> None:
        """Take note of a batch: seconds for its paths, ``rolled`` for its playouts."""
        if paths < _FEWEST_MEASURED or playouts < self._width:
            return
        self._path_seconds = _smoothed(self._path_seconds, seconds / paths)
        self._playout_seconds = _smoothed(self._playout_seconds, rolled / playouts)
        ratio = self._path_seconds / max(self._playout_seconds, 1e-9)
        wanted = ratio * PLAYOUT_SHARE / (1 - PLAYOUT_SHARE)
        self.each = int(max(1, min(wanted, 2 * self.each, MOST_EACH)))


def _smoothed(before: float, cost: float) -> float:
    return min(cost, 2 * before) * 0.2 + before * 0.8 if before else cost
