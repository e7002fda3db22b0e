"""Nodes in which two roles choose, compiled: mixed choices by regret matching, and what is proven there.

Regret matching in simultaneous-move tree search: Lisy, Kovarik, Lanctot and Bosansky 2013; regrets that never
fall below 0: Tammelin 2014. What joint moves have brought is kept in cells, a table for each node that
was visited often enough to fill a part of it (:data:`players.uct.tree.arrays.CELL`). Until then a move is
worth what it has brought whatever the other role did.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import CELLS, TABLED, Arrays, find_link
from players.uct.tree.selection_rules import start
from propnet.jit.decorators import inner, kernel
from propnet.jit.splitmix import next_random

_RANDOM = 0.06
"""Share of the choices that are random..."""
_STEADY = 256
"""... in the first so many visits of a node; then it falls with the root of the visits."""
_CELLS_A_VISIT = 8
"""A node gets its table when it has a visit for so many cells."""
_SMALL_TABLE = 1024
_ASK_VISITS = 256
"""Whether anything is proven is asked only once in so many visits of a node with more joint moves."""


def random_choices(visits: float) -> float:
    """How many choices were random in so many visits of a node, about."""
    steady = min(visits, _STEADY)
    return _RANDOM * (steady + 2.0 * (math.sqrt(_STEADY * max(visits, _STEADY)) - _STEADY))


@inner
def matched_edge(edges: Any, random: Any, first: Any, count: Any, visits: Any) -> Any:
    """An edge drawn in proportion to the regrets, where the node has been visited so often; edges never
    taken come first, in random order."""
    if count == 1:
        return np.int64(first)
    begin = first + start(random, count)
    at = begin
    total = 0.0
    for _ in range(count):
        if edges[at].visits + edges[at].pending == 0:
            return at
        total += edges[at].worth
        at += 1
        if at == first + count:
            at = first
    often = _RANDOM * min(1.0, math.sqrt(_STEADY / max(1.0, visits)))
    drawn = (next_random(random) >> np.uint64(11)) * 2.0**-53
    if total <= 0.0 or drawn < often:
        return begin
    rest = (drawn - often) / (1.0 - often) * total
    for _ in range(count):
        rest -= edges[at].worth
        if rest < 0.0:
            return at
        at += 1
        if at == first + count:
            at = first
    return at


@inner
def joint_moves(counts: Any, node: Any) -> Any:
    """How many joint moves a node has."""
    number = np.int64(1)
    for role in range(counts.shape[1]):
        number *= counts[node, role]
    return number


@inner
def find_cell_link(nodes: Any, cells: Any, link_table: Any, links: Any, node: Any, joint: Any) -> Any:
    """The link of a node for a joint move, negative if there is none."""
    cell = np.int64(nodes[node].first_cell)
    if cell >= 0:
        return np.int64(cells[cell + np.int64(joint)].link)
    return find_link(link_table, links, node, np.uint64(joint))


@inner
def wants_cells(nodes: Any, counts: Any, node: Any, room: Any) -> Any:
    """Whether a node is to get cells: it has none, was visited often enough, and leaves half of the room."""
    if nodes[node].first_cell >= 0:
        return False
    number = joint_moves(counts, node)
    return number <= nodes[node].visits * _CELLS_A_VISIT and 2 * number <= room


@inner
def give_cells(tree: Arrays, node: Any) -> None:
    """Give a node its cells, if there is room for them."""
    number = joint_moves(tree.counts, node)
    first = tree.used[CELLS]
    if first + number > len(tree.cells):
        return
    tree.used[CELLS] += number
    tree.tabled[tree.used[TABLED]] = node
    tree.used[TABLED] += 1
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


@inner
def _regret(edges: Any, edge: Any, would: Any, got: Any) -> None:
    edges[edge].worth = max(np.float32(0.0), np.float32(edges[edge].worth + would - got))


@inner
def book_pair(nodes: Any, edges: Any, cells: Any, counts: Any, node: Any, taken: Any, result: Any) -> None:
    """Book results where two roles have a choice, and what they regret not to have done: as much as
    another move has brought more on average against the same move of the other one. ``taken`` and
    ``result`` (roles,) are the edges of the path and its results."""
    at = np.int64(nodes[node].first_edge)
    above = across = rows = columns = row = column = np.int64(0)
    up, side = np.float32(0.0), np.float32(0.0)  # what the role of the rows gets, and that of the columns
    for role in range(len(result)):
        count = np.int64(counts[node, role])
        edge = np.int64(taken[role])
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


@inner
def _proven_after(nodes: Any, cells: Any, link_table: Any, links: Any, node: Any, joint: Any) -> Any:
    """The proven value after a joint move, or -1."""
    link = find_cell_link(nodes, cells, link_table, links, node, joint)
    if link < 0 or links[link].child < 0:
        return np.int64(-1)
    return np.int64(nodes[links[link].child].proven)


@inner
def is_time_to_prove(nodes: Any, cells: Any, counts: Any, node: Any, joint: Any) -> Any:
    """Whether :func:`prove_pair` is to be asked of a node: when the joint move that was made there, or the
    node while it has no table, has been visited 1, 2, 4... times."""
    visits = np.int64(nodes[node].visits)
    if joint_moves(counts, node) > _SMALL_TABLE:
        return visits % _ASK_VISITS == 0
    if nodes[node].first_cell >= 0:
        visits = np.int64(cells[nodes[node].first_cell + np.int64(joint)].visits)
    return visits & (visits - 1) == 0


@inner
def prove_pair(tree: Arrays, node: Any) -> Any:
    """Whether the value of a node where both of two roles choose now follows: one role has a move that
    makes sure of it, and the other one a move that allows no more. Sets ``proven`` if so, of the node
    and of these moves. It looks at the whole table, and is asked for seldom."""
    nodes, edges, cells, links, table = tree.nodes, tree.edges, tree.cells, tree.links, tree.link_table
    rows = np.int64(tree.counts[node, 0])
    columns = np.int64(tree.counts[node, 1])
    sure, row = np.int64(-1), np.int64(-1)
    for i in range(rows):
        low = np.int64(101)
        for j in range(columns):
            value = _proven_after(nodes, cells, table, links, node, i * columns + j)
            low = np.int64(min(low, value))
            if low < 0:
                break
        if low > sure:
            sure, row = low, np.int64(i)
    allowed, column = np.int64(101), np.int64(-1)
    for j in range(columns):
        high = np.int64(-1)
        for i in range(rows):
            value = _proven_after(nodes, cells, table, links, node, i * columns + j)
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
    first = np.int64(nodes[node].first_edge)
    if row >= 0:
        edges[first + row].proven = sure
    if column >= 0:
        edges[first + rows + column].proven = sure
    nodes[node].proven = sure
    return True


@kernel(nogil=True)
def keep_cells(tree: Arrays, place: NDArray[np.int32]) -> None:
    """Keep the tables of the nodes that ``place`` numbers anew (-1: its table goes). The cells'
    links are to be set again if links are numbered anew."""
    number = tree.used[TABLED]
    tree.used[TABLED] = tree.used[CELLS] = 0
    for i in range(number):
        node = place[tree.tabled[i]]
        if node < 0:
            continue
        old = np.int64(tree.nodes[node].first_cell)
        first = tree.used[CELLS]
        size = joint_moves(tree.counts, node)
        tree.nodes[node].first_cell = first
        for k in range(size):
            tree.cells[first + k] = tree.cells[old + k]
        tree.used[CELLS] += size
        tree.tabled[tree.used[TABLED]] = node
        tree.used[TABLED] += 1


@kernel(nogil=True)
def drop_tables(tree: Arrays, fewest: Any) -> None:
    """Drop the tables of nodes with fewer visits than that."""
    place = np.arange(tree.used[0]).astype(np.int32)
    for i in range(tree.used[TABLED]):
        node = tree.tabled[i]
        if tree.nodes[node].visits < fewest:
            tree.nodes[node].first_cell = -1
            place[node] = -1
    keep_cells(tree, place)
