"""Scan, tree and counters against each other and against Python's own sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.deadsets.dead_sets import (
    COUNTERS,
    LINEAR,
    TREE,
    Lookup,
    any_within,
    freeze,
)
from players.puzzles.sokoban.deadsets.minimal import in_slots
from players.puzzles.sokoban.deadsets.squares import BoxSquares, number_squares, rank, unrank
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from propnet.jit.arrays import Index, Ints, Words
from propnet.jit.decorators import kernel
from tests.examples import examples


@kernel
def _any_within(lookup: Lookup, slot: Index, bits: Words) -> bool:
    return any_within(lookup.heads, lookup.data, slot, bits)


@kernel
def _there_and_back(squares: BoxSquares, number: Index, count: Index, members: Ints) -> int:
    unrank(squares.choose, number, count, members)
    return rank(squares.choose, members, count)


def _squares(count: int) -> BoxSquares:
    """A hall with ``count`` squares that boxes may stand on."""
    inside = "#@ " + count * "." + " #"
    level = Level(("#" * len(inside), inside, "#" + " " * (len(inside) - 2) + "#", "#" * len(inside)))
    return number_squares(from_level(level)[0])


@pytest.mark.slow
@examples(150)
@given(st.data(), st.sampled_from([3, 7, 63, 64, 65, 128, 150, 200]), st.integers(2, 5))
def test_all_methods_give_the_answer_of_plain_sets(data: st.DataObject, n: int, size: int) -> None:
    squares = _squares(n)
    size = min(size, n)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    near = data.draw(
        st.integers(size, n)
    )  # members come from so many squares: few make trees with many branches
    count = data.draw(st.sampled_from([0, 1, 2, 10, 63, 64, 65, 300, 3000]))
    chosen = {tuple(sorted(random.choice(near, size, replace=False).tolist())) for _ in range(count)}
    entries = [(p, tuple(q for q in s if q != p)) for s in sorted(chosen) for p in s]
    slots = np.array([p for p, _ in entries], np.int32)
    partners = np.array([rest for _, rest in entries], np.int32).reshape(len(entries), size - 1)
    family = in_slots(slots, partners, n)
    lookups = [
        freeze(squares, {size: family}, n, n // 3, method) for method in (LINEAR, TREE, COUNTERS, None)
    ]
    for density in (0.1, 0.3, 0.6):
        boxes = set(np.flatnonzero(random.random(n) < density).tolist()) | {int(random.integers(near))}
        bits = np.zeros(squares.words, np.uint64)
        for box in boxes:
            bits[box // 64] |= np.uint64(1 << box % 64)
        for p in boxes:
            expected = any(p in s and boxes.issuperset(s) for s in chosen)
            assert [bool(_any_within(lookup, p, bits)) for lookup in lookups] == [expected] * 4


def test_sets_have_the_numbers_of_the_combinatorial_system() -> None:
    squares = _squares(9)
    members = np.zeros(8, np.int64)
    for count in range(1, 6):
        colexical = sorted(combinations(range(9), count), key=lambda s: s[::-1])
        for number, expected in enumerate(colexical):
            assert _there_and_back(squares, number, count, members) == number
            assert tuple(members[:count].tolist()) == expected
