"""`LineSolver`: a puzzle solver, its promise and its solution; the solvers by name.

>>> "nested-policy" in [solver.name for solver in solvers_named(None)]
True
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_term
from players.companions import Stepwise
from players.plugins import class_named, plugins
from propnet.capabilities import lane_machine
from propnet.jit.parts import Part
from propnet.passes.circuit import FALSE

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine
    from propnet.network import Network

Report = Callable[[int, Sequence[int]], None]
"""Called with a finished line: its goal value 0..100, and the move ids from the solver's start on."""


class Certainty(Enum):
    """The result that a solver expects to achieve in a game."""

    MASTERS = "masters"
    """It is made for exactly this kind of game, and has proven that the game is one: others would waste its
    time."""
    PROVES = "proves"
    """It finds a best line and proves that it is the best, if time and memory suffice."""
    FINDS = "finds"
    """It knows this kind of game: it finds good lines fast."""
    MAY_FIND = "may find"
    """It works on any game, with luck."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A solver's forecast for a game after a look at its network, within milliseconds.

    Attributes:
        outcome: the expected result, and how certain it is.
        seconds: CPU seconds until then, as far as it can estimate; infinite if it cannot.
        memory: bytes that it needs; None if more is always better.
        alike: whether it does the same for every seed, so that one of several processes is enough.
    """

    outcome: Certainty
    seconds: float = math.inf
    memory: int | None = None
    alike: bool = False

    @property
    def weight(self) -> float:
        """Its relative share of the time: doubled if it knows the game, and again if it knows the cost;
        nearly all if it is made for the game."""
        if self.outcome is Certainty.MASTERS:
            return 30.0
        factor = 2.0 if self.outcome is Certainty.FINDS else 1.0
        return factor * (2.0 if math.isfinite(self.seconds) else 1.0)


@dataclass(frozen=True, slots=True)
class Task:
    """The arguments for a solver.

    Attributes:
        machine: the machine.
        start: the state in which lines begin, not terminal.
        report: called with each line that is better than those before: a higher value, or as high and
            shorter.
        memory: bytes that it may use.
        seed: seed of its random choices.
    """

    machine: PropnetMachine
    start: State
    report: Report
    memory: int
    seed: int = 0


class LineSolver(Stepwise, ABC):
    """Looks for lines from one state of a one-player game, in slices of time.

    A solver is created for one start, asked for any number of slices, and dropped. Lines that it reports must
    replay: every move legal, the state after the last one terminal, with the reported goal value. It needs
    neither a tree nor a match: see :mod:`players.portfolio`.

    Attributes:
        name: the name by which people select it, as in the entry points (:mod:`players.plugins`).
        machine, start, report: as in its task.
        proven: the best goal value of any line from the start, -1 while unknown. Lines that never end do not
            count. A line of this value was reported before.
        hopeless: whether it is proven that no line from the start comes to an end.
        states: number of states it has looked at.
    """

    name: ClassVar[str]
    shortens: ClassVar[bool] = False
    """Whether it goes on for shorter lines once one has the best goal."""

    def __init__(self, task: Task) -> None:
        self.machine = task.machine
        self.start = task.start
        self.report = task.report
        self.proven = -1
        self.hopeless = False
        self.states = 0

    @classmethod
    @abstractmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        """Its promise for this game, within milliseconds; None if it can do nothing."""

    urgent: ClassVar[int] = 1
    """The number of parts of its kernels that an easy puzzle needs."""

    @classmethod
    def warm_up_parts(cls, small: Callable[[], PropnetMachine]) -> tuple[Part, ...]:
        """Its kernels in parts, the most urgent first. ``small`` makes the machine of a small game."""
        return ((cls.name, lambda: cls.warm_up(small())),)

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        """Compile or load its kernels, by default with a short search of this small game."""
        task = Task(machine, machine.initial_state(), lambda value, moves: None, 1 << 20)
        cls(task).step(time.monotonic() + 0.01)


def highest_goal(network: Network) -> int:
    """The highest goal value that a network can have: a line that reaches it needs no other proof."""
    goals = network.goals.tolist()
    return max((value for _, value, literal in goals if literal != FALSE), default=0)


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of solving a puzzle.

    Attributes:
        value: the goal value of the line, 0..100; -1 if there is no line.
        moves: the line, as GDL.
        proven: whether no line has a higher value; with value -1, whether no line comes to an end.
        solver: the name of the solver that found it; empty if none has.
        states: number of states that all solvers have looked at.
        seconds: CPU seconds of the search.
    """

    value: int
    moves: tuple[str, ...]
    proven: bool
    solver: str
    states: int
    seconds: float

    @property
    def rank(self) -> tuple[int, bool, int]:
        """A sort key for solutions of one game: better solutions have larger ranks."""
        return self.value, self.proven, -len(self.moves)


def replayed(rules: Rules, solution: Solution) -> State:
    """The last state of a line, played move by move on the prover, independently of all solvers.

    Raises:
        GdlError: the line is not legal in these rules, or has another value. This is an error of a solver.
    """
    prover = ProverMachine(rules)
    state = prover.initial_state()
    for number, text in enumerate(solution.moves, 1):
        move = prover.move_id(0, parse_term(text))
        if prover.is_terminal(state) or move not in prover.legal_moves(state, 0):
            raise GdlError(f"{solution.solver}: move {number} of its line, {text}, is not legal by the rules")
        state = prover.next_state(state, [move])
    value = prover.result(state, 0) or 0
    if not prover.is_terminal(state) or value != solution.value:
        raise GdlError(f"{solution.solver}: its line ends with goal {value}, not with {solution.value}")
    return state


_own: list[type[LineSolver]] = []


@cache
def _plugged() -> list[type[LineSolver]]:
    return [plugin.load() for plugin in plugins("solvers").values()]


def add_own(name: str) -> str:
    """Add a class of the user's, ``module:Class``, to the solvers. Returns the solver's name. Raises
    GdlError if there is no such class, or another solver has its name."""
    own = class_named(name, LineSolver, "solver")
    called = getattr(own, "name", "")
    if own not in _own:
        if not called or called in [solver.name for solver in solvers_named(None)]:
            raise GdlError(
                f"{name} is called {called!r}", remedy="give the class a name that no solver has: name = ..."
            )
        _own.append(own)
    return called


def solvers_named(name: str | type[LineSolver] | None, *, own: bool = True) -> list[type[LineSolver]]:
    """The solver of that name, or the class itself; for None all, or with ``own=False`` all but the user's,
    for which nothing is compiled beforehand. Raises GdlError if there is no such solver."""
    if isinstance(name, type):
        return [name]
    every = [*_plugged(), *(_own if own else ())]
    solvers = [solver for solver in every if name in (None, solver.name)]
    if not solvers:
        names = ", ".join(solver.name for solver in every)
        raise GdlError(f"there is no solver {name!r}", remedy=f"the solvers are {names}")
    return solvers


def master_of(machine: Machine) -> type[LineSolver] | None:
    """The solver that is made for exactly this kind of puzzle; None if there is none."""
    lanes = lane_machine(machine)
    if lanes is None or len(machine.roles) != 1:
        return None
    for solver in solvers_named(None):
        promise = solver.recognise(lanes)
        if promise is not None and promise.outcome is Certainty.MASTERS:
            return solver
    return None
