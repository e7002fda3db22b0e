"""Tries one way to judge states against another: in games between the two, which gets more?

Each role looks one move ahead, one of them by the judge that is tried, the others by the usual one. Many
games are played side by side, so that hundreds take seconds. (What such games tell of a search:
docs/measurements.md.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import NetworkBatch
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.rollouts import roll_out

_SUCCESSORS = 1 << 14
"""Successors of all games side by side, about: where there would be more, fewer games are played."""
_RANDOM_MOVES = 4
_LONGEST = 500
"""Steps after which a game is given up."""
_FEWEST = 16
"""Games that tell something."""
_FADE = 0.9
"""What a policy has learnt counts so much less after each batch of playouts: games go on."""
_COUNTED = 4
"""Playouts from each state that a policy learns from."""


class Judge(Protocol):
    """Tells what states are worth."""

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The results, 0..1, to be expected from states (n, words) that are not terminal: (n, roles)."""


class ByPlayouts:
    """Judges states by the mean results of ``each`` playouts from every state, by a policy that learns as it
    goes. A playout is cut after so many ``steps``; it says nothing then."""

    def __init__(
        self, batched: NetworkBatch, seed: int, each: int, steps: int, policy: RolloutPolicy
    ) -> None:
        self._batched = batched
        self._steps = steps
        self._rng = np.random.default_rng(seed)
        self._each = each
        self._policy = policy

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        seed, each, policy = int(self._rng.integers(1 << 40)), self._each, self._policy
        policy.forget(_FADE)
        ends = roll_out(self._batched, policy, records, seed, self._steps, math.inf, each, counted=_COUNTED)
        known = np.where(ends.goals < 0, 50, ends.goals).reshape(len(records), each, -1)
        means: NDArray[np.float64] = known.mean(axis=1) / 100.0
        return means


class Trial:
    """Games of one judge against another.

    So many ``games`` are played side by side for each role, if states have few successors, and so many
    ``rows`` of states are judged at once.

    Attributes:
        gains: of each game that came to an end, what the role that moved by the tried judge got more than
            the others on average, -1..1.
    """

    def __init__(
        self, batched: NetworkBatch, tried: Judge, usual: Judge, seed: int, games: int = 24, rows: int = 512
    ) -> None:
        self.gains: list[float] = []
        self._most = games
        self._rows = rows
        self._batched = batched
        self._judges = usual, tried
        self._rng = np.random.default_rng(seed)

    @property
    def games(self) -> int:
        """How many came to an end."""
        return len(self.gains)

    @property
    def ahead(self) -> float:
        """The mean gain; 0 while too few games have ended."""
        return float(np.mean(self.gains)) if self.games >= _FEWEST else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of the gains; 0 while too few games have ended."""
        return float(np.std(self.gains)) if self.games >= _FEWEST else 0.0

    def play(self, deadline: float) -> Iterator[None]:
        """Play as many games as are played side by side to their ends, or to the deadline
        (time.monotonic()); yields every few milliseconds. May be called again for more."""
        batched = self._batched
        roles = len(batched.machine.roles)
        records = batched.record(batched.machine.initial_state())[None, :]
        width = max(1, int(batched.legal(records)[0].max(initial=1)))
        games = int(np.clip(_SUCCESSORS // (width * roles), 1, self._most)) * roles
        records = np.repeat(records, games, axis=0)
        tried = np.arange(games) % roles
        for ply in range(_LONGEST):
            parents, choosing, joint = self._moves(records)
            if not len(parents):
                return
            after = batched.successors(records[parents], joint)
            judged = batched.machine.evaluate(after)
            liking = self._rng.random(len(after)) * 1e-3
            if ply >= _RANDOM_MOVES:
                to_move = choosing[parents]
                choice = np.bincount(parents, minlength=len(records))[parents] > 1
                open_ = choice & (to_move >= 0) & ~judged.terminal
                for place, judge in enumerate(self._judges):
                    rows = np.flatnonzero(open_ & ((to_move == tried[parents]) == bool(place)))
                    for first in range(0, len(rows), self._rows):
                        part = rows[first : first + self._rows]
                        liking[part] += judge.values(after[part])[np.arange(len(part)), to_move[part]]
                        yield
                        if time.monotonic() > deadline:
                            return
                sure = np.flatnonzero(judged.terminal & (to_move >= 0))
                # What is certain is more than 1 above, or below, what is only expected.
                liking[sure] = judged.goals[sure, to_move[sure]] / 25.0 - 1.5
            order = np.lexsort((-liking, parents))
            drawn = order[np.unique(parents[order], return_index=True)[1]]
            over = judged.terminal[drawn]
            places = parents[drawn]
            self._count(judged.goals[drawn[over]], tried[places[over]])
            tried = tried[places[~over]]
            records = np.ascontiguousarray(after[drawn[~over]])
            yield

    def _moves(
        self, records: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """What may be played in states (n, words): the state of each joint move, the role that chooses in
        each state, and the joint moves (m, roles). Where several roles choose (-1) it is one joint move at
        random, and where one cannot move none."""
        counts, moves = self._batched.legal(records)
        n, roles = counts.shape
        firsts = (np.cumsum(counts) - counts.ravel()).reshape(n, roles)
        several = (counts > 1).sum(axis=1)
        choosing = np.where(several > 1, -1, counts.argmax(axis=1))
        options = np.where(several > 1, 1, counts.max(axis=1))
        options[(counts == 0).any(axis=1)] = 0
        parents = np.repeat(np.arange(n), options)
        drawn = firsts + np.where(
            several[:, None] > 1, (self._rng.random(counts.shape) * counts).astype(np.int64), 0
        )
        at = drawn[parents]
        turn = np.arange(len(parents)) - np.repeat(np.cumsum(options) - options, options)
        rows = np.flatnonzero(choosing[parents] >= 0)
        at[rows, choosing[parents[rows]]] += turn[rows]
        return parents, choosing, moves[at].astype(np.int32)

    def _count(self, goals: NDArray[np.int16], tried: NDArray[np.int64]) -> None:
        """Note the ends of some games (n, roles), and which role moved by the tried judge in each (n,)."""
        known = (goals >= 0).all(axis=1)
        goals, tried = goals[known], tried[known]
        own = goals[np.arange(len(goals)), tried] / 100.0
        others = (goals.sum(axis=1) / 100.0 - own) / max(1, goals.shape[1] - 1)
        self.gains += (own - others).tolist()
