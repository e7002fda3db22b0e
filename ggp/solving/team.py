"""Runs processes that solve the same puzzle side by side, each with a portfolio of its own; the best line
counts.

If a process dies, the others go on, and its results so far are kept.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Final

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.portfolio import Watcher, solve
from players.processes.compiled_parts import Part
from players.processes.lifeline import Lifeline
from players.processes.limits import describe
from players.puzzles.few_states import SECONDS as FEW_STATES_SECONDS
from players.puzzles.few_states import solve_few_states
from players.solvers import LineSolver, Solution, add_own, solvers_named
from players.warm_kernels import compile_together, missing, solver_parts
from propnet.capabilities import lane_machine

NOTHING: Final = Solution(-1, (), False, "", 0, 0.0)
_OVERTIME_SECONDS = 2.0
"""Seconds after the time limit at which a silent process is killed."""


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """The puzzle to be solved, and the options.

    Attributes:
        text: the rules.
        seconds: wall time for everything, building the machine included; compiling kernels, in the first run
            after an installation, comes before.
        memory: bytes for the solvers of all processes together.
        only: the name of the only solver to use; None for all.
        workers: number of processes; with 1 the puzzle is solved in this process.
        seed: random seed.
        own: ``module:Class`` if ``only`` is a solver of the user's own; it must never come from strangers.
    """

    text: str
    seconds: float
    memory: int
    only: str | None = None
    workers: int = 1
    seed: int = 0
    own: str | None = None


def solve_together(request: SolveRequest, watch: Watcher) -> Solution:
    """The best line that the processes find; puzzles of few states are solved without them. Raises GdlError
    if no process can begin, or no solver has the name."""
    if request.only is None:
        few = solve_few_states(
            parse_rules(request.text, "the rules"), min(FEW_STATES_SECONDS, request.seconds)
        )
        if few is not None:
            return few
    solvers = solvers_named(request.only)
    if request.workers <= 1:
        try:
            return _solve_alone(request, watch)
        except Exception as error:
            if request.own is None or isinstance(error, GdlError):
                raise
            raise GdlError(f"the solver {request.own} failed: {describe(error)}") from error
    compile_together(_parts(solvers, request))
    return _Team(request, time.monotonic() + request.seconds, watch).run()


def _solve_alone(request: SolveRequest, watch: Watcher) -> Solution:
    """Solve in this process. It compiles the kernels only of solvers that recognise the game, and loads those
    of solvers that get a turn."""
    deadline = time.monotonic() + request.seconds
    machine = make_machine(parse_rules(request.text, "the rules"), "propnet")
    built = time.monotonic()
    lanes = lane_machine(machine) if len(machine.roles) == 1 else None
    able = [kind for kind in solvers_named(request.only) if lanes is not None and kind.recognise(lanes)]
    compile_together(missing(_parts(able, request)))
    deadline += time.monotonic() - built
    return _solve_machine(machine, request, 0, deadline, watch)


def _parts(solvers: Sequence[type[LineSolver]], request: SolveRequest) -> list[Part]:
    """The parts of the kernels that these solvers need. A solver of the user's own has none."""
    return [] if request.own else [part for solver in solvers for part in solver_parts(solver)]


def _solve_here(request: SolveRequest, number: int, deadline: float, watch: Watcher) -> Solution:
    if request.own is not None:
        add_own(request.own)
    machine = make_machine(parse_rules(request.text, "the rules"), "propnet")
    return _solve_machine(machine, request, number, deadline, watch)


def _solve_machine(
    machine: Machine, request: SolveRequest, number: int, deadline: float, watch: Watcher
) -> Solution:
    left = max(0.0, deadline - time.monotonic())
    memory, seed = request.memory // max(1, request.workers), request.seed * 64 + number
    return solve(machine, left, memory=memory, seed=seed, number=number, only=request.only, watch=watch)


def _serve(request: SolveRequest, number: int, deadline: float, pipe: Connection, _: Lifeline) -> None:
    """Run one process of the team. It sends its best solutions, and at last None, or an error as text."""

    def tell(solution: Solution, at_work: list[str]) -> None:
        pipe.send((solution, at_work))

    try:
        tell(_solve_here(request, number, deadline, tell), [])
        pipe.send(None)
    except GdlError as error:
        pipe.send(error.message)
    except Exception as error:
        pipe.send(describe(error))


class _Team:
    def __init__(self, request: SolveRequest, deadline: float, watch: Watcher) -> None:
        self._deadline, self._watch = deadline, watch
        context = multiprocessing.get_context("spawn")
        self._members: dict[Connection, tuple[int, multiprocessing.process.BaseProcess]] = {}
        self._solutions = [NOTHING] * request.workers
        self._at_work: list[list[str]] = [[] for _ in range(request.workers)]
        self._errors: list[str] = []
        for number in range(request.workers):
            here, there = context.Pipe(duplex=False)
            process = context.Process(
                target=_serve, args=(request, number, deadline, there, Lifeline()), daemon=True
            )
            process.start()
            there.close()
            self._members[here] = number, process

    def run(self) -> Solution:
        """Wait for all processes, or until the best line is proven."""
        processes = [process for _, process in self._members.values()]
        try:
            while self._members and time.monotonic() < self._deadline + _OVERTIME_SECONDS:
                for pipe in multiprocessing.connection.wait(list(self._members), 0.2):
                    assert isinstance(pipe, Connection)
                    self._hear(pipe)
                best = self._best()
                self._watch(best, sorted({name for names in self._at_work for name in names}))
                if best.proven:
                    break
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.join()
        best = self._best()
        if best == NOTHING and len(self._errors) == len(processes):
            raise GdlError(self._errors[0])
        return best

    def _hear(self, pipe: Connection) -> None:
        number, _ = self._members[pipe]
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            message = "a process of the solvers has died"
        if isinstance(message, tuple):
            self._solutions[number], self._at_work[number] = message
            return
        if message is not None:
            self._errors.append(message)
        del self._members[pipe]
        self._at_work[number] = []

    def _best(self) -> Solution:
        """The best solution of all processes, with the states and the time of all."""
        return replace(
            max(self._solutions, key=lambda solution: solution.rank),
            proven=any(solution.proven for solution in self._solutions),
            states=sum(solution.states for solution in self._solutions),
            seconds=sum(solution.seconds for solution in self._solutions),
        )
