"""Dancing cells find each solution once, whatever is asked of the items, and go on where they were saved."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings

from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.problem import CoverError, CoverProblem
from tests.players.puzzles.cover.engines.problems import brute_force, problems


def all_of(engine: DancingCells) -> list[tuple[int, ...]]:
    found = []
    before = engine.progress
    while True:
        more = engine.step(math.inf)
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        assert before <= engine.progress <= 1
        before = engine.progress
        if not more:
            return found


@settings(max_examples=300, deadline=None)
@given(problems())
def test_each_solution_is_found_once(problem: CoverProblem) -> None:
    engine = DancingCells(problem)
    assert sorted(all_of(engine)) == brute_force(problem)
    counting = DancingCells(problem, delivers=False)
    assert all_of(counting) == []
    assert counting.count == engine.count == len(brute_force(problem))


@settings(max_examples=60, deadline=None)
@given(problems())
def test_a_search_that_is_saved_at_every_node_finds_the_same(problem: CoverProblem) -> None:
    engine = DancingCells(problem)
    found = []
    while engine.step(math.inf, 1):
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        progress = engine.progress
        engine = DancingCells.resumed(problem, json.loads(json.dumps(engine.saved())))
        assert engine.progress == pytest.approx(progress)
    found += [tuple(chosen.tolist()) for chosen in engine.taken()]
    assert sorted(found) == brute_force(problem)
    assert engine.count == len(found)


def queens(size: int) -> CoverProblem:
    lines = [f"r{i}" for i in range(size)] + [f"c{i}" for i in range(size)]
    slants = [f"{way}{i}" for way in "ud" for i in range(2 * size - 1)]
    options = [
        [f"r{i}", f"c{j}", f"u{i + j}", f"d{i - j + size - 1}"] for i in range(size) for j in range(size)
    ]
    return CoverProblem.of(lines, options, secondary=slants)


@pytest.mark.parametrize(("size", "count"), [(4, 2), (6, 4), (8, 92)])
def test_queens(size: int, count: int) -> None:
    engine = DancingCells(queens(size))
    assert len(all_of(engine)) == engine.count == count


def test_solutions_beyond_the_buffer_are_not_lost() -> None:
    many = CoverProblem.of(["a"], [["a"]], secondary=["b"])
    loose = CoverProblem.of([], [[f"i{k}"] for k in range(17)], secondary=[f"i{k}" for k in range(17)])
    assert len(all_of(DancingCells(many))) == 1
    found = all_of(DancingCells(loose))
    assert len(found) == len(set(found)) == 1 << 17


@pytest.mark.parametrize(
    "saved",
    [
        {},
        {"path": [{}], "phase": 0, "count": 0, "nodes": 0, "over": False},
        {
            "path": [{"item": 0, "options": [9], "pick": 3, "tried": 0, "width": 1, "single": True}],
            "phase": 0, "count": 0, "nodes": 0, "over": False,
        },
    ],
)  # fmt: skip
def test_what_was_not_saved_from_this_problem_is_refused(saved: dict[str, object]) -> None:
    with pytest.raises(CoverError, match="no saved search"):
        DancingCells.resumed(queens(4), saved)


def test_arrays_of_the_problem_stay_as_they_are() -> None:
    problem = queens(5)
    before = [np.array(array) for array in (problem.starts, problem.nodes, problem.minimum)]
    all_of(DancingCells(problem))
    assert all(
        (a == b).all() for a, b in zip(before, (problem.starts, problem.nodes, problem.minimum), strict=True)
    )
