"""All searches on small levels, against all states of these; least matchings; the optimizer's solutions."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import GdlError
from players.puzzles.sokoban.distances import start_distances
from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import Push, after_steps, is_solved, steps_of
from players.puzzles.sokoban.optimizer import Optimizer
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.search.backward import (
    FAR_COST,
    KNOWN,
    Backward,
    Matching,
    cost_after,
    match_boxes,
    move_row,
    new_matching,
    total_cost,
)
from players.puzzles.sokoban.search.few_positions import FewPositions
from players.puzzles.sokoban.search.portfolio import ENTRIES, Entry, SearchPortfolio, entries_named
from players.puzzles.sokoban.search.solve_level import warm_up
from players.puzzles.sokoban.solution import Metric, Outcome
from propnet.jit.arrays import Int32s, Ints
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import LEVELS

KINDS: list[type[PushSearch]] = [FewPositions, Backward, SearchPortfolio]
_MEMORY = 4 << 20


def _random_level(rng: random.Random) -> Level:
    """A small room with some walls, two or three boxes and as many goals; not always solvable."""
    height, width = rng.randint(5, 6), rng.randint(6, 7)
    inside = [(y, x) for y in range(1, height - 1) for x in range(1, width - 1)]
    rng.shuffle(inside)
    rows = [["#"] * width for _ in range(height)]
    for y, x in inside[len(inside) // 8 :]:
        rows[y][x] = " "
    boxes = rng.choice((2, 2, 3))
    off_walls = [(y, x) for y, x in inside if rows[y][x] == " " and 1 < y < height - 2 and 1 < x < width - 2]
    spots = off_walls[:boxes] + [spot for spot in reversed(inside) if spot not in off_walls[:boxes]]
    for letter, (y, x) in zip("$" * boxes + "." * boxes + "@", spots, strict=False):
        rows[y][x] = letter
    return Level(tuple(map("".join, rows)))


@cache
def _spaces() -> list[tuple[Position, StateSpace]]:
    rng = random.Random(14)
    found: list[tuple[Position, StateSpace]] = []
    while len(found) < 40:
        try:
            geometry, start = from_level(_random_level(rng))
        except GdlError:
            continue  # a box that cannot be reached
        if len(geometry.goals) >= len(start.boxes) > 0:
            found.append((start, explore(geometry, start, 20_000)))
    return found


def _run(kind: type[PushSearch], geometry: Geometry, start: Position, most: int | None = None) -> PushSearch:
    search = kind(PushTask(geometry, start, _MEMORY, most))
    assert search.step(time.monotonic() + 50.0)
    return search


def _to_go(space: StateSpace) -> list[int]:
    """The fewest pushes from each state to a solved one, -1 where there is no way."""
    back: list[list[int]] = [[] for _ in range(space.size)]
    for parent, child, *_ in space.edges.tolist():
        back[child].append(parent)
    solved = [state for state in range(space.size) if is_solved(space.geometry, space.position(state))]
    pushes = [-1] * space.size
    for state in solved:
        pushes[state] = 0
    waiting = deque(solved)
    while waiting:
        state = waiting.popleft()
        for parent in back[state]:
            if pushes[parent] < 0:
                pushes[parent] = pushes[state] + 1
                waiting.append(parent)
    return pushes


def test_the_levels_are_of_both_kinds() -> None:
    alive = sum(bool(space.alive[0]) for _, space in _spaces())
    assert 10 <= alive <= 30


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_solved_replays_and_what_is_proven_is_so(kind: type[PushSearch]) -> None:
    for start, space in _spaces():
        search = _run(kind, space.geometry, start)
        if search.outcome is Outcome.GAVE_UP:
            assert len(space.geometry.goals) > len(start.boxes) or kind is FewPositions
            continue
        assert search.outcome is (Outcome.SOLVED if space.alive[0] else Outcome.UNSOLVABLE)
        if space.alive[0]:
            steps = steps_of(space.geometry, start, search.pushes)
            assert is_solved(space.geometry, after_steps(space.geometry, start, steps))
            fewest = _to_go(space)[0]
            assert len(search.pushes) == fewest if search.optimal else len(search.pushes) >= fewest


def test_a_limit_of_pushes_is_kept() -> None:
    for start, space in _spaces()[:20]:
        fewest = _to_go(space)[0]
        if fewest > 0:
            assert _run(FewPositions, space.geometry, start, fewest).outcome is Outcome.SOLVED
            assert _run(FewPositions, space.geometry, start, fewest - 1).outcome is Outcome.UNSOLVABLE
            short = _run(Backward, space.geometry, start, fewest - 1)
            assert short.outcome is Outcome.GAVE_UP


def test_each_search_is_found_by_its_name() -> None:
    names = [entry.search.name for entry in ENTRIES]
    assert names == ["few-positions", "backward", "fess"]
    assert [entries_named(name)[0].search.name for name in names] == names


def test_hashes_of_nodes() -> None:
    """Hashes made by exclusive or are those made from scratch."""
    for start, space in _spaces()[:25]:
        search = Backward(PushTask(space.geometry, start, _MEMORY))
        search.step(time.monotonic() + 1.0)
        nodes = search._nodes
        if nodes is None:
            continue  # there are more goals than boxes
        keys = search._board.keys
        for number in range(int(nodes.counts[KNOWN])):
            *boxes, keeper = nodes.records[number].tolist()
            assert boxes == sorted(boxes)
            assert nodes.hashes[number] == np.bitwise_xor.reduce([*keys[0, boxes], keys[1, keeper]])


def test_start_distances_are_those_of_a_lone_box() -> None:
    for start, space in _spaces()[:12]:
        distances = start_distances(space.geometry, start)
        for row, box in enumerate(start.boxes):
            best = np.full(space.geometry.size, -1)
            for keeper in range(space.geometry.size):
                if keeper == box:
                    continue
                alone = explore(space.geometry, Position((box,), keeper), 5000)
                for state in range(alone.size):
                    [square] = alone.position(state).boxes
                    if best[square] < 0 or alone.depths[state] < best[square]:
                        best[square] = alone.depths[state]
            told = np.where(distances[row, :-1] >= 1 << 20, -1, distances[row, :-1])
            assert told.tolist() == best.tolist()


OPEN = "##########", "#        #", "# $ $ $  #", "#  $ $   #", "# ..@..  #", "#      . #", "##########"
"""Five boxes and much room: no search solves it in the least memory."""


def test_when_the_memory_of_all_searches_is_full_that_is_the_outcome() -> None:
    geometry, start = from_level(Level(OPEN))
    search = SearchPortfolio(PushTask(geometry, start, 0), [Entry(Backward, 1.0, 0.0)])
    assert search.step(time.monotonic() + 100.0)
    assert search.outcome is Outcome.MEMORY_FULL
    assert search.full == ["backward"]


def test_nothing_to_do_needs_no_search() -> None:
    geometry, start = from_level(Level(("#####", "#@* #", "#####")))
    search = SearchPortfolio(PushTask(geometry, start, _MEMORY))
    assert (search.outcome, search.pushes, search.at_work) == (Outcome.SOLVED, [], [])


def test_faults_are_told() -> None:
    with pytest.raises(GdlError, match="there is no search"):
        entries_named("depth-first")
    geometry, _ = from_level(Level(("######", "#@$. #", "######")))
    with pytest.raises(GdlError, match="2 boxes and only 1 goal"):
        Backward(PushTask(geometry, Position((1, 2), 0), _MEMORY))


# --- The matching kept up to date is the least of all, by trying all permutations
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


# --- What the optimizer leaves is a shortest solution, by the oracle of all states and by a search of steps
def _solution(space: StateSpace, rng: random.Random) -> list[Push]:
    """Pushes that solve the level, found by a random walk in depth: long ones."""
    after: dict[int, list[tuple[int, Push]]] = {}
    for parent, child, box, direction in space.edges.tolist():
        after.setdefault(parent, []).append((child, (box, direction)))
    came: dict[int, tuple[int, Push]] = {}
    waiting, seen = [0], {0}
    while waiting:
        state = waiting.pop()
        if is_solved(space.geometry, space.position(state)):
            line = []
            while state:
                state, made = came[state]
                line.append(made)
            return line[::-1]
        choices = after.get(state, [])
        rng.shuffle(choices)
        for child, made in choices:
            if child not in seen:
                seen.add(child)
                came[child] = state, made
                waiting.append(child)
    raise AssertionError("the level has no solution")


def _fewest_moves(geometry: Geometry, start: Position) -> int:
    """The length of a shortest solution by single steps."""
    neighbours = geometry.neighbours.tolist()
    waiting, seen = deque([(start, 0)]), {start}
    while waiting:
        position, steps = waiting.popleft()
        if is_solved(geometry, position):
            return steps
        for direction in range(4):
            ahead = neighbours[position.keeper][direction]
            boxes = set(position.boxes)
            if ahead in boxes:
                beyond = neighbours[ahead][direction]
                if beyond in boxes or beyond == geometry.size:
                    continue
                boxes = boxes - {ahead} | {beyond}
            elif ahead == geometry.size:
                continue
            child = Position(tuple(sorted(boxes)), ahead)
            if child not in seen:
                seen.add(child)
                waiting.append((child, steps + 1))
    raise AssertionError("the level has no solution")


@examples(15)
@given(st.sampled_from(LEVELS[:3]), st.integers(0, 10**6))
def test_pushes_become_the_fewest_that_there_are(level: Level, seed: int) -> None:
    geometry, start = from_level(level)
    space = explore(geometry, start, 100_000)
    optimizer = Optimizer(geometry, start, _solution(space, random.Random(seed)))
    optimizer.step(math.inf)
    solved = [number for number in range(space.size) if is_solved(geometry, space.position(number))]
    assert len(optimizer.pushes) == min(space.depths[solved])
    assert optimizer.optimal
    assert is_solved(geometry, after_steps(geometry, start, optimizer.steps))


@examples(15)
@given(st.sampled_from(LEVELS[:3]), st.integers(0, 10**6))
def test_moves_become_the_fewest_that_there_are(level: Level, seed: int) -> None:
    geometry, start = from_level(level)
    solution = _solution(explore(geometry, start, 100_000), random.Random(seed))
    optimizer = Optimizer(geometry, start, solution, Metric.MOVES)
    costs = [optimizer.cost]
    while not optimizer.step(0.0):
        costs.append(optimizer.cost)
    assert costs == sorted(costs, reverse=True)
    assert len(optimizer.steps) == _fewest_moves(geometry, start)


def test_with_little_memory_it_does_not_call_its_solution_optimal() -> None:
    geometry, start = from_level(LEVELS[1])
    optimizer = Optimizer(
        geometry, start, _solution(explore(geometry, start, 10**6), random.Random(1)), memory=1
    )
    before = optimizer.cost
    optimizer.step(math.inf)
    assert optimizer.cost <= before


def test_what_is_no_solution_is_refused() -> None:
    geometry, start = from_level(LEVELS[0])
    with pytest.raises(GdlError, match="do not solve"):
        Optimizer(geometry, start, [])


def test_all_slices_of_a_search_are_compiled_before_it_is_needed() -> None:
    """A search whose first slices only prepare it: its last kernel is compiled as well."""
    slices: list[int] = []

    class InParts(PushSearch):
        name = "in-parts"

        def step(self, deadline: float) -> bool:
            slices.append(len(slices))
            if len(slices) == 5:
                self.outcome = Outcome.SOLVED
            return self.over

    warm_up([Entry(InParts, 1.0, 1.0)])
    assert len(slices) == 5
