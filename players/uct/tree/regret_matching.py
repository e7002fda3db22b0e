"""Nodes in which two roles choose, compiled: mixed choices by regret matching, and their proven values.

Regret matching in simultaneous-move tree search: Lisy, Kovarik, Lanctot and Bosansky 2013; regrets that never
fall below 0: Tammelin 2014. The results of joint moves are kept in cells, a table for each node with enough
visits to fill a part of it (:data:`players.uct.tree.arrays.CELL`). Until then the average of a move stands
for all of its cells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import Arrays, Numbers, RandomState, Table, find_link
from players.uct.tree.selection_rules import below, following, uniform
from propnet.jit.decorators import ARENA, inlined, kernel

_RANDOM = 0.06
"""Share of the choices that are random..."""
_STEADY = 256
"""... in this many first visits of a node; then it falls with the square root of the visits."""
_CELLS_A_VISIT = 8
"""A node gets its table when it has one visit for this many cells."""
_SMALL_TABLE = 1024
_ASK_VISITS = 256
"""In a node with more joint moves, every n-th visit checks whether a value is proven."""


def random_choices(visits: float) -> float:
    """Approximate number of random choices in this many visits of a node."""
    steady = min(visits, _STEADY)
    return _RANDOM * (steady + 2.0 * (math.sqrt(_STEADY * max(visits, _STEADY)) - _STEADY))


@inlined
def matched_edge(
    edges: Table, random: RandomState, first: np.int64, count: np.int64, visits: int
) -> np.int64:
    """An edge drawn in proportion to the regrets, in a node with ``visits``; edges never taken come first, in
    random order."""
    if count == 1:
        return np.int64(first)
    begin = np.int64(first + below(random, count))
    edge = begin
    total = 0.0
    for _ in range(count):
        if edges[edge].visits + edges[edge].pending == 0:
            return edge
        total += edges[edge].worth
        edge = following(edge, first, count)
    random_share = _RANDOM * min(1.0, math.sqrt(_STEADY / max(1.0, visits)))
    drawn = uniform(random)
    if total <= 0.0 or drawn < random_share:
        return begin
    rest = (drawn - random_share) / (1.0 - random_share) * total
    for _ in range(count):
        rest -= edges[edge].worth
        if rest < 0.0:
            return edge
        edge = following(edge, first, count)
    return edge


@inlined
def joint_moves(counts: Numbers, node: int) -> np.int64:
    """Number of joint moves of a node."""
    number = np.int64(1)
    for role in range(counts.shape[1]):
        number *= counts[node, role]
    return number


@inlined
def find_cell_link(tree: Arrays, node: int, joint: np.uint64) -> np.int64:
    """The link of a node for a joint move, negative if there is none."""
    cell = np.int64(tree.nodes[node].first_cell)
    if cell >= 0:
        return np.int64(tree.cells[cell + np.int64(joint)].link)
    return np.int64(find_link(tree.link_table, tree.links, node, np.uint64(joint)))


@inlined
def wants_cells(tree: Arrays, node: int) -> bool:
    """Whether a node is to get cells: it has none, has enough visits, and leaves half of the room."""
    if tree.nodes[node].first_cell >= 0:
        return False
    number = joint_moves(tree.counts, node)
    return bool(number <= tree.nodes[node].visits * _CELLS_A_VISIT and 2 * number <= len(tree.cells))


@inlined
def give_cells(tree: Arrays, node: int) -> None:
    """Give a node its cells, if there is room for them."""
    number = joint_moves(tree.counts, node)
    first = tree.used[0].cells
    if first + number > len(tree.cells):
        return
    tree.used[0].cells += number
    tree.tabled[tree.used[0].tabled] = node
    tree.used[0].tabled += 1
    tree.nodes[node].first_cell = first
    for cell in range(first, first + number):
        tree.cells[cell].visits = 0
        tree.cells[cell].link = -1
        tree.cells[cell].first = 0.0
        tree.cells[cell].second = 0.0
    link = tree.nodes[node].first_link
    while link >= 0:
        tree.cells[first + np.int64(tree.links[link].joint)].link = link
        link = tree.links[link].next


@inlined
def _regret(edges: Table, edge: int, instead: float, result: float) -> None:
    """Update a role's regret that it did not make a move that would have brought ``instead``."""
    edges[edge].worth = max(np.float32(0.0), np.float32(edges[edge].worth + instead - result))


