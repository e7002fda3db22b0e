"""Owners of keys are as many for each part, and the same however keys are held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.frontier.keys.kinds import NarrowKeys, WideKeys
from players.puzzles.frontier.partitions.part import owners, owners_of_tagged


@given(st.lists(st.integers(0, (1 << 55) - 1), min_size=1), st.integers(1, 1000))
def test_narrow_and_wide_keys_have_the_same_owner(keys: list[int], parts: int) -> None:
    narrow = owners(NarrowKeys(55).array(keys), parts)
    assert narrow.min() >= 0
    assert narrow.max() < parts
    for bits in (64, 100, 200):
        assert np.array_equal(owners(WideKeys(bits).array(keys), parts), narrow)


@given(st.lists(st.tuples(st.integers(0, (1 << 120) - 1), st.integers(0, 255)), min_size=1))
def test_tags_do_not_change_the_owner(pairs: list[tuple[int, int]]) -> None:
    tags = np.array([[tag] for _, tag in pairs], np.uint64)
    wide = WideKeys(120).array([key for key, _ in pairs])
    assert np.array_equal(owners_of_tagged(np.hstack([wide, tags]), 7), owners(wide, 7))
    narrow = wide[:, 1] >> np.uint64(10)
    assert np.array_equal(owners_of_tagged(narrow << np.uint64(8) | tags[:, 0], 7), owners(narrow, 7))


@pytest.mark.parametrize("step", [1, 3, 1 << 20, 1 << 40])
@pytest.mark.parametrize("parts", [2, 3, 10, 64])
def test_keys_in_a_row_are_spread_evenly(step: int, parts: int) -> None:
    n = 6400 * parts
    keys = np.arange(n, dtype=np.uint64) * np.uint64(step)
    counts = np.bincount(owners(keys, parts), minlength=parts)
    # Of 6,400 expected a fair draw misses by less than 5 standard deviations, of 80.
    assert abs(counts - 6400).max() < 400
