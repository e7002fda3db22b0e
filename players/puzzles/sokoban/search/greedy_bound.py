"""The greedy bound: the least of all distances between boxes and goals comes first, and each box and each
goal is used once.

It is an estimate, not a lower bound: a greedy assignment may cost more than the best one. It is never below
the simple bound. It does not see boxes that fight for one goal: a box that is left with no goal within reach
counts as far as its nearest one.

The goals of each square are sorted once for a level, so that each box has its sorted distances already: a
push exchanges one list for another. A mark is a number, and to clear all marks is to take the next number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.search.matching import FAR_COST
from players.puzzles.sokoban.search.nodes import Shorts
from propnet.jit.arrays import Index, Int32s, Ints
from propnet.jit.decorators import inner


class SortedGoals(NamedTuple):
    """The goals of each square, the nearest first.

    Attributes:
        goals: int32, shape (size + 1, goals).
        costs: int32, the same shape: pushes to each of them, at most FAR_COST.
        taken: int64, shape (goals + 1,): a goal is taken if this is the mark, which stands in the last place.
        places: int32, shape (goals,): how much of its list each box has used up.
        following: int32, shape (goals + 1,): the chain of boxes that have no goal yet; its first is in the
            last place, -1 ends it.
    """

    goals: Int32s
    costs: Int32s
    taken: Ints
    places: Int32s
    following: Int32s


def sorted_goals(distances: Int32s) -> SortedGoals:
    """The lists for a level. ``distances``: int32, shape (goals, size + 1), of a lone box to each goal."""
    costs = np.ascontiguousarray(np.minimum(distances.T, FAR_COST), np.int32)
    order = np.argsort(costs, axis=1, kind="stable").astype(np.int32)
    count = len(distances)
    return SortedGoals(
        order,
        np.ascontiguousarray(np.take_along_axis(costs, order, axis=1)),
        np.zeros(count + 1, np.int64),
        np.zeros(count, np.int32),
        np.zeros(count + 1, np.int32),
    )


@inner
def greedy_bound(lists: SortedGoals, squares: Int32s | Shorts, count: Index) -> Index:
    """The estimate for boxes on the first ``count`` squares, at most as many as there are goals; FAR_COST or
    more only where some box reaches no goal at all. Of equal distances, the box on the lower square and the
    goal of the lower number come first."""
    goals, costs, taken, places, following = (
        lists.goals, lists.costs, lists.taken, lists.places, lists.following,
    )  # fmt: skip
    size = goals.shape[1]
    taken[size] += 1
    mark = taken[size]
    total = np.int64(0)
    following[size] = -1
    for number in range(count):
        square = squares[number]
        if costs[square, 0] == 0:
            taken[goals[square, 0]] = mark
        else:
            places[number] = 0
            following[number] = following[size]
            following[size] = number
    while following[size] >= 0:
        least, before_best = np.int64(FAR_COST), -1
        before = size
        while following[before] >= 0:
            box = following[before]
            square = squares[box]
            place = places[box]
            while place < size and taken[goals[square, place]] == mark:
                place += 1
            places[box] = place
            cost = np.int64(costs[square, place]) if place < size else np.int64(FAR_COST)
            if cost >= FAR_COST:
                total += costs[square, 0]
                following[before] = following[box]
                continue
            if cost < least or (cost == least and square < squares[following[before_best]]):
                least, before_best = cost, before
            before = box
        if before_best >= 0:
            box = following[before_best]
            taken[goals[squares[box], places[box]]] = mark
            total += least
            following[before_best] = following[box]
    return total
