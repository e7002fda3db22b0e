"""Solve a one-player game of independent parts one part at a time (M. Guenther, S. Schiffel and M.
Thielscher: Factoring general games, 2009).

Each factor (:mod:`propnet.analysis.factors`) is searched breadth-first on its own: states that differ only in
other factors or in clocks count as the same. The lines of the factors are combined and replayed; nothing is
proven. If each move acts on one factor, the lines follow one another. If each move is a choice in every
factor, all lines must have the same length.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.analysis.factors import ALTERNATIVE, goal_terms, quick_factors
from propnet.analysis.ternary import Ternary, unpack_cases
from propnet.kernels.records import pack, unpack
from propnet.passes.circuit import FALSE

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

MOST_STATES = 300_000
MOST_BYTES = 1 << 26
"""The most states of one factor that are examined, and the most bytes of their records."""
_BATCH = 2048
_MOST_WAITING = 1000
"""The most moves without effect that are appended to a line until the match is over."""


class Factored(LineSolver):
    """Looks for a line with the highest goal in a game of independent factors, in at most ``most`` states per
    factor."""

    name: ClassVar[str] = "factored"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.most = min(MOST_STATES, task.memory // (8 * self.machine.words))
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        factors = quick_factors(machine.network)
        if factors is None or factors.count < 2:
            return None
        return Promise(Certainty.FINDS, memory=MOST_BYTES, alike=True)

    def step(self, deadline: float) -> bool:
        return all(time.monotonic() < deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        network = self.machine.network
        factors = quick_factors(network)
        if factors is None or factors.count < 2:
            return
        yield
        value, literal = max(
            ((value, literal) for _, value, literal in network.goals.tolist() if literal != FALSE),
            default=(0, FALSE),
        )
        asked = goal_terms(network, factors, literal)
        if asked is None:
            return
        yield
        all_of, targets = asked
        self._ternary = Ternary(network)
        self._factors, self._value = factors, value
        if factors.kind == ALTERNATIVE:
            yield from self._one_by_one(all_of, targets)
        elif all_of:
            yield from self._side_by_side(targets)

    def _one_by_one(self, all_of: bool, targets: list[list[int]]) -> Iterator[None]:
        """Search the factors one after another, if each move acts on one factor."""
        lines: list[list[int]] = []
        for factor, literals in enumerate(targets):
            if not literals:
                continue
            if not self._factors.idle[factor]:
                return  # this factor cannot wait while others move
            reach = _Reach(self, factor, literals, all_of)
            yield from reach.search()
            if reach.line is not None:
                lines.append(reach.line)
            elif all_of:
                return
        if not all_of:
            for line in lines:
                self._try(line)
            return
        # The match may be over when a certain factor is done: each factor comes last once.
        for last in range(len(lines)):
            line = [move for other in (*lines[:last], *lines[last + 1 :], lines[last]) for move in other]
            if self._try(line):
                return
            yield

    def _side_by_side(self, wanted: list[list[int]]) -> Iterator[None]:
        """Search the factors in parallel, if each move is a choice in every factor."""
        layers = [_Layers(self, factor, literals) for factor, literals in enumerate(wanted)]
        by_choices = {tuple(column): m for m, column in enumerate(self._factors.choices.T.tolist())}
        while all(len(layer.layer) and layer.count < self.most for layer in layers):
            lines = [line for layer in layers if (line := layer.choices()) is not None]
            if len(lines) < len(layers):
                lines = []
            if lines and self._try([by_choices[choices] for choices in zip(*lines, strict=True)]):
                return
            for layer in layers:
                layer.grow()
                yield

    def _try(self, line: list[int]) -> bool:
        """Report a line if it reaches the end of the match; it may wait at its end. Returns whether it has
        the best value."""
        machine, state = self.machine, self.start
        waiting = np.flatnonzero((self._factors.choices == 0).all(axis=0)).tolist()
        played: list[int] = []
        for place in range(len(line) + _MOST_WAITING):
            if machine.is_terminal(state):
                break
            legal = machine.legal_moves(state, 0)
            chosen = line[place : place + 1] or [move for move in waiting if move in legal][:1]
            if not chosen or chosen[0] not in legal:
                return False
            played += chosen
            state = machine.next_state(state, chosen)
        value = machine.result(state, 0)
        if not machine.is_terminal(state) or value is None:
            return False
        self.report(value, played)
        return value == self._value

    def holds(self, records: NDArray[np.uint64], literals: list[int]) -> NDArray[np.bool_]:
        """Return which literals hold in which states: bool, shape (n, literals)."""
        bits = unpack(records, len(self.machine.network.bases))
        return unpack_cases(self._ternary.state(self._ternary.known(bits))[literals], len(records))

    def choices(self, factor: int) -> NDArray[np.int32]:
        """Return the choice that each move makes in a factor."""
        choices: NDArray[np.int32] = self._factors.choices[factor]
        return choices

    def mask(self, factor: int) -> NDArray[np.uint64]:
        """Return the bits of a factor in a record."""
        record: NDArray[np.uint64] = pack(np.equal(self._factors.bases, factor)[None])[0]
        return record

    def mask_of_others(self, factor: int) -> NDArray[np.uint64]:
        """Return the bits of all other factors in a record."""
        bases = self._factors.bases
        record: NDArray[np.uint64] = pack(((bases >= 0) & (bases != factor))[None])[0]
        return record


class _FactorSearch:
    """Searches the states of one factor, layer by layer. States with the same value of the factor are the
    same. ``count`` is the number of states found; ``layer`` are the newest ones, uint64 (n, words)."""

    def __init__(self, whole: Factored, factor: int, literals: list[int]) -> None:
        self._whole, self._literals = whole, literals
        self._mask = whole.mask(factor)
        self.layer = whole.machine.records([whole.start])
        self._first = 0
        self._parents, self._moves = [-1], [-1]

    @property
    def count(self) -> int:
        return len(self._parents)

    def _line(self, place: int) -> list[int]:
        """Return the moves from the start to a state."""
        line: list[int] = []
        while self._parents[place] >= 0:
            line.append(self._moves[place])
            place = self._parents[place]
        return line[::-1]

    def _legal(self, states: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return the legal moves of states, bool (n, moves); none if the match is over."""
        machine = self._whole.machine
        evaluation = machine.evaluate(states)
        legal = unpack(evaluation.legal, machine.network.move_count)
        legal[evaluation.terminal] = False
        self._whole.states += len(states)
        return legal

    def _new(
        self, after: NDArray[np.uint64], parents: list[int], moves: list[int], seen: set[bytes]
    ) -> NDArray[np.uint64]:
        """Record the states that are new, and return them."""
        new: list[int] = []
        width = after.shape[1] * 8
        keys = (after & self._mask).tobytes()
        for i in range(len(after)):
            key = keys[i * width : (i + 1) * width]
            if key not in seen:
                seen.add(key)
                new.append(i)
                self._parents.append(parents[i])
                self._moves.append(moves[i])
        return after[new]


