"""Every engine finds each solution once, and goes on where it was saved; the memo counts exactly."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cover.instances import INSTANCES, dominoes, queens
from bench.truth.covers import solutions_of
from players.puzzles.cover.engines import engine as module
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.memo import MemoCounter, item_order, widths
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import ENGINES, CoverSearch, count, solve
from tests.examples import examples
from tests.players.puzzles.cover.problems import cover_problems

every_engine = pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)


def all_of(engine: CoverEngine) -> list[tuple[int, ...]]:
    found, before, over = [], engine.progress, False
    while not over:
        over = engine.step(math.inf)
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        assert before <= engine.progress <= 1
        before = engine.progress
    return found


def right(kind: type[CoverEngine], problem: CoverProblem, nodes: int) -> None:
    """What it finds is what there is; it is saved and resumed after so many nodes, again and again."""
    expected = solutions_of(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST_BUDGET", nodes)
        engine, found = kind(problem), []
        while not engine.step(0.0):
            found += [tuple(chosen.tolist()) for chosen in engine.taken()]
            progress = engine.progress
            engine = kind.resumed(problem, json.loads(json.dumps(engine.saved())))
            assert engine.progress == pytest.approx(progress)
    found += [tuple(chosen.tolist()) for chosen in engine.taken()]
    assert sorted(found) == expected == sorted(all_of(kind(problem)))
    assert engine.count == len(found)
    counting = kind(problem, delivers=False)
    assert all_of(counting) == []
    assert counting.count == len(expected)


@every_engine
@examples(100)
@given(cover_problems(options=9, items=6), st.integers(1, 3))
def test_each_solution_is_found_once(kind: type[CoverEngine], problem: CoverProblem, nodes: int) -> None:
    right(kind, problem, nodes)


@every_engine
@examples(100)
@given(cover_problems(options=9, plain=True), st.integers(1, 3))
def test_so_it_is_in_plain_problems(kind: type[CoverEngine], problem: CoverProblem, nodes: int) -> None:
    right(kind, replace(problem, minimum=np.ones_like(problem.minimum)), nodes)


@every_engine
@pytest.mark.parametrize(("size", "count"), [(4, 2), (6, 4), (8, 92)])
def test_queens(kind: type[CoverEngine], size: int, count: int) -> None:
    engine = kind(queens(size))
    assert len(all_of(engine)) == engine.count == count


@every_engine
@pytest.mark.parametrize("name", ["langford11", "dominoes6x6", "queens12", "squares1x4"])
def test_known_numbers_of_solutions(name: str, kind: type[CoverEngine]) -> None:
    make, known = INSTANCES[name].build, INSTANCES[name].solutions
    engine = kind(make(), delivers=False)
    while not engine.step(math.inf):
        pass
    assert engine.count == known


@every_engine
def test_solutions_beyond_the_buffer_are_not_lost(kind: type[CoverEngine]) -> None:
    loose = CoverProblem.of([], [[f"i{k}"] for k in range(17)], secondary=[f"i{k}" for k in range(17)])
    found = all_of(kind(loose))
    assert len(found) == len(set(found)) == 1 << 17


def test_a_solution_of_many_options_is_as_deep_as_it_has_to_be() -> None:
    """300 options that do not collide, all of them forced."""
    items = [f"i{k}" for k in range(300)]
    problem = CoverProblem.of(items, [[item] for item in items])
    for kind in ENGINES.values():
        assert [len(one) for one in all_of(kind(problem))] == [300]
    assert [len(one) for one in solve(problem, CoverOptions())] == [300]


@every_engine
def test_what_was_not_saved_from_this_problem_is_refused(
    kind: type[CoverEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_BUDGET", 20)
    problem = queens(6)
    engine = kind(problem)
    engine.step(0.0)
    saved = engine.saved()
    wrong = [None, -5, "x", [10**9], [[]], [{}], 1 << 80, True, {}]
    for changed in [{}, *(saved | {key: value} for key in saved for value in wrong)]:
        try:
            resumed = kind.resumed(problem, changed)
        except CoverError:
            continue
        assert changed
        resumed.step(0.0)


@every_engine
def test_arrays_of_the_problem_stay_as_they_are(kind: type[CoverEngine]) -> None:
    problem = queens(5)
    before = [np.array(array) for array in (problem.starts, problem.nodes, problem.minimum)]
    all_of(kind(problem))
    assert all(
        (a == b).all() for a, b in zip(before, (problem.starts, problem.nodes, problem.minimum), strict=True)
    )


# --- The counting memo counts exactly: small problems against every set of options, boards against known
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
