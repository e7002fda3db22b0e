"""Keys of rows (one code per column, packed into an int64), and the ids of keys.

Codes are dense per column, so most keys are small and address a table directly; larger ones
are searched for in a sorted array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int32]
Keys = NDArray[np.int64]
Ids = NDArray[np.int32]
Argument = Column | int
"""A column, or one term id for all rows."""

MAX_BITS = 56
MAX_WIDTH = 60
_ABSENT = -(1 << 57)  # the sum over MAX_WIDTH columns neither overflows nor becomes positive

DENSE_BITS = 22
"""Keys of at most this many bits address a table."""

FEW = 500
"""Plain Python is faster for fewer rows (see docs/measurements.md)."""


class Coder:
    """Packs rows into keys, different rows into different keys. Values that were never learnt
    give negative keys."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.counts = [0] * width
        self._codes: list[Keys] = [np.full(64, -1, np.int64) for _ in range(width)]
        self._shifts = [0] * width
        self._bits = [0] * width
        self._shifted: list[Keys] | None = None
        # Rows too wide for a key are numbered in a dictionary.
        self._wide: dict[bytes, int] | None = {} if width > MAX_WIDTH else None
        self._limit = 64

    @property
    def bits(self) -> int:
        """Keys are less than ``1 << bits``."""
        return sum(self._bits) if self._wide is None else 63

    def learn(self, columns: Sequence[Column]) -> bool:
        """Assign codes to new values; return whether earlier keys have become wrong."""
        changed = False
        for c, column in enumerate(columns):
            if not len(column):
                return False
            self._grow(int(column.max()) + 1)
            codes = self._codes[c]
            if len(column) > 64:
                flags = np.zeros(len(codes), np.bool_)
                flags[column] = True
                new = np.flatnonzero(flags & (codes < 0))
            else:
                new = np.unique(column[codes[column] < 0])
            if len(new):
                first = self.counts[c]
                codes[new] = np.arange(first, first + len(new))
                self.counts[c] = first + len(new)
                self._shifted = None
                bits = (self.counts[c] - 1).bit_length()
                if bits > self._bits[c]:
                    self._bits[c] = bits
                    changed = True
        if changed and self._wide is None:
            shift = 0
            for c in range(self.width):
                self._shifts[c] = shift
                shift += self._bits[c]
            if shift > MAX_BITS:
                self._wide = {}
        if self._wide is not None:
            for row in _row_bytes(columns):
                self._wide.setdefault(row, len(self._wide))
        return changed

    def keys(self, columns: Sequence[Argument], n: int) -> Keys:
        """The keys of ``n`` rows (int64); negative if a value is unknown."""
        if self._wide is not None:
            number, rows = self._wide, _row_bytes(full_columns(columns, n))
            return np.fromiter((number.get(row, -1) for row in rows), np.int64, n)
        if self._shifted is None:
            self._shifted = [
                np.where(code < 0, _ABSENT, code << shift)
                for code, shift in zip(self._codes, self._shifts, strict=True)
            ]
        result: Keys | None = None
        constant = 0
        for lut, column in zip(self._shifted, columns, strict=True):
            if isinstance(column, int):
                constant += int(lut[column]) if column < self._limit else _ABSENT
                continue
            if len(column) and int(column.max()) >= self._limit:
                self._grow(int(column.max()) + 1)
                return self.keys(columns, n)
            codes = lut[column]
            result = codes if result is None else np.add(result, codes, out=result)
        if result is None:
            return np.full(n, constant, np.int64)
        if constant:
            result += constant
        return result

    def _grow(self, limit: int) -> None:
        """Extend the tables to values below a limit."""
        if limit <= self._limit:
            return
        limit = max(limit, 2 * self._limit)
        self._codes = [np.concatenate((c, np.full(limit - len(c), -1, np.int64))) for c in self._codes]
        self._limit = limit
        self._shifted = None


class KeyIds:
    """The ids of keys below ``1 << bits``: a table, or two sorted runs, a large and a small one."""

    def __init__(self, bits: int) -> None:
        # The last entry stands for negative keys.
        self._table = np.full((1 << bits) + 1, -1, np.int32) if bits <= DENSE_BITS else None
        if self._table is None:
            self._large, self._small = _Run(), _Run()

    def add(self, keys: Keys, ids: Ids) -> None:
        """Enter new keys."""
        if self._table is not None:
            self._table[keys] = ids
            return
        self._small.add(keys, ids)
        if 8 * len(self._small.keys) > len(self._large.keys):
            self._large.add(self._small.keys, self._small.ids)
            self._small = _Run()

    def search(self, keys: Keys) -> Ids:
        """The ids of keys; -1 for unknown keys."""
        if self._table is not None:
            ids: Ids = self._table[np.maximum(keys, -1)]
            return ids
        ids = self._large.search(keys)
        return np.maximum(ids, self._small.search(keys)) if len(self._small.keys) else ids


class _Run:
    """Keys, ascending, with their ids."""

    def __init__(self) -> None:
        self.keys: Keys = np.empty(0, np.int64)
        self.ids: Ids = np.empty(0, np.int32)

    def add(self, keys: Keys, ids: Ids) -> None:
        """Merge in new keys."""
        keys = np.concatenate((self.keys, keys))
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.ids = np.concatenate((self.ids, ids))[order]

    def search(self, keys: Keys) -> Ids:
        """The ids of keys; -1 for unknown keys."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int32)
        position = np.searchsorted(self.keys, keys)
        position[position == len(self.keys)] = 0
        result: Ids = np.where(self.keys[position] == keys, self.ids[position], np.int32(-1))
        return result


def full_columns(columns: Sequence[Argument], n: int) -> list[Column]:
    """Columns of ``n`` values, with constants repeated."""
    return [np.full(n, c, np.int32) if isinstance(c, int) else c for c in columns]


def _row_bytes(columns: Sequence[Column]) -> list[bytes]:
    matrix = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.int32)
    width = matrix.shape[1] * 4
    data = matrix.tobytes()
    return [data[i : i + width] for i in range(0, len(data), width)]


def first_rows(columns: Sequence[Column], n: int) -> NDArray[np.intp]:
    """The numbers of the rows that equal no earlier row, ascending."""
    if not columns:
        return np.zeros(min(n, 1), np.intp)
    if n <= FEW:
        lists = [c.tolist() for c in columns]
        numbers = dict(zip(zip(*[x[::-1] for x in lists], strict=True), range(n - 1, -1, -1), strict=True))
        return np.array(sorted(numbers.values()), np.intp)
    coder = Coder(len(columns))
    coder.learn(columns)
    keys = coder.keys(columns, n)
    if coder.bits <= DENSE_BITS and n > (1 << coder.bits) >> 4:
        table = np.full(1 << coder.bits, -1, np.intp)
        table[keys[::-1]] = np.arange(n - 1, -1, -1)
        first = table[table >= 0]
    else:
        first = np.unique(keys, return_index=True)[1]
    first.sort()
    return first
