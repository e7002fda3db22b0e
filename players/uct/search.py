"""One search: a tree, the machine it thinks on, and batches of paths and playouts.

UCT (Kocsis and Szepesvari 2006) by batches: paths are selected, several playouts start from each leaf (leaf
parallelization: Cazenave and Jouandeau 2007), and the results are backed up. Companions share the time with
the tree: trials of playout policies, puzzle solvers.

If the game is a puzzle with a solver of its own, that solver works before the tree begins, which would find
nothing there.
"""

from __future__ import annotations

import time

from gdl.machine import Machine, State
from players.batch_machine import BatchMachine, batch_machine_of
from players.companions import TimeShare
from players.player import MARGIN, same_numbering
from players.portfolio import MASTER_SECONDS, BestLine, Portfolio
from players.uct.batches import BatchSize
from players.uct.leads import QUESTION
from players.uct.leaf_values import leaf_values
from players.uct.rollouts.rollouts import Rollouts
from players.uct.root_statistics import RootMoves, RootStatistics
from players.uct.rounds import Rounds
from players.uct.tree.tree import Tree
from players.uct.tuning import STAGES, Tuning

SHORTEN_SECONDS = 1.0
"""Seconds for which the search looks for a shorter line after it has found a perfect one."""
_REMEMBER = 0.5
"""Factor on the statistics of a rollout policy when the root moves."""
_ROOM_SECONDS = 4e-10
"""Seconds for each byte of a full tree to make room in it, until they are measured."""
_ROOM_SAFETY = 1.5
"""Room is made only if there are this many times the seconds for it."""
_SOLVERS_MEMORY = 0.75
"""Share of the memory that puzzle solvers get in one-player games."""


