"""Batches of a search: the size of the next one, and in one-player games the best line of one.

A batch has paths, playouts from each leaf, and a limit of steps for each playout. The clock bounds it
(:mod:`players.batch_pace`), and a young tree grows better in small batches. The number of playouts from each
leaf (leaf parallelization: Cazenave and Jouandeau 2007) follows from the cost of paths and playouts.

A line follows a path of the tree, and then a playout or proven moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from players.batch_machine import BatchMachine, Ends
from players.batch_pace import Pace
from players.portfolio import BestLine
from players.uct.rollouts.rollouts import Rollouts
from players.uct.tree.arrays import FRESH, LEAF
from players.uct.tree.tree import Tree
from players.uct.tree.warm_up import warm_up
from players.uct.tuning import Tuning

_FIXED_STEPS = 1000
"""Steps after which a playout is cut if the number of playouts is limited."""
_FEWEST_PATHS = 8
_GROWTH = 32
"""A batch of paths is at most the root's visits divided by this: a young tree grows better in small batches,
and mixed strategies reach an equilibrium by small steps (see docs/measurements.md)."""
_BATCH = 16_384
"""Playouts in a batch, if the limits on paths allow it: enough that few lanes idle at its end."""
_BATCH_SECONDS = 0.02
"""Seconds that a batch may take: a process reads commands only between two batches."""
_FEWEST_OF_MANY = 256
"""Least paths in a batch once the tree is large enough. With fewer, the fixed cost of a batch would make each
path dearer, and so ask for more playouts from each leaf and still fewer paths."""
_PLAYOUT_SHARE = 0.87
"""Share of the time for playouts, which sets their number for each leaf, ..."""
MOST_EACH = 6
"""... but not more than this: more states in the tree are worth more (see docs/measurements.md)."""
MOST_IDLE = 256
"""The limit if lanes would otherwise be idle."""
_FEWEST_MEASURED = 64
"""Least paths and playouts of a batch that is measured."""
_ROUND_SECONDS = 0.0005
"""Seconds that a batch costs whatever its size."""
_SAFETY = 2.0
"""Playouts apart from batches are made only if there are this many times the seconds for them."""
_LEAST_BUSY, _MOST_BUSY = 0.125, 0.9
"""Bounds of the share of lanes that are busy when a batch ends that does not wait for all."""


class Batch(NamedTuple):
    """The size of a batch: paths through the tree, playouts from the end of each path, and steps.

    If ``fewest`` is above 1, the batch ends when fewer lanes are busy or the steps are made. Unfinished
    playouts go on in the next batch, up to a ``limit`` of steps in all. If it is 1, the batch waits for all
    playouts, which are cut after its steps."""

    paths: int
    each: int
    steps: int
    fewest: int = 1
    limit: int = 0


class BatchOutcome(NamedTuple):
    """The outcome of a batch.

    Attributes:
        paths: paths that went down the tree.
        known: those of them that led to known results.
        longest: steps of the longest playout.
        cut: playouts that were cut before their end.
        playouts: number of playouts; paths to known results have none.
        playing: seconds for the playouts.
        seconds: seconds for everything else.
    """

    paths: int
    known: int
    longest: int
    cut: int
    playouts: int
    playing: float
    seconds: float


class LeafPlayouts:
    """Learns the best number of playouts from each leaf: ``each``."""

    def __init__(self) -> None:
        self.each = 1
        self._path_seconds = self._playout_seconds = 0.0

    def learn(self, outcome: BatchOutcome) -> None:
        """Learn from the outcome of a batch."""
        paths = outcome.paths
        if paths < _FEWEST_MEASURED or outcome.playouts < _FEWEST_MEASURED:
            return
        self._path_seconds = _smoothed(self._path_seconds, outcome.seconds / paths)
        self._playout_seconds = _smoothed(self._playout_seconds, outcome.playing / outcome.playouts)
        ratio = self._path_seconds / max(self._playout_seconds, 1e-9)
        ideal = ratio * _PLAYOUT_SHARE / (1 - _PLAYOUT_SHARE)
        self.each = int(max(1, min(ideal, 2 * self.each, MOST_EACH)))


class BatchSize:
    """Plans batches of at most ``most`` paths, and learns from each the cost of the next."""

    def __init__(self, batched: BatchMachine, most: int) -> None:
        self._batched, self._most = batched, most
        self._width = batched.width
        self._pace: Pace | None = None
        self._leaf = LeafPlayouts()
        self._playout_seconds = 0.0

    def get_ready(self) -> Pace:
        """Compile or load the kernels of a batch, and measure the machine; :meth:`plan` does it if it was not
        done before."""
        if self._pace is None:
            warm_up()
            self._pace = Pace(self._batched.width, self._most, self._batched.warm_up())
        return self._pace

    def plan(
        self,
        tuning: Tuning,
        left: float,
        first: bool,
        visits: int,
        carries: bool,
        playouts: int | None = None,
    ) -> Batch | None:
        """The next batch; None if there is no time for one.

        Args:
            left: seconds before the deadline.
            first: whether it is the first batch of a turn.
            visits: visits of the root.
            carries: whether the search carries playouts on, so that a batch may end with busy lanes.
            playouts: playouts left (None: no limit). With a limit the batch does not depend on time as long
                as there is enough of it."""
        if playouts is not None:
            return self._plan_limited(tuning, left, first, visits, playouts)
        pace = self.get_ready()
        paths, steps = pace.plan(left, first)
        each = (tuning.per_leaf or self._leaf.each) if self._width > 1 else 1
        if self._width > 1:
            paths = min(paths, max(_BATCH // each, _FEWEST_OF_MANY))
        paths = min(paths, max(_FEWEST_PATHS, visits // _GROWTH))
        if paths <= 0:
            return None
        # Exactly as many playouts from each leaf as asked for: lanes beyond them idle. Playouts still under
        # way at the end of a turn are lost, so a root without results must get some first.
        last = visits < _FEWEST_PATHS and 2 * steps < pace.limit
        fewest = self._fewest_busy() if carries and not (tuning.per_leaf or last) else 1
        if not tuning.per_leaf and fewest == 1:
            # Playouts in lanes that would be idle cost nothing.
            each = max(each, min(MOST_IDLE, self._width // paths))
        if self._playout_seconds:
            affordable = max(self._width, int(_BATCH_SECONDS / self._playout_seconds))
            paths = min(paths, max(1, affordable // each))
        return Batch(paths, each, steps, fewest, pace.limit)

    def affords(self, playouts: int, left: float) -> bool:
        """Whether there is time for so many playouts in the seconds left, by what others took."""
        return 0.0 < _SAFETY * playouts * self._playout_seconds < left

    def _fewest_busy(self) -> int:
        """The number of busy lanes at which a batch should end, so that idle lanes cost as much time as
        batches do; 1 if that is few: the batch waits for all."""
        if not self._playout_seconds or self._width == 1:
            return 1
        idle = (2 * _ROUND_SECONDS / (self._width * self._playout_seconds)) ** 0.5
        return int(self._width * min(_MOST_BUSY, 1.0 - idle)) if idle <= 1.0 - _LEAST_BUSY else 1

    def _plan_limited(
        self, tuning: Tuning, left: float, first: bool, visits: int, playouts: int
    ) -> Batch | None:
        if playouts <= 0 or not self.get_ready().plan(left, first)[0]:
            return None
        each = max(1, min(tuning.per_leaf or 1, playouts))
        paths = min(tuning.paths, playouts // each, max(_FEWEST_PATHS, visits // _GROWTH))
        return Batch(paths, each, _FIXED_STEPS)

    def learn(self, batch: Batch, seconds: float, outcome: BatchOutcome, left: float) -> None:
        """Learn from a batch, the ``seconds`` it took, and the seconds ``left`` to the deadline."""
        # If playouts go on from batch to batch, those that end in a batch are not those that it began.
        playouts = batch.paths * batch.each if batch.fewest == 1 else outcome.playouts
        self._leaf.learn(outcome)
        self.get_ready().learn(playouts, seconds, outcome.longest, outcome.cut, left)
        self._playout_seconds = _smoothed(self._playout_seconds, seconds / max(1, outcome.playouts))


def _smoothed(average: float, cost: float) -> float:
    """A running average, 0 at first, after one more cost; a single dear batch counts for little."""
    return min(cost, 2 * average) * 0.2 + average * 0.8 if average else cost


_LONG = 1 << 20
"""An upper bound of the moves of a line."""


def note_played(
    tree: Tree, nodes: NDArray[np.int32], ends: Ends, each: int
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Note which nodes had ``each`` playouts. Returns the nodes in which the match is over (playouts of
    length 0), and their goals, int16, shape (n, roles)."""
    goals, lengths, finished = ends.goals[::each], ends.lengths[::each], ends.finished[::each]
    status = tree.arrays.nodes["status"]
    played = nodes[finished | (lengths > 0)]
    status[played[status[played] == FRESH]] = LEAF
    over = finished & (lengths == 0)
    return nodes[over], goals[over]


