"""Self-play by searches: many matches side by side in one tree, each move by a small search with looks.

A search of some dozen states knows more of a state than its value alone: it sees possible captures. Values
that are learnt from it make the next searches better (D. Silver et al.: Mastering the game of Go without
human knowledge, 2017; J. Veness et al.: Bootstrapping from game tree search, 2009, for the states inside the
tree).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import NetworkBatch
from players.knowledge.self_play import LONGEST, OPENING
from players.knowledge.state_values import StateValues
from players.uct.leaf_values import LeafValues
from players.uct.tree.arrays import OPEN, Table
from players.uct.tree.tree import Tree
from players.uct.tree.values import choose_moves
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine

STEPS = 12
"""Moves of each match before the next weights."""
LAMBDA = 0.95
"""Weight of the next state's outcome in a state's target; its own search has the rest."""


@dataclass(frozen=True, eq=False)
class LearntStates:
    """The results of some steps: states in random order, and their values to role 0.

    Attributes:
        records: uint64, shape (n, words).
        targets: float32, shape (n, 1), 0..1.
        moves: number of moves; ``finished`` matches came to their end, in which role 0 got ``won`` in all.
    """

    records: NDArray[np.uint64]
    targets: NDArray[np.float32]
    moves: int
    finished: int
    won: float


@dataclass(frozen=True)
class PlayTerms:
    """The terms of self-play: matches side by side, paths for each move, the rate of random moves."""

    lanes: int = 256
    visits: int = 32
    explored: float = 0.05


_SPARE = 2
"""The tree has room for this many times the moves of the initial state in each state."""
_BATCH = 512
"""Paths at once."""
_MEMORY = 1 << 28
"""Bytes for the tree."""
_TUNING = Tuning()
"""The tuning of the searches: that of matches."""
_SPREAD_STEP = 0.02
"""Step of the running variance of results towards that of a batch."""
_ABANDONED, _DECIDED = 0.01, 0.1
"""Probability that a match is abandoned after a move, and the same if it is as good as decided. Otherwise
most states would belong to endings that no player knows how to win."""
_CLEAR = 0.03
"""A match is as good as decided if a role's value, 0..1, is at most this."""
_LEAST_VISITS = 2
"""Fewest visits of inner states that are learnt from."""


@dataclass(frozen=True, eq=False)
class _SearchedSteps:
    """Some steps of all matches.

    Attributes:
        records: uint64, shape (steps, lanes, words): the states.
        values: float32, shape (steps, lanes): their values to role 0 by the searches from them.
        results: float32, shape (steps, lanes): role 0's result, 0..1, if the move has ended the match, else
            nan.
        broken: bool, shape (steps, lanes): whether the following states say nothing about this one, since the
            move was random or the match was abandoned.
    """

    records: NDArray[np.uint64]
    values: NDArray[np.float32]
    results: NDArray[np.float32]
    broken: NDArray[np.bool_]

    def targets(self, decay: float) -> NDArray[np.float32]:
        """The targets of the states, of the values' shape: their searches' values mixed with the target of
        the next state, which has the weight ``decay``, up to the result."""
        found = np.empty_like(self.values)
        following = self.values[-1]
        for step in range(len(found) - 1, -1, -1):
            values, results = self.values[step], self.results[step]
            found[step] = np.where(
                self.broken[step],
                values,
                np.where(np.isnan(results), values + np.float32(decay) * (following - values), results),
            )
            following = found[step]
        return found


