"""Which bound of the pushes still to make a search goes by: the choice is a number that the kernels read."""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.search.greedy_bound import SortedGoals, greedy_bound
from players.puzzles.sokoban.search.matching import Matching, match_boxes, total_cost
from players.puzzles.sokoban.search.simple_bound import simple_bound
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import inner

LEAST_MATCHING, SIMPLE, GREEDY = range(3)
"""The choices: :mod:`.matching`, :mod:`.simple_bound`, :mod:`.greedy_bound`. The last is no lower bound."""


@inner
def bound_of(
    choice: Index, matching: Matching, lists: SortedGoals, squares: Int32s, count: Index, marks: Int32s
) -> Index:
    """The bound for boxes on the first ``count`` squares; FAR_COST or more where they are proven not to fit
    the goals. ``marks`` as in :func:`.matching.match_boxes`; only the matching keeps anything for later."""
    if choice == LEAST_MATCHING:
        match_boxes(matching, squares, count, marks)
        return np.int64(total_cost(matching))
    if choice == SIMPLE:
        return np.int64(simple_bound(matching.nearest, squares, count))
    return np.int64(greedy_bound(lists, squares, count))
