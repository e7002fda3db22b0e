"""Kernels of the tree, compiled or loaded from the disk before they are needed."""

from __future__ import annotations

import functools

import numpy as np

from players.move_lists import unpack_moves
from players.uct.tree.arrays import Arrays, Paths, make_arrays, make_paths
from players.uct.tree.backup import average, back_up, prove_opened
from players.uct.tree.compact import compact, mark_from, rehash
from players.uct.tree.regret_matching import drop_cells
from players.uct.tree.select import expand, list_moves, select
from players.uct.tree.selection_rules import SelectionRule, forget
from players.uct.tree.tree import NEW_NODE
from players.uct.tree.values import warm_up_values
from propnet.kernels.record_table import find_record


def _small() -> tuple[Arrays, Paths]:
    """A tree of a single node that is not open yet, with room for a few more, and one path."""
    arrays = make_arrays(1, 1, 8, 8, 8, 0, np.array([0, 2], np.int32))
    arrays.records[:2] = [[3], [4]]
    arrays.nodes[0] = NEW_NODE
    arrays.used[0]["nodes"] = 1
    return arrays, make_paths(1, 1)


def warm_up_down() -> None:
    """Compile or load the kernels that go down the tree."""
    warm_up_root()
    arrays, paths = _small()
    select(arrays, paths, np.zeros(1, np.int32), 0, 1, SelectionRule(), -1)
    expand(arrays, paths, 0, 1, arrays.records[1:2].copy())


def warm_up_root() -> None:
    """Compile or load the kernels that make a root and list its moves."""
    arrays, _ = _small()
    forget(arrays.averages, arrays.pairs, 0.5)
    rehash(arrays, True)
    find_record(arrays.node_table, arrays.records, arrays.records[:1], 0)
    counts, moves = unpack_moves(np.array([[3]], np.uint64), np.array([0, 2], np.int32))
    list_moves(arrays, np.zeros(1, np.int32), counts, moves)


def warm_up_up() -> None:
    """Compile or load the kernels that go up."""
    arrays, paths = _small()
    average(np.zeros((1, 1), np.int16), 1, 0, np.zeros(1, np.int64), np.ones((1, 1)), np.ones(1))
    back_up(arrays, paths, np.zeros(1, np.int64), np.ones((1, 1)), np.ones(1), 0.0, SelectionRule())


def warm_up_keep() -> None:
    """Compile or load the kernels that keep a part of the tree from turn to turn."""
    arrays, _ = _small()
    forget(arrays.averages, arrays.pairs, 0.5)
    numbers = np.full(1, -1, np.int32)
    mark_from(arrays, 0, 0, numbers, np.empty_like(numbers))
    compact(arrays, numbers)
    drop_cells(arrays, 0)


def warm_up_looks() -> None:
    """Compile or load the kernels that looks at children need."""
    arrays, _ = _small()
    rehash(arrays, False)
    counts, moves = unpack_moves(np.array([[3]], np.uint64), np.array([0, 2], np.int32))
    list_moves(arrays, np.zeros(1, np.int32), counts, moves)
    warm_up_values(arrays)
    prove_opened(arrays, np.zeros(1, np.int32))


@functools.cache
def warm_up() -> None:
    """Compile all kernels of the tree, or load them from the disk, so that no turn has to wait for them."""
    warm_up_down()
    warm_up_up()
    warm_up_keep()
    warm_up_looks()
