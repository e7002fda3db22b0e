"""Relations as columns of term ids, with membership and hash indexes, all in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.keys import Argument, Coder, Column, Ids, KeyIds, Keys, full_columns

Row = tuple[int, ...]


class Relation:
    """A set of rows, each with an id: 0, 1, 2, ... in the order in which they were added.

    Attributes:
        arity: columns.
        n: rows.
    """

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.n = 0
        self._columns: list[Column] = [np.empty(16, np.int32) for _ in range(arity)]
        self._coder = Coder(arity)
        self._key_ids = KeyIds(0)
        self._views: dict[Row, RelationView] = {}

    def column(self, c: int) -> Column:
        """A column, in the order of the ids."""
        return self._columns[c][: self.n]

    def row(self, i: int) -> Row:
        """The row with an id."""
        return tuple([int(c[i]) for c in self._columns])

    def view(self, pattern: Row) -> RelationView:
        """The rows that fit a pattern of constants (>= 0) and variables (< 0)."""
        view = self._views.get(pattern)
        if view is None:
            view = self._views[pattern] = RelationView(self, pattern)
        view.sync()
        return view

    def add_rows(self, rows: Sequence[Row]) -> int:
        """Add rows; return the number of new ones."""
        return self.add(list(np.array(rows, np.int32).reshape(len(rows), self.arity).T), len(rows))

    def add(self, columns: Sequence[Argument], n: int) -> int:
        """Add rows given by columns; return the number of new ones."""
        if not n:
            return 0
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
        self._enter([column[first] for column in full], keys)
        return count

    def _enter(self, columns: list[Column], keys: Keys) -> None:
        """Store new rows."""
        first, end = self.n, self.n + len(keys)
        ids = np.arange(first, end, dtype=np.int32)
        for c, column in enumerate(columns):
            own = self._columns[c]
            if end > len(own):
                grown = np.empty(max(2 * len(own), end), np.int32)
                grown[:first] = own[:first]
                own = self._columns[c] = grown
            own[first:end] = column
        self.n = end
        self._key_ids.add(keys, ids)

    def find(self, columns: Sequence[Argument], n: int) -> Ids:
        """The ids of ``n`` rows (int32); -1 for rows that the relation does not have."""
        return self._key_ids.search(self._coder.keys(columns, n))

    def _rebuild(self) -> None:
        """Enter all rows again after keys have changed."""
        columns = [c[: self.n] for c in self._columns]
        self._coder.learn(columns)
        self._key_ids = KeyIds(self._coder.bits)
        self._key_ids.add(self._coder.keys(columns, self.n), np.arange(self.n, dtype=np.int32))


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
