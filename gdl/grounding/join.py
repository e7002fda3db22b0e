"""The filtering Cartesian iterator, a whole set of bindings at a time.

The variables of a rule's body are bound literal by literal, the most constrained literal
first, from indexes on the argument positions that are already bound; after each step the
bindings are cut by every distinct, negation and literal that has become decidable, and
variables that nothing needs any more are projected away. A set of bindings is a table in
numpy, one column per bound variable, so that the cost per binding is that of a few vector
instructions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import Build, FlatAtom, FlatClause, TermTable
from gdl.grounding.bindings import DEDUPLICATE_FROM, Bindings
from gdl.grounding.function_terms import construct, take_apart
from gdl.grounding.keys import Argument, first_rows
from gdl.grounding.limits import Budget
from gdl.grounding.relation import Index, Relation, View
from gdl.grounding.tuple_join import Plan, Row

Window = tuple[int, int]
"""Ids ``low <= id < high`` of the rows of a relation that a literal may use."""


class TooManyRowsError(Exception):
    """A join passed the number of rows that its caller allows."""


class Body:
    """A clause's body, ready to be joined.

    Args:
        clause: the clause.
        negatives: those of its negative literals that decide (the others are ignored).
    """

    def __init__(self, clause: FlatClause, negatives: Sequence[FlatAtom]) -> None:
        self.clause = clause
        self.positives = clause.positives
        self.variables = [tuple(dict.fromkeys(a for a in p.args if a < 0)) for p in clause.positives]
        self.checks: list[_Check] = [_Absent(n) for n in negatives]
        self.checks += [_Distinct(left, right) for left, right in clause.distincts]
        self.builds = clause.builds
        self.negatives = negatives
        self.head = frozenset(a for a in clause.head.args if a < 0)
        self._plans: dict[tuple[tuple[int, ...], int], Plan] = {}

    def plan(self, results: tuple[int, ...], first: int, relations: list[Relation]) -> Plan:
        """The plan for a join of tuples; made at the first call."""
        found = self._plans.get((results, first))
        if found is None:
            found = self._plans[results, first] = Plan(
                self.positives, self.negatives, self.clause.distincts, results, first, relations
            )
        return found


class _Check(ABC):
    """A test of bindings that can be made as soon as some variables are bound."""

    variables: frozenset[int]

    @abstractmethod
    def holds(self, bindings: Bindings, relations: list[Relation]) -> NDArray[np.bool_]:
        """Which of the bindings pass."""


class _Absent(_Check):
    """A negative literal."""

    def __init__(self, atom: FlatAtom) -> None:
        self.atom = atom
        self.variables = frozenset(a for a in atom.args if a < 0)

    def holds(self, bindings: Bindings, relations: list[Relation]) -> NDArray[np.bool_]:
        found = relations[self.atom.predicate].find(bindings.args(self.atom.args), bindings.n)
        return found < 0


class _Distinct(_Check):
    """Two tuples that differ somewhere."""

    def __init__(self, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        self.pairs = list(zip(left, right, strict=True))
        self.variables = frozenset(a for a in left + right if a < 0)

    def holds(self, bindings: Bindings, relations: list[Relation]) -> NDArray[np.bool_]:
        result = np.zeros(bindings.n, np.bool_)
        env = bindings.env
        for a, b in self.pairs:
            left: Argument = a if a >= 0 else env[a]
            right: Argument = b if b >= 0 else env[b]
            result |= np.not_equal(left, right)
        return result


class Joiner:
    """Joins bodies over one set of relations.

    Args:
        relations: by predicate index.
        table: the terms, for building and taking apart.
        budget: checked before each step.
    """

    def __init__(self, relations: list[Relation], table: TermTable, budget: Budget) -> None:
        self.relations = relations
        self.table = table
        self.budget = budget
        self.most_rows = 1 << 62
        """Joins of more rows raise :class:`TooManyRowsError`; for callers that know better ways."""

    def tuples(
        self, body: Body, results: tuple[int, ...], first: int = -1, window: Window | None = None
    ) -> list[Row] | None:
        """The results, tuples of variables and constants, of all bindings, doubles among them;
        None where that is no work for plain Python.

        Args:
            body: what to join.
            results: coded as the arguments of atoms.
            first: the number of the positive literal to start with, -1 for the best.
            window: the rows that this literal may use, if not all.
        """
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
        windows: dict[int, Window] | None = None,
    ) -> Bindings:
        """All bindings of the variables in ``keep``, each once where any variable or binding
        was dropped on the way in numbers (tables of a few rows may hold doubles).

        Args:
            body: what to join.
            keep: variables whose values are wanted.
            first: the number of the positive literal to start with, -1 for the best.
            windows: per positive literal (by number) the rows that it may use, if not all.
        """
        self.budget.place = body.clause.place
        self.budget.tick()
        windows = windows or {}
        bindings = Bindings(1, {})
        pending = list(range(len(body.positives)))
        checks = list(body.checks)
        builds = list(body.builds)
        views: dict[int, View] = {}
        for i in pending:
            atom = body.positives[i]
            view = views[i] = self.relations[atom.predicate].view(atom.args)
            if not view.n:
                return self._nothing(keep)
        while True:
            self._check(bindings, checks, builds)
            if not bindings.n:
                return self._nothing(keep)
            if not pending:
                break
            chosen = first if first >= 0 else self._most_constrained(body, bindings, pending, views)
            first = -1
            pending.remove(chosen)
            needed = self._needed(keep, body, pending, checks, builds)
            self._extend(bindings, body, chosen, views[chosen], windows.get(chosen), needed)
            if not bindings.n:
                return self._nothing(keep)
        assert not builds and not checks
        bindings.project(keep)
        return bindings

    @staticmethod
    def _nothing(keep: Collection[int]) -> Bindings:
        return Bindings(0, {v: np.empty(0, np.int32) for v in keep})

    @staticmethod
    def _needed(
        keep: Collection[int], body: Body, pending: list[int], checks: list[_Check], builds: list[Build]
    ) -> set[int]:
        needed = set(keep)
        for i in pending:
            needed.update(body.variables[i])
        for check in checks:
            needed |= check.variables
        for build in builds:
            needed.update((build.value, *build.args))
        return needed

    @staticmethod
    def _most_constrained(body: Body, bindings: Bindings, pending: list[int], views: dict[int, View]) -> int:
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
                matches *= 4  # a product: rather not yet
            if matches < least:
                best, least = i, matches
        return best

    def _extend(
        self,
        bindings: Bindings,
        body: Body,
        chosen: int,
        view: View,
        window: Window | None,
        needed: set[int],
    ) -> None:
        """Join the bindings with one literal and project to what is still needed."""
        variables = body.variables[chosen]
        env = bindings.env
        new = [(p, v) for p, v in enumerate(variables) if v not in env]
        if not new and variables:
            atom = body.positives[chosen]
            ids = self.relations[atom.predicate].find(bindings.args(atom.args), bindings.n)
            fits = ids >= 0
            if window is not None:
                fits = (ids >= window[0]) & (ids < window[1])
            if not fits.all():
                bindings.take(fits)
            bindings.project(needed)
            return
        if not env:
            # The first literal with variables: all its rows.
            start, stop = (0, view.n) if window is None else view.window(*window)
            count = stop - start
            self._allow(count, len(new))
            bindings.env = {v: view.column(p)[start:stop] for p, v in new}
            bindings.n = count
            bindings.project(needed)
            return
        places = tuple(p for p, v in enumerate(variables) if v in env)
        known = [env[variables[p]] for p in places]
        found = [(part, *part.ranges(known, bindings.n)) for part in view.index(places)]
        if window is None and not any(v in needed for _, v in new):
            fits = found[0][2] > 0
            for _, _, counts in found[1:]:
                fits |= counts > 0
            if not fits.all():
                bindings.take(fits)
            bindings.project(needed)
            return
        self._allow(sum(int(counts.sum()) for _, _, counts in found), len(env) + len(new))
        pairs = [_matches(part, starts, counts) for part, starts, counts in found]
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
        dropped = len(bindings.env) < len(env)
        bindings.n = len(rows)
        for p, v in new:
            if v in needed:
                bindings.env[v] = view.column(p)[rows]
            else:
                dropped = True
        if dropped and (bindings.n >= DEDUPLICATE_FROM or (not bindings.env and bindings.n > 1)):
            kept = first_rows(list(bindings.env.values()), bindings.n)
            if len(kept) < bindings.n:
                bindings.take(kept)

    def _allow(self, rows: int, columns: int) -> None:
        if rows > self.most_rows:
            raise TooManyRowsError
        self.budget.rows(rows, columns)

    def _check(self, bindings: Bindings, checks: list[_Check], builds: list[Build]) -> None:
        """Make all tests and builds whose variables are bound, and strike them from the lists."""
        progress = True
        while progress and bindings.n:
            progress = False
            for build in list(builds):
                if all(a >= 0 or a in bindings.env for a in build.args):
                    construct(bindings, build, self.table, self.budget)
                elif build.value >= 0 or build.value in bindings.env:
                    take_apart(bindings, build, self.table)
                else:
                    continue
                builds.remove(build)
                progress = True
                if not bindings.n:
                    return
            for check in list(checks):
                if all(v in bindings.env for v in check.variables):
                    checks.remove(check)
                    holds = check.holds(bindings, self.relations)
                    if not holds.all():
                        bindings.take(holds)
                    if not bindings.n:
                        return


def _matches(
    part: Index, starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs of a binding and a row that fits it. Binding i comes ``counts[i]`` times, with
    the rows from ``starts[i]`` on in the index's order."""
    repeat = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    rows = np.arange(len(repeat)) + np.repeat(starts - ends + counts, counts)
    return repeat, part.order[rows]
