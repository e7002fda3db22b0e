"""A search finds each solution once, whatever engine, workers, branches and interruptions there are."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cover.instances import dominoes
from bench.truth.covers import solutions_of
from players.puzzles.cover.engines import engine
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem, restricted
from players.puzzles.cover.reduction import branches
from players.puzzles.cover.search import CoverSearch, count, solve
from tests.examples import examples
from tests.players.puzzles.cover.problems import cover_problems


def chosen(found: list) -> list[tuple[int, ...]]:
    return [tuple(solution.tolist()) for solution in found]


@given(cover_problems(), st.sampled_from([1, 2, 3]), st.sampled_from([None, "cells"]))
@examples(150)
def test_all_solutions_once_each(problem: CoverProblem, workers: int, engine: str | None) -> None:
    expected = solutions_of(problem)
    options = CoverOptions(engine=engine, workers=workers)
    assert sorted(chosen(solve(problem, options))) == expected
    assert count(problem, options) == len(expected)


@given(cover_problems(), st.integers(1, 40))
@examples(50)
def test_each_solution_is_in_one_branch(problem: CoverProblem, parts: int) -> None:
    found = []
    for branch in branches(problem, parts):
        rest = restricted(problem, branch.chosen, branch.dropped)
        if rest is None:
            continue
        for solution in solutions_of(rest.problem):
            found.append(tuple(sorted((*branch.chosen, *rest.options[list(solution)].tolist()))))
    assert sorted(found) == solutions_of(problem)


@pytest.mark.slow
@given(cover_problems(), st.sampled_from([1, 2]), st.booleans(), st.integers(1, 3))
@examples(60)
def test_saved_and_resumed_at_every_step(
    problem: CoverProblem, workers: int, delivers: bool, others: int
) -> None:
    options = CoverOptions(engine="cells", workers=workers, delivers=delivers)
    found, progress = [], 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "FIRST_BUDGET", 1)
        search = CoverSearch(problem, options)
        while not search.step(time.monotonic()):
            if others > 1:
                found += chosen(search.taken())
            saved = json.loads(json.dumps(search.saved()))
            search = CoverSearch.resumed(problem, saved, CoverOptions(workers=others, delivers=delivers))
            assert progress <= search.result().progress + 1e-9
            progress = search.result().progress
    found += chosen(search.taken())
    expected = solutions_of(problem)
    assert search.result().solutions == len(expected)
    assert search.result().complete
    assert sorted(found) == (expected if delivers else [])


@given(cover_problems(), st.integers(0, 4), st.sampled_from([1, 2]))
@examples(60)
def test_the_first_ones_are_some_of_all(problem: CoverProblem, first: int, workers: int) -> None:
    expected = solutions_of(problem)
    found = chosen(solve(problem, CoverOptions(engine="cells", workers=workers, first=first)))
    assert len(found) == len(set(found)) == min(first, len(expected))
    assert set(found) <= set(expected)


PROBLEM = CoverProblem.of("abc", [["a", "b"], ["c"], ["a"], ["b", "c"], ["b"]])


def test_saved_searches_are_looked_at_before_they_are_trusted() -> None:
    search = CoverSearch(PROBLEM, CoverOptions(engine="cells", workers=2))
    search.step(time.monotonic())
    saved = json.loads(json.dumps(search.saved()))
    CoverSearch.resumed(PROBLEM, saved, CoverOptions())
    for key in saved:
        for value in (None, -1, "x", [1], 10**30, [[0.5]], [{}], {"a": 1}, True):
            try:
                CoverSearch.resumed(PROBLEM, saved | {key: value}, CoverOptions())
            except CoverError as error:
                assert "\n" not in str(error)  # noqa: PT017
    with pytest.raises(CoverError, match="another problem"):
        CoverSearch.resumed(CoverProblem.of("a", [["a"]]), saved, CoverOptions())
    with pytest.raises(CoverError, match="format"):
        CoverSearch.resumed(PROBLEM, {}, CoverOptions())
    with pytest.raises(CoverError, match="keeps solutions"):
        CoverSearch.resumed(PROBLEM, saved, CoverOptions(engine="cells", delivers=False))


def test_engines_are_found_by_name() -> None:
    with pytest.raises(CoverError, match="no engine 'dlx'"):
        CoverSearch(PROBLEM, CoverOptions(engine="dlx"))
    with pytest.raises(CoverError, match="workers"):
        CoverSearch(PROBLEM, CoverOptions(engine="cells", workers=0))


@pytest.mark.parametrize("engine", ["bitset", "cells"])
def test_many_solutions_fill_buffers_again_and_again(engine: str) -> None:
    """Slices that end at once must not make the next ones ever longer: 1,292,697 tilings."""
    search = CoverSearch(dominoes(6, 9), CoverOptions(engine=engine))
    found = 0
    while not search.step(time.monotonic() + 0.2) and found < 1_100_000:
        found += len(search.taken())
    found += len(search.taken())
    assert found == search.result().solutions
