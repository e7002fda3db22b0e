"""Dead sets, how they are found, and their three lookups, by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.deadsets.alive import alive_pairs, alive_sets
from players.puzzles.sokoban.deadsets.dead_sets import (
    COUNTERS,
    LINEAR,
    TREE,
    Lookup,
    any_within,
    dead_after_push,
    freeze,
    make_dead_sets,
)
from players.puzzles.sokoban.deadsets.minimal import in_slots
from players.puzzles.sokoban.deadsets.squares import BoxSquares, number_squares, rank, unrank
from players.puzzles.sokoban.geometry import Geometry, from_level
from players.puzzles.sokoban.levels.level import Level
from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import mazes

State = tuple[frozenset[int], int]


def alive_states(geometry: Geometry, count: int) -> set[State]:
    """All (boxes, keeper square) from which ``count`` boxes can be pushed to goals: by single steps,
    backwards. It shares no code with the dead sets."""
    size = geometry.size
    neighbours = geometry.neighbours.tolist()
    alive = {
        (frozenset(boxes), keeper)
        for boxes in combinations(geometry.goals.tolist(), count)
        for keeper in range(size)
        if keeper not in boxes
    }
    waiting = list(alive)
    while waiting:
        boxes, keeper = waiting.pop()
        for direction in range(4):
            back = neighbours[keeper][direction ^ 2]
            if back == size or back in boxes:
                continue
            ahead = neighbours[keeper][direction]
            before = [(boxes, back)]
            if ahead in boxes:
                before.append((boxes - {ahead} | {keeper}, back))
            for state in before:
                if state not in alive:
                    alive.add(state)
                    waiting.append(state)
    return alive


# --- Minimal dead sets and their lookup, by brute force
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
def _any_of(lookup: Lookup, bits: Words, numbers: Int32s) -> bool:
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
            if (numbers < 0).any() or _any_of(everywhere, bits, numbers):
                assert all(state[0] != frozenset(boxes) for state in alive[size])


@examples(20)
@given(mazes(4, 5, goals=4))
def test_what_does_not_fit_the_budget_is_left_out(geometry: Geometry) -> None:
    assert make_dead_sets(geometry, most=4, memory=-1).sizes in ((), (2,))
    whole, less = make_dead_sets(geometry, most=3, seconds=60), make_dead_sets(geometry, most=3, seconds=-1)
    assert set(less.sizes) <= {2, 3}
    assert set(less.box_sets()) <= set(whole.box_sets())


# --- Which sets of boxes are alive, by brute force
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


# --- Scan, tree and counters against each other and against Python's own sets
@kernel
def _is_dead(lookup: Lookup, slot: Index, bits: Words) -> bool:
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
            assert [bool(_is_dead(lookup, p, bits)) for lookup in lookups] == [expected] * 4


def test_sets_have_the_numbers_of_the_combinatorial_system() -> None:
    squares = _squares(9)
    members = np.zeros(8, np.int64)
    for count in range(1, 6):
        colexical = sorted(combinations(range(9), count), key=lambda s: s[::-1])
        for number, expected in enumerate(colexical):
            assert _there_and_back(squares, number, count, members) == number
            assert tuple(members[:count].tolist()) == expected
