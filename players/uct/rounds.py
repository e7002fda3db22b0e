"""`Rounds`: the rounds of a search. Each round selects paths, gets results for their leaves and backs these
up.

Most results come from playouts. Others are proven, or come from knowledge of the game. If a round does not
wait for its longest playouts, their results come in later rounds.

`CarriedPlayouts`: playouts that go on from round to round of a search.

A round that waits for its longest playouts leaves lanes idle at its end: half of the time in chess, where
playouts fill the lanes once. So a round ends while most lanes are still busy. Its unfinished playouts go on
in the next round, side by side with playouts from new leaves. A path is booked when all playouts from its
leaf are over. Long playouts are not lost, unless the root moves or the tree makes room.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from players.batch_machine import BatchMachine, Ends
from players.portfolio import BestLine
from players.uct.batches import MOST_IDLE, Batch, BatchOutcome, keep_known, keep_played, note_played
from players.uct.leads import QUESTION, Leads
from players.uct.leaf_values import LeafValues
from players.uct.rollouts.rollouts import Rollouts
from players.uct.tree.backup import average
from players.uct.tree.selection_rules import SelectionRule
from players.uct.tree.tree import Tree
from players.uct.tuning import WIDEST, Tuning
from propnet.analysis.random_play import is_constant_sum


class CarriedPlayouts:
    """The playouts under way, and the results so far of the paths they belong to. Rows are those of the
    tree's paths.

    In each round: :meth:`fitting`, paths are selected, :meth:`play`, :meth:`collect`, :meth:`keep`.

    Attributes:
        steps: the most steps that a playout made in the last round.
        ended: number of playouts that ended in it.
        cut: number of these that were cut.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        roles = len(tree.batched.machine.roles)
        self._of = np.zeros(0, np.int64)  # (n,) the row of the path that a playout belongs to
        self._states = np.zeros((0, tree.batched.words), np.uint64)
        self._made = np.zeros(0, np.int32)  # (n,) steps so far
        self._left = np.zeros(tree.batch, np.int64)  # (paths,) unfinished playouts from a leaf
        self._each = np.ones(tree.batch, np.int64)  # (paths,) playouts from a leaf; 0 if its result is known
        self._totals = np.zeros((tree.batch, roles))  # sums of the results of finished playouts
        self._end = 0
        self.steps = self.ended = self.cut = 0

    def fitting(self, batch: Batch) -> Batch:
        """The batch to select in place of a planned one: it fits into the free rows, and lanes that would
        idle get more playouts from its leaves."""
        if not self._tree.under_way:  # no paths are under way, or they were called off
            self._of, self._states, self._made = self._of[:0], self._states[:0], self._made[:0]
        paths = min(batch.paths, self._tree.batch - self._tree.under_way)
        idle = self._tree.batched.width - len(self._of)
        return batch._replace(paths=paths, each=max(batch.each, min(MOST_IDLE, idle // max(1, paths))))

    def play(
        self, rollouts: Rollouts, leaves: NDArray[np.int32], batch: Batch, seed: int
    ) -> tuple[NDArray[np.int32], Ends]:
        """Go on with the playouts under way and start new ones from the leaves of the paths just selected.
        The call ends when fewer than ``batch.fewest`` lanes are busy (fewer if some lanes idle from the
        start), or after the batch's steps.

        Returns the leaves that got playouts, and how the first playout from each has ended; ``finished`` says
        whether it has."""
        tree, begin, old = self._tree, self._tree.under_way, len(self._of)
        self._end = begin + len(leaves)
        new = slice(begin, self._end)
        results = self._totals[new]
        open_ = tree.fill_known(leaves, results, 50)
        self._left[new] = self._each[new] = 0
        rows = begin + open_
        self._left[rows] = self._each[rows] = batch.each
        self._totals[rows] = 0.0
        self._of = np.concatenate([self._of, np.repeat(rows, batch.each)])
        starts = np.repeat(tree.arrays.records[leaves[open_]], batch.each, axis=0)
        states = np.concatenate([self._states, starts])
        steps_before = np.concatenate([self._made, np.zeros(len(starts), np.int32)])
        # Lanes that idle from the beginning would end each round at once.
        fewest = max(1, batch.fewest * min(len(states), tree.batched.width) // tree.batched.width)
        ends, playout_in, after = rollouts.playouts_while(
            fewest, batch.steps, states, steps_before, seed, batch.limit
        )
        lanes = np.flatnonzero(playout_in >= 0)
        going = playout_in[lanes]
        over = np.ones(len(states), np.bool_)
        over[going] = False
        self._book(ends, over, steps_before)
        self._of, self._states, self._made = self._of[going], after[lanes], ends.lengths[going]
        first = slice(old, None, batch.each)
        return leaves[open_], Ends(ends.goals[first], ends.lengths[first], over[first])

    def _book(self, ends: Ends, over: NDArray[np.bool_], made: NDArray[np.int32]) -> None:
        """Add the playouts that are ``over`` to their paths. ``made``: steps of each playout before this
        round."""
        of, paths = self._of[over], len(self._left)
        goals = ends.goals[over]
        for role in range(goals.shape[1]):
            results = np.where(goals[:, role] < 0, 50, goals[:, role]) / 100.0
            self._totals[:, role] += np.bincount(of, results, paths)
        self._left -= np.bincount(of, minlength=paths)
        self.steps = int((ends.lengths - made).max(initial=0))
        self.ended = len(of)
        self.cut = int(np.count_nonzero(over & ~ends.finished))

    def collect(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The paths without unfinished playouts. Returns their n rows, int64, shape (n,), ascending; the
        indices of those that had playouts; and the results of all n, 0..1, shape (n, roles): means of
        playouts, or known results."""
        rows = np.flatnonzero(self._left[: self._end] == 0)
        each = self._each[rows]
        return rows, np.flatnonzero(each), self._totals[rows] / np.maximum(1, each)[:, None]

    def keep(self) -> None:
        """Keep the unfinished paths for the next round; those that :meth:`collect` returned are booked."""
        rows = np.flatnonzero(self._left[: self._end] > 0)
        self._tree.keep(rows)
        places = np.zeros(len(self._left), np.int64)
        places[rows] = np.arange(len(rows))
        self._of = places[self._of]
        for each in (self._left, self._each, self._totals):
            each[: len(rows)] = each[rows]


_GREED = 0.5
"""In one-player games: the weight of a move's best result; the mean has the rest."""

_ALONE_SPREAD = 0.25
"""The standard deviation of results that is assumed in one-player games, where the best result counts more
than the mean."""
_VARIANCE_STEP = 0.05
"""Step of the running variance of results towards that of a round."""
_LOSS = 0.25
"""The share of the paths under way that counts as lost if playouts go on from round to round. Those of long
matches are under way for many rounds: as losses they would keep a young tree from moves to long matches."""


class Rounds:
    """Rounds of one search on one tree.

    Attributes:
        tree: the tree.
        values: values of leaves by knowledge of the game; None without knowledge.
        rollouts: these make the playouts.
        root: the state that the tree searches from.
        may_prove: whether results may be taken for proven; False once goals do not add up to 100.
        restart: whether the tree must be cleared: it left out moves that are worst in constant-sum games
            only, or holds results from before leads replaced them.
        leads: whether two roles play for their lead.
        stage: how far averages of moves guide selection: a place in :data:`players.uct.tuning.STAGES`, or -1.
    """

    root: State

    def __init__(
        self,
        role: int,
        seed: int,
        tuning: Tuning,
        tree: Tree,
        values: LeafValues | None,
        rollouts: Rollouts,
    ) -> None:
        self.tree, self.values, self.rollouts = tree, values, rollouts
        self._role, self._seed, self._tuning = role, seed, tuning
        self._roles = len(tree.batched.machine.roles)
        self._alone = self._roles == 1
        self.may_prove = self._roles <= 2 and tuning.chance < 0
        self.restart = False
        self.leads = Leads(tuning.lead and self._roles == 2)
        self.stage = -1
        self._variance = WIDEST**2
        self._batches = 0
        self._carried = CarriedPlayouts(tree)

    def go_on_with(self, batched: BatchMachine) -> None:
        """Go on with another machine, which numbers states and moves alike."""
        self.tree.call_off()
        self.tree.batched = batched
        if self.values is not None:
            self.values.go_on_with(batched)

    @property
    def carries(self) -> bool:
        """Whether playouts may go on in the next round."""
        by_playouts = self.tree.values is None and not (self.values is not None and self.values.alone)
        return by_playouts and not self._alone and self.rollouts.carries

    def run(self, batch: Batch, fixed: int, line: BestLine, deadline: float) -> BatchOutcome:
        """Do one round. The role takes the root's edge ``fixed`` (-1: each role chooses). ``line`` is the
        best finished line of a one-player game; a better one replaces it."""
        # A round that waits for all waits for those under way, too: otherwise the long ones would be lost.
        if batch.fewest > 1 or (self.tree.under_way and batch.limit and self.carries):
            return self._run_on(batch, fixed)
        count, each = batch.paths, batch.each
        began, tree = time.perf_counter(), self.tree
        tree.call_off()
        selecting, rule = self._rules()
        leaves = tree.select(count, selecting, fixed)
        results = np.empty((count, self._roles))
        open_ = tree.fill_known(leaves, results, 0 if self._alone else 50)
        bests = results[:, 0].copy()
        longest, cut, playing = 0, 0, 0.0
        if len(open_) and tree.values is not None:
            results[open_] = tree.values_of(leaves[open_])
            longest = 1
            if self.may_prove and self.values is not None and self.values.unfair:
                self.prove_no_more()
        elif len(open_):
            # Playouts in which the same role is to move go together: such lanes are faster.
            open_ = open_[np.argsort(tree.paths.length[open_] % self._roles, kind="stable")]
            playing = time.perf_counter()
            ends = self._play_out(leaves[open_], batch, deadline)
            playing = time.perf_counter() - playing
            self._note_ends(leaves[open_], ends, each)
            average(ends.goals, each, 0 if self._alone else 50, open_, results, bests)
            if self.values is not None:
                self.values.mix(results, open_, tree.arrays.records[leaves[open_]], ends.lengths[::each] > 0)
            longest = int(ends.lengths.max())
            cut = len(ends.finished) - int(np.count_nonzero(ends.finished))
            if self._alone:
                keep_played(line, self.root, tree, self.rollouts, ends, open_, each)
        if self._alone and len(open_) < count:
            keep_known(line, self.root, tree, results, open_)
        self._weigh(results)
        tree.back_up(results, bests, _GREED if self._alone else 0.0, rule)
        playouts = len(open_) * each
        seconds = time.perf_counter() - began - playing
        return BatchOutcome(count, count - len(open_), longest, cut, playouts, playing, seconds)

    def _run_on(self, batch: Batch, fixed: int) -> BatchOutcome:
        """Do one round that does not wait for its longest playouts: it books paths of this and earlier
        rounds."""
        began, tree, carried = time.perf_counter(), self.tree, self._carried
        batch = carried.fitting(batch)
        selecting, rule = self._rules()
        leaves = tree.select(batch.paths, selecting._replace(loss=_LOSS), fixed)
        playing = time.perf_counter()
        new, first_ends = carried.play(self.rollouts, leaves, batch, self._next_seed())
        playing = time.perf_counter() - playing
        self._note_ends(new, first_ends, 1)
        rows, played, results = carried.collect()
        if len(rows):
            if self.values is not None and len(played):
                nodes = tree.paths.leaf[rows[played]]
                self.values.mix(results, played, tree.arrays.records[nodes], tree.goes_on(nodes))
            self._weigh(results)
            tree.back_up(results, results[:, 0].copy(), 0.0, rule, rows)
        carried.keep()
        settled, seconds = batch.paths - len(new), time.perf_counter() - began - playing
        return BatchOutcome(batch.paths, settled, carried.steps, carried.cut, carried.ended, playing, seconds)

    def _weigh(self, results: NDArray[np.float64]) -> None:
        """Learn from results of paths, 0..1, shape (n, roles), how far apart they are. Where roles play for
        their lead, it replaces the results."""
        self.leads.weigh(results)
        # Take the role whose results differ most: those of chance, which has no goals, never differ.
        widest = float(results.var(axis=0).max())
        self._variance += (widest - self._variance) * _VARIANCE_STEP

    def _rules(self) -> tuple[SelectionRule, SelectionRule]:
        """The rule that selects the paths of the next batch, and the rule that backs them up."""
        tree = self.tree
        spread = _ALONE_SPREAD if self._alone else self._variance**0.5
        rule = self._tuning.rule(spread, tree.numbered, tree.in_turn and not self._alone)
        if tree.values is not None:
            return self._tuning.valued(rule), self._tuning.valued(rule)
        stage = self._tuning.stage(rule, tree.visits, tree.choices)
        self.stage = max(self.stage, stage)
        return self._tuning.turned(rule, self._batches, stage)

    def _next_seed(self) -> int:
        """The seed of the next playouts."""
        self._batches += 1
        return ((self._seed & 0xFFFF) << 40) + (self._role << 32) + self._batches

    def _play_out(self, leaves: NDArray[np.int32], batch: Batch, deadline: float) -> Ends:
        """Playouts from these leaves."""
        seed = self._next_seed()
        starts = self.tree.arrays.records[leaves]
        if self.values is not None and self.values.alone:
            return self.values.ends(self.tree.batched, starts)
        return self.rollouts.playouts(starts, seed, batch.steps, deadline, batch.each)

    def asks(self, steps: int) -> bool:
        """Whether it is time to :meth:`settle` the question whether roles play for their lead, with so many
        steps for each playout."""
        return self.leads.in_question(steps) and self.tree.visits >= QUESTION and self.tree.batched.width > 1

    def settle(self, steps: int, deadline: float) -> None:
        """Find out whether the roles play for their lead. The seed of these playouts is the same for all
        searches, so that all play for the same."""
        tree = self.tree
        start = tree.batched.record(tree.batched.machine.initial_state())
        ends = self.rollouts.playouts(start.reshape(1, -1), 0, steps, deadline, QUESTION)
        if self.leads.decide(ends, steps, tree.always_in_turn):
            self.prove_no_more()
            self.restart = True

    def prove_no_more(self) -> None:
        """Stop proving results: goals do not add up to 100, so one role's gain is not the other's loss."""
        self.may_prove = False
        if self.values is not None:
            self.values.proves = False
        self.tree.unprove()
        self.restart = self.tree.trimmed

    def _note_ends(self, nodes: NDArray[np.int32], ends: Ends, each: int) -> None:
        """Note which nodes had ``each`` playouts, and in which of them the match is over."""
        over, goals = note_played(self.tree, nodes, ends, each)
        if not len(over):
            return
        if self.may_prove and self._roles == 2 and not is_constant_sum(goals):
            self.prove_no_more()
        self.tree.end(over, goals, self.may_prove)
