"""A search finds each solution once, whatever engine, workers, branches, reductions and interruptions."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cover.instances import dominoes
from bench.truth.covers import is_solution, solutions_of
from players.puzzles.cover.engines import engine
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem, restricted
from players.puzzles.cover.reduction import branches, reduced
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


# --- A cover problem says what a solution is, and refuses what contradicts itself
PLAIN = CoverProblem.of("abc", ["ab", "c", "a", "bc"])
PAINTED = CoverProblem.of(
    ["a", "b"], [["a", "x:red"], ["b", "x:red"], ["b", "x:blue"], ["b", "x"]], secondary=["x"]
)


def test_a_solution_covers_each_item_once() -> None:
    assert is_solution(PLAIN, [0, 1]) and is_solution(PLAIN, [2, 3])
    assert (
        not is_solution(PLAIN, [0]) and not is_solution(PLAIN, [0, 3]) and not is_solution(PLAIN, [0, 1, 1])
    )


def test_colours_agree() -> None:
    assert [is_solution(PAINTED, [0, option]) for option in (1, 2, 3)] == [True, False, False]


def test_holes_are_counted_where_they_may_be() -> None:
    loose = replace(PLAIN, minimum=np.zeros(3, np.int32), may_be_hole=np.array([True, True, False]))
    assert is_solution(loose, [])
    assert not is_solution(replace(loose, holes=1), [1])
    assert is_solution(replace(loose, holes=1), [2])


def test_weights_add_up() -> None:
    heavy = replace(PLAIN, weights=PLAIN.weights * 2, minimum=PLAIN.minimum * 2, maximum=PLAIN.maximum * 3)
    assert is_solution(heavy, [0, 1]) and not is_solution(heavy, [0, 3])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minimum": np.array([2, 1, 1], np.int32)}, "above its maximum"),
        ({"nodes": PLAIN.nodes + 1}, "names no item"),
        ({"nodes": np.zeros_like(PLAIN.nodes)}, "stands twice"),
        ({"colours": PLAIN.colours + 1}, "coloured item has a minimum"),
        ({"weights": PLAIN.weights * 0}, "below 1"),
        ({"starts": PLAIN.starts[:-1]}, "differ in number"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(CoverError, match=message):
        replace(PLAIN, **changes).check()


# --- A reduced problem has the same solutions, and is as small as is said
@given(cover_problems(options=9))
@examples(200)
def test_solutions_stay(problem: CoverProblem) -> None:
    small = reduced(problem)
    expected = solutions_of(problem)
    if small.problem is None:
        assert not expected
        return
    small.problem.check()
    always = small.always.tolist()
    told = [sorted([*small.options[list(one)].tolist(), *always]) for one in solutions_of(small.problem)]
    assert sorted(map(tuple, told)) == expected


def test_what_it_brings() -> None:
    """One of `ab` and `ab` is chosen, with `cd` and `e`."""
    small = reduced(CoverProblem.of("abcde", ["ab", "ac", "ab", "cd", "e", "a"]))
    assert small.problem is not None
    assert (small.options.tolist(), sorted(small.always.tolist())) == ([0, 2, 5], [3, 4])
    assert (small.problem.items, small.statistics["items_before"], small.statistics["items"]) == (2, 5, 2)


def test_what_has_no_solution_may_be_seen_at_once() -> None:
    assert reduced(CoverProblem.of("ab", ["a"])).problem is None
