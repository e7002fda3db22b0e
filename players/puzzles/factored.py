"""A one-player game that falls apart is solved part by part (M. Guenther, S. Schiffel and M. Thielscher:
Factoring general games, 2009).

Each factor (:mod:`propnet.analysis.factors`) is searched breadth-first on its own: states that differ in
other factors or in clocks alone are one. The lines are put together, and replayed; nothing is proven. Where
each move acts on one factor they follow one another; where each move is a choice in every factor they must
be equally long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from players.puzzles.solver import Certainty, LineSolver, Promise, Task
from propnet.analysis.factors import ALTERNATIVE, goal_terms, quick_factors
from propnet.analysis.ternary import Ternary, unpack_cases
from propnet.kernels.records import pack, unpack
from propnet.passes.circuit import FALSE

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

MOST_STATES = 300_000
MOST_BYTES = 1 << 26
"""States of one factor that are looked at, and what their records take at most."""

_BATCH = 2048
_MOST_WAITING = 1000
"""Moves that do nothing, at the end of a line, until the match is over."""


class Factored(LineSolver):
    """Looks for a line with the highest goal in a game that falls apart.

    Attributes:
        most: how many states it may look at in each factor.
    """

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
        return any(time.monotonic() >= deadline for _ in self._work)

    # --- the search, in slices -------------------------------------------------------------------
    def _solve(self) -> Iterator[None]:
        network = self.machine.network
        found = quick_factors(network)
        if found is None or found.count < 2:
            return
        yield
        value, literal = max(
            ((value, literal) for _, value, literal in network.goals.tolist() if literal != FALSE),
            default=(0, FALSE),
        )
        asked = goal_terms(network, found, literal)
        if asked is None:
            return
        yield
        all_of, wanted = asked
        self._ternary = Ternary(network)
        self._found, self._value = found, value
        if found.kind == ALTERNATIVE:
            yield from self._one_by_one(all_of, wanted)
        elif all_of:
            yield from self._side_by_side(wanted)

    def _one_by_one(self, all_of: bool, wanted: list[list[int]]) -> Iterator[None]:
        """Where each move acts on one factor."""
        lines: list[list[int]] = []
        for factor, literals in enumerate(wanted):
            if not literals:
                continue
            if not self._found.idle[factor]:
                return  # it does not wait for the others
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
        # The match may be over when a certain factor is done: each of them comes last once.
        for last in range(len(lines)):
            line = [move for other in (*lines[:last], *lines[last + 1 :], lines[last]) for move in other]
            if self._try(line):
                return
            yield

    def _side_by_side(self, wanted: list[list[int]]) -> Iterator[None]:
        """Where each move is a choice in every factor."""
        layers = [_Layers(self, factor, literals) for factor, literals in enumerate(wanted)]
        by_choices = {tuple(column): m for m, column in enumerate(self._found.choices.T.tolist())}
        while all(layer.count < self.most and layer.alive for layer in layers):
            ends = [layer.good() for layer in layers]
            if all(end >= 0 for end in ends):
                lines = [layer.choices_to(end) for layer, end in zip(layers, ends, strict=True)]
                line = [by_choices[choices] for choices in zip(*lines, strict=True)]
                if self._try(line):
                    return
            for layer in layers:
                layer.grow()
                yield

    def _try(self, line: list[int]) -> bool:
        """Report a line if it does what it should; it may wait at its end."""
        machine, state = self.machine, self.start
        waiting = np.flatnonzero((self._found.choices == 0).all(axis=0)).tolist()
        played: list[int] = []
        for place in range(len(line) + _MOST_WAITING):
            if machine.is_terminal(state):
                break
            legal = machine.legal_moves(state, 0)
            wanted = line[place : place + 1] or [move for move in waiting if move in legal][:1]
            if not wanted or wanted[0] not in legal:
                return False
            played += wanted
            state = machine.next_state(state, wanted)
        value = machine.result(state, 0)
        if not machine.is_terminal(state) or value is None:
            return False
        self.report(value, played)
        return value == self._value

    def holds(self, records: NDArray[np.uint64], literals: list[int]) -> NDArray[np.bool_]:
        """Which of some literals hold in some states: shape (n, literals)."""
        bits = unpack(records, len(self.machine.network.bases))
        return unpack_cases(self._ternary.state(self._ternary.known(bits))[literals], len(records))

    @property
    def factors(self) -> int:
        """How many factors there are."""
        return self._found.count

    def choices(self, factor: int) -> NDArray[np.int32]:
        """What each move chooses in a factor."""
        found: NDArray[np.int32] = self._found.choices[factor]
        return found

    def mask(self, factor: int) -> NDArray[np.uint64]:
        """The bits of a factor in a record."""
        record: NDArray[np.uint64] = pack(np.equal(self._found.bases, factor)[None])[0]
        return record


class _Reach:
    """Breadth-first search of one factor while the others stay as they are."""

    def __init__(self, whole: Factored, factor: int, literals: list[int], all_of: bool) -> None:
        self._whole, self._literals, self._all = whole, literals, all_of
        self._own = np.flatnonzero(whole.choices(factor) > 0)
        self._mask = whole.mask(factor)
        self.line: list[int] | None = None

    def search(self) -> Iterator[None]:
        whole, machine = self._whole, self._whole.machine
        level = machine.records([whole.start])
        seen = {(level[0] & self._mask).tobytes()}
        parents, moves = [-1], [-1]
        first = 0
        while len(level) and len(parents) < whole.most:
            following: list[NDArray[np.uint64]] = []
            for low in range(0, len(level), _BATCH):
                some = level[low : low + _BATCH]
                held = whole.holds(some, self._literals)
                good = np.flatnonzero(held.all(axis=1) if self._all else held.any(axis=1))
                if len(good):
                    self.line = _back(parents, moves, first + low + int(good[0]))
                    return
                evaluation = machine.evaluate(some)
                legal = unpack(evaluation.legal, machine.network.move_count)[:, self._own]
                legal[evaluation.terminal] = False
                rows, columns = np.nonzero(legal)
                if len(rows):
                    chosen = self._own[columns].astype(np.int32)
                    after = machine.successors(some[rows], chosen[:, None])
                    new: list[int] = []
                    for i, key in enumerate(_keys(after & self._mask)):
                        if key not in seen:
                            seen.add(key)
                            new.append(i)
                            parents.append(first + low + int(rows[i]))
                            moves.append(int(chosen[i]))
                    following.append(after[new])
                whole.states += len(some)
                yield
            first += len(level)
            level = np.concatenate(following) if following else level[:0]


class _Layers:
    """The states of one factor after exactly so many moves; the others stay where the search began."""

    def __init__(self, whole: Factored, factor: int, literals: list[int]) -> None:
        self._whole, self._literals = whole, literals
        self._choices = whole.choices(factor)
        self._mask = whole.mask(factor)
        others = np.zeros_like(self._mask)
        for other in range(whole.factors):
            if other != factor:
                others |= whole.mask(other)
        self._others = others
        self._start = whole.machine.records([whole.start])[0]
        self._layer = self._start[None]
        self._first = 0
        self._parents, self._chosen = [-1], [-1]

    @property
    def count(self) -> int:
        """How many states were made."""
        return len(self._parents)

    @property
    def alive(self) -> bool:
        """Whether there are states in the newest layer."""
        return len(self._layer) > 0

    def good(self) -> int:
        """A state of the newest layer in which all that is asked holds; -1 if there is none."""
        held = np.flatnonzero(self._whole.holds(self._layer, self._literals).all(axis=1))
        return self._first + int(held[0]) if len(held) else -1

    def choices_to(self, place: int) -> list[int]:
        """The choices that lead to a state."""
        return _back(self._parents, self._chosen, place)

    def grow(self) -> None:
        """Make the next layer."""
        machine = self._whole.machine
        evaluation = machine.evaluate(self._layer)
        legal = unpack(evaluation.legal, machine.network.move_count)
        legal[evaluation.terminal] = False
        rows, moves = np.nonzero(legal)
        pairs, places = np.unique(np.stack([rows, self._choices[moves]], axis=1), axis=0, return_index=True)
        after = machine.successors(self._layer[rows[places]], moves[places].astype(np.int32)[:, None])
        after = (after & ~self._others) | (self._start & self._others)
        seen: set[bytes] = set()
        new: list[int] = []
        for i, key in enumerate(_keys(after & self._mask)):
            if key not in seen:
                seen.add(key)
                new.append(i)
                self._parents.append(self._first + int(pairs[i, 0]))
                self._chosen.append(int(pairs[i, 1]))
        self._whole.states += len(self._layer)
        self._first += len(self._layer)
        self._layer = after[new]


def _back(parents: list[int], moves: list[int], place: int) -> list[int]:
    """The moves from the start to a state."""
    line: list[int] = []
    while parents[place] >= 0:
        line.append(moves[place])
        place = parents[place]
    return line[::-1]


def _keys(records: NDArray[np.uint64]) -> list[bytes]:
    """Each record as bytes."""
    width = records.shape[1] * 8
    data = records.tobytes()
    return [data[at : at + width] for at in range(0, len(data), width)]
