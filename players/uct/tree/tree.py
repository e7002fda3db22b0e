"""The search tree: a bounded arena of flat arrays, and what Python asks of it between batches."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import BatchMachine, Records
from players.move_lists import unpack_moves
from players.uct.tree import arrays as layout
from players.uct.tree import compact as keeping
from players.uct.tree import select as selection
from players.uct.tree.arrays import (
    CELLS,
    EDGES,
    ENDED,
    LEAF,
    LINKS,
    MAX_DEPTH,
    NODES,
    OPEN,
    OPENED,
    PEAK,
    TABLED,
    Arrays,
    Paths,
)
from players.uct.tree.backup import average, backup
from players.uct.tree.regret_matching import drop_tables
from players.uct.tree.selection_rules import SelectionRule, forget
from propnet.kernels.record_table import find_node

_CELLS_PART = 8
"""One part in so many of the memory is for tables of joint moves."""
_REMEMBER = 0.5
"""How much what moves have brought still counts when the root has moved."""


_LEAF = np.zeros((), layout.NODE)
_LEAF["status"] = LEAF
_LEAF["proven"] = _LEAF["bound"] = _LEAF["first_link"] = _LEAF["first_cell"] = -1


class Tree:
    """A search tree over the states of one machine.

    Memory is set aside when it is made, but the system hands out pages only as they fill.

    Attributes:
        arrays: the arrays.
        paths: room for one batch of paths.
        root: the node that the search starts from.
        trimmed: whether nodes below the root get the moves alone that the machine's guide favours.
    """

    def __init__(self, lanes: BatchMachine, batch: int, seed: int, memory: int) -> None:
        """Args:
        lanes: the machine.
        batch: the most paths at once.
        seed: for the choice among moves never tried.
        memory: bytes that the arrays may take.
        """
        roles = len(lanes.machine.roles)
        self.batched = lanes
        self.batch = batch
        hashed = 3 * 8
        node_bytes = (
            lanes.words * 8 + 6 * roles + layout.NODE.itemsize + 2 * layout.LINK.itemsize + hashed + 8
        )
        cells = max(8192, memory // _CELLS_PART // layout.CELL.itemsize)
        memory -= memory // _CELLS_PART
        nodes = max(1024, min(4_000_000, memory // 2 // node_bytes))
        edges = max(65_536, min(2**31 - 1, memory // 2 // layout.EDGE.itemsize))
        self.arrays = layout.make_arrays(lanes.words, roles, nodes, edges, cells, seed, lanes.first_column)
        self.paths = layout.make_paths(batch, roles)
        self.root = 0
        self.trimmed = False
        self._crowded = False

    # --- the root -------------------------------------------------------------------------
    def move_root(self, record: Records) -> None:
        """Make this state the root. What lies below it in the tree stays, the rest goes."""
        arrays = self.arrays
        found = (
            int(find_node(arrays.node_table, arrays.records, record[None, :], 0))
            if arrays.used[NODES]
            else -1
        )
        arrays.used[PEAK] = 0
        self._crowded = False
        if found == self.root and arrays.used[NODES]:
            return
        forget(arrays.averages, arrays.pairs, _REMEMBER)
        if found < 0:
            self._clear(record)
        else:
            self._keep(found, 0)

    def restart(self) -> None:
        """Forget all but the root's state."""
        self._clear(self.arrays.records[self.root].copy())

    def _clear(self, record: Records) -> None:
        arrays = self.arrays
        had_links = bool(arrays.used[LINKS])
        arrays.used[:] = 0
        self.root = 0
        arrays.used[NODES] = 1
        arrays.records[0] = self.batched.retain(record.reshape(1, -1).copy())[0]
        arrays.nodes[0] = _LEAF
        keeping.rehash(arrays, had_links)

    def _keep(self, root: int, fewest: int) -> None:
        """Keep what can be reached from this node through nodes of at least ``fewest`` visits."""
        arrays = self.arrays
        had_links = bool(arrays.used[LINKS])
        place = keeping.mark_from(arrays, root, fewest)
        keeping.compact(arrays, place)
        self.root = int(place[root])
        kept = int(arrays.used[NODES])
        arrays.records[:kept] = self.batched.retain(arrays.records[:kept].copy())
        keeping.rehash(arrays, had_links)

    @property
    def full(self) -> bool:
        """Whether there is no room for another batch."""
        used, arrays = self.arrays.used, self.arrays
        if self._crowded:  # and room cannot be made: it goes on with the states it has
            return False
        few = min(8 * self.batch, len(arrays.nodes) // 8)
        return bool(
            used[NODES] + few > len(arrays.nodes)
            or used[LINKS] + few > len(arrays.links)
            or used[EDGES] + 16 * few > len(arrays.edges)
        )

    def make_room(self) -> None:
        """Drop the states that were visited least, so that at least half of the room is free. What is
        known of the moves that lead to them stays."""
        arrays = self.arrays
        visits = arrays.nodes["visits"][: arrays.used[NODES]]
        opened = arrays.opened[: arrays.used[OPENED]]
        edges = arrays.counts[opened].sum(axis=1)
        fewest = 1
        while (
            np.count_nonzero(visits >= fewest) * 2 > len(arrays.nodes)
            or edges[visits[opened] >= fewest].sum() * 2 > len(arrays.edges)
        ) and fewest < self.visits:
            fewest *= 2
        self._keep(self.root, fewest)
        self._crowded = self.full

    def _drop_tables(self) -> None:
        """Drop tables of joint moves where visits are few, so that half of the cells are free."""
        arrays = self.arrays
        tabled = arrays.tabled[: arrays.used[TABLED]]
        visits = arrays.nodes["visits"][tabled]
        order = np.argsort(-visits, kind="stable")
        sizes = np.cumsum(arrays.counts[tabled[order]].prod(axis=1))
        kept = int(np.searchsorted(sizes, len(arrays.cells) // 2, side="right"))
        drop_tables(arrays, int(visits[order[min(kept, len(order) - 1)]]) + 1)

    def open_root(self) -> None:
        """List the legal moves of the root, if that was not done."""
        if not self.opened:
            root = np.array([self.root], np.int32)
            selection.list_moves(self.arrays, root, *self.batched.legal(self.arrays.records[root]))

    def _open(self, nodes: NDArray[np.int32]) -> None:
        """List the moves of nodes."""
        records = self.arrays.records[nodes]
        counts, moves = self.batched.favoured(records) if self.trimmed else self.batched.legal(records)
        selection.list_moves(self.arrays, nodes, counts, moves)

    # --- one batch ----------------------------------------------------------------------------
    def descend(self, lanes: int, rule: SelectionRule, fixed: int = -1) -> NDArray[np.int32]:
        """Walk paths from the root, make and open the nodes they ask for. Returns the leaves.
        ``fixed`` is an edge of the root that is to be taken, -1 for none."""
        arrays, paths = self.arrays, self.paths
        if 8 * arrays.used[CELLS] > 7 * len(arrays.cells):
            self._drop_tables()
        before = int(arrays.used[NODES])
        new, opens = selection.select(arrays, paths, self.root, lanes, rule, fixed)
        if new:
            # A parent of a new node is never new itself, so its record is there.
            parents = arrays.records[paths.parents[:new]]
            records = self.batched.successors(parents, paths.new_moves[:new])
            assert int(arrays.used[NODES]) == before + new
            selection.settle(arrays, paths, lanes, np.ascontiguousarray(records))
        if opens:
            self._open(paths.to_open[:opens])
        return paths.leaf[:lanes]

    def book(
        self,
        lanes: int,
        results: NDArray[np.float64],
        bests: NDArray[np.float64],
        greed: float,
        rule: SelectionRule,
    ) -> None:
        """Back up the results (lanes, roles; 0..1) of the last batch; ``bests`` (lanes,) are role 0's
        best, and ``greed`` how much these count."""
        backup(self.arrays, self.paths, lanes, results, bests, greed, rule)

    @property
    def numbered(self) -> bool:
        """Whether there is room for counts of moves: the machine numbers them beforehand."""
        return len(self.arrays.averages) > 0

    def end(self, nodes: NDArray[np.int32], goals: NDArray[np.int16], prove: bool) -> None:
        """Note that the match is over in these nodes, and with which result."""
        arrays = self.arrays
        arrays.nodes["status"][nodes] = ENDED
        arrays.goals[nodes] = goals
        if prove:
            arrays.nodes["proven"][nodes] = goals[:, 0]

    def unprove(self) -> None:
        """Forget what was proven (the game turned out not to be zero-sum)."""
        arrays = self.arrays
        arrays.nodes["proven"][: arrays.used[NODES]] = -1
        arrays.nodes["bound"][: arrays.used[NODES]] = -1
        arrays.edges["proven"][: arrays.used[EDGES]] = -1

    # --- what it says ---------------------------------------------------------------------------
    @property
    def proven(self) -> int:
        """Role 0's result from the root under best play; -1 while unknown."""
        return int(self.arrays.nodes["proven"][self.root])

    @property
    def visits(self) -> int:
        """Paths that have gone on from the root."""
        return int(self.arrays.nodes["visits"][self.root])

    @property
    def nodes(self) -> int:
        """How many states it holds."""
        return int(self.arrays.used[NODES])

    @property
    def depth(self) -> int:
        """The longest path since the root last moved."""
        return int(self.arrays.used[PEAK])

    @property
    def opened(self) -> bool:
        """Whether the root's moves are listed."""
        return bool(self.arrays.nodes["status"][self.root] == OPEN)

    @property
    def in_turn(self) -> bool:
        """Whether one role at most has a choice at the root."""
        return bool(self.arrays.nodes["to_move"][self.root] >= 0)

    @property
    def choices(self) -> int:
        """How many moves the role in turn has at the root, where there is but one."""
        return int(self.arrays.nodes["choices"][self.root])

    @property
    def mixed(self) -> bool:
        """Whether two roles have a choice at the root, and their moves are mixed by regret."""
        return bool(self.arrays.nodes["to_move"][self.root] == layout.PAIR)

    def edges(self, node: int, role: int) -> slice:
        """The edges of a role in an open node."""
        counts = self.arrays.counts[node]
        first = int(self.arrays.nodes["first_edge"][node] + counts[:role].sum())
        return slice(first, first + int(counts[role]))

    def path_moves(self, lane: int, role: int) -> list[int]:
        """The moves of a role on a path of the last batch."""
        edges = self.paths.edges[lane, : self.paths.length[lane], role]
        moves: list[int] = self.arrays.edges["move"][edges].tolist()
        return moves

    def proven_line(self, node: int) -> list[int]:
        """In a one-player game, the moves from a proven node to its result."""
        arrays = self.arrays
        moves: list[int] = []
        while arrays.nodes["status"][node] == OPEN and len(moves) < MAX_DEPTH:
            edges = self.edges(node, 0)
            best = int(np.argmax(arrays.edges["proven"][edges]))
            moves.append(int(arrays.edges["move"][edges.start + best]))
            node = int(arrays.edges["child"][edges.start + best])
            if node < 0:
                break
        return moves


def _small() -> tuple[Arrays, Paths]:
    """A tree of a single node that is not open yet, with room for some more, and one path."""
    arrays = layout.make_arrays(1, 1, 8, 8, 8, 0, np.array([0, 2], np.int32))
    paths = layout.make_paths(1, 1)
    arrays.records[:2] = [[3], [4]]
    arrays.nodes[0] = _LEAF
    arrays.used[NODES] = 1
    return arrays, paths


def _open_root(arrays: Arrays) -> None:
    counts, moves = unpack_moves(np.array([[3]], np.uint64), np.array([0, 2], np.int32))
    selection.list_moves(arrays, np.zeros(1, np.int32), counts, moves)


def warm_up_down() -> None:
    """Compile or load the kernels that go down the tree."""
    arrays, paths = _small()
    keeping.rehash(arrays, True)
    find_node(arrays.node_table, arrays.records, arrays.records[:1], 0)
    _open_root(arrays)
    selection.select(arrays, paths, 0, 1, SelectionRule(), -1)
    selection.settle(arrays, paths, 1, arrays.records[1:2].copy())


def warm_up_up() -> None:
    """The same of those that go up."""
    arrays, paths = _small()
    average(np.zeros((1, 1), np.int16), 1, 0, np.zeros(1, np.int64), np.ones((1, 1)), np.ones(1))
    backup(arrays, paths, 1, np.ones((1, 1)), np.ones(1), 0.0, SelectionRule())


def warm_up_keep() -> None:
    """The same of those that keep a part of the tree from turn to turn."""
    arrays, _ = _small()
    forget(arrays.averages, arrays.pairs, _REMEMBER)
    place = keeping.mark_from(arrays, 0, 0)
    keeping.compact(arrays, place)
    drop_tables(arrays, 0)


@functools.cache
def warm_up() -> None:
    """Compile all kernels of the tree, or load them from the disk, so that no turn has to wait for it."""
    warm_up_down()
    warm_up_up()
    warm_up_keep()
