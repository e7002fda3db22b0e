"""Minimum-cost perfect matching of boxes and goals, kept up to date as boxes move: the Hungarian method by
shortest augmenting paths (Kuhn 1955; Jonker and Volgenant 1987), one row at a time.

Cheaper bounds (each box to its nearest goal, or a greedy assignment) were measured in all searches and made
none of them faster: the time saved per position is lost to more positions.

When a box moves, all potentials but its own stay valid, so one augmenting path makes the matching perfect
again. Surplus goals are matched to rows of cost 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import inner

FAR_COST = 1 << 18
"""The cost of a goal that a box cannot reach. A matching of this cost or more stands for none at all."""
_MORE = 1 << 30
_DRIFT = 1 << 24


class Matching(NamedTuple):
    """A perfect matching that can change.

    Attributes:
        costs: int32, shape (size + 2, goals): pushes from each square to each goal, at most FAR_COST; 0 in
            the last row, which stands for no box.
        squares: int32, shape (goals,): the square of each row's box; size + 1 for rows without one.
        row_potentials, column_potentials: int32, shape (goals + 1,).
        row_of: int32, shape (goals + 1,): the row matched to each column; -1 for none.
        column_of: int32, shape (goals + 1,): the column of each row.
        room: int32, shape (7, goals + 1), scratch space.
    """

    costs: Int32s
    squares: Int32s
    row_potentials: Int32s
    column_potentials: Int32s
    row_of: Int32s
    column_of: Int32s
    room: Int32s


def new_matching(distances: Int32s) -> Matching:
    """Return a matching without boxes, every row at cost 0. ``distances``: int32, shape (goals, size + 1)."""
    goals, rows = distances.shape
    costs = np.zeros((rows + 1, goals), np.int32)
    costs[:rows] = np.minimum(distances.T, FAR_COST)
    order = np.arange(goals + 1, dtype=np.int32)
    return Matching(
        costs,
        np.full(goals, rows, np.int32),
        np.zeros(goals + 1, np.int32),
        np.zeros(goals + 1, np.int32),
        order,
        order.copy(),
        np.zeros((7, goals + 1), np.int32),
    )


@inner
def move_row(matching: Matching, row: Index, square: Index) -> None:
    """Move the box of a row to another square, and restore the matching of least cost."""
    costs, squares, room = matching.costs, matching.squares, matching.room
    row_potentials, column_potentials = matching.row_potentials, matching.column_potentials
    row_of, column_of = matching.row_of, matching.column_of
    size = len(squares)
    least, used, way = room[0], room[1], room[2]
    row_of[column_of[row]] = -1
    squares[row] = square
    for column in range(size):
        least[column] = _MORE
        used[column] = 0
    row_of[size] = row
    used[size] = 0
    here = size
    while True:
        used[here] = 1
        one = row_of[here]
        line = costs[squares[one]]
        base = row_potentials[one]
        delta, there = np.int32(_MORE), 0
        for column in range(size):
            if not used[column]:
                reduced = line[column] - base - column_potentials[column]
                if reduced < least[column]:
                    least[column] = reduced
                    way[column] = here
                if least[column] < delta:
                    delta = least[column]
                    there = column
        if delta != 0:
            for column in range(size + 1):
                if used[column]:
                    row_potentials[row_of[column]] += delta
                    column_potentials[column] -= delta
                else:
                    least[column] -= delta
        here = there
        if row_of[here] < 0:
            break
    while here != size:
        there = way[here]
        row_of[here] = row_of[there]
        column_of[row_of[here]] = here
        here = there
    column_potentials[size] = 0
    # Columns only ever lose. Adding one constant to all of them changes nothing.
    if column_potentials[0] < -_DRIFT:
        lost = column_potentials[0]
        for number in range(size):
            column_potentials[number] -= lost
            row_potentials[number] += lost


@inner
def total_cost(matching: Matching) -> Index:
    """Return the cost of the matching; FAR_COST or more if some box has no goal."""
    total = np.int64(0)
    for column in range(len(matching.squares)):
        total += matching.costs[matching.squares[matching.row_of[column]], column]
    return total


@inner
def cost_after(matching: Matching, row: Index, square: Index, total: Index) -> Index:
    """Return the cost of the least matching if the box of a row stood on another square. The matching stays
    unchanged; ``total`` is its cost."""
    costs, room, column = matching.costs, matching.room, matching.column_of[row]
    old = matching.squares[row]
    size = len(matching.squares)
    # If no other goal comes nearer by more than the matched one does, the same matching is the best.
    gain = np.int32(-_MORE)
    for number in range(size):
        gain = max(gain, costs[old, number] - costs[square, number])
    if costs[old, column] - costs[square, column] == gain:
        return total - np.int64(gain)
    for number in range(size + 1):
        room[3, number] = matching.row_potentials[number]
        room[4, number] = matching.column_potentials[number]
        room[5, number] = matching.row_of[number]
        room[6, number] = matching.column_of[number]
    move_row(matching, row, square)
    after = total_cost(matching)
    matching.squares[row] = old
    for number in range(size + 1):
        matching.row_potentials[number] = room[3, number]
        matching.column_potentials[number] = room[4, number]
        matching.row_of[number] = room[5, number]
        matching.column_of[number] = room[6, number]
    return after


@inner
def match_boxes(matching: Matching, boxes: Int32s, count: Index, marks: Int32s) -> None:
    """Give exactly these boxes rows: the first ``count`` of ``boxes``. Rows of boxes that stay are unchanged.
    ``marks``: int32, shape (size + 1,), all 0 before and after."""
    squares = matching.squares
    for number in range(count):
        marks[boxes[number]] = 1
    for row in range(count):
        square = squares[row]
        if square < len(marks) and marks[square]:
            marks[square] = 2
    following = 0
    for row in range(count):
        square = squares[row]
        if square >= len(marks) or not marks[square]:
            while marks[boxes[following]] == 2:
                following += 1
            move_row(matching, row, np.int64(boxes[following]))
            following += 1
    for number in range(count):
        marks[boxes[number]] = 0
