"""The frontier as a puzzle solver: a hash table as long as the states are few, then sorting and merging."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gdl.errors import GdlError
from players.puzzles.breadth_first import BreadthFirst
from players.puzzles.frontier.budget import resident_bytes
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierOptions
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.machine import PropnetMachine

_SMALL = 64 << 20
"""Bytes of the hash table; past that sorting and merging is as fast, in a tenth of the memory."""
_LARGE = 200_000
"""Gate inputs of networks that take longer to recode than to search as far as the memory goes."""


class Frontier(LineSolver):
    """Visits all states layer by layer, or as many as lead to the highest goal. It gives up when the memory
    is full."""

    name = "frontier"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._task = task
        self._best = (-1, 0)
        large = len(task.machine.network.gate_inputs) > _LARGE
        memory = task.memory if large else min(task.memory // 2, _SMALL)
        small = Task(task.machine, task.start, self._keep, memory, task.seed)
        self._small: BreadthFirst | None = BreadthFirst(small)
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
            going = self._small.step(deadline)
            self.states, self.proven = self._small.states, self._small.proven
            self.bound, self.hopeless = self._small.bound, self._small.hopeless
            if going or self.proven >= 0 or self.hopeless:
                return going
            self._small = None
        return self._sort_and_merge(deadline)

    def _sort_and_merge(self, deadline: float) -> bool:
        if self._search is None:
            options = FrontierOptions(memory=resident_bytes() + self._task.memory)
            self._search = FrontierSearch(self.machine, self.machine.records([self.start]), options)
            self._counted = self.states
        search = self._search
        try:
            going = search.step(deadline)
        except GdlError:
            going = False
        self.states = self._counted + search.states
        if search.best >= 0:
            self._keep(search.best, search.lines[search.best])
        if search.proven:
            self.proven, self.hopeless = search.best, search.best < 0
        if not going:
            search.close()
        return going

    def _keep(self, value: int, moves: Sequence[int]) -> None:
        """Report a line unless as good a one was reported."""
        if (value, -len(moves)) > self._best:
            self._best = value, -len(moves)
            self.report(value, moves)
