"""Relations as columns of term ids, with membership and hash indexes, all in numpy.

A small relation holds its rows as tuples, for :mod:`gdl.grounding.join`; its columns are then
built only when something reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.keys import Argument, Coder, Column, Ids, KeyIds, Keys, full_columns

Row = tuple[int, ...]
Getter = Callable[[Row], Any]

Spec = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]
"""The key of an index: bound places, new places, and pairs of places that must be equal."""


class _TupleIndex:
    """Rows by the values at bound places; only the values at new places are stored. ``groups`` maps a key to
    the different values of its rows. Each value is a tuple; so is a key, except that a key of one place is
    its plain value."""

    def __init__(self, bound: Sequence[int], new: Sequence[int], equal: Sequence[tuple[int, int]]) -> None:
        self.groups: dict[Any, dict[Row, None]] = {}
        self._key = key_getter(bound)
        self._value = row_getter(new)
        self._equal = equal
        self._seen = 0

    def sync(self, rows: list[Row]) -> _TupleIndex:
        """Enter the rows that were added since the last call."""
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


def fitting(rows: Iterable[Row], equal: Sequence[tuple[int, int]]) -> Iterable[Row]:
    """The rows whose values are equal at each pair of places."""
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
    """Like :func:`row_getter`, but one place gives its plain value."""
    return itemgetter(places[0]) if len(places) == 1 else row_getter(places)


SMALL = 2048
"""Relations with more rows are joined in numpy."""


def _columns_of(rows: list[Row], arity: int) -> list[Column]:
    return list(np.array(rows, np.int32).reshape(len(rows), arity).T)


_NO_CODER, _NO_KEYS = Coder(0), KeyIds(0)


class Relation:
    """A set of rows, each with an id: 0, 1, 2, ... in the order in which they were added.

    Attributes:
        arity: columns.
        n: rows.
        rows: the rows of a small relation, by id; else empty.
        ids: the id of each row of a small relation; else None.
    """

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.n = 0
        self.rows: list[Row] = []
        self.ids: dict[Row, int] | None = {}
        self._tuple_indexes: dict[Spec, _TupleIndex] = {}
        self._stored = 0  # the number of rows in the columns
        self._columns: list[Column] = []
        self._coder = _NO_CODER
        self._key_ids = _NO_KEYS
        self._views: dict[tuple[int, ...], RelationView] = {}

    def column(self, c: int) -> Column:
        """A column, in the order of the ids."""
        if self._stored < self.n or not self._columns:
            self._store()
        return self._columns[c][: self.n]

    def row(self, i: int) -> tuple[int, ...]:
        """The row with an id."""
        if self.ids is not None:
            return self.rows[i]
        return tuple([int(c[i]) for c in self._columns])

    def view(self, pattern: tuple[int, ...]) -> RelationView:
        """The rows that fit a pattern of constants (>= 0) and variables (< 0)."""
        view = self._views.get(pattern)
        if view is None:
            view = self._views[pattern] = RelationView(self, pattern)
        view.sync()
        return view

    def tuple_index(self, spec: Spec) -> _TupleIndex:
        """The index of a small relation's rows, up to date."""
        index = self._tuple_indexes.get(spec)
        if index is None:
            index = self._tuple_indexes[spec] = _TupleIndex(*spec)
        return index.sync(self.rows)

    def add_rows(self, rows: Iterable[Row]) -> int:
        """Add rows; return the number of new ones."""
        ids = self.ids
        if ids is None:
            full = list(rows)
            return self.add(_columns_of(full, self.arity), len(full))
        before = self.n
        own = self.rows
        for row in rows:
            if row not in ids:
                ids[row] = len(own)
                own.append(row)
        self.n = len(own)
        if self.n > SMALL:
            self._grow_up()
        return self.n - before

    def _grow_up(self) -> None:
        """Drop the tuples: there are too many rows for them."""
        self._store()
        self.ids = None
        self.rows = []
        self._tuple_indexes = {}

    def _store(self) -> None:
        """Enter the rows that only exist as tuples into the columns."""
        first = self._stored
        if not self._columns and self.arity:
            self._columns = [np.empty(max(16, self.n), np.int32) for _ in range(self.arity)]
        if self._coder is _NO_CODER:
            self._coder, self._key_ids = Coder(self.arity), KeyIds(0)
        if first < self.n:
            columns = _columns_of(self.rows[first:], self.arity)
            if self._coder.learn(columns):
                self._rebuild()
            self._enter(columns, self._coder.keys(columns, self.n - first))

    def add(self, columns: Sequence[Argument], n: int) -> int:
        """Add rows given by columns; return the number of new ones."""
        if not n:
            return 0
        if self.ids is not None:
            if n <= SMALL:
                values = [[c] * n if isinstance(c, int) else c.tolist() for c in columns]
                return self.add_rows(zip(*values, strict=True) if values else [()])
            self._grow_up()
        full = full_columns(columns, n)
        if self._coder.learn(full):
            self._rebuild()
        keys = self._coder.keys(full, n)
        if n > 1:
            keys, first = np.unique(keys, return_index=True)
        else:
            first = np.zeros(1, np.intp)
        new = self._key_ids.search(keys) < 0
        if not new.all():
            keys, first = keys[new], first[new]
        count = len(keys)
        if not count:
            return 0
        # In the order of arrival, so that results do not depend on codes.
        arrival = np.argsort(first, kind="stable")
        keys, first = keys[arrival], first[arrival]
        self.n += count
        self._enter([column[first] for column in full], keys)
        return count

    def _enter(self, columns: list[Column], keys: Keys) -> None:
        """Store new rows; ``n`` already counts them."""
        first, end = self._stored, self.n
        ids = np.arange(first, end, dtype=np.int32)
        for c, column in enumerate(columns):
            own = self._columns[c]
            if end > len(own):
                grown = np.empty(max(2 * len(own), end), np.int32)
                grown[:first] = own[:first]
                own = self._columns[c] = grown
            own[first:end] = column
        self._stored = end
        self._key_ids.add(keys, ids)

    def find(self, columns: Sequence[Argument], n: int) -> Ids:
        """The ids of ``n`` rows (int32); -1 for rows that the relation does not have."""
        if self._stored < self.n or self._coder is _NO_CODER:
            self._store()
        return self._key_ids.search(self._coder.keys(columns, n))

    def _rebuild(self) -> None:
        """Enter all stored rows again after keys have changed."""
        columns = [c[: self._stored] for c in self._columns]
        self._coder.learn(columns)
        self._key_ids = KeyIds(self._coder.bits)
        self._key_ids.add(self._coder.keys(columns, self._stored), np.arange(self._stored, dtype=np.int32))


