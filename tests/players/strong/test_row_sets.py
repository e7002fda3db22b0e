"""Sorted sets of records, against Python's own sorting and sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.strong import sets as kit
from players.strong.row_kernels import FINGERS, find_rows, subtract
from players.strong.sets import Gatherer, PackedSet, SetSignature, as_set, merged
from propnet.jit.arrays import Words
from tests.examples import examples


def random_rows(seed: int, n: int, words: int) -> Words:
    """Records in which some bytes are all the same, many repeated."""
    rng = np.random.default_rng(seed)
    masks = rng.choice(np.array([0, 0xFF, 0x3, 0x8000000000000001, 0xFF00FF00], np.uint64), words)
    return np.ascontiguousarray(rng.integers(0, 1 << 63, (n, words), np.uint64) * np.uint64(3) & masks)


def as_tuples(rows: Words) -> list[tuple[int, ...]]:
    """Rows as they compare: the last word first."""
    return [tuple(row[::-1]) for row in rows.tolist()]


cases = given(seed=st.integers(0, 10**6), n=st.integers(0, 300), words=st.integers(1, 3))


@examples(60)
@cases
def test_rows_become_a_set(seed: int, n: int, words: int) -> None:
    rows = random_rows(seed, n, words)
    wanted = sorted(set(as_tuples(rows)))
    assert as_tuples(as_set(rows.copy())) == wanted
    gatherer = Gatherer(words, 8 * words * 37)
    for part in np.array_split(rows, 5):
        gatherer.add(part)
    assert as_tuples(gatherer.finish().rows()) == wanted
    assert len(gatherer.finish()) == 0


@examples(60)
@cases
def test_rows_are_found_and_subtracted(seed: int, n: int, words: int) -> None:
    rows = random_rows(seed, n, words)
    first, second = as_set(rows[::2].copy()), as_set(rows[1::3].copy())
    rng = np.random.default_rng(seed)
    wanted = rows[rng.permutation(n)]
    moves = rng.integers(0, 3, (n, 2)).astype(np.int32)
    places = np.empty(n, np.int64)
    missing = find_rows(first, wanted, moves, np.zeros(FINGERS, np.int64), places)
    order = {row: place for place, row in enumerate(as_tuples(first))}
    assert places.tolist() == [order.get(row, -1) for row in as_tuples(wanted)]
    assert missing == (places < 0).sum()
    kept = np.ones(len(second), np.bool_)
    found = subtract(second, first, kept)
    assert as_tuples(second[kept]) == sorted(set(as_tuples(second)) - set(as_tuples(first)))
    assert found == (~kept).sum()


@examples(60)
@cases
def test_signatures_never_tell_apart_what_is_shared(seed: int, n: int, words: int) -> None:
    rows = random_rows(seed, n + 2, words)
    first, second = as_set(rows[::2].copy()), as_set(rows[1::2].copy())
    one, two = SetSignature.of(first), SetSignature.of(second)
    assert all(one.may_hold(row) for row in first)
    if set(as_tuples(first)) & set(as_tuples(second)):
        assert one.may_share(two) and two.may_share(one)


def test_signatures_tell_apart_numbers_of_bits_and_bits_that_are_always_set() -> None:
    few, many = np.array([[1], [2]], np.uint64), np.array([[7], [11]], np.uint64)
    odd, even = np.array([[1], [3]], np.uint64), np.array([[2], [4], [6]], np.uint64)
    for one, two in ((few, many), (odd, even)):
        assert not SetSignature.of(one).may_share(SetSignature.of(two))
        assert not SetSignature.of(one).may_hold(two[0])


@examples(40)
@cases
def test_packed_sets_are_read_as_they_were_and_merged(seed: int, n: int, words: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kit, "PLAIN", 20)
        patch.setattr(kit, "_PACKED_ROWS", 7)
        rows = random_rows(seed, n, words)
        parts = [as_set(part.copy()) for part in np.array_split(rows, 4)]
        sets = [PackedSet.of(part) for part in parts]
        for part, packed in zip(parts, sets, strict=True):
            assert (packed.rows() == part).all() and len(packed) == len(part)
        union = merged(sets, words)
        assert as_tuples(union.rows()) == sorted(set(as_tuples(rows)))
        assert sum(map(len, union.blocks())) == len(union)
        assert not sets


def test_packed_sets_are_small() -> None:
    rows = np.arange(1 << 20, dtype=np.uint64)[:, None] * np.uint64(3)
    packed = PackedSet.of(rows)
    assert packed.held < len(rows) // 2
    assert (packed.rows() == rows).all()
