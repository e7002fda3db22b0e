"""A cover problem says what a solution is, and refuses what contradicts itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from players.puzzles.cover.problem import CoverError, CoverProblem

PLAIN = CoverProblem.of("abc", ["ab", "c", "a", "bc"])
PAINTED = CoverProblem.of(
    ["a", "b"], [["a", "x:red"], ["b", "x:red"], ["b", "x:blue"], ["b", "x"]], secondary=["x"]
)


def test_a_solution_covers_each_item_once() -> None:
    assert PLAIN.is_solution([0, 1]) and PLAIN.is_solution([2, 3])
    assert not PLAIN.is_solution([0]) and not PLAIN.is_solution([0, 3]) and not PLAIN.is_solution([0, 1, 1])


def test_colours_agree() -> None:
    assert [PAINTED.is_solution([0, option]) for option in (1, 2, 3)] == [True, False, False]


def test_holes_are_counted_where_they_may_be() -> None:
    loose = replace(PLAIN, minimum=np.zeros(3, np.int32), may_be_hole=np.array([True, True, False]))
    assert loose.is_solution([])
    assert not replace(loose, holes=1).is_solution([1])
    assert replace(loose, holes=1).is_solution([2])


def test_weights_add_up() -> None:
    heavy = replace(PLAIN, weights=PLAIN.weights * 2, minimum=PLAIN.minimum * 2, maximum=PLAIN.maximum * 3)
    assert heavy.is_solution([0, 1]) and not heavy.is_solution([0, 3])


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
