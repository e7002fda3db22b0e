"""The counting memo counts exactly: small problems against every set of options, boards against known
numbers."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given

from bench.cover.instances import dominoes, queens
from bench.truth.covers import solutions_of
from players.puzzles.cover.engines.memo import MemoCounter, item_order, widths
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import CoverSearch, count
from tests.examples import examples
from tests.players.puzzles.cover.problems import cover_problems

BY_MEMO = CoverOptions(engine="memo", delivers=False)


@given(cover_problems(items=6, plain=True))
@examples(100)
def test_as_many_as_there_are(problem: CoverProblem) -> None:
    assert count(problem, BY_MEMO) == len(solutions_of(problem))


@given(cover_problems(items=6))
@examples(100)
def test_what_it_takes_it_counts(problem: CoverProblem) -> None:
    if not MemoCounter.takes(problem):
        with pytest.raises(CoverError, match="exact covers"):
            MemoCounter(problem)
        return
    memo = MemoCounter(problem)
    while not memo.step(time.monotonic()):
        pass
    assert memo.count == len(solutions_of(problem))


@pytest.mark.parametrize(
    ("problem", "known"),
    [
        (dominoes(8, 8), 12988816),
        (dominoes(10, 10), 258584046368),
        (dominoes(16, 16), 2444888770250892795802079170816),  # more than 64 bits
        (dominoes(3, 200), None),  # more than 128 bits, and sets of more than one word
        (dominoes(7, 7), 0),
        (queens(8), 92),
    ],
)
def test_known_numbers(problem: CoverProblem, known: int | None) -> None:
    if known is None:
        before, known = 1, 3
        for _ in range(98):
            before, known = known, 4 * known - before
        known = 4 * known - before
    assert count(problem, BY_MEMO) == known


def test_the_search_lets_it_count_where_an_engine_would_take_hours() -> None:
    search = CoverSearch(dominoes(10, 10), CoverOptions(delivers=False))
    while not search.step(time.monotonic()):
        pass
    assert (search.result().engine, search.result().solutions) == ("memo", 258584046368)


def test_what_is_left_is_predicted_while_it_counts() -> None:
    memo = MemoCounter(dominoes(12, 12))
    while memo.progress < 0.5:
        memo.step(time.monotonic())
    before, predicted = memo.seconds, memo.seconds_left
    while not memo.step(time.monotonic() + 1):
        pass
    assert memo.seconds_left == 0
    assert (memo.seconds - before) / 5 < predicted < (memo.seconds - before) * 5


def test_without_memory_it_gives_up() -> None:
    memo = MemoCounter(dominoes(8, 8), memory=2000)
    while not memo.step(time.monotonic()):
        pass
    assert memo.gave_up and not memo.over


def test_it_finds_no_solutions() -> None:
    for options in (CoverOptions(engine="memo"), CoverOptions(engine="memo", delivers=False, first=3)):
        with pytest.raises(CoverError, match="counts"):
            CoverSearch(dominoes(2, 2), options)


@given(cover_problems(options=12, items=8))
@examples(100)
def test_widths_are_the_items_that_earlier_options_reach(problem: CoverProblem) -> None:
    lengths = np.diff(problem.starts)
    starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0]))).astype(np.int32)
    order = item_order(problem.items, starts, problem.nodes)
    assert sorted(order.tolist()) == list(range(problem.items))
    place = {item: at for at, item in enumerate(order.tolist())}
    rows = [sorted(place[item] for item in problem.option(k).tolist()) for k in range(problem.options)]
    expected = [
        len({at for row in rows if row and row[0] < here for at in row if at >= here})
        for here in range(problem.items)
    ]
    assert widths(order, starts, problem.nodes).tolist() == expected
