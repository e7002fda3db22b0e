"""Minimal dead sets and their lookup, by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given

from players.puzzles.sokoban.deadsets.dead_sets import (
    Lookup,
    any_within,
    dead_after_push,
    freeze,
    make_dead_sets,
)
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.deadsets.brute_force import alive_states
from tests.players.puzzles.sokoban.small_levels import mazes


@examples(40)
@given(mazes(4, 5, goals=4))
def test_families_hold_the_minimal_dead_sets_and_no_others(geometry: Geometry) -> None:
    made = make_dead_sets(geometry, most=4, seconds=60)
    most = len(geometry.goals)
    assert made.sizes == tuple(range(2, most + 1))
    squares = made.squares.squares.tolist()
    alive = {size: alive_states(geometry, size) for size in range(1, 5)}
    expected: set[tuple[int, int, tuple[int, ...]]] = set()
    expected_boxes: set[tuple[int, ...]] = set()
    somewhere = {size: {boxes for boxes, _ in alive[size]} for size in alive}
    for size in range(2, most + 1):
        for boxes in combinations(squares, size):
            for box in boxes:
                for direction in range(4):
                    keeper = int(geometry.neighbours[box, direction])
                    if (
                        keeper == geometry.size
                        or keeper in boxes
                        or (frozenset(boxes), keeper) in alive[size]
                    ):
                        continue
                    if all(
                        (frozenset(part), keeper) in alive[less]
                        for less in range(1, size)
                        for part in combinations(boxes, less)
                    ):
                        expected.add((box, direction, tuple(sorted(set(boxes) - {box}))))
            if frozenset(boxes) not in somewhere[size] and all(
                less == 1 or frozenset(part) in somewhere[less]
                for less in range(1, size)
                for part in combinations(boxes, less)
            ):
                expected_boxes.add(boxes)
    found = [
        (squares[slot // 4], slot % 4, tuple(squares[number] for number in partners))
        for family in made.families.values()
        for slot in range(len(family.starts) - 1)
        for partners in family.partners[family.starts[slot] : family.starts[slot + 1]].tolist()
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected
    listed = list(made.box_sets())
    assert len(listed) == len(set(listed))
    assert set(listed) == expected_boxes


@kernel
def _dead_after_push(lookup: Lookup, bits: Words, square: int, direction: int) -> bool:
    return dead_after_push(lookup, bits, square, direction)


@kernel
def _any_within(lookup: Lookup, bits: Words, numbers: Int32s) -> bool:
    dead = False
    for number in numbers:
        dead = dead or any_within(lookup.heads, lookup.data, number, bits)
    return dead


@examples(40)
@given(mazes(4, 5, goals=3))
def test_answers_after_a_push_are_those_of_brute_force_for_up_to_three_boxes(geometry: Geometry) -> None:
    made = make_dead_sets(geometry, seconds=60)
    everywhere = freeze(made.squares, made.box_families, len(made.squares.squares), len(geometry.goals))
    alive = {size: alive_states(geometry, size) for size in range(1, 4)}
    for size in range(1, len(geometry.goals) + 1):
        for boxes in combinations(range(geometry.size), size):
            numbers = made.squares.numbers[list(boxes)]
            bits = np.zeros(made.squares.words, np.uint64)
            for number in numbers[numbers >= 0].tolist():
                bits[number // 64] |= np.uint64(1 << number % 64)
            for box in boxes:
                for direction in range(4):
                    keeper = int(geometry.neighbours[box, direction ^ 2])
                    if keeper == geometry.size or keeper in boxes:
                        continue
                    others = set(boxes) - {box}
                    if others and (frozenset(others), keeper) not in alive[size - 1]:
                        continue  # dead before the push
                    dead = (frozenset(boxes), keeper) not in alive[size]
                    assert _dead_after_push(made.lookup, bits, box, direction) == dead
            if (numbers < 0).any() or _any_within(everywhere, bits, numbers):
                assert all(state[0] != frozenset(boxes) for state in alive[size])


@examples(20)
@given(mazes(4, 5, goals=4))
def test_what_does_not_fit_the_budget_is_left_out(geometry: Geometry) -> None:
    assert make_dead_sets(geometry, most=4, memory=-1).sizes in ((), (2,))
    whole, less = make_dead_sets(geometry, most=3, seconds=60), make_dead_sets(geometry, most=3, seconds=-1)
    assert set(less.sizes) <= {2, 3}
    assert set(less.box_sets()) <= set(whole.box_sets())