class Search:
    """Searches for one role from one root after another; the part of the tree below the root is kept.

    Call ``set_machine`` first, then ``set_root``, then ``step`` as often as wanted.

    Attributes:
        role: index of the role.
        line: the best finished line, in one-player games.
        playouts: playouts since the root was set; a path to a state with a known result counts as one.
        opened: whether the root's moves could be listed.
    """

    machine: Machine

    def __init__(self, role: int, seed: int, tuning: Tuning) -> None:
        self.role = role
        self.seed = seed
        self.tuning = tuning
        self.line = BestLine()
        self.playouts = 0
        self.opened = False
        self._rounds: Rounds | None = None
        self._beside: TimeShare | None = None
        self._solvers: Portfolio | None = None
        self._head_start = MASTER_SECONDS
        self._rooted = 0.0
        self._room_seconds = _ROOM_SAFETY * _ROOM_SECONDS * tuning.memory

    def set_machine(self, machine: Machine) -> None:
        """Think on this machine from now on. The tree is kept if both number states and moves alike."""
        old = self.machine if self._rounds is not None else None
        self.machine = machine
        self.tuning = self.tuning.against(machine.roles)
        self._batched: BatchMachine = batch_machine_of(machine, decisive=self.tuning.decisive)
        self._alone = len(machine.roles) == 1
        self._sizes = BatchSize(self._batched, self.tuning.paths)
        self._solvers = self._beside = None
        if self._rounds is not None and old is not None:
            self.line.move_to(old, machine)
            if same_numbering(old, machine):
                self._rounds.go_on_with(self._batched)
                self._instruct(self._rounds)
                self._rounds.rollouts.go_on_with(self._batched)
                self._begin_trials(self._rounds.rollouts)
                return
        values = leaf_values(self._batched, self.tuning)
        needed = values is None or not values.alone
        rollouts = Rollouts(self._batched, self.tuning.policy, self.seed, needed)
        self._begin_trials(rollouts)
        self.opened = False
        memory = self.tuning.memory
        if self._alone:
            memory -= int(memory * _SOLVERS_MEMORY)
        tree = Tree(self._batched, self.tuning.paths, self.seed * 8191 + self.role, memory)
        tree.values = values if values is not None and values.looks else None
        self._rounds = Rounds(self.role, self.seed, self.tuning, tree, values, rollouts)
        self._instruct(self._rounds)

    def _begin_trials(self, rollouts: Rollouts) -> None:
        """Give trials of policies their time, unless they are over."""
        if rollouts.trials is not None and rollouts.trials.active:
            self._beside = TimeShare(rollouts.trials)

    def _instruct(self, rounds: Rounds) -> None:
        """Set the moves that the tree leaves out. Moves that lose at once may be left out in constant-sum
        games."""
        tree = rounds.tree
        guided = self._batched.exact and not rounds.rollouts.unguided
        tree.trimmed = self.tuning.trim and rounds.may_prove and guided

    def set_root(self, state: State) -> None:
        """Search from this state of :attr:`machine`, which is not terminal, from now on."""
        rounds, tree = self.rounds, self.tree
        tree.move_root(self._batched.record(state))
        self.line.follow(state)
        rounds.rollouts.policy.forget(_REMEMBER)
        tree.open_root()
        rounds.root = state
        self._fixed = -1
        self._rooted, self.playouts = time.monotonic(), 0
        if self._alone and (self._solvers is None or not self._solvers.holds(state)):
            memory = int(self.tuning.memory * _SOLVERS_MEMORY)
            if self._beside is not None:
                self._head_start = self._beside.credit
            whole = self.machine, state, self.line, memory, self.seed, self.tuning.number
            self._solvers = Portfolio(*whole)
            self._beside = TimeShare(self._solvers, self._head_start if self._solvers.mastered else 0.0)
        self.opened = tree.opened
        if not self.opened:
            return
        self._moves = RootMoves(tree, self.machine, state)

    def fix(self, place: int) -> None:
        """Search only below this move of the role at the root until the root is set again. ``place`` is the
        move's place among the role's moves in the order of text."""
        if self.opened:
            self._fixed = self._moves.edge(self.role, place)

    def _fixed_edge(self) -> int:
        """The edge of the root that the role takes; -1 if it chooses."""
        tree = self.tree
        return self._fixed + int(tree.arrays.nodes["first_edge"][tree.root]) if self._fixed >= 0 else -1

    @property
    def rounds(self) -> Rounds:
        """The rounds on the tree of the machine set last."""
        assert self._rounds is not None
        return self._rounds

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.rounds.tree

    @property
    def news(self) -> str:
        """Findings about the game, as text for people; empty if there are none."""
        rounds = self.rounds
        lead = "plays for its lead over the other role" if rounds.leads.count else ""
        selection = f"the tree by {STAGES[rounds.stage]}" if rounds.stage >= 0 else ""
        return "; ".join(
            filter(None, (str(rounds.values or ""), str(rounds.rollouts.trials or ""), selection, lead))
        )

    @property
    def finished(self) -> bool:
        """Whether to stop: the root's moves could not be listed, the result is proven, or a perfect line was
        found some time ago (the search goes on for a while to shorten it)."""
        solved = self._solvers is not None and self._solvers.value >= 0
        if not self.opened or self.tree.proven >= 0 or solved:
            return True
        found = self.line.found_at
        return self.line.value == 100 and (found < self._rooted or time.monotonic() > found + SHORTEN_SECONDS)

    def step(self, deadline: float, limit: int | None = None) -> bool:
        """Do one batch, or let a companion work for a while, until ``deadline`` (time.monotonic()) at most.
        Returns True when nothing is left to do before the deadline.

        ``limit``: playouts since the root was set after which to stop. With a limit companions rest, and the
        outcome does not depend on time."""
        if self.finished:
            return True
        if limit is None and self._step_beside(deadline):
            return False
        if time.monotonic() >= deadline - MARGIN:
            return True
        rounds = self.rounds
        if rounds.restart:
            rounds.restart = self.tree.trimmed = False
            self.tree.restart()
            self.tree.open_root()
            self._moves = RootMoves(self.tree, self.machine, rounds.root)
        if self.tree.full and not self._make_room(deadline):
            return True
        tuning = self.tuning
        self._sizes.get_ready()
        began, clock = time.monotonic(), time.thread_time()
        left, first, visits = deadline - began, not self.playouts, self.tree.visits
        playouts = None if limit is None else limit - self.playouts
        batch = self._sizes.plan(tuning, left, first, visits, rounds.carries, playouts)
        if batch is None:
            return True
        if rounds.values is not None:
            batch = rounds.values.fitting(batch)
        if rounds.asks(batch.steps) and self._sizes.affords(QUESTION, left):
            rounds.settle(batch.steps, deadline)
            return False  # the batch was planned for the time before
        outcome = rounds.run(batch, self._fixed_edge(), self.line, deadline - 2 * MARGIN)
        self.playouts += outcome.playouts + outcome.known
        now = time.monotonic()
        self._sizes.learn(batch, now - began, outcome, deadline - now)
        if self._beside is not None:
            self._beside.earn(time.thread_time() - clock)
        return False

    def _make_room(self, deadline: float) -> bool:
        """Make room in the tree. Returns whether there was time for that."""
        began = time.monotonic()
        if began + self._room_seconds > deadline - MARGIN:
            return False
        self.tree.make_room()
        self._room_seconds = _ROOM_SAFETY * (time.monotonic() - began)
        return True

    def _step_beside(self, deadline: float) -> bool:
        """Let the companion work if it is due. Returns whether it was."""
        worked = self._beside is not None and self._beside.turn(deadline - MARGIN)
        rounds = self.rounds
        rounds.restart = rounds.restart or (rounds.rollouts.unguided and self.tree.trimmed)
        return worked

    def statistics(self) -> RootStatistics:
        """Statistics of the root's moves; empty if the moves could not be listed."""
        tree = self.tree
        if not self.opened:
            return RootStatistics.empty([0] * len(self.machine.roles))
        visits, totals, proven = self._moves.statistics(tree)
        value = 100 - tree.proven if self.role == 1 and tree.proven >= 0 else tree.proven
        if self._solvers is not None:
            value = max(value, self._solvers.value)
        found = self.playouts, tree.nodes, tree.depth, value, tree.mixed
        return RootStatistics(self._moves.counts, visits, totals, proven, *found)
