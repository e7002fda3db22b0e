"""The compiled loops that count moves wherever they are made below a node, in the tree or in playouts.

All moves as first (AMAF), used after Cazenave 2015 (generalized rapid action value estimation, GRAVE): a
node takes the counts of its nearest ancestor that has enough of them, so few nodes hold a table.

``Arrays.tables`` (T, columns, 2) holds ``[playouts that made the move, sum of their goals for its role]``
for each move of each role, ``Arrays.owners`` (T,) the node of each table, ``NODE.table`` the node's
table or -1. Tallies of playouts, (n, columns, 2) int32, are laid out alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import TABLES, Arrays, Paths
from propnet.jit.decorators import kernel


@kernel(nogil=True)
def count_moves(
    tree: Arrays,
    paths: Paths,
    rows: NDArray[np.int64],
    tallies: NDArray[np.int32],
    counted: Any,
    results: NDArray[np.float64],
    fewest: Any,
) -> None:
    """Add the tallies (n, columns, 2) of playouts from the leaves of paths ``rows`` (n,), and the moves
    on these paths, to the tables of all nodes above. ``counted`` playouts were counted of each leaf,
    and ``results`` (lanes, roles; 0..1) are their means. Nodes of at least ``fewest`` visits get a table
    while there are any."""
    nodes, tables, owners = tree.nodes, tree.tables, tree.owners
    for i in range(len(rows)):
        lane = rows[i]
        path = paths.nodes[lane]
        for depth in range(paths.length[lane]):
            node = path[depth]
            if nodes[node].table < 0:
                if nodes[node].visits < fewest or tree.used[TABLES] == len(tables):
                    break
                at = tree.used[TABLES]
                tree.used[TABLES] += 1
                nodes[node].table = at
                owners[at] = node
                for column in range(tables.shape[1]):
                    tables[at, column, 0] = tables[at, column, 1] = np.float32(0.0)
            table, tally = tables[nodes[node].table], tallies[i]
            for column in range(len(table)):
                table[column, 0] += tally[column, 0]
                table[column, 1] += tally[column, 1]
            for below in range(depth, paths.length[lane]):
                role = np.int64(nodes[path[below]].to_move)
                if role >= 0 and nodes[path[below]].choices > 1:
                    column = paths.columns[lane, below]
                    table[column, 0] += np.float32(counted)
                    table[column, 1] += np.float32(100.0 * counted * results[lane, role])


@kernel(nogil=True)
def keep_tables(tree: Arrays, place: NDArray[np.int32]) -> None:
    """Keep the tables of the nodes that got new numbers by ``place`` (-1: the node goes)."""
    kept = 0
    for table in range(tree.used[TABLES]):
        node = place[tree.owners[table]]
        if node < 0:
            continue
        for column in range(tree.tables.shape[1]):
            tree.tables[kept, column, 0] = tree.tables[table, column, 0]
            tree.tables[kept, column, 1] = tree.tables[table, column, 1]
        tree.owners[kept] = node
        tree.nodes[node].table = kept
        kept += 1
    tree.used[TABLES] = kept
