"""The UCT player: Monte Carlo tree search by batches of playouts, to a deadline.

UCT (Kocsis and Szepesvari 2006) with decoupled choices where several roles move at once; the parts
that run compiled, and where they come from, are in :mod:`players.uct_kernel`. In one-player games
the best finished line of moves that any playout found is kept and followed (nested and
single-player tree search do so: Cazenave 2009, Schadd et al. 2008).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine
from gdl.state import State
from players.lanes import Lanes, lanes_of
from players.pace import MARGIN, Pace
from players.player import Candidate, Choice, Player, same_numbering
from players.uct_kernel import ENDED, FRESH, LEAF
from players.uct_tree import Tree, warm_up

EXPLORE = 0.5
"""The constant of the exploration term, for results 0..1."""
GREED = 0.5
"""In one-player games a move is worth this part of its best result, the rest of its mean."""
BATCH = 512
"""Playouts at once on machines with lanes."""

_FIXED_STEPS = 1000
_SMALLEST_BATCH = 64
_GROWTH = 4
"""A batch is at most this part of the visits that the root has: a young tree grows better in small
batches (9:5 in breakthrough and 37:23 in connect four against full ones, 0.1 s a move)."""
_SHORTEN_SECONDS = 1.0
_LONG = 1 << 20
_PROGRESS_SECONDS = 0.1
_MEMORY = 1 << 29


class UctPlayer(Player):
    """Searches until the deadline, or until nothing more is to be found.

    Attributes:
        playouts: playouts per turn after which it stops early; None for no such limit. With
            a limit and time enough, the same seed gives the same choices.
        memory: bytes for the search tree.
        on_progress: called about ten times a second during a search with the answer so far.
    """

    name = "uct"
    OPTIONS: ClassVar[Mapping[str, Callable[[str], object]]] = {"playouts": int, "memory": int}
    batch = BATCH

    def __init__(self, *, seed: int = 0, playouts: int | None = None, memory: int = _MEMORY) -> None:
        super().__init__(seed=seed)
        self.playouts = playouts
        self.resumes = playouts is None
        self.memory = memory
        self.on_progress: Callable[[Choice], None] | None = None
        self._tree: Tree | None = None
        self._random = random.Random(seed)
        self._batches = 0
        self._line: list[int] = []
        self._line_value = -1
        self._line_from: State | None = None
        self._line_found = 0.0
        warm_up()

    # --- the match --------------------------------------------------------------------------
    def prepare(self, state: State, deadline: float) -> None:
        self._batches = 0
        self._random = random.Random(f"{self.seed} {self.role}")
        self._forget_line()
        tree = self._set_machine(self.machine)
        if not self.machine.is_terminal(state):
            options = self.machine.legal_moves(state, self.role)
            self._search(tree, state, options, deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        tree = self._tree or self._set_machine(self.machine)
        self._search(tree, state, options, deadline)
        return self._answer(tree, options)

    def update_machine(self, machine: Machine) -> None:
        old = self.machine
        super().update_machine(machine)
        if self._tree is None:
            return
        self._line = [machine.move_id(0, old.move(0, move)) for move in self._line]
        if self._line_from is not None:
            self._line_from = self.own_state(self._line_from)
        if same_numbering(old, machine):
            # The tree's records and moves mean the same on both.
            self._tree.lanes = self._set_lanes(machine)
        else:
            self._set_machine(machine)

    def stop(self) -> None:
        self._tree = None

    def _set_lanes(self, machine: Machine) -> Lanes:
        self._lanes: Lanes = lanes_of(machine)
        self._pace = Pace(self._lanes.width, self.batch, self._lanes.warm_up())
        return self._lanes

    def _set_machine(self, machine: Machine) -> Tree:
        lanes = self._set_lanes(machine)
        self._alone = len(machine.roles) == 1
        self._may_prove = len(machine.roles) <= 2
        self._tree = Tree(lanes, self.batch, self.seed * 8191 + self.role, self.memory)
        return self._tree

    # --- the search ---------------------------------------------------------------------------
    def _search(self, tree: Tree, state: State, options: list[int], deadline: float) -> None:
        """Search until the deadline, or until the result is proven, or for a while after a perfect
        line has been found: a shorter one may follow."""
        self._began = time.monotonic()
        self._playouts = 0
        tree.move_root(self._lanes.record(state))
        self._follow_line(state)
        if not tree.opened:
            tree.open(np.array([tree.root], np.int32))
        shown = self._began
        while tree.opened and tree.proven < 0:
            began = time.monotonic()
            if self._line_value == 100:
                if not self._playouts:
                    break
                deadline = min(deadline, self._line_found + _SHORTEN_SECONDS)
            lanes, steps = self._pace.plan(deadline - began, not self._playouts)
            if self.playouts is not None:
                lanes = min(lanes and self.batch, self.playouts - self._playouts)
                steps = _FIXED_STEPS
            lanes = min(lanes, self.batch, max(_SMALLEST_BATCH, tree.visits // _GROWTH))
            if lanes <= 0:
                break
            longest, cut = self._batch(tree, lanes, steps, deadline - 2 * MARGIN)
            now = time.monotonic()
            self._pace.learn(lanes, now - began, longest, cut, deadline - now)
            if self.on_progress and now - shown > _PROGRESS_SECONDS:
                shown = now
                self.on_progress(self._answer(tree, options))

    def _batch(self, tree: Tree, lanes: int, steps: int, deadline: float) -> tuple[int, int]:
        """One round of selection, playouts and backup. Returns the length of the longest playout, and
        how many were cut."""
        arrays = tree.arrays
        leaves = tree.descend(lanes, EXPLORE, GREED if self._alone else 0.0)
        goals = np.empty((lanes, len(self.machine.roles)), np.int16)
        ended = arrays.nodes["status"][leaves] == ENDED
        goals[ended] = arrays.goals[leaves[ended]]
        proven = ~ended & (arrays.nodes["proven"][leaves] >= 0)
        goals[proven, 0] = arrays.nodes["proven"][leaves[proven]]
        goals[proven, 1:] = 100 - arrays.nodes["proven"][leaves[proven], None]

        rest = np.flatnonzero(~ended & ~proven)
        finished = np.ones(lanes, np.bool_)
        lengths = np.zeros(lanes, np.int32)
        if len(rest):
            self._batches += 1
            seed = ((self.seed & 0xFFFF) << 40) + (self.role << 32) + self._batches
            ends = self._lanes.playouts(arrays.records[leaves[rest]], seed, steps, deadline)
            goals[rest] = ends.goals
            finished[rest] = ends.finished
            lengths[rest] = ends.lengths
            self._note_ends(tree, leaves[rest], ends.goals, ends.lengths, ends.finished)
        if self._alone:
            # The best result, and of those the shortest line.
            whole = tree.paths.length[:lanes] + lengths
            worth = np.where(finished, goals[:, 0].astype(np.int64), -1) * _LONG - whole
            best = int(np.argmax(worth))
            kept = self._line_value * _LONG - len(self._line)
            if worth[best] > kept and finished[best] and not (proven[best] and self._line):
                line = tree.path_moves(best, 0)
                if proven[best]:
                    line += tree.proven_line(int(leaves[best]))
                elif lengths[best]:
                    line += self._lanes.playout_moves(int(np.searchsorted(rest, best)))
                self._line, self._line_value = line, max(0, int(goals[best, 0]))
                self._line_from = self._root_state
                if self._line_found < self._began:
                    self._line_found = time.monotonic()
        unknown = 0 if self._alone else 50
        tree.book(lanes, np.where(goals < 0, unknown, goals) / 100.0)
        self._playouts += lanes
        return int(lengths.max()), int(np.count_nonzero(~finished))

    def _note_ends(
        self,
        tree: Tree,
        nodes: NDArray[np.int32],
        goals: NDArray[np.int16],
        lengths: NDArray[np.int32],
        finished: NDArray[np.bool_],
    ) -> None:
        """Playouts without a step show that the match is over in the node they began in."""
        over = finished & (lengths == 0)
        status = tree.arrays.nodes["status"]
        begun = nodes[finished | (lengths > 0)]
        status[begun[status[begun] == FRESH]] = LEAF
        if not over.any():
            return
        if self._may_prove and len(self.machine.roles) == 2:
            values = goals[over]
            if (values < 0).any() or (values.sum(axis=1) != 100).any():
                self._may_prove = False
                tree.unprove()
        tree.end(nodes[over], goals[over], self._may_prove)

    # --- the best finished line (one player) ----------------------------------------------------
    def _follow_line(self, state: State) -> None:
        """Go along the kept line to this state, or forget it if the state is not on it."""
        self._root_state = state
        start = self._line_from
        if not self._line or start is None or start == state:
            return
        if self.machine.next_state(start, [self._line[0]]) == state:
            self._line = self._line[1:]
            self._line_from = state
        if self._line_from != state or not self._line:
            self._forget_line()

    def _forget_line(self) -> None:
        self._line = []
        self._line_value = -1
        self._line_from = None

    # --- the answer -------------------------------------------------------------------------------
    def _answer(self, tree: Tree, options: list[int]) -> Choice:
        if self._alone and self._line and not self._playouts:
            return Choice(self._line[0], (), f"goes on with the line found, {self._line_text()}")
        if not tree.opened or not self._playouts + tree.visits:
            return Choice(self._random.choice(self.in_order(options)), (), "no time to search")
        arrays = tree.arrays
        edges = tree.edges(tree.root, self.role)
        moves = arrays.edges["move"][edges].tolist()
        visits = arrays.edges["visits"][edges].tolist()
        sums = arrays.edges["total"][edges].tolist()
        known = arrays.edges["proven"][edges].tolist()
        if self.role == 1:
            known = [100 - value if value >= 0 else -1 for value in known]
        values = [
            float(sure) if sure >= 0 else 100 * total / n if n else 0.0
            for n, total, sure in zip(visits, sums, known, strict=True)
        ]
        # The best of what is proven, against the most visited of the rest.
        sure = max(range(len(moves)), key=lambda i: (known[i], visits[i]))
        open_ones = [i for i in range(len(moves)) if known[i] < 0]
        hoped = max(open_ones, key=lambda i: (visits[i], values[i]), default=sure)
        move = moves[sure if known[sure] >= values[hoped] else hoped]
        if self._alone and self._line:
            move = self._line[0]
        if move not in options:
            move = options[0]
        ranked = sorted(range(len(moves)), key=lambda i: (moves[i] == move, visits[i]), reverse=True)
        candidates = tuple(Candidate(moves[i], visits[i], values[i]) for i in ranked)
        return Choice(move, candidates, self._note(tree))

    def _line_text(self) -> str:
        return f"{self._line_value} in {len(self._line)} moves"

    def _note(self, tree: Tree) -> str:
        seconds = max(time.monotonic() - self._began, 1e-6)
        parts = [
            f"{self._playouts:,} playouts",
            f"{self._playouts / seconds:,.0f}/s",
            f"{tree.nodes:,} states",
            f"depth {tree.depth}",
        ]
        if self._alone and self._line:
            parts.append(self._line_text())
        if tree.proven >= 0:
            value = 100 - tree.proven if self.role == 1 else tree.proven
            parts.append(f"proven {value}")
        return ", ".join(parts)
