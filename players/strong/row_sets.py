"""Sets of state records: made from rows in any order, what tells two of them apart at a glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.strong.row_kernels import drop_repeated, signature, sort_rows
from propnet.jit.arrays import Words


def as_set(rows: Words) -> Words:
    """The records (n, words), which are overwritten, as a set (:mod:`players.strong.row_kernels`)."""
    scratch = np.empty_like(rows)
    counts = np.zeros((8 * rows.shape[1], 256), np.int64)
    ordered = scratch if sort_rows(rows, scratch, counts) else rows
    return ordered[: drop_repeated(ordered)]


@dataclass(frozen=True, slots=True)
class SetSignature:
    """What the records of a set have in common.

    Attributes:
        always: the bits that are true in each, as one number.
        ever: the bits that are true in one at least.
        fewest, most: bits that are true in a record.
    """

    always: int
    ever: int
    fewest: int
    most: int

    @classmethod
    def of(cls, rows: Words) -> SetSignature:
        """The signature of a set (n, words)."""
        always, ever = np.empty((2, rows.shape[1]), np.uint64)
        ones = np.empty(2, np.int64)
        signature(rows, always, ever, ones)
        return cls(_number(always), _number(ever), int(ones[0]), int(ones[1]))

    def joined(self, other: SetSignature) -> SetSignature:
        """The signature of the union of two sets."""
        return SetSignature(
            self.always & other.always,
            self.ever | other.ever,
            min(self.fewest, other.fewest),
            max(self.most, other.most),
        )

    def may_share(self, other: SetSignature) -> bool:
        """Whether the two sets may have a record in common; False is a proof."""
        apart = self.most < other.fewest or other.most < self.fewest
        return not apart and not (self.always & ~other.ever or other.always & ~self.ever)

    def may_hold(self, record: Words) -> bool:
        """Whether the set may have this record (words,); False is a proof."""
        number = _number(record)
        fits = self.fewest <= number.bit_count() <= self.most
        return fits and not (self.always & ~number or number & ~self.ever)


def _number(words: Words) -> int:
    return int.from_bytes(np.ascontiguousarray(words, "<u8").tobytes(), "little")
