"""A reduced problem has the same solutions, and is as small as is said."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.reduction.probing import Probing
from players.puzzles.cover.reduction.reduce import reduced
from tests.players.puzzles.cover.plain_engine import all_solutions
from tests.players.puzzles.cover.random_problems import cover_problems


@given(cover_problems(options=9))
@settings(max_examples=200, deadline=None)
def test_solutions_stay(problem: CoverProblem) -> None:
    small = reduced(problem)
    expected = all_solutions(problem)
    if small.problem is None:
        assert not expected
        return
    small.problem.check()
    found = [np.array(solution, np.int32) for solution in all_solutions(small.problem)]
    told = [tuple(solution.tolist()) for solution in small.expanded(found)]
    assert sorted(told) == sorted(expected)
    assert small.counted(found) == len(expected)


@given(cover_problems(options=9))
@settings(max_examples=150, deadline=None)
def test_options_that_are_never_chosen_are_in_no_solution(problem: CoverProblem) -> None:
    used = {option for solution in all_solutions(problem) for option in solution}
    assert not used & set(Probing().never(problem).tolist())


def test_what_it_brings() -> None:
    """`ab` twice is one of two; all else is forced, or never chosen."""
    problem = CoverProblem.of("abcde", ["ab", "ac", "ab", "cd", "e", "de", "a"])
    small = reduced(problem)
    assert small.problem is not None
    assert small.statistics["options_before"] == 7
    assert small.counted([np.array(one, np.int32) for one in all_solutions(small.problem)]) == 2
    assert small.problem.options < 3


def test_a_product_that_is_larger_than_a_word() -> None:
    """70 items with three equal options each: 3 ** 70 solutions."""
    items = [f"i{k}" for k in range(70)]
    small = reduced(CoverProblem.of(items, [[item] for item in items for _ in range(3)]))
    assert small.problem is not None and small.problem.options == 70
    assert small.counted([np.arange(70, dtype=np.int32)] * 2) == 2 * 3**70


def test_nothing_to_be_done() -> None:
    problem = CoverProblem.of("abc", ["ab", "c", "a", "bc"])
    assert reduced(problem).problem is problem
