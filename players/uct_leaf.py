"""How many playouts should start from each leaf, by what paths and playouts cost.

Leaf parallelization: Cazenave and Jouandeau 2007.
"""

from __future__ import annotations

PLAYOUT_SHARE = 0.87
"""Share of the time that playouts are to take; so many start from each leaf. In connect four, whose
playouts cost less than a tenth of a path, 32 won 16:8 against one, at 0.02 s a move."""
MOST_EACH = 256
_FIRST_EACH = 16
_EACH_PATHS = 512
"""A young tree profits more from paths: 64 playouts each lost 7:17 against 16 in connect four at 0.03 s
a move, and held 5.5:6.5 at 0.2 s. So many more paths allow for one more."""
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

    def learn(self, seconds: float, paths: int, rolled: float, playouts: int, visits: int) -> None:
        """Take note of a batch: seconds for its paths, ``rolled`` for its playouts; the tree has so many
        visits now."""
        if paths < _FEWEST_MEASURED or playouts < self._width:
            return
        self._path_seconds = _smoothed(self._path_seconds, seconds / paths)
        self._playout_seconds = _smoothed(self._playout_seconds, rolled / playouts)
        ratio = self._path_seconds / max(self._playout_seconds, 1e-9)
        wanted = ratio * PLAYOUT_SHARE / (1 - PLAYOUT_SHARE)
        most = min(MOST_EACH, _FIRST_EACH + visits // _EACH_PATHS)
        self.each = int(max(1, min(wanted, 2 * self.each, most)))


def _smoothed(before: float, cost: float) -> float:
    return min(cost, 2 * before) * 0.2 + before * 0.8 if before else cost
