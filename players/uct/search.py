"""One search: a tree, the machine it thinks on, and batches of paths and playouts.

UCT (Kocsis and Szepesvari 2006) by batches: paths are selected, playouts start from their leaves, several
from each (leaf parallelization: Cazenave and Jouandeau 2007), and the results are backed up. Companions work
beside the tree: trials of playout policies, puzzle solvers, proof search.
"""

from __future__ import annotations

import logging
import time

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.machine import Machine, State
from players.batch_machine import BatchMachine, Ends, NetworkBatch, batch_machine_of
from players.batch_pace import MARGIN
from players.companions import BatchReport, TimeShares
from players.knowledge.derived_propositions import Deriving, NotDerivedError
from players.player import same_numbering
from players.puzzles.portfolio import BestLine, Portfolio
from players.uct.batches import (
    Batch,
    BatchLines,
    BatchOutcome,
    BatchSize,
    keep_known,
    keep_played,
    note_played,
)
from players.uct.forced_plies import forced_plies, of_only_moves
from players.uct.leaf_values import LeafValues, leaf_values
from players.uct.master_first import MasterFirst, is_mastered
from players.uct.proof_scheduler import ProofScheduler
from players.uct.rollouts.registry import RolloutChoice
from players.uct.root_statistics import RootMoves, RootStatistics
from players.uct.tree.arrays import OPEN
from players.uct.tree.backup import average
from players.uct.tree.selection_rules import SelectionRule
from players.uct.tree.tree import Tree
from players.uct.tuning import STAGES, WIDEST, Tuning
from propnet.derived import derived_network

log = logging.getLogger("players.knowledge")

GREED = 0.5
"""In one-player games: the weight of a move's best result; its mean has the rest."""

_ALONE_SPREAD = 0.25
"""The standard deviation of results that is assumed in one-player games: there the best one counts more than
the mean."""

SHORTEN_SECONDS = 1.0
"""How long the search for a shorter line goes on when a perfect one was found."""
_VARIANCE_STEP = 0.05
"""How far a batch moves the running variance of results towards its own."""
_REMEMBER = 0.5
"""How much what a rollout policy has learnt still counts when the root has moved."""
_SOLVERS_MEMORY = 0.75
"""Share of the memory that puzzle solvers get in one-player games."""


