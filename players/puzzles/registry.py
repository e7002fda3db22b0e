"""The puzzle solvers: one row each. A new solver is a module of its own and a row here.

>>> [row.name for row in SOLVERS]
['breadth-first', 'factored', 'nested-policy']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gdl.errors import GdlError
from players.puzzles.breadth_first import BreadthFirst
from players.puzzles.factored import Factored
from players.puzzles.nrpa import NestedPolicy
from players.puzzles.solver import LineSolver, Promise, Task

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine


class Row(NamedTuple):
    """A kind of solver.

    Attributes:
        name: by which people ask for it.
        recognise: what it promises for a game, within milliseconds; None where it can do nothing.
        make: a solver for a task.
    """

    name: str
    recognise: Callable[[PropnetMachine], Promise | None]
    make: Callable[[Task], LineSolver]


SOLVERS: list[Row] = [
    Row(BreadthFirst.name, BreadthFirst.recognise, BreadthFirst),
    Row(Factored.name, Factored.recognise, Factored),
    Row(NestedPolicy.name, NestedPolicy.recognise, NestedPolicy),
]
"""All kinds. Where promises are equal the earlier one begins."""


def rows_named(name: str | None) -> list[Row]:
    """The rows of that name, all of them for None.

    Raises:
        GdlError: there is no such solver.
    """
    rows = [row for row in SOLVERS if name in (None, row.name)]
    if not rows:
        known = ", ".join(row.name for row in SOLVERS)
        raise GdlError(f"there is no solver {name!r}", remedy=f"the solvers are {known}")
    return rows
