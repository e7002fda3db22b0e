"""The bounds of all states of small levels: one below the other, none above the truth but the greedy one."""

from __future__ import annotations

import random
from collections import deque
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import GdlError
from players.puzzles.sokoban.analysis.distances import goal_distances
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.search.best_first import AStarGreedyBound, AStarSimple, BestFirst
from players.puzzles.sokoban.search.best_first_kernels import DEAD, KNOWN
from players.puzzles.sokoban.search.bounds import GREEDY, LEAST_MATCHING, SIMPLE, bound_of
from players.puzzles.sokoban.search.greedy_bound import SortedGoals, sorted_goals
from players.puzzles.sokoban.search.matching import FAR_COST, Matching, new_matching
from players.puzzles.sokoban.search.push_search import LevelKnowledge, PushTask
from players.puzzles.sokoban.search.simple_bound import simple_after
from players.puzzles.sokoban.state_space import StateSpace, explore
from propnet.jit.arrays import Int32s, Ints
from propnet.jit.decorators import kernel

SQUARES = 12
_FAR = 1 << 24


@kernel
def _bounds(matching: Matching, lists: SortedGoals, rows: Int32s, marks: Int32s, told: Ints) -> None:
    """``rows``: int32, shape (positions, boxes); ``told``: int64, shape (positions, 4): the three bounds, and
    the simple one made from that of the position before, box by box."""
    boxes = rows.shape[1]
    for number in range(len(rows)):
        for choice in range(3):
            told[number, choice] = bound_of(choice, matching, lists, rows[number], boxes, marks)
        told[number, 3] = told[number, 1]
        if number > 0:
            told[number, 3] = told[number - 1, 3]
            for box in range(boxes):
                told[number, 3] = simple_after(
                    matching.nearest, told[number, 3], rows[number - 1, box], rows[number, box]
                )


def _told(distances: Int32s, rows: list[tuple[int, ...]]) -> Ints:
    told = np.zeros((len(rows), 4), np.int64)
    marks = np.zeros(distances.shape[1], np.int32)
    _bounds(new_matching(distances), sorted_goals(distances), np.array(rows, np.int32), marks, told)
    return told


def _simple(distances: Int32s, boxes: tuple[int, ...]) -> int:
    return sum(min(int(row[box]) for row in np.minimum(distances, FAR_COST)) for box in boxes)


def _greedy(distances: Int32s, boxes: tuple[int, ...]) -> tuple[int, bool]:
    """The greedy bound by sorting all distances, and whether each box found a goal."""
    pairs = sorted((int(row[box]), box, goal) for goal, row in enumerate(distances) for box in boxes)
    used: set[int] = set()
    left, total = set(boxes), 0
    for cost, box, goal in pairs:
        if cost < FAR_COST and box in left and goal not in used:
            left.remove(box)
            used.add(goal)
            total += cost
    return total + _simple(distances, tuple(left)), not left