class _Reach(_FactorSearch):
    """Breadth-first search of one factor while the others stay unchanged. ``line`` leads to a state in which
    all of the literals hold, or any of them; it is None while no such line is found."""

    def __init__(self, whole: Factored, factor: int, literals: list[int], all_of: bool) -> None:
        super().__init__(whole, factor, literals)
        self._holds = np.all if all_of else np.any
        self._own = np.flatnonzero(whole.choices(factor) > 0)
        self.line: list[int] | None = None

    def search(self) -> Iterator[None]:
        whole = self._whole
        seen = {(self.layer[0] & self._mask).tobytes()}
        while len(self.layer) and self.count < whole.most:
            following = [self.layer[:0]]
            for low in range(0, len(self.layer), _BATCH):
                states = self.layer[low : low + _BATCH]
                good = np.flatnonzero(self._holds(whole.holds(states, self._literals), axis=1))
                if len(good):
                    self.line = self._line(self._first + low + int(good[0]))
                    return
                rows, columns = np.nonzero(self._legal(states)[:, self._own])
                if len(rows):
                    moves = self._own[columns].astype(np.int32)
                    after = whole.machine.successors(states[rows], moves[:, None])
                    parents = (self._first + low + rows).tolist()
                    following.append(self._new(after, parents, moves.tolist(), seen))
                yield
            self._first += len(self.layer)
            self.layer = np.concatenate(following)


class _Layers(_FactorSearch):
    """The states of one factor after a given number of moves; the others stay in their initial state."""

    def __init__(self, whole: Factored, factor: int, literals: list[int]) -> None:
        super().__init__(whole, factor, literals)
        self._choices = whole.choices(factor)
        self._others = whole.mask_of_others(factor)
        self._start = self.layer[0]

    def choices(self) -> list[int] | None:
        """Return the choices that lead to a state of the newest layer in which all of the literals hold."""
        good = np.flatnonzero(self._whole.holds(self.layer, self._literals).all(axis=1))
        return self._line(self._first + int(good[0])) if len(good) else None

    def grow(self) -> None:
        """Make the next layer."""
        rows, moves = np.nonzero(self._legal(self.layer))
        pairs, places = np.unique(np.stack([rows, self._choices[moves]], axis=1), axis=0, return_index=True)
        chosen = moves[places].astype(np.int32)[:, None]
        after = self._whole.machine.successors(self.layer[rows[places]], chosen)
        after = (after & ~self._others) | (self._start & self._others)
        parents = (self._first + pairs[:, 0]).tolist()
        self._first += len(self.layer)
        self.layer = self._new(after, parents, pairs[:, 1].tolist(), set())
