"""The engine on sets of options finds what there is, stopped, saved and resumed wherever."""

from __future__ import annotations

import json
import time

import numpy as np
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


@given(cover_problems(options=9, items=6, plain=True), st.sets(st.integers(0, 8), max_size=3))
@settings(max_examples=100, deadline=None)
def test_each_of_many(problem: CoverProblem, chosen: set[int]) -> None:
    """With given options there are the solutions that have them."""
    given_options = sorted(option for option in chosen if option < problem.options)
    if not MasksEngine.takes(problem):
        return
    rows = [np.array(row, np.int32) for row in (given_options, [], given_options[:1])]
    for row, (number, first) in zip(rows, MasksEngine(problem).each(rows, most=1000), strict=True):
        expected = [one for one in all_solutions(problem) if set(row.tolist()) <= set(one)]
        assert number == len(expected)
        assert not expected or tuple(first.tolist()) in expected


def test_sudokus() -> None:
    """One with 17 clues has a single solution, without one of them it has more."""
    size = range(9)
    items = [f"{kind}{a}{b}" for kind in "prcb" for a in size for b in size]
    options = [
        (f"p{y}{x}", f"r{y}{d}", f"c{x}{d}", f"b{y // 3 * 3 + x // 3}{d}")
        for y in size
        for x in size
        for d in size
    ]
    clues = "000000010400000000020000000000050407008000300001090000300400200050100000000806000"
    given_options = np.array([9 * at + int(d) - 1 for at, d in enumerate(clues) if d != "0"], np.int32)
    engine = MasksEngine(CoverProblem.of(items, options))
    whole, more = engine.each([given_options, given_options[1:]], most=3)
    assert (whole[0], len(whole[1]), more[0]) == (1, 81, 3)
    digits = "".join(str(option % 9 + 1) for option in whole[1].tolist())
    assert digits == "693784512487512936125963874932651487568247391741398625319475268856129743274836159"
