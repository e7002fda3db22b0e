"""Which sets of boxes are alive, by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.deadsets.alive import alive_pairs, alive_sets
from players.puzzles.sokoban.deadsets.squares import BoxSquares, number_squares
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Words
from tests.examples import examples
from tests.players.puzzles.sokoban.deadsets.brute_force import alive_states
from tests.players.puzzles.sokoban.small_levels import mazes


def _says_alive(squares: BoxSquares, rows: Words, base: tuple[int, ...], side: int, further: int) -> bool:
    number = sum(int(squares.choose[member, i + 1]) for i, member in enumerate(base))
    row = rows[4 * len(base) * number + side]
    return bool(row[further // 64] >> np.uint64(further % 64) & np.uint64(1))


def _check(geometry: Geometry, squares: BoxSquares, rows: Words, size: int) -> None:
    alive = alive_states(geometry, size)
    n = len(squares.squares)
    for base in combinations(range(n), size - 1):
        for further in sorted(set(range(n)) - set(base)):
            boxes = frozenset(int(squares.squares[number]) for number in (*base, further))
            for side in range(4 * (size - 1)):
                box = squares.squares[base[side // 4]]
                keeper = int(geometry.neighbours[box, side % 4])
                expected = (boxes, keeper) in alive
                assert _says_alive(squares, rows, base, side, further) == expected
    # A box on a dead square makes any set dead.
    live = set(squares.squares.tolist())
    assert all(boxes <= live for boxes, _ in alive)


@examples(60)
@given(mazes(4, 5, goals=4))
def test_pairs(geometry: Geometry) -> None:
    squares = number_squares(geometry)
    _check(geometry, squares, alive_pairs(squares), 2)


@examples(60)
@given(mazes(4, 5, goals=4), st.integers(3, 4))
def test_larger_sets(geometry: Geometry, size: int) -> None:
    squares = number_squares(geometry)
    rows = alive_sets(squares, size)
    assert rows is not None
    _check(geometry, squares, rows, size)
