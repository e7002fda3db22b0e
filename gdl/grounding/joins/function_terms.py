"""Function terms in tables of bindings: built from their arguments, or taken apart."""

from __future__ import annotations

import numpy as np

from gdl.compile.program import Build, TermTable
from gdl.grounding.joins.bindings import Bindings
from gdl.grounding.joins.keys import full_columns
from gdl.grounding.limits import Budget
from gdl.terms import Term

MAX_TERM_DEPTH = 200
"""A deeper function term means a recursion that never ends."""


def construct(bindings: Bindings, build: Build, table: TermTable, budget: Budget) -> None:
    """Bind or compare ``value = (functor args...)`` where the arguments are bound.

    Args:
        bindings: changed in place.
        build: the function term.
        table: the terms; new ones are added.
        budget: counts new terms as atoms.

    Raises:
        TooLargeError: a term is nested too deeply, or there are too many.
    """
    terms = table.terms
    columns = full_columns(bindings.args(build.args), bindings.n)
    before = len(table)
    built: dict[tuple[int, ...], int] = {}
    values = np.empty(bindings.n, np.int32)
    for i, row in enumerate(zip(*[c.tolist() for c in columns], strict=True)):
        value = built.get(row)
        if value is None:
            term = Term(build.functor, *[terms[a] for a in row])
            if term.depth > MAX_TERM_DEPTH:
                raise budget.fail(f"function terms nested deeper than {MAX_TERM_DEPTH}")
            value = built[row] = table.id(term)
        values[i] = value
    budget.add_atoms(len(table) - before)
    if build.value < 0 and build.value not in bindings.env:
        bindings.env[build.value] = values
    else:
        bindings.filter(values == bindings.args((build.value,))[0])


def take_apart(bindings: Bindings, build: Build, table: TermTable) -> None:
    """Bind or compare the arguments where the value is bound; changes the bindings in place."""
    terms = table.terms
    (column,) = bindings.args((build.value,))
    values = [column] * bindings.n if isinstance(column, int) else column.tolist()
    signature = (build.functor, len(build.args))
    fits = np.fromiter((terms[v].signature == signature for v in values), np.bool_, bindings.n)
    rows = [[table.id(a) for a in terms[v].args] for v, fit in zip(values, fits.tolist(), strict=True) if fit]
    bindings.filter(fits)
    matrix = np.array(rows, np.int32).reshape(bindings.n, len(build.args))
    # One by one: comparing an argument shortens the table and the rest of the matrix.
    for place, arg in enumerate(build.args):
        if arg < 0 and arg not in bindings.env:
            bindings.env[arg] = matrix[:, place].copy()
            continue
        same = matrix[:, place] == bindings.args((arg,))[0]
        bindings.filter(same)
        matrix = matrix[same]
