"""The solvers of a one-player game at work: they take turns, and the best line that any finds is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gdl.machine import Machine, State
from players.puzzles.best_line import BestLine
from players.puzzles.solver import LineSolver

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

_LEAST_SECONDS = 0.001
"""Counted for a turn in which a solver did nothing since there was too little time, so that others come."""
_SHARE = 2.0
"""The solvers get so many times the time that the tree beside them gets, ..."""
_SLICE_SECONDS = 0.05
"""... at least so many seconds of it at once, since some of them work in rounds."""


class LineSearch:
    """Looks for the best line from one state of a one-player game.

    Args:
        machine: the machine; one without lanes gets no solvers.
        start: the state, not terminal.
        line: is given each line that is better than the one it has.
        memory: bytes that the solvers may take.
        seed: what their randomness comes from.
        number: which of several such searches for the same match this is. The first one alone searches
            breadth-first, which several would do all alike.
    """

    def __init__(
        self, machine: Machine, start: State, line: BestLine, memory: int, seed: int, number: int = 0
    ) -> None:
        self.start = start
        self.proven = -1
        self._line = line
        self._solvers: list[LineSolver] = []
        self._spent: list[float] = []
        self._credit = 0.0
        if hasattr(machine, "playouts_from"):
            from players.puzzles.breadth_first import BreadthFirst
            from players.puzzles.factored import Factored
            from players.puzzles.nrpa import NestedPolicy

            network: PropnetMachine = machine  # type: ignore[assignment]
            if number == 0:
                self._solvers.append(BreadthFirst(network, start, self._keep, memory))
                self._solvers.append(Factored(network, start, self._keep))
            self._solvers.append(NestedPolicy(network, start, self._keep, seed))
            self._spent = [0.0] * len(self._solvers)

    def holds(self, state: State) -> bool:
        """Whether all this is about a state: the start, or one on the best line if that is proven."""
        if state == self.start:
            return True
        return self.proven >= 0 and self._line.value == self.proven

    @property
    def active(self) -> bool:
        """Whether there is anything left to do."""
        return bool(self._solvers)

    def learn(self, seconds: float) -> None:
        """Take note of the time that a batch of the tree took."""
        self._credit += seconds * _SHARE

    @property
    def due(self) -> bool:
        """Whether it is the solvers' turn."""
        return self._credit > _SLICE_SECONDS and self.active

    def step(self, deadline: float) -> bool:
        """Let the solver that had the least time work for the time that is owed to the solvers, at least
        for a slice, at most until about the deadline (time.monotonic() seconds). Returns whether there is
        anything left to do."""
        if not self._solvers:
            return False
        place = self._spent.index(min(self._spent))
        solver = self._solvers[place]
        began = time.monotonic()
        goes_on = solver.step(min(began + max(self._credit, _SLICE_SECONDS), deadline))
        seconds = time.monotonic() - began
        self._credit -= max(seconds, _SLICE_SECONDS)
        self._spent[place] += max(_LEAST_SECONDS, seconds)
        if solver.proven >= 0:
            self.proven = solver.proven
            self._solvers.clear()
        elif not goes_on:
            del self._solvers[place], self._spent[place]
        return self.active

    def _keep(self, value: int, moves: Sequence[int]) -> None:
        if self._line.beaten_by(value, len(moves)):
            self._line.keep(self.start, list(moves), value)