@cache
def _levels() -> list[StateSpace]:
    """Rooms with walls and pillars, two or three boxes, now and then a goal more."""
    rng = random.Random(8)
    found: list[StateSpace] = []
    while len(found) < 25:
        height, width = rng.randint(5, 6), rng.randint(6, 7)
        inside = [(y, x) for y in range(1, height - 1) for x in range(1, width - 1)]
        rng.shuffle(inside)
        rows = [["#"] * width for _ in range(height)]
        for y, x in inside[len(inside) // 8 :]:
            rows[y][x] = " "
        boxes = rng.choice((2, 3))
        letters = "$" * boxes + "." * (boxes + rng.randint(0, 1)) + "@"
        for letter, (y, x) in zip(letters, reversed(inside), strict=False):
            rows[y][x] = letter
        try:
            geometry, start = from_level(Level(tuple(map("".join, rows))))
        except GdlError:
            continue
        if len(geometry.goals) >= len(start.boxes) > 1:
            space = explore(geometry, start, 20_000)
            if space.alive[0]:
                found.append(space)
    return found


def _to_go(space: StateSpace) -> list[int]:
    back: list[list[int]] = [[] for _ in range(space.size)]
    for parent, child, *_ in space.edges.tolist():
        back[child].append(parent)
    waiting = deque(state for state in range(space.size) if is_solved(space.geometry, space.position(state)))
    pushes = [-1] * space.size
    for state in waiting:
        pushes[state] = 0
    while waiting:
        state = waiting.popleft()
        for parent in back[state]:
            if pushes[parent] < 0:
                pushes[parent] = pushes[state] + 1
                waiting.append(parent)
    return pushes


def test_each_bound_is_at_most_the_next_and_the_truth() -> None:
    apart = [0, 0, 0]
    for space in _levels():
        rows = [space.position(state).boxes for state in range(space.size)]
        told = _told(goal_distances(space.geometry), rows)
        for (least, simple, greedy, _), truth in zip(told.tolist(), _to_go(space), strict=True):
            assert simple <= least
            assert simple <= greedy
            if truth >= 0:
                assert least <= truth
                assert (simple == 0) == (greedy == 0) == (truth == 0)
                apart[0] += simple < least
                apart[1] += simple < greedy
                apart[2] += greedy > truth
    assert apart[0] > 100
    assert apart[1] > 100
    assert apart[2] > 0, "the greedy bound is no lower bound"


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_bounds_are_what_they_say(data: st.DataObject) -> None:
    goals = data.draw(st.integers(1, 5))
    cost = st.one_of(st.integers(0, 12), st.just(_FAR))
    line = st.lists(cost, min_size=SQUARES + 1, max_size=SQUARES + 1)
    distances = np.array(data.draw(st.lists(line, min_size=goals, max_size=goals)), np.int32)
    # As on a map, a square has at most one goal on it.
    distances[(distances == 0).cumsum(axis=0) > 1] = 7
    on_goal = (distances == 0).cumsum(axis=1) > 1
    distances[on_goal & (distances == 0)] = 7
    count = data.draw(st.integers(1, goals))
    boxes = st.lists(st.integers(0, SQUARES), min_size=count, max_size=count, unique=True).map(tuple)
    rows = data.draw(st.lists(boxes, min_size=1, max_size=6))
    for (least, simple, greedy, followed), row in zip(_told(distances, rows).tolist(), rows, strict=True):
        assert simple == followed == _simple(distances, row)
        wanted, all_found = _greedy(distances, row)
        assert greedy == wanted
        if all_found:
            assert greedy >= least


def test_the_greedy_bound_of_a_fight_for_a_goal() -> None:
    # The first box takes the near goal of the second, which has a long way to the other one.
    distances = np.array([[1, 2], [3, 9]], np.int32)
    assert _told(distances, [(0, 1)])[0, [LEAST_MATCHING, SIMPLE, GREEDY]].tolist() == [5, 3, 10]
    # It is not said that a box which is left over has no goal at all: another assignment may exist.
    distances = np.array([[1, 2], [3, _FAR]], np.int32)
    assert _told(distances, [(0, 1)])[0, [LEAST_MATCHING, SIMPLE, GREEDY]].tolist() == [5, 3, 3]


@pytest.mark.parametrize("kind", [AStarSimple, AStarGreedyBound])
def test_bounds_of_nodes_are_those_from_scratch(kind: type[BestFirst]) -> None:
    for space in _levels()[:12]:
        search = kind(PushTask(LevelKnowledge(space.geometry), space.position(0), 4 << 20))
        search.step(1.0)
        distances = goal_distances(space.geometry)
        known = int(search._counts[KNOWN])
        assert known > 1
        for number in range(known):
            boxes = tuple(search._nodes.records[number, :-1].tolist())
            wanted = _simple(distances, boxes) if kind is AStarSimple else _greedy(distances, boxes)[0]
            assert search._nodes.estimates[number] in (wanted, DEAD)
