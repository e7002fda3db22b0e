"""A reduced problem has the same solutions, and is as small as is said."""

from __future__ import annotations

from hypothesis import given

from bench.truth.covers import solutions_of
from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.reduction import reduced
from tests.examples import examples
from tests.players.puzzles.cover.problems import cover_problems


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
