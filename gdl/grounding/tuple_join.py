"""Joins of small relations, tuple by tuple in plain Python.

A numpy call costs as much as some hundred tuples, and most relations of most games are smaller
than that. A :class:`Plan` is the order of one body's literals and checks; a partial binding is a
tuple that starts with the body's constants, so that constants and variables are looked up alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from operator import itemgetter
from typing import Any, Protocol

Row = tuple[int, ...]
Getter = Callable[[Row], Any]

SMALL = 2048
"""Relations with more rows are joined in numpy."""

MOST_TUPLES = 2048
"""Joins with more bindings on their way are given up, for numpy to take over."""


class TupleIndex:
    """Rows by the values at some places; only the values at other places are kept.

    Attributes:
        groups: key -> the different values of its rows. A key or value is a tuple, a key of one
            place its plain value.
    """

    def __init__(self, bound: Sequence[int], new: Sequence[int], equal: Sequence[tuple[int, int]]) -> None:
        self.groups: dict[Any, dict[Row, None]] = {}
        self.rows = 0
        self._key = key_getter(bound)
        self._value = row_getter(new)
        self._equal = equal
        self._seen = 0

    def sync(self, rows: list[Row]) -> TupleIndex:
        """Take up what has been added to the rows."""
        if self._seen < len(rows):
            key, value, groups = self._key, self._value, self.groups
            for row in fitting(rows[self._seen :], self._equal):
                k = key(row)
                group = groups.get(k)
                if group is None:
                    group = groups[k] = {}
                group[value(row)] = None
            self._seen = len(rows)
        return self


Spec = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]
"""What an index is on: bound places, new places, and pairs of places that must be equal."""


class TupleRelation(Protocol):
    """What a plan reads: a set of rows that may be too large for it."""

    n: int
    rows: list[Row]
    """By their ids."""

    ids: dict[Row, int] | None
    """The id of each row; None where the relation is too large."""

    def tuple_index(self, spec: Spec) -> TupleIndex:
        """The index, up to date."""


class Atom(Protocol):
    """A predicate with constants (>= 0) and variables (< 0)."""

    @property
    def predicate(self) -> int: ...

    @property
    def args(self) -> tuple[int, ...]: ...


class _Kind(IntEnum):
    SCAN = 0
    PROBE = 1
    EXISTS = 2
    ABSENT = 3
    DISTINCT = 4
    PROJECT = 5


_Step = tuple[_Kind, int, Any, Any]
"""Kind, predicate, and what the kind needs: see :meth:`Plan.run`."""


def fitting(rows: Iterable[Row], equal: Sequence[tuple[int, int]]) -> Iterable[Row]:
    """The rows whose values are equal at pairs of places."""
    for a, b in equal:
        rows = [row for row in rows if row[a] == row[b]]
    return rows


def row_getter(places: Sequence[int]) -> Getter:
    """A function from a row to the tuple of its values at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    if places:
        place = places[0]
        return lambda row: (row[place],)
    return lambda row: ()


def key_getter(places: Sequence[int]) -> Getter:
    """The same, but one place gives its plain value."""
    return itemgetter(places[0]) if len(places) == 1 else row_getter(places)


class Plan:
    """The steps of one body's join, made for the sizes that its relations have at the time.

    Args:
        positives: the literals to join, and their variables.
        negatives: atoms that must not hold.
        distincts: pairs of tuples that must differ.
        results: tuples of constants and variables to be made of each binding.
        first: the number of the positive literal to start with, -1 for the best.
        relations: by predicate.
    """

    def __init__(
        self,
        positives: Sequence[Atom],
        negatives: Sequence[Atom],
        distincts: Sequence[tuple[Row, Row]],
        results: Row,
        first: int,
        relations: Sequence[TupleRelation],
    ) -> None:
        used = [
            results,
            *(a.args for a in (*positives, *negatives)),
            *(side for d in distincts for side in d),
        ]
        constants = sorted({a for args in used for a in args if a >= 0})
        self.start: Row = tuple(constants)
        self.reads = [a.predicate for a in positives]
        self.denies = [a.predicate for a in negatives]
        self.steps: list[_Step] = []
        self._place = {c: i for i, c in enumerate(constants)}
        self._constants = len(constants)
        pending = list(range(len(positives)))
        self._checks: list[tuple[frozenset[int], _Kind, Any]] = [
            (frozenset(a for a in (*left, *right) if a < 0), _Kind.DISTINCT, (left, right))
            for left, right in distincts
        ]
        self._checks += [(frozenset(a for a in n.args if a < 0), _Kind.ABSENT, n) for n in negatives]
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

    def _best(self, positives: Sequence[Atom], pending: list[int], relations: Sequence[TupleRelation]) -> int:
        """The literal with the fewest expected matches."""
        best, least = pending[0], float("inf")
        for i in pending:
            args = positives[i].args
            free = len({a for a in args if a not in self._place})
            if not free:
                return i
            matches: float = relations[positives[i].predicate].n ** (free / len(args))
            if free == len(args) and len(self._place) > self._constants:
                matches *= 4  # a product: rather not yet
            if matches < least:
                best, least = i, matches
        return best

    def _literal(self, atom: Atom, needed: set[int], scan: bool) -> None:
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
        asked = needed.union(atom.args)
        if any(v in needed for v in new) and not all(v >= 0 or v in asked for v in self._place):
            self._project(asked)
        kept = {v: i for v, i in new.items() if v in needed}
        if scan:
            mine = [(i, self._place[atom.args[i]]) for i in bound]
            self.steps.append((_Kind.SCAN, atom.predicate, (mine, equal), row_getter(list(kept.values()))))
        else:
            spec: Spec = (tuple(bound), tuple(kept.values()), tuple(equal))
            key = key_getter([self._place[atom.args[i]] for i in bound])
            self.steps.append((_Kind.PROBE, atom.predicate, spec, key))
        for v in kept:
            self._place[v] = len(self._place)

    def _project(self, needed: set[int]) -> None:
        kept = [v for v in self._place if v >= 0 or v in needed]
        self.steps.append((_Kind.PROJECT, -1, self._row(kept), None))
        self._place = {v: i for i, v in enumerate(kept)}

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

    def run(
        self, relations: Sequence[TupleRelation], window: tuple[int, int] | None = None
    ) -> list[Row] | None:
        """The results of all bindings, doubles among them; None where that is too much for
        plain Python.

        Args:
            relations: by predicate.
            window: ids of the rows that the literal to start with may use.
        """
        for p in self.reads:
            if relations[p].ids is None:
                return None
        for p in self.denies:
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
                mine, equal = what
                low, high = window or (0, relations[predicate].n)
                found = fitting(relations[predicate].rows[low:high], equal)
                for place, constant in mine:
                    value = self.start[constant]
                    found = [row for row in found if row[place] == value]
                rows = [row + getter(more) for row in rows for more in found]
                if len(rows) > MOST_TUPLES:
                    return None
            if not rows:
                return []
        return list(map(self.result, rows))
