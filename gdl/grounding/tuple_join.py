"""Joins of small relations, tuple by tuple in plain Python (see docs/measurements.md).

A :class:`TuplePlan` is the order of one body's literals and checks; a partial binding is a
tuple that starts with the body's constants, so that constants and variables are looked up alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.grounding.relation import Getter, Relation, Row, Spec, fitting, key_getter, row_getter

MOST_TUPLES = 2048
"""Joins with more bindings on their way are left to numpy."""


class _Kind(IntEnum):
    SCAN = 0
    PROBE = 1
    EXISTS = 2
    ABSENT = 3
    DISTINCT = 4
    PROJECT = 5


_Step = tuple[_Kind, int, Any, Any]
"""Kind, predicate, and what the kind needs: see :meth:`TuplePlan.run`."""


class TuplePlan:
    """The steps of one body's join, chosen by the sizes that its relations have at the time.

    It evaluates only these ``negatives`` of the clause and returns the ``results`` (constants and variables)
    of each binding. ``first`` is the number of the positive literal to start with, -1 for the best.
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
                matches *= 4  # a product: rather not yet
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
            variables, kind, what = check
            if not variables <= self._place.keys():
                waiting.append(check)
            elif kind is _Kind.ABSENT:
                self.steps.append((kind, what.predicate, self._row(what.args), None))
            else:
                self.steps.append((kind, -1, self._row(what[0]), self._row(what[1])))
        self._checks = waiting

    def _row(self, args: Sequence[int]) -> Getter:
        return row_getter([self._place[a] for a in args])

    def run(self, relations: Sequence[Relation], window: tuple[int, int] | None = None) -> list[Row] | None:
        """The results of all bindings, doubles among them; None where a relation or the number of bindings is
        too large for plain Python. ``window``: ids of the rows that the literal to start with may use."""
        for p in self.reads:
            if relations[p].ids is None:
                return None
        rows: list[Row] = [self.start]
        for kind, predicate, what, getter in self.steps:
            if kind is _Kind.PROBE:
                index = relations[predicate].tuple_index(what)
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
                rows = [row for row in rows if what(row) in ids]
            elif kind is _Kind.DISTINCT:
                rows = [row for row in rows if what(row) != getter(row)]
            elif kind is _Kind.ABSENT:
                ids = relations[predicate].ids
                assert ids is not None
                rows = [row for row in rows if what(row) not in ids]
            elif kind is _Kind.PROJECT:
                rows = list(dict.fromkeys(map(what, rows)))
            else:
                fixed, equal = what
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
