"""The frontier as a puzzle solver: a hash table while there are few states, then sorting and merging.

Breadth-first search with a closed list: the best goal of a small one-player game, by a shortest line.

The closed list holds the states reached, each with the move that led to it. States are numbered in order of
arrival, and found by open addressing with linear probing. A slot of the table holds a state's number and the
upper half of its hash, so most comparisons with other states end there. The hash is mixed once more after
:func:`hash_record`, so that all bits reach both halves.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from gdl.errors import GdlError
from players.batch_machine import Records
from players.puzzles.frontier.budget import resident_bytes
from players.puzzles.frontier.frontier import FrontierSearch, clocks_are_idle
from players.puzzles.frontier.key_space import orbits_of
from players.puzzles.frontier.outcome import SearchLimits
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.analysis.cones import step_clocks
from propnet.expander import Expander, Expansion
from propnet.jit.arrays import Flags, Int32s, Words
from propnet.jit.decorators import kernel
from propnet.kernels.record_table import hash_record, mix, same_record
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine

_FIRST_SLOTS = 1 << 12
_LOW = np.uint64(0xFFFF_FFFF)


class ClosedList:
    """States without repetition. Two states are the same if they agree in the bits of a mask.

    Attributes:
        records: uint64, shape (capacity, words): the states; the first ``size`` rows are filled.
        parents: int32, shape (capacity,): the number of the state before, -1 for the first one.
        moves: int32, shape (capacity,): the move of role 0 that led from there.
        size: the number of states.
        capacity: the most states.
        merged: the number of states that counted as a state of an earlier layer but differed from it outside
            the mask.
    """

    def __init__(self, words: int, mask: Words, memory: int) -> None:
        """Args:
        words: of a record.
        mask: uint64, shape (words,).
        memory: bytes that the list may take as it grows; there is room for some states in any case.
        """
        # While the table grows there are two tables, one half as large as the other.
        tables = [1 << bits for bits in range(_FIRST_SLOTS.bit_length() - 1, 32)]
        affordable = (min(slots * 3 // 4, (memory - 12 * slots) // (8 * words + 8)) for slots in tables)
        self.capacity = max(_FIRST_SLOTS * 3 // 4, *affordable)
        self.records = np.empty((self.capacity, words), np.uint64)
        self.parents = np.empty(self.capacity, np.int32)
        self.moves = np.empty(self.capacity, np.int32)
        self.size = 0
        self.merged = 0
        self._mask = mask
        self._table = np.zeros(_FIRST_SLOTS, np.uint64)

    def add(
        self, records: Words, parents: Int32s, moves: Int32s, skipped: Flags, first_parent: int, layer: int
    ) -> bool:
        """Add the new ones among n states. Returns whether all of them fitted.

        Args:
            records: uint64, shape (n, words).
            parents: int32, shape (n,): numbers less ``first_parent``.
            moves: int32, shape (n,).
            skipped: bool, shape (n,): states not to add.
            first_parent: the offset of ``parents``.
            layer: the number of the first state in the same layer as these.
        """
        done = 0
        while done < len(records):
            if self.size >= self.capacity:
                return False
            if self.size * 4 >= len(self._table) * 3:
                self.grow()
            room = min(self.capacity, len(self._table) * 3 // 4)
            done, self.size, merged = _add(
                self._table, self.records, self.parents, self.moves, self.size, room, self._mask,
                records, parents, moves, skipped, done, first_parent, layer,
            )  # fmt: skip
            self.merged += merged
        return True

    def grow(self) -> None:
        """Double the size of the table."""
        self._table = np.zeros(2 * len(self._table), np.uint64)
        _rehash(self._table, self.records, self.size, self._mask)

    def path(self, number: int) -> list[int]:
        """Return the moves from the first state to this one."""
        moves: list[int] = []
        while self.parents[number] >= 0:
            moves.append(int(self.moves[number]))
            number = int(self.parents[number])
        moves.reverse()
        return moves


@kernel
def _rehash(table: Words, records: Words, size: int, mask: Words) -> None:
    last = np.uint64(len(table) - 1)
    for number in range(size):
        h = mix(hash_record(records, number, mask), np.uint64(0))
        slot = h & last
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & last
        table[slot] = (h & ~_LOW) | np.uint64(number + 1)


@kernel
def _add(
    table: Words,
    records: Words,
    parents: Int32s,
    moves: Int32s,
    size: int,
    room: int,
    mask: Words,
    new: Words,
    new_parents: Int32s,
    new_moves: Int32s,
    skipped: Flags,
    done: int,
    first_parent: int,
    layer: int,
) -> tuple[int, int, int]:
    """Add the rows from ``done`` on until there are ``room`` states. Returns the row to continue from, the
    new size, and the number of merged states."""
    last = np.uint64(len(table) - 1)
    merged = 0
    for row in range(done, len(new)):
        if skipped[row]:
            continue
        h = mix(hash_record(new, row, mask), np.uint64(0))
        slot = h & last
        found = False
        while table[slot] != 0:
            if (table[slot] ^ h) & ~_LOW == 0:
                number = np.int64(table[slot] & _LOW) - 1
                if same_record(records, number, new, row, mask):
                    found = True
                    if number < layer and not same_record(records, number, new, row):
                        merged += 1
                    break
            slot = (slot + np.uint64(1)) & last
        if found:
            continue
        if size >= room:
            return row, size, merged
        for word in range(mask.size):
            records[size, word] = new[row, word]
        parents[size] = first_parent + new_parents[row]
        moves[size] = new_moves[row]
        table[slot] = (h & ~_LOW) | np.uint64(size + 1)
        size += 1
    return len(new), size, merged


_ROWS = 1 << 14
_SHORT = 0.004
"""Seconds that a part of a layer should take, so that deadlines are met."""
_FEWEST, _MOST = 128, 1 << 13
_MOST_STEPS = 1 << 12


class BreadthFirst(LineSolver):
    """Visits the states layer by layer, each once.

    Clocks do not distinguish states at first: if two states differ only in a clock, the earlier one can still
    do all that the other can. If this ends without goal 100, states with different clocks were merged, and
    ends or goals depend on the clock, the clock alone may end a line with a higher goal: the search is
    repeated with clocks.

    If the memory does not suffice, the search gives up.
    """

    name = "breadth-first"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.memory = task.memory
        self._mask: Records = pack(~step_clocks(self.machine.network)[None, :])[0]
        self._best = -1
        self._length = 0
        self._expander = Expander(self.machine, _ROWS)
        self._some = _FEWEST
        self._begin()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return Promise(Certainty.PROVES, alike=True)

    def _begin(self) -> None:
        """Begin with only the start."""
        self._closed = ClosedList(self.machine.words, self._mask, self.memory)
        record = self.machine.records([self.start]).copy()
        none = np.full(1, -1, np.int32)
        self._closed.add(record, none, none, np.zeros(1, np.bool_), 0, 0)
        self._next, self._layer_end = 0, 1
        self._depth = 0
        self._over = False

    def step(self, deadline: float) -> bool:
        while not self._over:
            now = time.monotonic()
            if now >= deadline:
                return False
            if not self._expand_some():
                self._over = True
                break
            taken = time.monotonic() - now
            self._some = int(min(_MOST, 2 * self._some, max(_FEWEST, self._some * _SHORT / max(taken, 1e-6))))
            if self._next == self._closed.size:
                self._finish()
        return True

    def _finish(self) -> None:
        """Accept the best goal as proven after all states are visited, or repeat the search with clocks."""
        if self._best < 100 and self._closed.merged:
            start = self.machine.records([self.start]).copy()
            if not clocks_are_idle(self.machine, start, _MOST_STEPS, ever=True):
                self._mask = np.full_like(self._mask, np.iinfo(np.uint64).max)
                self._begin()
                return
        self._over = True
        self.proven, self.hopeless = self._best, self._best < 0

    def _expand_some(self) -> bool:
        """Visit the next states of this layer. Returns whether the search can continue."""
        closed = self._closed
        if self._next == self._layer_end:
            self._layer_end = closed.size
            self._depth += 1
        first = self._next
        self._next = min(self._layer_end, first + self._some)
        for chunk in self._expander.stream(closed.records[first : self._next], judged=True):
            self._note_ends(chunk, first)
            if self.proven >= 0:
                return False
            moves = np.ascontiguousarray(chunk.moves[:, 0])
            if not closed.add(chunk.records, chunk.parents, moves, chunk.terminal, first, self._layer_end):
                return False
        self.states += self._next - first
        return True

    def _note_ends(self, chunk: Expansion, first: int) -> None:
        """Report the best end among these successors if it is better than all previous ones."""
        if not chunk.terminal.any():
            return
        values = np.where(chunk.terminal, np.maximum(chunk.goals[:, 0], 0), -1)
        best = int(np.argmax(values))
        value = int(values[best])
        length = self._depth + 1
        if (value, -length) <= (self._best, -self._length):
            return
        self._best, self._length = value, length
        self.report(value, [*self._closed.path(first + int(chunk.parents[best])), int(chunk.moves[best, 0])])
        if value == 100:
            self.proven = value

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        solver = cls(Task(machine, machine.initial_state(), lambda value, moves: None, 0))
        solver._expand_some()
        solver._closed.grow()


_SMALL = 64 << 20
"""The most bytes of the hash table; beyond that, sorting and merging is as fast in a tenth of the memory."""
_LARGE = 200_000
"""Networks with more gate inputs take longer to recode than to search until the memory is full."""


_MANY = 20_000
"""States after which the solver looks for automorphisms: to find them takes about as long."""


class Frontier(LineSolver):
    """Visits all states layer by layer, or as many as the highest goal requires. If there are many, and it
    pays, one state stands for all that automorphisms make of it. It gives up when the memory is full."""

    name = "frontier"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._task = task
        self._best = (-1, 0)
        large = len(task.machine.network.gate_inputs) > _LARGE
        memory = task.memory if large else min(task.memory // 2, _SMALL)
        self._small: BreadthFirst | None = BreadthFirst(replace(task, report=self._keep, memory=memory))
        self._counted, self._orbits = 0, _MANY
        self._search: FrontierSearch | None = None

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return Promise(Certainty.PROVES, alike=True)

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        BreadthFirst.warm_up(machine)
        solver = cls(Task(machine, machine.initial_state(), lambda value, moves: None, 1 << 20))
        solver._small = None
        solver.step(time.monotonic() + 0.01)

    def step(self, deadline: float) -> bool:
        if self._small is not None:
            finished = self._small.step(deadline)
            self.states, self.proven = self._counted + self._small.states, self._small.proven
            self.hopeless = self._small.hopeless
            if not finished and self.states > self._orbits:
                self._begin_with_orbits()
            if not finished or self.proven >= 0 or self.hopeless:
                return finished
            self._small = None
        return self._sort_and_merge(deadline)

    def _begin_with_orbits(self) -> None:
        """Begin again with one state of each orbit, if that pays."""
        self._orbits, small = sys.maxsize, self._small
        found = orbits_of(self.machine, True, None)
        if found is None or small is None:
            return
        orbits, network = found
        game = PropnetMachine(self.machine.rules, network)
        start = game.states(orbits.canonical(self.machine.records([self.start])))[0]

        def unfold(value: int, moves: Sequence[int]) -> None:
            states = list(
                accumulate(moves, lambda state, move: game.next_state(state, [move]), initial=start)
            )
            line = orbits.unfold(self.machine, self.start, game.records(states[1:]))
            self._keep(value, [move for (move,) in line])

        self._counted = self.states
        self._small = BreadthFirst(Task(game, start, unfold, small.memory))

    def _sort_and_merge(self, deadline: float) -> bool:
        if self._search is None:
            options = SearchLimits(memory=resident_bytes() + self._task.memory)
            self._search = FrontierSearch(self.machine, self.machine.records([self.start]), options)
            self._counted = self.states
        search = self._search
        try:
            finished = search.step(deadline)
        except GdlError:
            finished = True
        self.states = self._counted + search.states
        if search.best >= 0:
            self._keep(search.best, search.lines[search.best])
        if search.proven:
            self.proven, self.hopeless = search.best, search.best < 0
        if finished:
            search.close()
        return finished

    def _keep(self, value: int, moves: Sequence[int]) -> None:
        """Report a line unless an equally good one was reported."""
        if (value, -len(moves)) > self._best:
            self._best = value, -len(moves)
            self.report(value, moves)
