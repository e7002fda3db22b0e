"""`CarriedPlayouts`: playouts that go on from round to round of a search.

A round that waits for its longest playouts leaves lanes idle at its end: in chess, where playouts fill the
lanes once, half of the time. Here a round ends while most lanes are still busy, and what they play goes on in
the next one, beside playouts from new leaves. A path is booked when all playouts from its leaf are over; none
is lost for being long, unless the root moves or room is made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import Ends
from players.uct.batches import MOST_IDLE, Batch
from players.uct.rollouts.rollouts import Rollouts
from players.uct.tree.tree import Tree


class CarriedPlayouts:
    """The playouts under way, and what has come of the paths of a tree that they belong to. Rows are those of
    the tree's paths.

    In each round: :meth:`fitting`, paths are selected, :meth:`play`, :meth:`collect`, :meth:`keep`.

    Attributes:
        steps: the most steps that a playout made in the last round.
        ended: how many playouts came to their ends in it.
        cut: how many of these were cut.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        roles = len(tree.batched.machine.roles)
        self._of = np.zeros(0, np.int64)  # (n,) the row of the path that a playout belongs to
        self._states = np.zeros((0, tree.batched.words), np.uint64)
        self._made = np.zeros(0, np.int32)  # (n,) steps so far
        self._left = np.zeros(tree.batch, np.int64)  # (paths,) playouts from a leaf that are not over
        self._each = np.ones(tree.batch, np.int64)  # (paths,) playouts from a leaf; 0 where a result is known
        self._totals = np.zeros((tree.batch, roles))  # of the results of those that are over
        self._steps = np.zeros(tree.batch)
        self._end = 0
        self.steps = self.ended = self.cut = 0

    def fitting(self, batch: Batch) -> Batch:
        """The batch to select in place of one that was planned: there are rows for it, and lanes that would
        idle get playouts from its leaves."""
        if not self._tree.under_way:  # nothing is, or it was called off
            self._of, self._states, self._made = self._of[:0], self._states[:0], self._made[:0]
        paths = min(batch.paths, self._tree.batch - self._tree.under_way)
        idle = self._tree.batched.width - len(self._of)
        return batch._replace(paths=paths, each=max(batch.each, min(MOST_IDLE, idle // max(1, paths))))

    def play(
        self, rollouts: Rollouts, leaves: NDArray[np.int32], batch: Batch, seed: int
    ) -> tuple[NDArray[np.int32], Ends]:
        """Go on, beside new playouts from the leaves of the paths selected just now, until fewer than
        ``batch.fewest`` lanes are busy (fewer where not all are from the beginning), or the batch's steps are
        made. Returns the leaves that are played out from, and how the first playout from each has ended;
        ``finished`` says whether it has."""
        tree, begin, old = self._tree, self._tree.under_way, len(self._of)
        self._end = begin + len(leaves)
        new = slice(begin, self._end)
        results = self._totals[new]
        open_ = tree.fill_known(leaves, results, 50)
        self._steps[new] = self._left[new] = self._each[new] = 0
        rows = begin + open_
        self._left[rows] = self._each[rows] = batch.each
        self._totals[rows] = 0.0
        self._of = np.concatenate([self._of, np.repeat(rows, batch.each)])
        starts = np.repeat(tree.arrays.records[leaves[open_]], batch.each, axis=0)
        states = np.concatenate([self._states, starts])
        made = np.concatenate([self._made, np.zeros(len(starts), np.int32)])
        # Lanes that idle from the beginning would end each round at once.
        fewest = max(1, batch.fewest * min(len(states), tree.batched.width) // tree.batched.width)
        ends, playout_in, after = rollouts.playouts_while(
            fewest, batch.steps, states, made, seed, batch.limit
        )
        lanes = np.flatnonzero(playout_in >= 0)
        going = playout_in[lanes]
        over = np.ones(len(states), np.bool_)
        over[going] = False
        self._book(ends, over, made)
        self._of, self._states, self._made = self._of[going], after[lanes], ends.lengths[going]
        first = slice(old, None, batch.each)
        return leaves[open_], Ends(ends.goals[first], ends.lengths[first], over[first])

    def _book(self, ends: Ends, over: NDArray[np.bool_], made: NDArray[np.int32]) -> None:
        """Add those that are ``over`` to their paths; ``made`` are the steps of all before this round."""
        of, paths = self._of[over], len(self._left)
        goals = ends.goals[over]
        for role in range(goals.shape[1]):
            results = np.where(goals[:, role] < 0, 50, goals[:, role]) / 100.0
            self._totals[:, role] += np.bincount(of, results, paths)
        self._steps += np.bincount(of, ends.lengths[over], paths)
        self._left -= np.bincount(of, minlength=paths)
        self.steps = int((ends.lengths - made).max(initial=0))
        self.ended = len(of)
        self.cut = int(np.count_nonzero(over & ~ends.finished))

    def collect(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The rows of paths whose playouts are all over, int64, shape (n,), ascending; which of the n had
        playouts; and the results of all n, 0..1, shape (n, roles): means of playouts, or what is known."""
        rows = np.flatnonzero(self._left[: self._end] == 0)
        each = self._each[rows]
        return rows, np.flatnonzero(each), self._totals[rows] / np.maximum(1, each)[:, None]

    def length(self, rows: NDArray[np.int64]) -> float:
        """The steps of the paths in these rows, and of the playouts from each on average, added up."""
        playouts = self._steps[rows] / np.maximum(1, self._each[rows])
        return float(playouts.sum() + self._tree.paths.length[rows].sum())

    def keep(self) -> None:
        """All paths that :meth:`collect` told of are booked: the others are under way in the next round."""
        rows = np.flatnonzero(self._left[: self._end] > 0)
        self._tree.keep(rows)
        places = np.zeros(len(self._left), np.int64)
        places[rows] = np.arange(len(rows))
        self._of = places[self._of]
        for each in (self._left, self._each, self._totals, self._steps):
            each[: len(rows)] = each[rows]
