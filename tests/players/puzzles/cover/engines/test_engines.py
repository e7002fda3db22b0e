"""Every engine finds each solution once, and goes on where it was saved."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.cover import INSTANCES, sudokus
from bench.truth.covers import solutions_of
from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverError, CoverProblem
from tests.players.puzzles.cover.engines.problems import problems

ENGINES = [DancingCells, Bitset]


def all_of(engine: CoverEngine) -> list[tuple[int, ...]]:
    found = []
    before = engine.progress
    while True:
        more = engine.step(math.inf)
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        assert before <= engine.progress <= 1
        before = engine.progress
        if not more:
            return found


def finds_each_once(kind: type[CoverEngine], problem: CoverProblem) -> None:
    engine = kind(problem)
    assert sorted(all_of(engine)) == solutions_of(problem)
    counting = kind(problem, delivers=False)
    assert all_of(counting) == []
    assert counting.count == engine.count == len(solutions_of(problem))


def goes_on_at_every_node(kind: type[CoverEngine], problem: CoverProblem) -> None:
    engine = kind(problem)
    found = []
    while engine.step(math.inf, 1):
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        progress = engine.progress
        engine = kind.resumed(problem, json.loads(json.dumps(engine.saved())))
        assert engine.progress == pytest.approx(progress)
    found += [tuple(chosen.tolist()) for chosen in engine.taken()]
    assert sorted(found) == solutions_of(problem)
    assert engine.count == len(found)


@settings(max_examples=250, deadline=None)
@given(problems())
def test_each_solution_is_found_once(problem: CoverProblem) -> None:
    finds_each_once(DancingCells, problem)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_a_search_that_is_saved_at_every_node_finds_the_same(problem: CoverProblem) -> None:
    goes_on_at_every_node(DancingCells, problem)


@settings(max_examples=150, deadline=None)
@given(problems(plain=True))
def test_bits_find_the_same_in_plain_problems(problem: CoverProblem) -> None:
    if not Bitset.takes(problem):
        problem = replace(problem, minimum=np.ones_like(problem.minimum))
    assert Bitset.takes(problem)
    finds_each_once(Bitset, problem)
    goes_on_at_every_node(Bitset, problem)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_bits_refuse_what_they_do_not_understand(problem: CoverProblem) -> None:
    if Bitset.takes(problem):
        finds_each_once(Bitset, problem)


def queens(size: int) -> CoverProblem:
    lines = [f"r{i}" for i in range(size)] + [f"c{i}" for i in range(size)]
    slants = [f"{way}{i}" for way in "ud" for i in range(2 * size - 1)]
    options = [
        [f"r{i}", f"c{j}", f"u{i + j}", f"d{i - j + size - 1}"] for i in range(size) for j in range(size)
    ]
    return CoverProblem.of(lines, options, secondary=slants)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(("size", "count"), [(4, 2), (6, 4), (8, 92)])
def test_queens(kind: type[CoverEngine], size: int, count: int) -> None:
    engine = kind(queens(size))
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
@pytest.mark.parametrize("kind", ENGINES)
def test_what_was_not_saved_from_this_problem_is_refused(
    kind: type[CoverEngine], saved: dict[str, object]
) -> None:
    with pytest.raises(CoverError, match="no saved search"):
        kind.resumed(queens(4), saved)


@pytest.mark.parametrize("kind", ENGINES)
def test_arrays_of_the_problem_stay_as_they_are(kind: type[CoverEngine]) -> None:
    problem = queens(5)
    before = [np.array(array) for array in (problem.starts, problem.nodes, problem.minimum)]
    all_of(kind(problem))
    assert all(
        (a == b).all() for a, b in zip(before, (problem.starts, problem.nodes, problem.minimum), strict=True)
    )


@settings(max_examples=100, deadline=None)
@given(problems(plain=True), st.data())
def test_the_same_problem_is_solved_for_many_beginnings(problem: CoverProblem, data: st.DataObject) -> None:
    problem = replace(problem, minimum=np.ones_like(problem.minimum))
    options = st.sets(st.integers(0, max(problem.options - 1, 0)), max_size=2 if problem.options else 0)
    begun = [np.array(sorted(chosen), np.int32) for chosen in data.draw(st.lists(options, max_size=4))]
    every = [set(chosen) for chosen in solutions_of(problem)]
    for chosen, (count, first) in zip(begun, Bitset(problem).each(begun, most=3), strict=True):
        right = [solution for solution in every if solution >= set(chosen.tolist())]
        assert count == min(3, len(right))
        assert set(first.tolist()) in right if right else not len(first)


def test_sudokus_with_17_clues_have_one_solution() -> None:
    problem, given = sudokus(12)
    for clues, (count, first) in zip(given, Bitset(problem).each(given), strict=True):
        assert count == 1
        assert set(clues.tolist()) <= set(first.tolist())
        assert problem.is_solution(first.tolist())
    ((more, _),) = Bitset(problem).each([given[0][1:]], most=3)
    assert more == 3


def test_what_is_no_option_cannot_be_given() -> None:
    with pytest.raises(CoverError, match="option is none"):
        Bitset(queens(4)).each([np.array([16], np.int32)])


@pytest.mark.parametrize("name", ["langford11", "dominoes6x6", "queens12"])
def test_known_numbers_of_solutions(name: str) -> None:
    make, known = INSTANCES[name]
    engine = Bitset(make(), delivers=False)
    while engine.step(math.inf):
        pass
    assert engine.count == known
