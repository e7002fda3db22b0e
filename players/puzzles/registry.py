"""The puzzle solvers: one row each. A new solver is a module of its own and a row here.

>>> "nested-policy" in [solver.name for solver in SOLVERS]
True
"""

from __future__ import annotations

from gdl.errors import GdlError
from players.named_class import class_named
from players.puzzles.cover.recognition.move_set_solver import MoveSetSolver
from players.puzzles.factored import Factored
from players.puzzles.fail_first import FailFirst
from players.puzzles.frontier.solver import Frontier
from players.puzzles.nrpa import NestedPolicy
from players.puzzles.sokoban.solver import Sokoban
from players.puzzles.solver import LineSolver

SOLVERS: list[type[LineSolver]] = [
    Sokoban,
    Frontier,
    MoveSetSolver,
    Factored,
    FailFirst,
    NestedPolicy,
]
"""Each has a name, recognises games, and is made for a task. Where promises are equal the earlier one
begins."""


def add_own(name: str) -> str:
    """Have a class of the user's, ``module:Class``, among the solvers from now on; the solver's name. Raises
    GdlError if there is no such class, or if it has no name of its own."""
    own = class_named(name, LineSolver, "solver")
    called = getattr(own, "name", "")
    if own not in SOLVERS:
        if not called or called in [solver.name for solver in SOLVERS]:
            raise GdlError(
                f"{name} is called {called!r}", remedy="give the class a name that no solver has: name = ..."
            )
        SOLVERS.append(own)
    return called


def solvers_named(name: str | None) -> list[type[LineSolver]]:
    """The solver of that name, all of them for None. Raises GdlError if there is no such solver."""
    solvers = [solver for solver in SOLVERS if name in (None, solver.name)]
    if not solvers:
        known = ", ".join(solver.name for solver in SOLVERS)
        raise GdlError(f"there is no solver {name!r}", remedy=f"the solvers are {known}")
    return solvers
