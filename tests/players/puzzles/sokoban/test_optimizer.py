"""What the optimizer leaves is a shortest solution, by the oracle of all states and by a search of steps."""

from __future__ import annotations

import math
import random
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import GdlError
from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import Push, after_steps, is_solved
from players.puzzles.sokoban.optimizer import Optimizer
from players.puzzles.sokoban.solution import Metric
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import LEVELS


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
