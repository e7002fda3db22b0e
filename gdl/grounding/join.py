"""The filtering Cartesian iterator, a whole table of bindings at a time.

The variables of a body are bound literal by literal, the most constrained literal first, from indexes on the
arguments that are already bound. After each step every distinct, negation and literal whose variables have
become bound filters the bindings, and variables that nothing reads later are projected away.

A table of bindings has one numpy column for each bound variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import Build, FlatAtom, FlatClause, TermTable, variables_of
from gdl.grounding.keys import Argument, Column, first_rows, full_columns
from gdl.grounding.limits import Budget
from gdl.grounding.relation import Index, Relation, RelationView, Row
from gdl.terms import Term

_DEDUPLICATE_FROM = 48
"""Tables with fewer bindings are not worth the search for duplicates (see docs/measurements.md)."""

_MAX_TERM_DEPTH = 200
"""A deeper function term means a recursion that never ends."""


@dataclass
class Bindings:
    """``n`` bindings. Column ``env[v]`` holds the values of variable v (coded as in FlatAtom)."""

    n: int
    env: dict[int, Column]

    def take(self, rows: NDArray[np.intp]) -> None:
        """Keep only the rows with these numbers."""
        self.env = {v: column[rows] for v, column in self.env.items()}
        self.n = len(rows)

    def filter(self, mask: NDArray[np.bool_]) -> None:
        """Keep only the rows for which the mask is true."""
        if not mask.all():
            self.env = {v: column[mask] for v, column in self.env.items()}
            self.n = int(np.count_nonzero(mask))

    def args(self, atom: Sequence[int]) -> list[Argument]:
        """The columns of an atom whose variables are all bound."""
        return [a if a >= 0 else self.env[a] for a in atom]

    def project(self, keep: Collection[int]) -> None:
        """Drop the columns of other variables, and then duplicate bindings."""
        dropped = [v for v in self.env if v not in keep]
        for v in dropped:
            del self.env[v]
        if dropped:
            self.deduplicate()

    def deduplicate(self) -> None:
        """Drop duplicate bindings, unless there are few bindings."""
        if self.n >= _DEDUPLICATE_FROM or (not self.env and self.n > 1):
            rows = first_rows(list(self.env.values()), self.n)
            if len(rows) < self.n:
                self.take(rows)


def construct(bindings: Bindings, build: Build, table: TermTable, budget: Budget) -> None:
    """Bind or compare ``value = (functor args...)``, whose arguments are bound. Changes the bindings in
    place, and adds new terms to the table, which count as atoms. Raises TooLargeError if a term is nested too
    deeply, or there are too many terms."""
    terms = table.terms
    columns = full_columns(bindings.args(build.args), bindings.n)
    before = len(table)
    built: dict[tuple[int, ...], int] = {}
    values = np.empty(bindings.n, np.int32)
    for i, row in enumerate(zip(*[c.tolist() for c in columns], strict=True)):
        value = built.get(row)
        if value is None:
            term = Term(build.functor, *[terms[a] for a in row])
            if term.depth > _MAX_TERM_DEPTH:
                raise budget.fail(f"function terms nested deeper than {_MAX_TERM_DEPTH}")
            value = built[row] = table.id(term)
        values[i] = value
    budget.add_atoms(len(table) - before)
    if build.value < 0 and build.value not in bindings.env:
        bindings.env[build.value] = values
    else:
        bindings.filter(values == bindings.args((build.value,))[0])


def take_apart(bindings: Bindings, build: Build, table: TermTable) -> None:
    """Bind or compare the arguments of a build whose value is bound. Changes the bindings in place."""
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


Window = tuple[int, int]
"""Ids ``low <= id < high`` of the rows of a relation that a literal may use."""

UNLIMITED = 1 << 62


class TooManyRowsError(Exception):
    """A join has more rows than its caller allows."""


class Body:
    """A clause's body, ready to be joined. Of its negative literals only ``negatives`` are evaluated."""

    def __init__(self, clause: FlatClause, negatives: Sequence[FlatAtom]) -> None:
        self.clause = clause
        self.positives = clause.positives
        self.variables = [tuple(dict.fromkeys(a for a in p.args if a < 0)) for p in clause.positives]
        self.checks = [_absent(n) for n in negatives]
        self.checks += [_distinct(left, right) for left, right in clause.distincts]
        self.builds = clause.builds
        self.head = variables_of(clause.head.args)


class Check(NamedTuple):
    """A condition on bindings that is decidable once its variables are bound; ``holds`` returns a mask."""

    variables: frozenset[int]
    holds: Callable[[Bindings, list[Relation]], NDArray[np.bool_]]


def _absent(atom: FlatAtom) -> Check:
    """The check of a negative literal."""

    def holds(bindings: Bindings, relations: list[Relation]) -> NDArray[np.bool_]:
        return relations[atom.predicate].find(bindings.args(atom.args), bindings.n) < 0

    return Check(variables_of(atom.args), holds)


def _distinct(left: Row, right: Row) -> Check:
    """The check that two tuples differ in at least one place."""

    def holds(bindings: Bindings, relations: list[Relation]) -> NDArray[np.bool_]:
        differ = np.zeros(bindings.n, np.bool_)
        for a, b in zip(bindings.args(left), bindings.args(right), strict=True):
            differ |= np.not_equal(a, b)
        return differ

    return Check(variables_of(left, right), holds)