class SearchedPlay:
    """Matches of a search against itself, in games of two roles that choose in turn, and in which one gets
    what the other does not.

    Attributes:
        lanes: matches side by side.
        visits: paths through the tree for each move.
        explored: probability of a random move.
        finished: matches that came to their end.
        won: sum of the results of role 0, 0..1, of these.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        values: StateValues,
        terms: PlayTerms,
        rng: np.random.Generator,
    ) -> None:
        """Searches by these values, which may change from call to call. If roles have hundreds of moves,
        there may be fewer lanes than asked for: the tree has no room for more searches."""
        self.visits, self.explored = terms.visits, terms.explored
        self.finished, self.won = 0, 0.0
        self._rng = rng
        self._batched = NetworkBatch(machine, machine)
        self._tree = Tree(self._batched, _BATCH, int(rng.integers(1 << 62)), _MEMORY)
        self._tree.values = LeafValues(values, 1.0, machine, looks=True)
        self._machine = machine
        initial = machine.records([machine.initial_state()])
        choices = int(self._batched.legal(initial)[0].max())
        room = len(self._tree.arrays.edges) // (_SPARE * (self.visits + 1) * choices)
        self.lanes = lanes = max(1, min(terms.lanes, room))
        self._start = np.array(initial[0])
        self._records = np.repeat(self._start[None], lanes, axis=0)
        self._made = np.zeros(lanes, np.int64)
        self._opening = rng.integers(0, OPENING + 1, lanes)
        self._variance = 0.01

    def learnt(self, steps: int) -> LearntStates:
        """Play the next ``steps`` moves of all matches, and return the states to learn from."""
        finished, won = self.finished, self.won
        played, inner, values = self.play(steps)
        records = played.records.reshape(-1, played.records.shape[-1])
        targets = played.targets(LAMBDA).reshape(-1, 1)
        order = self._rng.permutation(len(records) + len(inner))
        return LearntStates(
            np.concatenate([records, inner])[order],
            np.concatenate([targets, values])[order],
            len(records),
            self.finished - finished,
            self.won - won,
        )

    def play(self, steps: int) -> tuple[_SearchedSteps, NDArray[np.uint64], NDArray[np.float32]]:
        """Play the next ``steps`` moves of all matches.

        Returns:
            The steps; the states inside the tree, uint64, shape (n, words); and the values of these to role 0
            by the search below them, float32, shape (n, 1), 0..1.
        """
        lanes, tree = self.lanes, self._tree
        records = np.empty((steps, lanes, self._batched.words), np.uint64)
        values, results = (np.empty((steps, lanes), np.float32) for _ in range(2))
        broken = np.empty((steps, lanes), np.bool_)
        inner: list[tuple[NDArray[np.uint64], NDArray[np.float32]]] = []
        tree.clear(self._start)
        for step in range(steps):
            if self._crowded:
                inner.append(self._inner())
                tree.clear(self._start)
            records[step] = self._records
            self._step(values[step], results[step], broken[step])
        inner.append(self._inner())
        states, worth = map(np.concatenate, zip(*inner, strict=True))
        return _SearchedSteps(records, values, results, broken), states, worth

    @property
    def _crowded(self) -> bool:
        """Whether there may not be enough room for the searches of another step."""
        arrays, used = self._tree.arrays, self._tree.arrays.used[0]
        more = self.lanes * (self.visits + 1)
        each = int(used["edges"]) // max(1, int(used["opened"])) + 1
        room = len(arrays.nodes) - used["nodes"], len(arrays.edges) - used["edges"]
        return bool(more > room[0] or more * each > room[1])

    def _step(
        self, values: NDArray[np.float32], results: NDArray[np.float32], broken: NDArray[np.bool_]
    ) -> None:
        """Make one move in every match."""
        tree, rng, nodes = self._tree, self._rng, self._tree.arrays.nodes
        roots = tree.add(self._records)
        self._search(roots)
        random = (rng.random(self.lanes) < self.explored) | (self._made < self._opening)
        joints = np.zeros((self.lanes, len(self._machine.roles)), np.int32)
        choose_moves(tree.arrays, roots, random, rng.random(self.lanes), joints)
        values[:] = _worth(nodes[roots])
        stuck = nodes["status"][roots] != OPEN
        reached = self._batched.successors(self._records, joints)
        terminal, goals = self._machine.ends(reached)
        ended = terminal & ~stuck
        got = np.where(goals[:, 0] < 0, 50, goals[:, 0]) / np.float32(100.0)
        results[:] = np.where(ended, got, np.float32(np.nan))
        self._records = reached
        self._made += 1
        self.finished += int(ended.sum())
        self.won += float(got[ended].sum())
        decided = np.abs(values - 0.5) > 0.5 - _CLEAR
        given_up = rng.random(self.lanes) < np.where(decided, _DECIDED, _ABANDONED)
        over = ended | stuck | given_up | (self._made >= LONGEST)
        broken[:] = random | (over & ~ended)
        self._records[over] = self._start
        self._made[over] = 0
        self._opening[over] = rng.integers(0, OPENING + 1, int(over.sum()))

    def _search(self, roots: NDArray[np.int32]) -> None:
        """Search from all roots until each has enough visits."""
        nodes, open_roots = self._tree.arrays.nodes, np.unique(roots)
        for _ in range(self.visits):
            open_ = (nodes["status"][open_roots] == OPEN) & (nodes["proven"][open_roots] < 0)
            open_roots = open_roots[open_ & (nodes["visits"][open_roots] < self.visits)]
            if not len(open_roots):
                return
            for begin in range(0, len(open_roots), _BATCH):
                some = np.ascontiguousarray(open_roots[begin : begin + _BATCH])
                self._visit(some, len(some) * max(1, min(4, _BATCH // len(some))))

    def _visit(self, roots: NDArray[np.int32], count: int) -> None:
        """Do one round of paths from these roots."""
        tree = self._tree
        rule = _TUNING.valued(_TUNING.rule(self._variance**0.5, True, True))
        leaves = tree.select(count, rule, -1, roots)
        results = np.empty((count, 2))
        open_ = tree.fill_known(leaves, results, 50)
        if len(open_):
            results[open_] = tree.values_of(leaves[open_])
        self._variance += (float(results[:, 0].var()) - self._variance) * _SPREAD_STEP
        tree.back_up(results, results[:, 0].copy(), 0.0, rule)

    def _inner(self) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """The states with enough visits, and their values in the tree."""
        arrays = self._tree.arrays
        nodes = arrays.nodes[: arrays.used[0]["nodes"]]
        chosen = np.flatnonzero(
            (nodes["status"] == OPEN) & (nodes["to_move"] >= 0) & (nodes["visits"] >= _LEAST_VISITS)
        )
        return arrays.records[chosen], _worth(nodes[chosen])[:, None]


def _worth(nodes: Table) -> NDArray[np.float32]:
    """The values of some nodes to role 0, float32, shape (n,): proven, or else by learnt values."""
    proven = nodes["proven"].astype(np.float32)
    return np.where(proven >= 0, proven / np.float32(100.0), nodes["value"])
