"""A search finds each solution once, whatever engine, memo, workers, branches, reductions, interruptions."""

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
from bench.truth.covers import is_solution, solutions_of
from players.puzzles.cover.engines import engine
from players.puzzles.cover.engines import engine as stepping
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.memo import MemoCounter, item_order, widths
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem, restricted
from players.puzzles.cover.reduction import branches, reduced
from players.puzzles.cover.search import ENGINES, CoverSearch, count, solve
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


# --- Every engine finds each solution once, and goes on where it was saved; the memo counts exactly
every_engine = pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)


def all_of(engine: CoverEngine) -> list[tuple[int, ...]]:
    found, before, over = [], engine.progress, False
    while not over:
        over = engine.step(math.inf)
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        assert before <= engine.progress <= 1
        before = engine.progress
    return found


def is_right(kind: type[CoverEngine], problem: CoverProblem, nodes: int) -> None:
    """What it finds is what there is; it is saved and resumed after so many nodes, again and again."""
    expected = solutions_of(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "FIRST_BUDGET", nodes)
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
    is_right(kind, problem, nodes)


@every_engine
@examples(100)
@given(cover_problems(options=9, plain=True), st.integers(1, 3))
def test_so_it_is_in_plain_problems(kind: type[CoverEngine], problem: CoverProblem, nodes: int) -> None:
    is_right(kind, replace(problem, minimum=np.ones_like(problem.minimum)), nodes)


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
    monkeypatch.setattr(stepping, "FIRST_BUDGET", 20)
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


# --- The counting memo counts exactly: by every set of options, and by known numbers
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