def keep_played(
    line: BestLine,
    root: State,
    tree: Tree,
    rollouts: Rollouts,
    ends: Ends,
    leaves: NDArray[np.int64],
    each: int,
) -> None:
    """Keep the best of the lines by the last playouts, ``each`` from the leaf of each of these paths, if it
    beats ``line``."""
    paths = np.repeat(leaves, each)
    goals, lengths = ends.goals[:, 0], tree.paths.length[paths] + ends.lengths
    best = _best(np.where(ends.finished, goals, -1), lengths)
    goal = int(goals[best])
    if goal < 0 or not ends.finished[best] or not line.beaten_by(goal, int(lengths[best])):
        return  # without a goal the line may have come to a state without legal moves
    moves = tree.path_moves(int(paths[best]), 0)
    if ends.lengths[best]:
        moves += rollouts.batched.playout_moves(best)
    line.keep(root, moves, goal)


def keep_known(
    line: BestLine, root: State, tree: Tree, results: NDArray[np.float64], leaves: NDArray[np.int64]
) -> None:
    """Keep the best of the lines by all paths except ``leaves``, which end in states with the known
    ``results``, 0..1, shape (paths, 1), if it beats ``line``."""
    paths = np.setdiff1d(np.arange(len(results)), leaves)
    goals, lengths = np.rint(results[paths, 0] * 100), tree.paths.length[paths]
    best = _best(goals, lengths)
    path, goal = int(paths[best]), int(goals[best])
    if not line.beaten_by(goal, int(lengths[best])):
        return
    moves = tree.path_moves(path, 0) + tree.proven_line(int(tree.paths.leaf[path]))
    if line.beaten_by(goal, len(moves)):
        line.keep(root, moves, goal)


def _best(goals: NDArray[Any], lengths: NDArray[np.int32]) -> int:
    """The index of the line with the highest goal, and of these the shortest."""
    return int(np.argmax(goals.astype(np.int64) * _LONG - lengths))
