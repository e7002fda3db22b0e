"""Tries a learnt value: does who looks one move ahead by it beat who does so by playouts?

In each game one role moves by the value, the others by the means of random playouts. Where linear values
say little, as in games of lines, playouts win; where pieces count, values do (measured, ahead in 48 games
against 32 playouts a move: knightThrough +92 %, checkers +83 %, breakthrough +71 %, connect four -79 %).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players.evaluation import Evaluation
from propnet.expand import Expander, Expansion

if TYPE_CHECKING:
    from propnet.interpret import PropnetMachine

_EACH = 32
"""Playouts for each successor."""
_GAMES = 24
"""Games for each role, if states have few successors."""
_SUCCESSORS = 1 << 14
"""Successors of all games under way together, about."""
_ROWS = 512
"""States that are played out from at once."""
_RANDOM_MOVES = 4
_LONGEST = 500
"""Steps after which a game, and a playout, is given up."""
_FEWEST = 16
"""Games that tell something."""
_MOST = 1 << 18
"""Successors at once above which there is no trial."""


class Trial:
    """Games of a value against playouts.

    Attributes:
        evaluation: the value.
        games: how many came to an end.
        ahead: what the role that moves by the value got more than the others, on average, -1..1; 0 while
            too few games have ended.
    """

    def __init__(self, machine: PropnetMachine, evaluation: Evaluation, seed: int) -> None:
        self.games = 0
        self._gains: list[float] = []
        self._machine = machine
        self.evaluation = evaluation
        self._expander = Expander(machine)
        self._rng = np.random.default_rng(seed)

    @property
    def ahead(self) -> float:
        return float(np.mean(self._gains)) if len(self._gains) >= _FEWEST else 0.0

    def play(self, deadline: float) -> Iterator[None]:
        """Play until all games have ended, or to the deadline (time.monotonic()); yields every few
        milliseconds."""
        roles = len(self._machine.roles)
        start = self._machine.records([self._machine.initial_state()])
        width = max(1, len(self._successors(start, deadline)[0]))
        games = int(np.clip(_SUCCESSORS // (width * roles), 1, _GAMES)) * roles
        records = np.repeat(start, games, axis=0)
        valued = np.arange(games) % roles
        for ply in range(_LONGEST):
            found, movers = self._successors(records, deadline)
            if not len(found):
                return
            liking = self._rng.random(len(found)) * 1e-3
            if ply >= _RANDOM_MOVES:
                mover = movers[found.parents]
                by_value = mover == valued[found.parents]
                rows = np.flatnonzero(by_value)
                values = self.evaluation.values(found.records[rows])
                liking[rows] += values[np.arange(len(rows)), mover[rows]]
                others = np.flatnonzero(~by_value & (mover >= 0))
                for first in range(0, len(others), _ROWS):
                    part = others[first : first + _ROWS]
                    liking[part] += self._means(found.records[part])[np.arange(len(part)), mover[part]]
                    yield
                    if time.monotonic() > deadline:
                        return
                sure = np.flatnonzero(found.terminal & (mover >= 0))
                # What is certain is more than 1 above, or below, what is only expected.
                liking[sure] = found.goals[sure, mover[sure]] / 25.0 - 1.5
            order = np.lexsort((-liking, found.parents))
            drawn = order[np.unique(found.parents[order], return_index=True)[1]]
            over = found.terminal[drawn]
            places = found.parents[drawn]
            self._count(found.goals[drawn[over]], valued[places[over]])
            valued = valued[places[~over]]
            records = np.ascontiguousarray(found.records[drawn[~over]])
            yield

    def _successors(
        self, records: NDArray[np.uint64], deadline: float
    ) -> tuple[Expansion, NDArray[np.int64]]:
        """All successors, none if there are too many or it is too late; and the role that chooses in
        each state, -1 where none or several do."""
        chunks: list[Expansion] = []
        for chunk in self._expander.stream(records, judged=True):
            chunks.append(chunk.copy())
            if sum(map(len, chunks)) > _MOST or time.monotonic() > deadline:
                chunks = []
                break
        if not chunks:
            chunks = [self._expander.expand(records[:0], judged=True)]
        parts = zip(*((c.parents, c.moves, c.records, c.terminal, c.goals) for c in chunks), strict=True)
        found = Expansion(*map(np.concatenate, parts))
        movers = np.full(len(records), -1, np.int64)
        states, first = np.unique(found.parents, return_index=True)
        last = np.concatenate([first[1:], [len(found)]]) - 1
        # The last successor differs from the first in every role that has a choice.
        differs = found.moves[first] != found.moves[last] if len(states) else np.zeros((0, 1), np.bool_)
        alone = differs.sum(axis=1) == 1
        movers[states[alone]] = differs[alone].argmax(axis=1)
        return found, movers

    def _means(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The mean results of playouts from states: (n, roles), 0..1."""
        seed = int(self._rng.integers(1 << 40))
        goals = self._machine.playouts_from(records, seed, _LONGEST, _EACH).goals
        known = np.where(goals < 0, 50, goals).reshape(len(records), _EACH, -1)
        means: NDArray[np.float64] = known.mean(axis=1) / 100.0
        return means

    def _count(self, goals: NDArray[np.int16], valued: NDArray[np.int64]) -> None:
        """Note the ends of some games (n, roles), and which role moved by the value in each (n,)."""
        known = (goals >= 0).all(axis=1)
        goals, valued = goals[known], valued[known]
        own = goals[np.arange(len(goals)), valued] / 100.0
        others = (goals.sum(axis=1) / 100.0 - own) / max(1, goals.shape[1] - 1)
        self._gains += (own - others).tolist()
        self.games = len(self._gains)
