"""`Tree`: the search tree, a bounded arena of flat arrays, and its methods between batches.

Paths may wait for playouts from their leaves while later batches are selected. Such paths stay at the front
of the room for paths, and count as under way in the tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import BatchMachine, Records
from players.uct.tree.arrays import (
    ENDED,
    FRESH,
    LEAF,
    MAX_DEPTH,
    NODE,
    OPEN,
    PAIR,
    Arrays,
    Paths,
    arrays_for,
    make_paths,
)
from players.uct.tree.backup import back_up, prove_opened
from players.uct.tree.compact import compact, mark_from, rehash
from players.uct.tree.regret_matching import drop_cells
from players.uct.tree.select import expand, find_or_add, list_moves, select
from players.uct.tree.selection_rules import SelectionRule, forget
from players.uct.tree.values import Values, value_children
from propnet.kernels.record_table import find_record


def _keep_paths(paths: Paths, rows: NDArray[np.int64]) -> None:
    """Move the paths in these rows, which ascend, to the first rows."""
    count = len(rows)
    if not count or rows[-1] == count - 1:
        return
    depth = int(paths.length[rows].max())
    for each in (paths.length, paths.leaf):
        each[:count] = each[rows]
    for each in (paths.nodes, paths.edges, paths.links, paths.columns):
        each[:count, :depth] = each[rows, :depth]


def call_off(arrays: Arrays, paths: Paths, count: int) -> None:
    """Take the first ``count`` paths out of those under way; nothing is booked."""
    depth = int(paths.length[:count].max(initial=0))
    steps = np.arange(depth) < paths.length[:count, None]
    nodes = paths.nodes[:count, :depth][steps]
    edges = paths.edges[:count, :depth][steps]
    to_move = arrays.nodes["to_move"][nodes]
    alone = np.flatnonzero(to_move >= 0)
    np.subtract.at(arrays.nodes["pending"], nodes, 1)
    np.subtract.at(arrays.edges["pending"], edges[alone, to_move[alone]], 1)
    np.subtract.at(arrays.edges["pending"], edges[to_move < 0].ravel(), 1)


_REMEMBER = 0.5
"""Factor on the averages of moves when the root moves."""

NEW_NODE = np.zeros((), NODE)
NEW_NODE["status"] = LEAF
NEW_NODE["proven"] = NEW_NODE["first_link"] = NEW_NODE["first_cell"] = -1
NEW_NODE["limit"] = 100


class Tree:
    """A search tree over the states of one machine.

    Memory is reserved when the tree is made, but the system hands out pages only as they fill.

    Attributes:
        batched: the machine.
        batch: the most paths at once.
        paths: room for one batch of paths, after those of earlier batches that are still under way.
        under_way: number of paths under way.
        root: the node that the search starts from.
        values: value the children of new nodes; None without knowledge.
        trimmed: whether nodes below the root get only the moves that the machine's guide favours.
    """

    def __init__(self, batched: BatchMachine, batch: int, seed: int, memory: int) -> None:
        """The arrays may take ``memory`` bytes; ``seed`` is for the choice among untried moves."""
        roles = len(batched.machine.roles)
        self.batched = batched
        self.batch = batch
        self.arrays = arrays_for(memory, batched.words, roles, seed, batched.role_moves)
        self.paths = make_paths(batch, roles)
        self.under_way = 0
        self.root = 0
        self.trimmed = False
        self.values: Values | None = None
        self._crowded = False

    def move_root(self, record: Records) -> None:
        """Make this state the root. The part of the tree below it stays, the rest is dropped."""
        arrays, used = self.arrays, self.arrays.used[0]
        used["depth"] = 0
        self._crowded = False
        node = -1
        if used["nodes"]:
            node = int(find_record(arrays.node_table, arrays.records, record[None, :], 0))
        if node == self.root:
            return
        forget(arrays.averages, arrays.pairs, _REMEMBER)
        self.call_off()
        if node < 0:
            self.clear(record)
        else:
            self._keep(node, 0)

    def restart(self) -> None:
        """Forget everything except the root's state."""
        self.clear(self.arrays.records[self.root].copy())

    def clear(self, record: Records) -> None:
        """Forget all nodes; this state, shape (words,), is the root."""
        arrays, used = self.arrays, self.arrays.used[0]
        self.under_way = 0
        had_links = bool(used["links"])
        arrays.used[:] = 0
        used["nodes"] = 1
        self.root = 0
        arrays.records[0] = self.batched.retain(record.reshape(1, -1).copy())[0]
        arrays.nodes[0] = NEW_NODE
        rehash(arrays, had_links)

    def _keep(self, root: int, fewest: int) -> None:
        """Keep the nodes that can be reached from this node through nodes of at least ``fewest`` visits."""
        arrays, used = self.arrays, self.arrays.used[0]
        self.call_off()
        had_links = bool(used["links"])
        numbers = np.full(used["nodes"], -1, np.int32)
        mark_from(arrays, root, fewest, numbers, np.empty_like(numbers))
        compact(arrays, numbers)
        self.root = int(numbers[root])
        nodes = int(used["nodes"])
        arrays.records[:nodes] = self.batched.retain(arrays.records[:nodes].copy())
        rehash(arrays, had_links)

    @property
    def full(self) -> bool:
        """Whether there is no room for another batch."""
        arrays, used = self.arrays, self.arrays.used[0]
        if self._crowded:  # no room can be made: the search goes on with the present states
            return False
        few = min(8 * self.batch, len(arrays.nodes) // 8)
        return bool(
            used["nodes"] + few > len(arrays.nodes)
            or used["links"] + few > len(arrays.links)
            or used["edges"] + 16 * few > len(arrays.edges)
        )

    def make_room(self) -> None:
        """Drop the states with the fewest visits, so that at least half of the room is free. The statistics
        of the moves that lead to them stay."""
        arrays, used = self.arrays, self.arrays.used[0]
        visits = arrays.nodes["visits"][: used["nodes"]]
        opened = arrays.opened[: used["opened"]]
        edges = arrays.counts[opened].sum(axis=1)
        fewest = 1
        while (
            np.count_nonzero(visits >= fewest) * 2 > len(arrays.nodes)
            or edges[visits[opened] >= fewest].sum() * 2 > len(arrays.edges)
        ) and fewest < self.visits:
            fewest *= 2
        self._keep(self.root, fewest)
        self._crowded = self.full

    def _drop_cells(self) -> None:
        """Drop tables of joint moves with few visits, so that half of the cells are free."""
        arrays = self.arrays
        tabled = arrays.tabled[: arrays.used[0]["tabled"]]
        visits = arrays.nodes["visits"][tabled]
        order = np.argsort(-visits, kind="stable")
        sizes = np.cumsum(arrays.counts[tabled[order]].prod(axis=1))
        first = int(np.searchsorted(sizes, len(arrays.cells) // 2, side="right"))
        drop_cells(arrays, int(visits[order[min(first, len(order) - 1)]]) + 1)

    def open_root(self) -> None:
        """List the legal moves of the root, if they are not listed yet."""
        if not self.opened:
            root = np.array([self.root], np.int32)
            list_moves(self.arrays, root, *self.batched.legal(self.arrays.records[root]))
            self._value_children(root)

    def add(self, records: Records) -> NDArray[np.int32]:
        """The nodes, int32, shape (n,), of states, records of shape (n, words). Missing nodes are added;
        there must be room. The moves of all are listed."""
        nodes = np.empty(len(records), np.int32)
        find_or_add(self.arrays, np.ascontiguousarray(records), nodes)
        new = np.unique(nodes[self.arrays.nodes["status"][nodes] <= LEAF])
        if len(new):
            self._open(new.astype(np.int32))
        return nodes

    def _open(self, nodes: NDArray[np.int32]) -> None:
        """List the moves of nodes."""
        if self.values is not None:
            over, goals = self.values.over(self.arrays.records[nodes])
            self.end(nodes[over], goals[over], False)
            nodes = nodes[~over]
        if not len(nodes):
            return
        records = self.arrays.records[nodes]
        counts, moves = self.batched.favoured(records) if self.trimmed else self.batched.legal(records)
        list_moves(self.arrays, nodes, counts, moves)
        self._value_children(nodes)

    def _value_children(self, nodes: NDArray[np.int32]) -> None:
        """Set the values of the children of newly opened nodes."""
        if self.values is not None:
            value_children(self.arrays, self.batched, self.values, nodes)
            prove_opened(self.arrays, nodes)

    def select(
        self, count: int, rule: SelectionRule, fixed: int = -1, roots: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Walk ``count`` paths from the root, make the nodes that they reach, and open leaves that already
        had playouts. The role takes the root's edge ``fixed`` (-1: each role chooses). ``roots``: nodes,
        int32, that paths begin from in turn, in place of the root.

        Returns the leaves, int32, shape (count,), valid until the next call. Their paths are in the rows
        after those under way."""
        arrays, paths, used = self.arrays, self.paths, self.arrays.used[0]
        if 8 * used["cells"] > 7 * len(arrays.cells):
            self._drop_cells()
        before = int(used["nodes"])
        starts = np.array([self.root], np.int32) if roots is None else roots
        begin = self.under_way
        new, opens = select(arrays, paths, starts, begin, count, rule, fixed)
        if new:
            # The parent of a new node is never new itself, so its record is there.
            parents = arrays.records[paths.parents[:new]]
            records = self.batched.successors(parents, paths.new_moves[:new])
            assert int(used["nodes"]) == before + new
            expand(arrays, paths, begin, count, np.ascontiguousarray(records))
            if self.values is not None:
                self._open(np.arange(before, used["nodes"], dtype=np.int32))
        if opens:
            self._open(paths.to_open[:opens])
        return paths.leaf[begin : begin + count]

    def back_up(
        self,
        results: NDArray[np.float64],
        bests: NDArray[np.float64],
        greed: float,
        rule: SelectionRule,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        """Back up the results of the last batch, or of the paths in these rows: see
        :func:`players.uct.tree.backup.back_up`."""
        rows = np.arange(len(results)) if rows is None else rows
        back_up(self.arrays, self.paths, rows, results, bests, greed, rule)

    def keep(self, rows: NDArray[np.int64]) -> None:
        """Keep the paths in these rows, int64, ascending, under way while others are selected; all others are
        backed up."""
        _keep_paths(self.paths, rows)
        self.under_way = len(rows)

    def call_off(self) -> None:
        """Drop the paths under way."""
        if self.under_way:
            call_off(self.arrays, self.paths, self.under_way)
            self.under_way = 0

    def fill_known(
        self, leaves: NDArray[np.int32], results: NDArray[np.float64], unknown: int
    ) -> NDArray[np.int64]:
        """Fill in the results, 0..1, float64, shape (n, roles), of nodes with known results. Returns the
        indices of the others. A role without a goal counts as having the goal ``unknown``."""
        arrays = self.arrays
        ended = arrays.nodes["status"][leaves] == ENDED
        proven = ~ended & (arrays.nodes["proven"][leaves] >= 0)
        goals = arrays.goals[leaves[ended]]
        results[ended] = np.where(goals < 0, unknown, goals) / 100.0
        values = arrays.nodes["proven"][leaves[proven]] / 100.0
        results[proven, 0] = values
        results[proven, 1:] = 1.0 - values[:, None]
        return np.flatnonzero(~ended & ~proven)

    def goes_on(self, nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether the match goes on in some nodes, as far as the tree knows."""
        going: NDArray[np.bool_] = self.arrays.nodes["status"][nodes] != ENDED
        return going

    def values_of(self, leaves: NDArray[np.int32]) -> NDArray[np.float64]:
        """The values of some nodes, in which the match goes on, to the roles by knowledge, 0..1, float64,
        shape (n, roles); to chance 0."""
        assert self.values is not None
        nodes = self.arrays.nodes
        plain = leaves[(nodes["status"][leaves] != OPEN) | (nodes["to_move"][leaves] < 0)]
        if len(plain):
            # There was no room for their moves, or several roles choose.
            nodes["value"][plain] = self.values.look(self.arrays.records[plain])[0]
            nodes["status"][plain[nodes["status"][plain] == FRESH]] = LEAF
        values = np.zeros((len(leaves), self.arrays.counts.shape[1]))
        values[:, 0] = nodes["value"][leaves]
        values[:, 1] = 1.0 - values[:, 0]
        return values

    @property
    def numbered(self) -> bool:
        """Whether averages of moves can be kept: the machine numbers all moves beforehand."""
        return len(self.arrays.averages) > 0

    def end(self, nodes: NDArray[np.int32], goals: NDArray[np.int16], prove: bool) -> None:
        """Note that the match is over in these nodes, and the goals there."""
        arrays = self.arrays
        arrays.nodes["status"][nodes] = ENDED
        arrays.goals[nodes] = goals
        if prove:
            arrays.nodes["proven"][nodes] = goals[:, 0]

    def unprove(self) -> None:
        """Forget proven results: the game turned out not to be of constant sum."""
        arrays, used = self.arrays, self.arrays.used[0]
        arrays.nodes["proven"][: used["nodes"]] = -1
        arrays.nodes["bound"][: used["nodes"]] = 0
        arrays.edges["proven"][: used["edges"]] = -1
        for each, count in ((arrays.nodes, "nodes"), (arrays.edges, "edges")):
            each["limit"][: used[count]] = 100

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
        """Number of states in the tree."""
        return int(self.arrays.used[0]["nodes"])

    @property
    def depth(self) -> int:
        """Length of the longest path since the root last moved."""
        return int(self.arrays.used[0]["depth"])

    @property
    def opened(self) -> bool:
        """Whether the root's moves are listed."""
        return bool(self.arrays.nodes["status"][self.root] == OPEN)

    @property
    def in_turn(self) -> bool:
        """Whether at most one role has a choice at the root."""
        return bool(self.arrays.nodes["to_move"][self.root] >= 0)

    @property
    def always_in_turn(self) -> bool:
        """Whether at most one role has a choice in each state that is open."""
        nodes = self.arrays.nodes[: self.nodes]
        return not (nodes["to_move"][nodes["status"] == OPEN] < 0).any()

    @property
    def choices(self) -> int:
        """Number of moves of the role to move at the root, if only one has a choice."""
        return int(self.arrays.nodes["choices"][self.root])

    @property
    def mixed(self) -> bool:
        """Whether two roles have a choice at the root, and their moves are mixed by regret."""
        return bool(self.arrays.nodes["to_move"][self.root] == PAIR)

    def edges(self, node: int, role: int) -> slice:
        """The edges of a role in an open node."""
        counts = self.arrays.counts[node]
        first = int(self.arrays.nodes["first_edge"][node] + counts[:role].sum())
        return slice(first, first + int(counts[role]))

    def path_moves(self, path: int, role: int) -> list[int]:
        """The moves of a role on a path of the last batch."""
        edges = self.paths.edges[path, : self.paths.length[path], role]
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
