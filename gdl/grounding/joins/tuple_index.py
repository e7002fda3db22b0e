"""Hash indexes on rows that are kept as tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

Row = tuple[int, ...]
Getter = Callable[[Row], Any]

Spec = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]
"""What an index is on: bound places, new places, and pairs of places that must be equal."""


class TupleIndex:
    """Rows by the values at bound places; only the values at new places are stored. ``groups`` leads from a
    key to the different values of its rows: each is a tuple, a key of one place its plain value."""

    def __init__(self, bound: Sequence[int], new: Sequence[int], equal: Sequence[tuple[int, int]]) -> None:
        self.groups: dict[Any, dict[Row, None]] = {}
        self._key = key_getter(bound)
        self._value = row_getter(new)
        self._equal = equal
        self._seen = 0

    def sync(self, rows: list[Row]) -> TupleIndex:
        """Enter what has been added to the rows."""
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
