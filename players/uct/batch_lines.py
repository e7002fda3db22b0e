"""The best finished line of moves among those of a batch, in one-player games.

A line goes along a path of the tree, and then along a playout, or along moves that are proven.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from players.batch_machine import Ends
from players.puzzles.portfolio import BestLine
from players.uct.rollouts.rollouts import Rollouts
from players.uct.tree.tree import Tree

_LONG = 1 << 20
"""More moves than a line has."""


class BatchLines(NamedTuple):
    """n finished or unfinished lines of a batch.

    Attributes:
        goals: int16, shape (n,): the goal at the end of each, -1 for none.
        lengths: int32, shape (n,): how many moves it has.
        finished: bool, shape (n,): whether it came to its end.
        paths: int64, shape (n,): the path of the batch that it begins with.
    """

    goals: NDArray[np.int16]
    lengths: NDArray[np.int32]
    finished: NDArray[np.bool_]
    paths: NDArray[np.int64]

    @staticmethod
    def played(tree: Tree, ends: Ends, leaves: NDArray[np.int64], each: int) -> BatchLines:
        """Those that go on with ``each`` playouts from the leaves of these paths."""
        paths = np.repeat(leaves, each)
        return BatchLines(ends.goals[:, 0], tree.paths.length[paths] + ends.lengths, ends.finished, paths)

    @staticmethod
    def known(tree: Tree, results: NDArray[np.float64], leaves: NDArray[np.int64]) -> BatchLines:
        """Those of all paths but these, whose results, 0..1, shape (paths, 1), are known."""
        paths = np.setdiff1d(np.arange(len(results)), leaves)
        goals = np.rint(results[paths, 0] * 100).astype(np.int16)
        return BatchLines(goals, tree.paths.length[paths], np.ones(len(paths), np.bool_), paths)

    def best(self) -> int:
        """The finished line with the highest goal, and of these the shortest."""
        return int(np.argmax(np.where(self.finished, self.goals.astype(np.int64), -1) * _LONG - self.lengths))


def keep_played(
    line: BestLine, root: State, tree: Tree, rollouts: Rollouts, lines: BatchLines, played: NDArray[np.int32]
) -> None:
    """Keep the best of these lines if it beats ``line``. Line i ends with the i-th of the last playouts,
    which has ``played[i]`` moves."""
    best = lines.best()
    goal, length = int(lines.goals[best]), int(lines.lengths[best])
    if goal < 0 or not lines.finished[best] or not line.beaten_by(goal, length):
        return  # without a goal the line may have come to a state without legal moves
    moves = tree.path_moves(int(lines.paths[best]), 0)
    if played[best]:
        moves += rollouts.playout_moves(best)
    line.keep(root, moves, goal)


def keep_known(line: BestLine, root: State, tree: Tree, lines: BatchLines) -> None:
    """Keep the best of these lines, which end in states whose results are known, if it beats ``line``."""
    best = lines.best()
    path, goal = int(lines.paths[best]), int(lines.goals[best])
    if not lines.finished[best] or not line.beaten_by(goal, int(lines.lengths[best])):
        return
    moves = tree.path_moves(path, 0) + tree.proven_line(int(tree.paths.leaf[path]))
    if line.beaten_by(goal, len(moves)):
        line.keep(root, moves, max(0, goal))
