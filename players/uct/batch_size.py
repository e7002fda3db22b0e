"""How large the next batch of a search should be: paths through the tree, playouts from the end of each, and
steps of each playout.

The clock bounds it (:mod:`players.batch_pace`), the cost of paths and playouts says how many playouts a path
should have (:mod:`players.uct.leaf_playouts`), and a young tree grows better in small batches.
"""

from __future__ import annotations

from typing import NamedTuple

from players.batch_machine import BatchMachine
from players.batch_pace import Pace
from players.uct.leaf_playouts import MOST_IDLE, LeafPlayouts
from players.uct.tuning import Tuning

_FIXED_STEPS = 1000
_FEWEST_PATHS = 8
_GROWTH = 32
"""A batch of paths is at most this part of the visits that the root has: a young tree grows better in small
batches, and mixed strategies come to an equilibrium by small steps."""
_BATCH = 16_384
"""Playouts in a batch, if that takes neither more nor fewer paths than allowed: enough that few lanes
idle at its end."""
_BATCH_SECONDS = 0.02
"""What a batch may take: a process hears of the next turn only between two of them."""
_FEWEST_OF_MANY = 256
"""Paths in a batch at least, once the tree is large enough: fewer would pay more each for what a batch
costs, and so ask for more playouts each, and for fewer paths."""


class Batch(NamedTuple):
    """How large a batch is.

    Attributes:
        paths: through the tree.
        each: playouts from the end of each path.
        steps: after which a playout is cut.
    """

    paths: int
    each: int
    steps: int


class Outcome(NamedTuple):
    """What became of a batch.

    Attributes:
        longest: steps of the longest playout.
        cut: playouts that did not come to an end.
        playouts: how many there were; paths to known results have none.
        rolled: seconds that they took.
        seconds: that everything else took.
    """

    longest: int
    cut: int
    playouts: int
    rolled: float
    seconds: float


class Batches:
    """Plans batches, and learns from each what the next will cost.

    Args:
        lanes: the machine.
        most: the most paths in a batch.
    """

    def __init__(self, lanes: BatchMachine, most: int) -> None:
        self._width = lanes.width
        self._pace = Pace(lanes.width, most, lanes.warm_up())
        self._leaf = LeafPlayouts(lanes.width)
        self._seconds = 0.0

    def plan(self, tuning: Tuning, left: float, first: bool, visits: int) -> Batch | None:
        """The next batch; None where there is no time for one.

        Args:
            tuning: of the search.
            left: seconds to the deadline.
            first: whether nothing was searched yet in this turn.
            visits: of the root.
        """
        paths, steps = self._pace.plan(left, first)
        each = (tuning.per_leaf or self._leaf.each) if self._width > 1 else 1
        if self._width > 1:
            paths = min(paths, max(_BATCH // each, _FEWEST_OF_MANY))
        paths = min(paths, max(_FEWEST_PATHS, visits // _GROWTH))
        if paths <= 0:
            return None
        if not tuning.per_leaf:
            # Playouts in lanes that would be idle cost nothing.
            each = max(each, min(MOST_IDLE, self._width // paths))
        if self._seconds:
            affordable = max(self._width, int(_BATCH_SECONDS / self._seconds))
            paths = min(paths, max(1, affordable // each))
        return Batch(paths, each, steps)

    def plan_limited(
        self, tuning: Tuning, left: float, first: bool, visits: int, playouts: int
    ) -> Batch | None:
        """The next batch where ``playouts`` are left, which does not depend on time as long as there is
        enough; the rest is as in :meth:`plan`."""
        if playouts <= 0 or not self._pace.plan(left, first)[0]:
            return None
        each = max(1, min(tuning.per_leaf or 1, playouts))
        paths = min(tuning.paths, playouts // each, max(_FEWEST_PATHS, visits // _GROWTH))
        return Batch(paths, each, _FIXED_STEPS)

    def learn(self, batch: Batch, seconds: float, outcome: Outcome, left: float) -> None:
        """Take note of a batch, of the ``seconds`` it took, and of those ``left`` to the deadline."""
        paths, each, _ = batch
        self._leaf.learn(outcome.seconds, paths, outcome.rolled, outcome.playouts)
        self._pace.learn(paths * each, seconds, outcome.longest, outcome.cut, left)
        taken = seconds / (paths * each)
        self._seconds = min(taken, 2 * self._seconds) * 0.2 + self._seconds * 0.8 if self._seconds else taken
