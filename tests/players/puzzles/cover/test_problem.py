"""A cover problem says what a solution is, and refuses what contradicts itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.truth.covers import is_solution
from players.puzzles.cover.problem import CoverError, CoverProblem

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
