"""Tables of bindings, one numpy column for each bound variable, and the function terms in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import Build, TermTable
from gdl.grounding.joins.keys import Argument, Column, first_rows, full_columns
from gdl.grounding.limits import Budget
from gdl.terms import Term

DEDUPLICATE_FROM = 48
"""Tables with fewer bindings are not worth the search for doubles (see docs/measurements.md)."""

MAX_TERM_DEPTH = 200
"""A deeper function term means a recursion that never ends."""


def variables_of(*rows: Iterable[int]) -> frozenset[int]:
    """The variables among the arguments of atoms."""
    return frozenset([a for row in rows for a in row if a < 0])


@dataclass
class Bindings:
    """``n`` bindings; column ``env[v]`` has the values of variable v (coded as in FlatAtom)."""

    n: int
    env: dict[int, Column]

    def take(self, rows: NDArray[np.intp]) -> None:
        """Keep the rows with these numbers only."""
        self.env = {v: column[rows] for v, column in self.env.items()}
        self.n = len(rows)

    def filter(self, mask: NDArray[np.bool_]) -> None:
        """Keep the rows where the mask is true only."""
        if not mask.all():
            self.env = {v: column[mask] for v, column in self.env.items()}
            self.n = int(np.count_nonzero(mask))

    def args(self, atom: Sequence[int]) -> list[Argument]:
        """The columns of an atom whose variables are all bound."""
        return [a if a >= 0 else self.env[a] for a in atom]

    def project(self, keep: Collection[int]) -> None:
        """Drop other variables' columns, and then double bindings."""
        dropped = [v for v in self.env if v not in keep]
        for v in dropped:
            del self.env[v]
        if dropped:
            self.deduplicate()

    def deduplicate(self) -> None:
        """Drop double bindings, unless there are few."""
        if self.n >= DEDUPLICATE_FROM or (not self.env and self.n > 1):
            rows = first_rows(list(self.env.values()), self.n)
            if len(rows) < self.n:
                self.take(rows)


def construct(bindings: Bindings, build: Build, table: TermTable, budget: Budget) -> None:
    """Bind or compare ``value = (functor args...)`` where the arguments are bound; changes the bindings in
    place and adds new terms to the table, where they count as atoms. Raises TooLargeError where a term is
    nested too deeply, or there are too many."""
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
