"""The engine on sets of options finds what there is, stopped, saved and resumed wherever."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.puzzles.cover.engines.masks import MasksEngine
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import CoverSearch, count, solve
from tests.players.puzzles.cover.counting_boards import dominoes, queens
from tests.players.puzzles.cover.plain_engine import all_solutions
from tests.players.puzzles.cover.random_problems import cover_problems


@given(cover_problems(options=9, items=6), st.integers(1, 3), st.booleans())
@settings(max_examples=100, deadline=None)
def test_all_solutions_at_every_interruption(problem: CoverProblem, nodes: int, saves: bool) -> None:
    expected = all_solutions(problem)
    if not MasksEngine.takes(problem):
        assert any(len(problem.option(k)) == 0 for k in range(problem.options))
        return
    engine = MasksEngine(problem)
    found, progress = [], 0.0
    while engine.step(float("inf"), nodes):
        found += engine.taken()
        assert progress <= engine.progress <= 1
        progress = engine.progress
        if saves:
            engine = MasksEngine.resumed(problem, json.loads(json.dumps(engine.saved())))
            assert engine.progress == progress
    found += engine.taken()
    assert sorted(tuple(one.tolist()) for one in found) == sorted(expected)
    assert engine.count == len(expected)
    counting = MasksEngine(problem, delivers=False)
    while counting.step(time.monotonic()):
        pass
    assert counting.count == len(expected) and not counting.taken()


@pytest.mark.parametrize(("problem", "known"), [(dominoes(6, 6), 6728), (queens(8), 92), (dominoes(5, 5), 0)])
def test_known_numbers(problem: CoverProblem, known: int) -> None:
    options = CoverOptions(engine="masks")
    found = {tuple(one.tolist()) for one in solve(problem, options)}
    assert len(found) == known == count(problem, options)
    assert (
        len({tuple(one.tolist()) for one in solve(problem, CoverOptions(engine="masks", workers=2))} ^ found)
        == 0
    )


def test_damaged_paths() -> None:
    problem = queens(6)
    engine = MasksEngine(problem)
    engine.step(float("inf"), 20)
    saved = engine.saved()
    assert saved["items"]
    for key in saved:
        for value in (None, -5, "x", [10**9], [[]], 1 << 80, True, {}):
            try:
                resumed = MasksEngine.resumed(problem, saved | {key: value})
            except CoverError:
                continue
            resumed.step(float("inf"), 5)


def test_many_levels() -> None:
    """300 options that do not collide, all of them forced."""
    items = [f"i{k}" for k in range(300)]
    problem = CoverProblem.of(items, [[item] for item in items])
    assert [len(one) for one in solve(problem, CoverOptions(engine="masks", reduce=False))] == [300]


def test_the_search_counts_by_the_memo_where_that_is_cheap() -> None:
    search = CoverSearch(dominoes(6, 6), CoverOptions(delivers=False))
    while search.step(time.monotonic()):
        pass
    assert (search.result().engine, search.result().solutions) == ("memo", 6728)
