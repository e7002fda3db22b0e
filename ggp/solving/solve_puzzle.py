"""`solve_puzzle`: the best line of a puzzle that the prover or the portfolio of solvers finds in its time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.portfolio import Watcher, solve
from players.processes.limits import describe
from players.puzzles.few_states import SECONDS as FEW_STATES_SECONDS
from players.puzzles.few_states import solve_few_states
from players.solvers import LineSolver, Solution, solvers_named
from players.warm_kernels import solver_parts
from propnet.capabilities import lane_machine
from propnet.jit.parts import Part, compile_together, missing

NOTHING: Final = Solution(-1, (), False, "", 0, 0.0)


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """The puzzle to be solved, and the options.

    Attributes:
        text: the rules.
        seconds: wall time for everything, building the machine included; compiling kernels, in the first run
            after an installation, comes before.
        memory: bytes for the solvers.
        only: the name of the only solver to use; None for all.
        seed: random seed.
        own: ``module:Class`` if ``only`` is a solver of the user's own; it must never come from strangers.
    """

    text: str
    seconds: float
    memory: int
    only: str | None = None
    seed: int = 0
    own: str | None = None


def solve_puzzle(request: SolveRequest, watch: Watcher) -> Solution:
    """The best line that is found; puzzles of few states are solved without a network. Raises GdlError if no
    solver has the name."""
    rules = parse_rules(request.text, "the rules")
    if request.only is None:
        few = solve_few_states(rules, min(FEW_STATES_SECONDS, request.seconds))
        if few is not None:
            return few
    solvers = solvers_named(request.only)
    try:
        return _solve(rules, solvers, request, watch)
    except Exception as error:
        if request.own is None or isinstance(error, GdlError):
            raise
        raise GdlError(f"the solver {request.own} failed: {describe(error)}") from error


def _solve(
    rules: Rules, solvers: Sequence[type[LineSolver]], request: SolveRequest, watch: Watcher
) -> Solution:
    """Solve by the portfolio. Only kernels of solvers that recognise the game are compiled, and only those of
    solvers that get a turn are loaded."""
    deadline = time.monotonic() + request.seconds
    machine = make_machine(rules, "propnet")
    built = time.monotonic()
    lanes = lane_machine(machine) if len(machine.roles) == 1 else None
    able = [kind for kind in solvers if lanes is not None and kind.recognise(lanes)]
    compile_together(missing(_parts(able, request)))
    left = max(0.0, deadline - built)
    return solve(
        machine, left, memory=request.memory, seed=request.seed, only=request.only, watch=watch, shorten=True
    )


def _parts(solvers: Sequence[type[LineSolver]], request: SolveRequest) -> list[Part]:
    """The parts of the kernels that these solvers need. A solver of the user's own has none."""
    return [] if request.own else [part for solver in solvers for part in solver_parts(solver)]