@inlined
def book_pair(tree: Arrays, node: int, chosen: Numbers, result: NDArray[np.float64]) -> None:
    """Book results in a node in which two roles have a choice, and their regrets: the amount by which another
    move did better on average against the same move of the other role. ``chosen`` and ``result`` (roles,) are
    the edges of the path and its results."""
    nodes, edges, cells, counts = tree.nodes, tree.edges, tree.cells, tree.counts
    at = np.int64(nodes[node].first_edge)
    above = across = rows = columns = row = column = np.int64(0)
    up, side = np.float32(0.0), np.float32(0.0)  # values to the role of the rows, and to that of the columns
    for role in range(len(result)):
        count = np.int64(counts[node, role])
        edge = np.int64(chosen[role])
        edges[edge].visits += 1
        edges[edge].pending -= 1
        edges[edge].total += result[role]
        if count > 1:
            if rows == 0:
                above, rows, row, up = at, count, edge - at, np.float32(result[role])
            else:
                across, columns, column, side = at, count, edge - at, np.float32(result[role])
        at += count
    first = np.int64(nodes[node].first_cell)
    if first >= 0:
        cell = first + row * columns + column
        cells[cell].visits += 1
        # The n-th result has weight n: the first ones come from states that were hardly searched yet.
        share = np.float32(2.0) / np.float32(cells[cell].visits + 1)
        cells[cell].first += (up - cells[cell].first) * share
        cells[cell].second += (side - cells[cell].second) * share
        up, side = cells[cell].first, cells[cell].second
    else:
        up = np.float32(edges[above + row].total / edges[above + row].visits)
        side = np.float32(edges[across + column].total / edges[across + column].visits)
    for k in range(rows):
        if k != row and first >= 0 and cells[first + k * columns + column].visits:
            _regret(edges, above + k, cells[first + k * columns + column].first, up)
        elif k != row and edges[above + k].visits:
            _regret(edges, above + k, edges[above + k].total / edges[above + k].visits, up)
    for k in range(columns):
        if k != column and first >= 0 and cells[first + row * columns + k].visits:
            _regret(edges, across + k, cells[first + row * columns + k].second, side)
        elif k != column and edges[across + k].visits:
            _regret(edges, across + k, edges[across + k].total / edges[across + k].visits, side)


@inlined
def _proven_after(tree: Arrays, node: int, joint: int) -> np.int64:
    """The proven value after a joint move, or -1."""
    link = find_cell_link(tree, node, joint)
    if link < 0 or tree.links[link].child < 0:
        return np.int64(-1)
    return np.int64(tree.nodes[tree.links[link].child].proven)


@inlined
def is_time_to_prove(tree: Arrays, node: int, joint: np.uint64) -> bool:
    """Whether to call :func:`prove_pair` for a node: when the joint move that was made there, or the node
    while it has no table, has been visited 1, 2, 4... times."""
    visits = np.int64(tree.nodes[node].visits)
    if joint_moves(tree.counts, node) > _SMALL_TABLE:
        return bool(visits % _ASK_VISITS == 0)
    if tree.nodes[node].first_cell >= 0:
        visits = np.int64(tree.cells[tree.nodes[node].first_cell + np.int64(joint)].visits)
    return bool(visits & (visits - 1) == 0)


@inlined
def prove_pair(tree: Arrays, node: int) -> bool:
    """Whether the value of a node in which both of two roles choose now follows: role 0 has a move that
    secures it, and role 1 a move that allows no more. If so, sets ``proven`` of the node and of these moves.
    It reads the whole table, so call it seldom."""
    rows = np.int64(tree.counts[node, 0])
    columns = np.int64(tree.counts[node, 1])
    sure, row = np.int64(-1), np.int64(-1)
    for i in range(rows):
        low = np.int64(101)
        for j in range(columns):
            value = _proven_after(tree, node, i * columns + j)
            low = np.int64(min(low, value))
            if low < 0:
                break
        if low > sure:
            sure, row = low, np.int64(i)
    allowed, column = np.int64(101), np.int64(-1)
    for j in range(columns):
        high = np.int64(-1)
        for i in range(rows):
            value = _proven_after(tree, node, i * columns + j)
            high = np.int64(max(high, value))
            if value < 0:
                high = np.int64(101)
                break
        if high < allowed:
            allowed, column = high, np.int64(j)
    if sure == 100:
        allowed = sure
    if allowed == 0:
        sure = allowed
    if sure != allowed:
        return False
    first = np.int64(tree.nodes[node].first_edge)
    if row >= 0:
        tree.edges[first + row].proven = sure
    if column >= 0:
        tree.edges[first + rows + column].proven = sure
    tree.nodes[node].proven = sure
    return True


@kernel(**ARENA)
def keep_cells(tree: Arrays, numbers: Numbers) -> None:
    """Keep the cells of the nodes that get new ``numbers`` (-1: dropped). If links are renumbered, set the
    cells' links again."""
    tables = tree.used[0].tabled
    tree.used[0].tabled = tree.used[0].cells = 0
    for i in range(tables):
        node = numbers[tree.tabled[i]]
        if node < 0:
            continue
        old = np.int64(tree.nodes[node].first_cell)
        first = tree.used[0].cells
        size = joint_moves(tree.counts, node)
        tree.nodes[node].first_cell = first
        for k in range(size):
            tree.cells[first + k] = tree.cells[old + k]
        tree.used[0].cells += size
        tree.tabled[tree.used[0].tabled] = node
        tree.used[0].tabled += 1


def drop_cells(tree: Arrays, fewest: int) -> None:
    """Drop the cells of nodes with fewer visits than that."""
    tabled = tree.tabled[: tree.used[0]["tabled"]]
    dropped = tabled[tree.nodes["visits"][tabled] < fewest]
    numbers = np.arange(tree.used[0]["nodes"], dtype=np.int32)
    numbers[dropped] = -1
    tree.nodes["first_cell"][dropped] = -1
    keep_cells(tree, numbers)