class Search:
    """Searches for one role from one root after another; what is known below the root is kept.

    Call ``set_machine`` first, then ``set_root``, then ``step`` as often as wanted.

    Attributes:
        role: index of the role.
        line: the best finished line, in one-player games.
        playouts: playouts since the root was set; a path to a state whose result is known counts as one.
        opened: whether the root's moves could be listed.
    """

    machine: Machine
    _chosen: RolloutChoice

    def __init__(self, role: int, seed: int, tuning: Tuning, patient: bool = True) -> None:
        """Unless ``patient``, nothing that may take seconds is waited for: what is known of a game is used
        from the first root on at which it can be."""
        self._deriving = None if patient else Deriving()
        self._waits = False
        self.role = role
        self.seed = seed
        self.tuning = tuning
        self.line = BestLine()
        self.playouts = 0
        self.opened = False
        self._batches = 0
        self._stage = -1
        self._restart = False
        self._variance = WIDEST**2
        self._tree: Tree | None = None
        self._shares = TimeShares()
        self._solvers: Portfolio | None = None
        self._proofs: ProofScheduler | None = None
        self._known: LeafValues | None = None
        self._passed = False
        self._master = MasterFirst(tuning.number)
        self._rooted = 0.0

    def set_machine(self, machine: Machine) -> None:
        """Think on this machine from now on. The tree is kept if both number states and moves alike."""
        old = self.machine if self._tree is not None else None
        self.machine = machine
        self.tuning = self.tuning.against(machine.roles)
        self._batched: BatchMachine = batch_machine_of(machine, decisive=self.tuning.decisive)
        self._shares = TimeShares()
        self._alone = len(machine.roles) == 1
        self._sizes = BatchSize(self._batched, self.tuning.paths, self._proves)
        if not is_mastered(machine):
            self._sizes.get_ready()
        self._forced = forced_plies(self._batched, self.tuning.pass_over)
        self._solvers = self._proofs = None
        if self._tree is not None and old is not None:
            self.line.move_to(old, machine)
            if same_numbering(old, machine):
                self._tree.batched = self._batched
                if self._known is not None:
                    self._known.go_on_with(self._batched)
                self._instruct(self._tree)
                self._chosen.go_on_with(self._batched, self._shares)
                return
        self._known = self._leaf_values()
        needed = self._known is None or not self._known.alone
        self._chosen = RolloutChoice(self._batched, self.tuning.policy, self.seed, self._shares, needed)
        self._may_prove = len(machine.roles) <= 2 and self.tuning.chance < 0
        self.opened = False
        memory = self._memory
        if self._alone:
            memory -= int(memory * _SOLVERS_MEMORY)
        self._tree = Tree(self._batched, self.tuning.paths, self.seed * 8191 + self.role, memory)
        self._tree.expert = self._known if self._known is not None and self._known.looks else None
        self._instruct(self._tree)

    def _leaf_values(self) -> LeafValues | None:
        """The values of leaves, if something is known of the game, and what is needed for them is there."""
        derive = derived_network if self._deriving is None else self._deriving.network
        self._waits = False
        try:
            return leaf_values(self._batched, self.tuning, derive)
        except NotDerivedError:
            self._waits = True
            return None

    def _look_again(self) -> None:
        """Begin anew with what is known of the game, if what is needed for it has come in the meantime."""
        if not self._waits or self._deriving is None or not self._deriving.ready:
            return
        try:
            known = self._leaf_values()
        except GdlError as error:  # what was asked for by name
            log.warning("the game is played without knowledge: %s", error)
            return
        if known is not None:
            self._tree = None
            self.set_machine(self.machine)

    def _instruct(self, tree: Tree) -> None:
        """Tell the tree what to leave out. Moves that lose at once may be left out in constant-sum games."""
        guided = self._batched.exact and not self._chosen.unguided
        tree.trimmed = self.tuning.trim and self._may_prove and guided
        tree.pass_over = self._forced.pass_over if self._forced is not None else None

    @property
    def _memory(self) -> int:
        """Bytes for the tree and for puzzle solvers, which get what proof search does not need."""
        unused = self.tuning.proof_memory if self._alone and not self.tuning.number else 0
        return self.tuning.memory + unused

    @property
    def _proves(self) -> bool:
        """Whether this search is to prove what its role can force."""
        wanted = self.tuning.prove and not self.tuning.number
        return wanted and not self._alone and isinstance(self._batched, NetworkBatch)

    def set_root(self, state: State) -> None:
        """Search from this state of :attr:`machine`, which is not terminal, from now on."""
        self._look_again()
        tree = self.tree
        record = self._batched.record(state)
        reached = record if self._forced is None else self._forced.root(record)
        self._passed = not np.array_equal(record, reached)
        if self._passed and isinstance(self._batched, NetworkBatch):
            state = self._batched.machine.states(reached[None, :])[0]
        tree.move_root(reached)
        self.line.follow(state)
        self._chosen.rollouts.policy.forget(_REMEMBER)
        self._shares.new_turn()
        tree.open_root()
        self._root = state
        self._fixed = -1
        self._rooted, self.playouts = time.monotonic(), 0
        if self._alone and (self._solvers is None or not self._solvers.holds(state)):
            memory = int(self._memory * _SOLVERS_MEMORY)
            if self._solvers is not None:
                self._shares.leave(self._solvers)
            whole = self.machine, state, self.line, memory, self.seed, self.tuning.number
            self._solvers = Portfolio(*whole, patient=self._deriving is None)
            self._shares.join(self._solvers)
        self.opened = tree.opened
        if not self.opened:
            return
        self._moves = RootMoves(tree, self.machine, state)
        if self._proves and self._proofs is None:
            assert isinstance(self._batched, NetworkBatch)
            self._proofs = ProofScheduler(self._batched.machine, self.role, self.tuning.proof_memory)
            self._shares.join(self._proofs)
        if self._proofs is not None:
            self._proofs.set_root(tree.arrays.records[tree.root])

    def fix(self, place: int) -> None:
        """Search only below this move of the role at the root, its place among the role's moves in the order
        of text, until the root is set again."""
        if not self.opened or self._passed:
            return
        self._fixed = self._moves.edge(self.role, place)
        if self._proofs is not None and self._fixed >= 0:
            arrays = self.tree.arrays
            child = int(arrays.edges["child"][self._fixed_edge()])
            if child >= 0 and arrays.nodes["status"][child] == OPEN:
                self._proofs.follow(arrays.records[child])

    def _fixed_edge(self) -> int:
        """The edge of the root that the role takes; -1 where it chooses."""
        tree = self.tree
        return self._fixed + int(tree.arrays.nodes["first_edge"][tree.root]) if self._fixed >= 0 else -1

    @property
    def tree(self) -> Tree:
        """The tree."""
        assert self._tree is not None
        return self._tree

    @property
    def news(self) -> str:
        """What it has found out about the game, for people to read; empty if nothing."""
        selection = f"the tree by {STAGES[self._stage]}" if self._stage >= 0 else ""
        return "; ".join(filter(None, (str(self._known or ""), str(self._chosen.trials or ""), selection)))

    @property
    def finished(self) -> bool:
        """Whether to stop: the root's moves could not be listed, the result is proven, or a perfect line
        was found some time ago (for a while a shorter one is looked for)."""
        if not self.opened or self.tree.proven >= 0 or self._shares.value >= 0:
            return True
        found = self.line.found_at
        return self.line.value == 100 and (found < self._rooted or time.monotonic() > found + SHORTEN_SECONDS)

    def step(self, deadline: float, limit: int | None = None) -> bool:
        """Do one batch, or let a companion work for a while, until ``deadline`` (time.monotonic()) at most.
        Returns whether there was time for it, and anything left to search.

        ``limit``: playouts since the root was set after which to stop. With a limit companions rest, and the
        outcome does not depend on time."""
        if self.finished:
            return False
        if limit is None and not self._sizes.is_ready and self._solvers is not None:
            went_on = self._master.step(self._solvers, deadline)
            if went_on is not None:
                return went_on
        if limit is None and self._step_beside(deadline):
            return True
        if self._restart:
            # Moves were left out that are worst only in constant-sum games.
            self._restart = self.tree.trimmed = False
            self.tree.restart()
            self.tree.open_root()
            self._moves = RootMoves(self.tree, self.machine, self._root)
        tuning = self.tuning
        began, clock = time.monotonic(), time.thread_time()
        left, first, visits = deadline - began, not self.playouts, self.tree.visits
        playouts = None if limit is None else limit - self.playouts
        batch = self._sizes.plan(tuning, left, first, visits, playouts)
        if batch is None:
            return False
        if self._known is not None:
            batch = self._known.fitting(batch)
        if self.tree.full:
            self.tree.make_room()
        outcome = self._run(batch, deadline - 2 * MARGIN)
        now = time.monotonic()
        self._sizes.learn(batch, now - began, outcome, deadline - now)
        seconds = time.thread_time() - clock
        self._shares.note_batch(BatchReport(seconds, deadline - now, self._length, self._mean, self.tree))
        return True

    def _step_beside(self, deadline: float) -> bool:
        """Let the companion work that is due. Returns whether one was."""
        step = self._shares.step(deadline - MARGIN)
        if self._proofs is not None and step == (self._proofs, True):
            self._hear(self._proofs)
        self._restart = self._restart or (self._chosen.unguided and self.tree.trimmed)
        return step is not None

    def _run(self, batch: Batch, deadline: float) -> BatchOutcome:
        """One round of selection, playouts and backing up."""
        count, each, _ = batch
        began, tree = time.perf_counter(), self.tree
        selecting, rule = self._rules()
        leaves = tree.select(count, selecting, self._fixed_edge())
        results = np.empty((count, len(self.machine.roles)))
        open_ = tree.fill_known(leaves, results, 0 if self._alone else 50)
        bests = results[:, 0].copy()
        steps = float(tree.paths.length[:count].sum())
        longest, cut, playing = 0, 0, 0.0
        if len(open_) and tree.expert is not None:
            results[open_] = tree.guesses(leaves[open_])
            longest, steps = 1, steps + len(open_)
            if self._may_prove and self._known is not None and self._known.unfair:
                self._prove_no_more()
        elif len(open_):
            # Playouts in which the same role is to move go together: such lanes are faster.
            open_ = open_[np.argsort(tree.paths.length[open_] % results.shape[1], kind="stable")]
            playing = time.perf_counter()
            ends = self._play_out(leaves[open_], batch, deadline)
            playing = time.perf_counter() - playing
            self._note_ends(leaves[open_], ends, each)
            average(ends.goals, each, 0 if self._alone else 50, open_, results, bests)
            if self._known is not None:
                self._known.mix(results, open_, tree.arrays.records[leaves[open_]], ends.lengths[::each])
            longest = int(ends.lengths.max())
            cut = len(ends.finished) - int(np.count_nonzero(ends.finished))
            steps += float(ends.lengths.sum()) / each
            if self._alone:
                lines = BatchLines.played(tree, ends, open_, each)
                keep_played(self.line, self._root, tree, self._chosen.rollouts, lines, ends.lengths)
        if self._alone and len(open_) < count:
            keep_known(self.line, self._root, tree, BatchLines.known(tree, results, open_))
        self._length, self._mean = steps / count, float(results[:, self.role].mean())
        if self._known is not None and self._known.alone:
            self._length = self._known.match_length(tree.arrays.records[tree.root])
        self._variance += (float(results[:, 0].var()) - self._variance) * _VARIANCE_STEP
        tree.back_up(results, bests, GREED if self._alone else 0.0, rule)
        playouts = len(open_) * each
        self.playouts += playouts + count - len(open_)
        return BatchOutcome(longest, cut, playouts, playing, time.perf_counter() - began - playing)

    def _rules(self) -> tuple[SelectionRule, SelectionRule]:
        """The rule by which the next batch selects its paths, and that by which it is backed up."""
        tree = self.tree
        spread = _ALONE_SPREAD if self._alone else self._variance**0.5
        rule = self.tuning.rule(spread, tree.numbered, tree.in_turn and not self._alone)
        if tree.expert is not None:
            return self.tuning.guessed(rule), self.tuning.guessed(rule)
        stage = self.tuning.stage(rule, tree.visits, tree.choices)
        self._stage = max(self._stage, stage)
        return self.tuning.turned(rule, self._batches, stage)

    def _play_out(self, leaves: NDArray[np.int32], batch: Batch, deadline: float) -> Ends:
        """Playouts from these leaves."""
        self._batches += 1
        seed = ((self.seed & 0xFFFF) << 40) + (self.role << 32) + self._batches
        starts = self.tree.arrays.records[leaves]
        if self._known is not None and self._known.alone:
            return self._known.ends(self._batched, starts)
        return self._chosen.rollouts.playouts(starts, seed, batch.steps, deadline, batch.each)

    def _hear(self, proofs: ProofScheduler) -> None:
        """Take over what is proven."""
        if self._may_prove and not proofs.adds_to_100:
            self._prove_no_more()
        proofs.tell(self.tree, self._may_prove)

    def _prove_no_more(self) -> None:
        """The goals do not add up to 100: what one role gets the other one does not lose."""
        self._may_prove = False
        if self._known is not None:
            self._known.proves = False
        self.tree.unprove()
        self._restart = self.tree.trimmed

    def _note_ends(self, nodes: NDArray[np.int32], ends: Ends, each: int) -> None:
        """Note which nodes were played out from, ``each`` times, and where the match is over."""
        over, goals = note_played(self.tree, nodes, ends, each)
        if not len(over):
            return
        constant = (goals >= 0).all() and (goals.sum(axis=1) == 100).all()
        if self._may_prove and len(self.machine.roles) == 2 and not constant:
            self._prove_no_more()
        self.tree.end(over, goals, self._may_prove)

    def statistics(self) -> RootStatistics:
        """What is known about the root's moves; nothing where they could not be listed."""
        tree = self.tree
        if not self.opened:
            return RootStatistics.empty([0] * len(self.machine.roles))
        visits, totals, proven = self._moves.statistics(tree)
        value = 100 - tree.proven if self.role == 1 and tree.proven >= 0 else tree.proven
        if self._solvers is not None:
            value = max(value, self._solvers.value)
        if self._proofs is not None and self._proofs.value >= 0:
            value = self._proofs.value
            if self._proofs.best >= 0:
                proven[self._moves.numbered(self.role, self._proofs.best)] = value
        found = self.playouts, tree.nodes, tree.depth, value, tree.mixed
        statistics = RootStatistics(self._moves.counts, visits, totals, proven, *found)
        return of_only_moves(statistics) if self._passed else statistics
