"""The matching kept up to date is the least of all, by trying all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.search.backward import (
    FAR_COST,
    Matching,
    cost_after,
    match_boxes,
    move_row,
    new_matching,
    total_cost,
)
from propnet.jit.arrays import Int32s, Ints
from propnet.jit.decorators import kernel
from tests.examples import examples

SQUARES = 12
_FAR = 1 << 24


@kernel
def _play(matching: Matching, moves: Int32s, costs: Ints) -> None:
    """Move rows to squares. ``costs``: int64, shape (moves, 2): the cost foretold, and the cost after it."""
    for number in range(len(moves)):
        row, square = np.int64(moves[number, 0]), np.int64(moves[number, 1])
        costs[number, 0] = cost_after(matching, row, square, np.int64(total_cost(matching)))
        move_row(matching, row, square)
        costs[number, 1] = total_cost(matching)


@kernel
def _match(matching: Matching, boxes: Int32s, marks: Int32s) -> int:
    match_boxes(matching, boxes, len(boxes), marks)
    return total_cost(matching)


def _least(matching: Matching, squares: list[int]) -> int:
    lines = matching.costs[squares]
    goals = range(lines.shape[1])
    return min(sum(int(lines[row, way[row]]) for row in range(len(squares))) for way in permutations(goals))


@st.composite
def _distances(draw: st.DrawFn) -> Int32s:
    goals = draw(st.integers(1, 5))
    cost = st.one_of(st.integers(0, 12), st.just(_FAR))
    rows = st.lists(
        st.lists(cost, min_size=SQUARES + 1, max_size=SQUARES + 1), min_size=goals, max_size=goals
    )
    return np.array(draw(rows), np.int32)


@examples(60)
@given(_distances(), st.data())
def test_each_move_leaves_the_least_matching(distances: Int32s, data: st.DataObject) -> None:
    matching = new_matching(distances)
    goals = len(distances)
    pair = st.tuples(st.integers(0, goals - 1), st.integers(0, SQUARES))
    moves = data.draw(st.lists(pair, min_size=1, max_size=8))
    costs = np.zeros((len(moves), 2), np.int64)
    _play(matching, np.array(moves, np.int32), costs)
    squares = [SQUARES + 1] * goals
    for (row, square), (foretold, cost) in zip(moves, costs.tolist(), strict=True):
        squares[row] = square
        least = _least(matching, squares)
        assert cost == least
        # Without a matching, any number from FAR_COST on will do.
        assert foretold == least or min(foretold, least) >= FAR_COST


@examples(40)
@given(_distances(), st.data())
def test_other_boxes_are_matched_anew(distances: Int32s, data: st.DataObject) -> None:
    matching, marks = new_matching(distances), np.zeros(SQUARES + 1, np.int32)
    count = data.draw(st.integers(1, len(distances)))
    sets = st.lists(st.integers(0, SQUARES), min_size=count, max_size=count, unique=True)
    for boxes in data.draw(st.lists(sets, min_size=1, max_size=5)):
        cost = _match(matching, np.array(sorted(boxes), np.int32), marks)
        assert cost == _least(matching, [*boxes, *[SQUARES + 1] * (len(distances) - count)])
        assert not marks.any()


@pytest.mark.parametrize("seed", range(3))
def test_potentials_stay_small_for_ever(seed: int) -> None:
    """They once ran out of 32 bits after some hundred thousand moves."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 50, (5, SQUARES + 1)).astype(np.int32)
    distances[rng.random(distances.shape) < 0.3] = _FAR
    matching = new_matching(distances)
    moves = np.stack([rng.integers(0, 5, 300_000), rng.integers(0, SQUARES + 1, 300_000)], 1).astype(np.int32)
    costs = np.zeros((len(moves), 2), np.int64)
    _play(matching, moves, costs)
    assert np.abs(matching.row_potentials).max() < 1 << 28
    assert np.abs(matching.column_potentials).max() < 1 << 28
    assert costs[-1, 1] == _least(matching, matching.squares.tolist())