class RelationView:
    """The ``n`` rows of a relation that fit a pattern, with one column per variable of the pattern."""

    def __init__(self, relation: Relation, pattern: tuple[int, ...]) -> None:
        self.relation = relation
        self.n = 0
        first: dict[int, int] = {}
        self._constants: list[tuple[int, int]] = []
        self._equal: list[tuple[int, int]] = []
        for c, arg in enumerate(pattern):
            if arg >= 0:
                self._constants.append((c, arg))
            elif arg in first:
                self._equal.append((c, first[arg]))
            else:
                first[arg] = c
        self._places = list(first.values())
        self._whole = not self._constants and not self._equal
        self._ids: Ids = np.empty(0, np.int32)
        self._columns: list[Column] = [np.empty(0, np.int32)] * len(self._places)
        self._seen = 0
        self._indexes: dict[tuple[int, ...], list[Index]] = {}
        self._distinct: dict[int, tuple[int, int]] = {}

    def sync(self) -> None:
        """Add the new rows of the relation."""
        relation = self.relation
        if self._seen == relation.n:
            return
        if self._whole:
            self.n = self._seen = relation.n
            return
        fits: NDArray[np.bool_] = np.ones(relation.n - self._seen, np.bool_)
        for c, value in self._constants:
            fits &= relation.column(c)[self._seen :] == value
        for c, d in self._equal:
            fits &= relation.column(c)[self._seen :] == relation.column(d)[self._seen :]
        new = (np.flatnonzero(fits) + self._seen).astype(np.int32)
        self._seen = relation.n
        if len(new):
            self._ids = np.concatenate((self._ids, new))
            self._columns = [
                np.concatenate((own, relation.column(p)[new]))
                for own, p in zip(self._columns, self._places, strict=True)
            ]
            self.n = len(self._ids)

    def column(self, v: int) -> Column:
        """The column of the v-th variable."""
        return self.relation.column(self._places[v]) if self._whole else self._columns[v]

    def window(self, low: int, high: int) -> tuple[int, int]:
        """The range of this view's rows whose ids are ``low <= id < high``."""
        if self._whole:
            return low, min(high, self.n)
        start, stop = np.searchsorted(self._ids, (low, high))
        return int(start), int(stop)

    def distinct(self, v: int) -> int:
        """The approximate number of different values in a column, recounted when it has grown by a fifth."""
        counted = self._distinct.get(v)
        if counted is None or 5 * self.n > 6 * counted[0]:
            column = self.column(v)
            count = int(np.count_nonzero(np.bincount(column))) if self.n else 0
            counted = self._distinct[v] = (self.n, count)
        return counted[1]

    def index(self, places: tuple[int, ...]) -> list[Index]:
        """Indexes on some variables' columns, each on a range of the rows. The ranges become shorter and
        shorter, so that few rows are indexed again when some are added."""
        indexes = self._indexes.setdefault(places, [])
        start = indexes[-1].stop if indexes else 0
        if start < self.n or not indexes:
            while indexes and 2 * (self.n - start) >= indexes[-1].n:
                start = indexes.pop().start
            indexes.append(Index([self.column(v)[start:] for v in places], start, self.n))
        return indexes


class Index:
    """Groups the rows ``start .. stop - 1`` of columns by their values there. ``order``, int64, shape (n,),
    lists them group by group, ascending in each group."""

    def __init__(self, columns: Sequence[Column], start: int, stop: int) -> None:
        self.start = start
        self.stop = stop
        self.n = stop - start
        self._coder = Coder(len(columns))
        self._coder.learn(columns)
        keys = self._coder.keys(columns, self.n)
        self.order: NDArray[np.intp] = np.argsort(keys, kind="stable")
        if start:
            self.order += start
        self._sorted: Keys | None = None
        if self._coder.bits <= max(16, self.n.bit_length() + 3):
            counts = np.bincount(keys, minlength=(1 << self._coder.bits) + 1)
        else:
            self._sorted, counts = np.unique(keys, return_counts=True)
            counts = np.append(counts, 0)
        # The last entry is an empty group for values that do not occur.
        self._counts: Keys = counts
        self._starts: Keys = np.cumsum(counts) - counts

    def ranges(self, columns: Sequence[Argument], n: int) -> tuple[Keys, Keys]:
        """The group of each of ``n`` rows of values: its start in :attr:`order` and its size."""
        keys = self._coder.keys(columns, n)
        if self._sorted is None:
            slots = np.maximum(keys, -1)
        else:
            slots = np.searchsorted(self._sorted, keys)
            slots[slots == len(self._sorted)] = 0
            slots[self._sorted[slots] != keys] = len(self._sorted)
        return self._starts[slots], self._counts[slots]
