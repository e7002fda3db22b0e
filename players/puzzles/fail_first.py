"""Playouts that choose moves with the fewest replies: fail first (R. Haralick and G. Elliott, 1980), which on
a knight's tour is the rule of H. C. von Warnsdorff (1823).

Squares, queens and letters that can be reached in few ways are dealt with while they can still be reached.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.expander import Expander, Expansion
from propnet.jit.arrays import Int32s, Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_LINES = 64
"""Lines that are played in parallel."""
_STEPS = 1000
"""The most moves of a line; longer lines are dropped."""
_NOISE = 0.3
"""The noise of the last line, in units of the logarithm of the number of legal moves. The first line has no
noise: in it only equal successors are chosen at random."""
_FRUITLESS_SECONDS = 1.5
"""CPU seconds without a better line after which it gives up."""
_MOST_INPUTS = 100_000
"""The most gate inputs of a network that it is used on: it examines all successors of all states of a
line."""
_ROWS = 1 << 13
_MEMORY = 16 << 20


class FailFirst(LineSolver):
    """Plays lines in parallel, each move to a successor with the fewest legal moves that does not end the
    match. Ends are only reported. It gives up after some time without a better line."""

    name = "fail-first"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._record = task.machine.records([task.start]).copy()
        self._expander = Expander(task.machine, _ROWS)
        self._rng = np.random.default_rng(task.seed)
        self._best = (-1, 0)
        self._fruitless = 0.0
        self._begin()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        if len(machine.network.gate_inputs) > _MOST_INPUTS:
            return None
        return Promise(Certainty.MAY_FIND, memory=_MEMORY)

    def step(self, deadline: float) -> bool:
        while time.monotonic() < deadline:
            clock = time.thread_time()
            self._advance()
            self._fruitless += time.thread_time() - clock
            if self._fruitless > _FRUITLESS_SECONDS:
                return True
        return False

    def _begin(self) -> None:
        self._records = np.repeat(self._record, _LINES, axis=0)
        self._noise = np.linspace(0.0, _NOISE, _LINES)
        self._moves = np.zeros((_LINES, 0), np.int32)

    def _advance(self) -> None:
        """Make a move in all lines."""
        records, parents, moves, ranks = [], [], [], []
        for chunk in self._expander.stream(self._records, judged=True):
            self.states += len(chunk)
            self._note_ends(chunk)
            going = np.flatnonzero(~chunk.terminal)
            live = chunk.records[going]
            records.append(live)
            parents.append(chunk.parents[going])
            moves.append(chunk.moves[going, 0])
            ranks.append(self._ranks(live, self._noise[chunk.parents[going]]))
        parent = np.concatenate([np.zeros(0, np.int32), *parents])
        if not len(parent) or self._moves.shape[1] >= _STEPS:
            self._begin()
            return
        order = np.lexsort((np.concatenate(ranks), parent))
        first = order[np.flatnonzero(np.diff(parent[order], prepend=-1))]
        lines = parent[first]
        self._records = np.concatenate(records)[first]
        self._noise = self._noise[lines]
        self._moves = np.column_stack([self._moves[lines], np.concatenate(moves)[first]])

    def _ranks(self, records: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each state the logarithm of the number of legal moves, plus noise."""
        if not len(records):
            return np.zeros(0)
        count = unpack(self.machine.evaluate(records).legal, self.machine.network.move_count).sum(axis=1)
        blur = noise * self._rng.gumbel(size=len(records)) + 1e-6 * self._rng.random(len(records))
        ranks: NDArray[np.float64] = np.log1p(count) + blur
        return ranks

    def _note_ends(self, chunk: Expansion) -> None:
        """Report the best end among these successors if it is better than all previous ones."""
        ends = np.flatnonzero(chunk.terminal)
        if not len(ends):
            return
        goals = chunk.goals[ends, 0]
        end = int(ends[np.argmax(goals)])
        found = max(0, int(goals.max())), -(self._moves.shape[1] + 1)
        if found > self._best:
            self._fruitless = 0.0 if found[0] > self._best[0] else self._fruitless
            self._best = found
            line: Int32s = self._moves[chunk.parents[end]]
            self.report(found[0], [*line.tolist(), int(chunk.moves[end, 0])])
