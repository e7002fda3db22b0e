"""Breadth-first search with a closed list: the best goal of a small one-player game, by a shortest line."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from players.batch_machine import Records
from players.puzzles.closed_list import ClosedList
from players.puzzles.solver import Certainty, LineSolver, Promise, Task
from propnet.analysis.cones import step_clocks
from propnet.analysis.longest import clock_stages
from propnet.expander import Expander, Expansion
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import clock_states

_ROWS = 1 << 14
_SHORT = 0.004
"""Seconds that a part of a layer should take, so that deadlines are kept."""
_FEWEST, _MOST = 128, 1 << 13
_SWEPT = 1 << 10
_MOST_STEPS = 1 << 12
_ENDED_SHARE = 16
"""Ends that were met get this part of the memory."""


class BreadthFirst(LineSolver):
    """Visits the states layer by layer, each once.

    Clocks do not tell states apart at first: of two that differ in nothing else, the one met earlier can
    still do all that the other can. When that ends without goal 100, and states with different clocks
    were taken for one, only the clock may have ended a line with a goal. The highest one of which any state
    that was met is an end, at any later step, is a bound: a line that reaches it is the best; until there is
    one all is done again with clocks.

    Where the memory does not suffice the search gives up.
    """

    name = "breadth-first"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._memory = task.memory
        self._clocks = step_clocks(self.machine.network)
        self._mask: Records = pack(~self._clocks[None, :])[0]
        self._sweeping: Iterator[int | None] | None = None
        self._best = -1
        self._length = 0
        self._expander = Expander(self.machine, _ROWS)
        self._some = _FEWEST
        self._begin()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return Promise(Certainty.PROVES, alike=True)

    def _begin(self) -> None:
        """Begin with the start alone."""
        self._closed = ClosedList(self.machine.words, self._mask, self._memory)
        record = self.machine.records([self.start]).copy()
        none = np.full(1, -1, np.int32)
        self._closed.add(record, none, none, np.zeros(1, np.bool_), 0, 0)
        self._next, self._layer_end = 0, 1
        self._depth = 0
        self._over = False
        self._ended = ClosedList(self.machine.words, self._mask, self._memory // _ENDED_SHARE)
        self._starts, self._ended_starts, self._all_ended = [0], [0], True
        """At which number each depth begins; whether there was room for all ends."""

    def step(self, deadline: float) -> bool:
        while not self._over:
            now = time.monotonic()
            if now >= deadline:
                return True
            if self._sweeping is not None:
                if (bound := next(self._sweeping)) is not None:
                    self._sweeping = None
                    self._conclude(bound)
                continue
            if not self._expand_some():
                self._over = True
                break
            taken = time.monotonic() - now
            self._some = int(min(_MOST, 2 * self._some, max(_FEWEST, self._some * _SHORT / max(taken, 1e-6))))
            if self._next == self._closed.size:
                self._finish()
        return False

    def _finish(self) -> None:
        """All states were visited."""
        if self._best < 100 and self._closed.merged:
            self._sweeping = self._sweep()
        else:
            self._conclude(self._best)

    def _conclude(self, bound: int) -> None:
        """The best goal is proven, or all is done again with clocks."""
        if self._best >= bound:
            self._over = True
            self.proven, self.hopeless = self._best, self._best < 0
        else:
            self.bound = bound
            self._mask = np.full_like(self._mask, np.iinfo(np.uint64).max)
            self._begin()

    def _sweep(self) -> Iterator[int | None]:
        """Find the highest goal that the clock can make of any state at a step later than when it was met
        first; if it may undo an end, beyond which nothing was looked at, that is 100. Yields None now and
        then, and at last that goal."""
        machine = self.machine
        bases = len(machine.network.bases)
        values = clock_states(machine, _MOST_STEPS, machine.records([self.start]).copy())
        rows = unpack(values, bases).astype(np.bool_)
        stages = clock_stages(machine.network, self._clocks, rows, len(values) < _MOST_STEPS)
        if stages is None or not self._all_ended:
            yield 100
            return
        self._starts.append(self._closed.size)
        self._ended_starts.append(self._ended.size)
        bound = self._best
        for stage in stages:
            clock = pack(stage.values[None, :])[0]
            for ended, found, starts in (
                (True, self._ended, self._ended_starts),
                (False, self._closed, self._starts),
            ):
                size = starts[min(stage.last, len(starts) - 1)]
                for first in range(0, size, _SWEPT):
                    records = found.records[first : min(size, first + _SWEPT)] & self._mask | clock
                    terminal, goals = machine.ends(records)
                    bound = max(bound, int(np.where(terminal, np.maximum(goals[:, 0], 0), -1).max()))
                    if bound == 100 or (ended and not terminal.all()):
                        yield 100
                        return
                    yield None
        yield bound

    def _expand_some(self) -> bool:
        """Visit the next states of this layer. Returns whether the search can go on."""
        closed = self._closed
        if self._next == self._layer_end:
            self._starts.append(self._layer_end)
            self._ended_starts.append(self._ended.size)
            self._layer_end = closed.size
            self._depth += 1
        first = self._next
        self._next = min(self._layer_end, first + self._some)
        for chunk in self._expander.stream(closed.records[first : self._next], judged=True):
            self._note_ends(chunk, first)
            if self.proven >= 0:
                return False
            moves = np.ascontiguousarray(chunk.moves[:, 0])
            if self._all_ended and chunk.terminal.any():
                self._all_ended = self._ended.add(
                    chunk.records, chunk.parents, moves, ~chunk.terminal, first, self._layer_end
                )
            if not closed.add(chunk.records, chunk.parents, moves, chunk.terminal, first, self._layer_end):
                return False
        self.states += self._next - first
        return True

    def _note_ends(self, chunk: Expansion, first: int) -> None:
        """Report the best end among these successors if it is better than all before."""
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
        if value >= self.bound:
            self.proven = value

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        solver = cls(Task(machine, machine.initial_state(), lambda value, moves: None, 0))
        solver._expand_some()
        solver._closed.grow()
