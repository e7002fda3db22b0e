"""Function terms in tables of bindings: built from their arguments, or taken apart."""

from __future__ import annotations

import numpy as np

from gdl.compile.program import Build, TermTable
from gdl.grounding.bindings import Bindings
from gdl.grounding.keys import Argument, Column
from gdl.grounding.limits import Budget
from gdl.terms import Term

MAX_TERM_DEPTH = 200
"""Deeper function terms than this are taken for a recursion that never ends."""


def construct(bindings: Bindings, build: Build, table: TermTable, budget: Budget) -> None:
    """Bind or compare ``value = (functor args...)`` where the arguments are bound.

    Args:
        bindings: what is changed.
        build: its arguments are bound.
        table: the terms; new ones are added.
        budget: new terms count as atoms.

    Raises:
        TooLargeError: a term is nested too deeply, or there are too many.
    """
    terms = table.terms
    columns = [
        np.full(bindings.n, a, np.int32) if isinstance(a, int) else a for a in bindings.args(build.args)
    ]
    before = len(table)
    made: dict[tuple[int, ...], int] = {}
    values = np.empty(bindings.n, np.int32)
    for i, row in enumerate(zip(*[c.tolist() for c in columns], strict=True)):
        value = made.get(row)
        if value is None:
            term = Term(build.functor, *[terms[a] for a in row])
            if term.depth > MAX_TERM_DEPTH:
                raise budget.fail(f"function terms nested deeper than {MAX_TERM_DEPTH}")
            value = made[row] = table.id(term)
        values[i] = value
    budget.add_atoms(len(table) - before)
    _equate(bindings, build.value, values)


def take_apart(bindings: Bindings, build: Build, table: TermTable) -> None:
    """Bind or compare the arguments where the value is bound.

    Args:
        bindings: what is changed.
        build: its value is bound.
        table: the terms.
    """
    terms = table.terms
    (column,) = bindings.args((build.value,))
    values = [column] * bindings.n if isinstance(column, int) else column.tolist()
    signature = (build.functor, len(build.args))
    fits = np.fromiter((terms[v].signature == signature for v in values), np.bool_, bindings.n)
    parts = [
        [table.id(a) for a in terms[v].args] for v, fit in zip(values, fits.tolist(), strict=True) if fit
    ]
    if not fits.all():
        bindings.take(fits)
    matrix = np.array(parts, np.int32).reshape(bindings.n, len(build.args))
    # One by one: comparing an argument shortens the table and the rest of the matrix.
    for place, arg in enumerate(build.args):
        if arg < 0 and arg not in bindings.env:
            bindings.env[arg] = matrix[:, place].copy()
            continue
        known: Argument = arg if arg >= 0 else bindings.env[arg]
        same = matrix[:, place] == known
        if not same.all():
            bindings.take(same)
            matrix = matrix[same]


def _equate(bindings: Bindings, value: int, values: Column) -> None:
    if value < 0 and value not in bindings.env:
        bindings.env[value] = values
        return
    same = values == (value if value >= 0 else bindings.env[value])
    if not same.all():
        bindings.take(same)
