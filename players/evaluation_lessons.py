"""Values learnt by a program from play against itself (Samuel 1959, Tesauro 1995), here from results.

Many games at a time: each move is drawn by the values of the states after it, with noise, and moves that
win at once are nearly always made. From all games so far the values are fitted anew, ever more seldom.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players.evaluation import Evaluation, chances, tables_of
from players.evaluation_fit import Features, fit
from players.evaluation_kernel import NOBODY, add_up, draw
from propnet.expander import Expander

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

_GAMES = 512
"""Games under way at once, if states have few successors."""
_SUCCESSORS = 1 << 15
"""Successors of all games under way together, about."""
_SHARP = 5.0
"""How many times as likely (as a power of e) a move is that is worth 1 more in the logistic function."""
_RANDOM_MOVES = 8
_RANDOM_SHARE = 0.6
"""A game begins with fewer random moves than the first, or than this part of a game's mean length."""
_LONGEST = 500
"""Games longer than this are given up."""
_FIRST_ROWS = 30_000
_GROWTH = 1.5
"""So many more positions come before the next fit."""
_MOST_ROWS = 200_000
"""Positions for a fit: the latest ones."""
_FEWEST_ROWS = 2_000
_TESTED = 10
"""One game of so many is not learnt from, but tells how good the values are."""


class Lessons:
    """Plays against itself and learns.

    Attributes:
        evaluation: what was learnt so far; None at first.
    """

    def __init__(self, machine: PropnetMachine, seed: int) -> None:
        self.evaluation: Evaluation | None = None
        self._machine = machine
        self._expander = Expander(machine)
        self._roles = len(machine.roles)
        self._features = Features(machine.network.bases, machine.words)
        self._parameters = np.zeros((self._roles, self._features.count))
        self._tables = tables_of(np.zeros((self._roles, self._features.bits)))
        self._random = np.array([seed], np.uint64)
        self._rng = np.random.default_rng(seed)
        self._start = machine.records([machine.initial_state()])
        games = int(np.clip(_SUCCESSORS // max(1, self._width()), 16, _GAMES))
        self._records = np.repeat(self._start, games, axis=0)
        self._numbers = np.zeros(games, np.int64)
        self._ages = np.zeros(games, np.int64)
        self._free = np.zeros(games, np.int64)
        self._begun = 0
        self._length = 2.0 * _RANDOM_MOVES
        self._begin(np.arange(games))
        self._results: list[tuple[NDArray[np.int64], NDArray[np.int16]]] = []
        self._seen: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []

    def go_on(self, deadline: float) -> Iterator[None]:
        """Learn until the deadline (time.monotonic()); yields every few milliseconds, so that the caller
        may look after something else."""
        wanted = _FIRST_ROWS
        while time.monotonic() < deadline:
            fresh = 0
            while fresh < wanted and time.monotonic() < deadline:
                if not self._move(deadline):
                    return
                fresh += len(self._seen[-1][0])
                yield
            for _ in self._fit(deadline):
                yield
            wanted = int(_GROWTH * wanted)

    # --- games --------------------------------------------------------------------------------
    def _width(self) -> int:
        """Successors of the first state; the first chunk of them if there are many."""
        for chunk in self._expander.stream(self._start):
            return len(chunk)
        return 0

    def _begin(self, places: NDArray[np.int64]) -> None:
        """Begin new games in these places."""
        n = len(places)
        self._records[places] = self._start
        self._numbers[places] = np.arange(self._begun, self._begun + n)
        self._begun += n
        self._ages[places] = 0
        few = self._rng.integers(0, _RANDOM_MOVES, n)
        many = self._rng.integers(0, int(self._length * _RANDOM_SHARE) + 1, n)
        self._free[places] = np.where(self._rng.random(n) < 0.5, few, many)

    def _move(self, deadline: float) -> bool:
        """Make a move in every game. False if there was no time for it."""
        n, roles = len(self._records), self._roles
        sharp = np.where(self._ages < self._free, 0.0, _SHARP).astype(np.float32)
        firsts = np.full((n, roles), -1, np.int32)
        movers = np.full(n, NOBODY, np.int16)
        keys = np.full(n, -np.inf, np.float32)
        after = np.zeros_like(self._records)
        over = np.zeros(n, np.bool_)
        ends = np.zeros((n, roles), np.int16)
        for chunk in self._expander.stream(self._records, judged=True):
            draw(
                chunk.parents,
                chunk.moves,
                chunk.records,
                chunk.terminal,
                chunk.goals,
                self._tables,
                sharp,
                self._random,
                firsts,
                movers,
                keys,
                after,
                over,
                ends,
            )
            if time.monotonic() > deadline:
                return False
        played = (self._ages >= self._free) & np.isfinite(keys)
        self._seen.append((self._records[played], self._numbers[played]))
        self._ages += 1
        done = np.flatnonzero(over)
        if len(done):
            self._results.append((self._numbers[done], ends[done]))
            share = len(done) / n
            self._length += share * (float(self._ages[done].mean()) - self._length)
        self._records = after
        self._begin(np.flatnonzero(over | ~np.isfinite(keys) | (self._ages > _LONGEST)))
        return True

    # --- learning -----------------------------------------------------------------------------
    def _positions(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.bool_]]:
        """The latest positions of finished games: records, results (n, roles; 0..1), and which of them are
        not to be learnt from."""
        while len(self._seen) > 1 and sum(len(rows) for rows, _ in self._seen[1:]) > _MOST_ROWS:
            del self._seen[0]
        records = np.concatenate([rows for rows, _ in self._seen])
        games = np.concatenate([numbers for _, numbers in self._seen])
        table = np.full((self._begun, self._roles), -1, np.int16)
        for numbers, ends in self._results:
            table[numbers] = ends
        goals = table[games]
        known = (goals >= 0).all(axis=1)
        return np.ascontiguousarray(records[known]), goals[known] / 100.0, games[known] % _TESTED == 0

    def _fit(self, deadline: float) -> Iterator[None]:
        """Learn from the games so far."""
        if not self._results:
            return
        records, results, tested = self._positions()
        if len(records) < _FEWEST_ROWS or not 0 < np.count_nonzero(tested) < len(tested):
            return
        learnt, mirrored = records[~tested], self._roles == 2 and bool((results.sum(axis=1) == 1.0).all())
        for role in range(1 if mirrored else self._roles):
            self._parameters[role] = fit(
                self._features,
                learnt,
                results[~tested, role],
                self._parameters[role],
                lambda: time.monotonic() > deadline,
            )
            yield
        if mirrored:
            self._parameters[1] = -self._parameters[0]
        self._tables = tables_of(np.stack([self._features.weights(row) for row in self._parameters]))
        sums = np.empty((int(np.count_nonzero(tested)), self._roles), np.float32)
        add_up(self._tables, records[tested], sums)
        missed = ((results[tested] - chances(sums)) ** 2).sum()
        spread = ((results[tested] - results[~tested].mean(axis=0)) ** 2).sum()
        explains = 1.0 - float(missed / spread) if spread else 0.0
        self.evaluation = Evaluation(self._tables, len(learnt), explains)
