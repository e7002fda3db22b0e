"""Random cover problems."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from players.puzzles.cover.problem import CoverProblem


@st.composite
def problems(draw: st.DrawFn, *, plain: bool = False) -> CoverProblem:
    """Up to five items and nine options, with bounds, weights, colours and holes unless they are plain."""
    items, options = draw(st.integers(1, 5)), draw(st.integers(0, 9))
    subsets = [draw(st.sets(st.integers(0, items - 1), max_size=3)) for _ in range(options)]
    if plain:
        subsets = [subset or {0} for subset in subsets]
    lengths = [len(subset) for subset in subsets]
    nodes = np.array([item for subset in subsets for item in sorted(subset)], np.int32)
    count = len(nodes)
    minimum = np.array(
        draw(st.lists(st.integers(0, 1 if plain else 2), min_size=items, max_size=items)), np.int32
    )
    maximum = (
        np.ones(items, np.int32)
        if plain
        else minimum + np.array(draw(st.lists(st.integers(0, 2), min_size=items, max_size=items)), np.int32)
    )
    weights, colours = np.ones(count, np.int32), np.zeros(count, np.int32)
    may_be_hole, holes = np.zeros(items, np.bool_), None
    if not plain:
        weights = np.array(draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)), np.int32)
        painted = draw(st.sets(st.integers(0, items - 1), max_size=2))
        shades = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        colours = np.where(np.isin(nodes, list(painted)), np.array(shades, np.int32), 0).astype(np.int32)
        minimum[nodes[colours > 0]] = 0
        may_be_hole = np.array(draw(st.lists(st.booleans(), min_size=items, max_size=items)), np.bool_)
        holes = draw(st.none() | st.integers(0, 3))
    problem = CoverProblem(
        minimum,
        np.maximum(maximum, minimum).astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        nodes,
        weights,
        colours,
        may_be_hole,
        holes,
    )
    problem.check()
    return problem
