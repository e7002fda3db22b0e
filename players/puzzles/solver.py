"""`LineSolver`: what looks for lines of moves in a one-player game; solvers of any kind plug in here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from gdl.machine import State

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

Report = Callable[[int, Sequence[int]], None]
"""Is told of a finished line: its goal value 0..100, and the move ids from the solver's start on."""


class LineSolver(ABC):
    """Looks for lines from one state of a one-player game, in slices of time.

    A solver is made for one start, asked for any number of slices, and dropped. What it reports must
    replay: every move legal, the state after the last one terminal, with the goal value it says.

    Attributes:
        name: for people.
        machine: the machine.
        start: the state its lines begin in, not terminal.
        report: told of each line better than those before: a higher value, or as high and shorter.
        proven: the best goal value that any line from the start has, -1 while that is not known. Lines
            that never end do not count. A line of this value was reported by then.
    """

    name: ClassVar[str]

    def __init__(self, machine: PropnetMachine, start: State, report: Report) -> None:
        self.machine = machine
        self.start = start
        self.report = report
        self.proven = -1

    @abstractmethod
    def step(self, deadline: float) -> bool:
        """Work until about the deadline (time.monotonic() seconds), a few milliseconds more or less.
        Returns whether there is anything left to do."""
