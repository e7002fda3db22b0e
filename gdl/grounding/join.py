"""The filtering Cartesian iterator, a whole table of bindings at a time.

The variables of a body are bound literal by literal, the most constrained literal first, from indexes on the
arguments that are already bound. After each step every distinct, negation and literal whose variables have
become bound filters the bindings, and variables that nothing reads later are projected away.

A table of bindings has one numpy column for each bound variable.

Small relations are joined tuple by tuple in plain Python (see docs/measurements.md).

A :class:`_TuplePlan` is the order of one body's literals and checks. A partial binding is a
tuple that starts with the body's constants, so that constants and variables are looked up alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import Build, FlatAtom, FlatClause, TermTable, variables_of
from gdl.grounding.keys import Argument, Column, first_rows, full_columns
from gdl.grounding.limits import Budget
from gdl.grounding.relation import (
    Getter,
    Index,
    Relation,
    RelationView,
    Row,
    Spec,
    fitting,
    key_getter,
    row_getter,
)
from gdl.terms import Term

MOST_TUPLES = 2048
"""Joins with more partial bindings are left to numpy."""


class _Kind(IntEnum):
    SCAN = 0
    PROBE = 1
    EXISTS = 2
    ABSENT = 3
    DISTINCT = 4
    PROJECT = 5


_Step = tuple[_Kind, int, Any, Any]
"""Kind, predicate, and two operands that depend on the kind: see :meth:`_TuplePlan.run`."""


class _TuplePlan:
    """The steps of one body's join, chosen by the present sizes of its relations.

    It evaluates only these ``negatives`` of the clause and returns the ``results`` (constants and variables)
    of each binding. ``first`` is the number of the positive literal to start with, -1 for the best one.
    """

    def __init__(
        self,
        clause: FlatClause,
        negatives: Sequence[FlatAtom],
        results: Row,
        first: int,
        relations: Sequence[Relation],
    ) -> None:
        positives, distincts = clause.positives, clause.distincts
        atoms = (*positives, *negatives)
        rows = [results, *(a.args for a in atoms), *(side for d in distincts for side in d)]
        self.start: Row = tuple(sorted({a for row in rows for a in row if a >= 0}))
        self.reads = [a.predicate for a in atoms]
        self.steps: list[_Step] = []
        self._place = {c: i for i, c in enumerate(self.start)}
        pending = list(range(len(positives)))
        self._checks: list[tuple[frozenset[int], _Kind, Any]] = [
            (variables_of(left, right), _Kind.DISTINCT, (left, right)) for left, right in distincts
        ]
        self._checks += [(variables_of(n.args), _Kind.ABSENT, n) for n in negatives]
        self._check()
        while pending:
            chosen = first if first >= 0 else self._best(positives, pending, relations)
            pending.remove(chosen)
            needed = {a for i in pending for a in positives[i].args}
            needed.update(results, *(variables for variables, _, _ in self._checks))
            self._literal(positives[chosen], needed, first >= 0)
            first = -1
            self._check()
        self.result = row_getter([self._place[a] for a in results])

    def _best(self, positives: Sequence[FlatAtom], pending: list[int], relations: Sequence[Relation]) -> int:
        """The literal with the fewest expected matches."""
        best, least = pending[0], float("inf")
        for i in pending:
            args = positives[i].args
            free = len({a for a in args if a not in self._place})
            if not free:
                return i
            matches: float = relations[positives[i].predicate].n ** (free / len(args))
            if free == len(args) and len(self._place) > len(self.start):
                matches *= 4  # a product: better later
            if matches < least:
                best, least = i, matches
        return best

    def _literal(self, atom: FlatAtom, needed: set[int], scan: bool) -> None:
        bound: list[int] = []
        new: dict[int, int] = {}
        equal: list[tuple[int, int]] = []
        for i, arg in enumerate(atom.args):
            if arg in self._place:
                bound.append(i)
            elif arg in new:
                equal.append((i, new[arg]))
            else:
                new[arg] = i
        if not new and not scan:
            self.steps.append((_Kind.EXISTS, atom.predicate, self._row(atom.args), None))
            return
        with_own = needed.union(atom.args)
        if any(v in needed for v in new) and not all(v >= 0 or v in with_own for v in self._place):
            columns = [v for v in self._place if v >= 0 or v in with_own]
            self.steps.append((_Kind.PROJECT, -1, self._row(columns), None))
            self._place = {v: i for i, v in enumerate(columns)}
        place_of = {v: i for v, i in new.items() if v in needed}
        places = tuple(place_of.values())
        if scan:
            fixed = [(i, self._place[atom.args[i]]) for i in bound]
            self.steps.append((_Kind.SCAN, atom.predicate, (fixed, equal), row_getter(places)))
        else:
            spec: Spec = (tuple(bound), places, tuple(equal))
            key = key_getter([self._place[atom.args[i]] for i in bound])
            self.steps.append((_Kind.PROBE, atom.predicate, spec, key))
        for v in place_of:
            self._place[v] = len(self._place)

    def _check(self) -> None:
        """Append all checks whose variables are bound."""
        waiting = []
        for check in self._checks:
            variables, kind, operand = check
            if not variables <= self._place.keys():
                waiting.append(check)
            elif kind is _Kind.ABSENT:
                self.steps.append((kind, operand.predicate, self._row(operand.args), None))
            else:
                self.steps.append((kind, -1, self._row(operand[0]), self._row(operand[1])))
        self._checks = waiting

    def _row(self, args: Sequence[int]) -> Getter:
        return row_getter([self._place[a] for a in args])

    def run(self, relations: Sequence[Relation], window: tuple[int, int] | None = None) -> list[Row] | None:
        """The results of all bindings, duplicates included; None if a relation or the number of bindings is
        too large for plain Python. ``window`` holds the ids of the rows that the first literal may use."""
        for p in self.reads:
            if relations[p].ids is None:
                return None
        rows: list[Row] = [self.start]
        for kind, predicate, operand, getter in self.steps:
            if kind is _Kind.PROBE:
                index = relations[predicate].tuple_index(operand)
                groups = index.groups
                if not groups:
                    return []
                if len(rows) * relations[predicate].n > MOST_TUPLES * len(groups):
                    return None
                find = groups.get
                rows = [row + more for row in rows for more in find(getter(row), ())]
                if len(rows) > MOST_TUPLES:
                    return None
            elif kind is _Kind.EXISTS:
                ids = relations[predicate].ids
                assert ids is not None
                rows = [row for row in rows if operand(row) in ids]
            elif kind is _Kind.DISTINCT:
                rows = [row for row in rows if operand(row) != getter(row)]
            elif kind is _Kind.ABSENT:
                ids = relations[predicate].ids
                assert ids is not None
                rows = [row for row in rows if operand(row) not in ids]
            elif kind is _Kind.PROJECT:
                rows = list(dict.fromkeys(map(operand, rows)))
            else:
                fixed, equal = operand
                low, high = window or (0, relations[predicate].n)
                matches = fitting(relations[predicate].rows[low:high], equal)
                for place, constant in fixed:
                    value = self.start[constant]
                    matches = [row for row in matches if row[place] == value]
                rows = [row + getter(more) for row in rows for more in matches]
                if len(rows) > MOST_TUPLES:
                    return None
            if not rows:
                return []
        return list(map(self.result, rows))


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
        self.negatives = negatives
        self.head = variables_of(clause.head.args)
        self._plans: dict[tuple[tuple[int, ...], int], _TuplePlan] = {}

    def plan(self, results: tuple[int, ...], first: int, relations: list[Relation]) -> _TuplePlan:
        """The plan for a join of tuples, created at the first call."""
        plan = self._plans.get((results, first))
        if plan is None:
            plan = _TuplePlan(self.clause, self.negatives, results, first, relations)
            self._plans[results, first] = plan
        return plan


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

    def tuples(
        self, body: Body, results: tuple[int, ...], first: int = -1, window: Window | None = None
    ) -> list[Row] | None:
        """The ``results`` (constants and variables) of each binding, duplicates included, joined in plain
        Python. None if the clause builds terms or is too large for that. ``first`` is the number of the
        positive literal to start with, -1 for the best one; ``window`` limits its rows."""
        if body.builds:
            return None
        self.budget.place = body.clause.place
        self.budget.tick()
        for atom in body.positives:
            if not self.relations[atom.predicate].n:
                return []
        return body.plan(results, first, self.relations).run(self.relations, window)

    def join(
        self,
        body: Body,
        keep: Collection[int],
        first: int = -1,
        window: Window | None = None,
        most_rows: int = UNLIMITED,
    ) -> Bindings:
        """All bindings of the variables in ``keep``, joined in numpy; small tables may hold duplicates.
        Raises TooManyRowsError past ``most_rows``. The other arguments are those of :meth:`tuples`."""
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