class Joiner:
    """Joins bodies over one set of relations (by predicate). ``table`` holds the terms that bodies build and
    take apart. ``budget`` is checked before each step."""

    def __init__(self, relations: list[Relation], table: TermTable, budget: Budget) -> None:
        self.relations = relations
        self.table = table
        self.budget = budget
        self._most_rows = UNLIMITED

    def join(
        self,
        body: Body,
        keep: Collection[int],
        first: int = -1,
        window: Window | None = None,
        most_rows: int = UNLIMITED,
    ) -> Bindings:
        """All bindings of the variables in ``keep``; small tables may hold duplicates. ``first`` is the
        number of the positive literal to start with, -1 for the best one; ``window`` limits its rows. Raises
        TooManyRowsError past ``most_rows``."""
        self._most_rows = most_rows
        self.budget.place = body.clause.place
        self.budget.tick()
        bindings = Bindings(1, {})
        pending = list(range(len(body.positives)))
        checks = list(body.checks)
        builds = list(body.builds)
        views: list[RelationView] = []
        nothing = Bindings(0, {v: np.empty(0, np.int32) for v in keep})
        for atom in body.positives:
            views.append(self.relations[atom.predicate].view(atom.args))
            if not views[-1].n:
                return nothing
        self._check(bindings, checks, builds)
        while pending and bindings.n:
            chosen = first if first >= 0 else self._most_constrained(body, bindings, pending, views)
            pending.remove(chosen)
            needed = set(keep).union(*[body.variables[i] for i in pending], *[c.variables for c in checks])
            needed.update(*[(build.value, *build.args) for build in builds])
            self._extend(bindings, body, chosen, views[chosen], window if chosen == first else None, needed)
            self._check(bindings, checks, builds)
            first = -1
        if not bindings.n:
            return nothing
        assert not builds and not checks
        bindings.project(keep)
        return bindings

    @staticmethod
    def _most_constrained(
        body: Body, bindings: Bindings, pending: list[int], views: list[RelationView]
    ) -> int:
        """The literal with the fewest expected matches per binding."""
        env = bindings.env
        best, least = pending[0], float("inf")
        for i in pending:
            view = views[i]
            matches = float(view.n)
            bound = 0
            for position, v in enumerate(body.variables[i]):
                if v in env:
                    bound += 1
                    matches /= max(view.distinct(position), 1)
            if bound == len(body.variables[i]):
                return i
            if bound == 0 and env:
                matches *= 4  # a product: better later
            if matches < least:
                best, least = i, matches
        return best

    def _extend(
        self,
        bindings: Bindings,
        body: Body,
        chosen: int,
        view: RelationView,
        window: Window | None,
        needed: set[int],
    ) -> None:
        """Join the bindings with one literal and project to the variables that are still needed."""
        variables = body.variables[chosen]
        env = bindings.env
        new = [(p, v) for p, v in enumerate(variables) if v not in env]
        if not new and variables:
            atom = body.positives[chosen]
            ids = self.relations[atom.predicate].find(bindings.args(atom.args), bindings.n)
            bindings.filter(ids >= 0 if window is None else (ids >= window[0]) & (ids < window[1]))
            bindings.project(needed)
            return
        if not env:
            # The first literal with variables takes all its rows.
            start, stop = (0, view.n) if window is None else view.window(*window)
            count = stop - start
            self._allow(count, len(new))
            bindings.env = {v: view.column(p)[start:stop] for p, v in new}
            bindings.n = count
            bindings.project(needed)
            return
        places = tuple(p for p, v in enumerate(variables) if v in env)
        bound_columns = [env[variables[p]] for p in places]
        groups = [(index, *index.ranges(bound_columns, bindings.n)) for index in view.index(places)]
        if window is None and not any(v in needed for _, v in new):
            fits = groups[0][2] > 0
            for _, _, counts in groups[1:]:
                fits |= counts > 0
            bindings.filter(fits)
            bindings.project(needed)
            return
        self._allow(sum(int(counts.sum()) for _, _, counts in groups), len(env) + len(new))
        pairs = [_matches(index, starts, counts) for index, starts, counts in groups]
        if len(pairs) == 1:
            repeat, rows = pairs[0]
        else:
            repeat = np.concatenate([r for r, _ in pairs])
            rows = np.concatenate([r for _, r in pairs])
        if window is not None:
            start, stop = view.window(*window)
            inside = (rows >= start) & (rows < stop)
            if not inside.all():
                repeat, rows = repeat[inside], rows[inside]
        bindings.env = {v: column[repeat] for v, column in env.items() if v in needed}
        bindings.env |= {v: view.column(p)[rows] for p, v in new if v in needed}
        bindings.n = len(rows)
        if len(bindings.env) < len(env) + len(new):
            bindings.deduplicate()

    def _allow(self, rows: int, columns: int) -> None:
        if rows > self._most_rows:
            raise TooManyRowsError
        self.budget.rows(rows, columns)

    def _check(self, bindings: Bindings, checks: list[Check], builds: list[Build]) -> None:
        """Apply all checks and builds whose variables are bound, and remove them from the lists."""
        progress = True
        while progress and bindings.n:
            progress = False
            for build in list(builds):
                if not bindings.n:
                    return
                if variables_of(build.args) <= bindings.env.keys():
                    construct(bindings, build, self.table, self.budget)
                elif build.value >= 0 or build.value in bindings.env:
                    take_apart(bindings, build, self.table)
                else:
                    continue
                builds.remove(build)
                progress = True
            for check in list(checks):
                if bindings.n and check.variables <= bindings.env.keys():
                    checks.remove(check)
                    bindings.filter(check.holds(bindings, self.relations))


def _matches(
    index: Index, starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of a binding and a row: binding i with ``counts[i]`` rows, from ``starts[i]`` on in the index."""
    repeat = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    rows = np.arange(len(repeat)) + np.repeat(starts - ends + counts, counts)
    return repeat, index.order[rows]
