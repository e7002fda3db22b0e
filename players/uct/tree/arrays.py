"""The search tree of UCT as flat arrays: their layout, and how nodes and links are found in them.

States reached by several paths are one node, the statistics belong to the moves (Childs, Brodeur and
Kocsis 2008). All compiled loops of UCT (``uct_select``, ``uct_backup``, ``uct_pairs``, ``uct_keep``) work
on one :class:`Arrays`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.kernels.record_table import mix

FRESH = 0
"""A node that was never played out from (its record may not be there yet)."""
LEAF = 1
"""A node that was played out from; its moves are not listed."""
OPEN = 2
"""A node with its moves listed."""
ENDED = 3
"""A node in which the match is over, or some role has no move."""

SEVERAL = -1
"""As a node's to_move: several roles have a choice."""
PAIR = -2
"""Two have, and the table of their joint moves is small enough to be kept."""

NODES, EDGES, LINKS, OPENED, PEAK, CELLS, TABLED = 0, 1, 2, 3, 4, 5, 6
"""Places in :attr:`Arrays.used`; ``PEAK`` is the longest path so far."""


NODE = np.dtype(
    [
        ("visits", np.int32),  # finished paths that went on from here
        ("pending", np.int32),  # paths under way that went on from here
        ("first_edge", np.int32),
        ("first_move", np.int32),  # the role to move's first edge
        ("choices", np.int32),  # how many the to_move has
        ("first_link", np.int32),  # head of the chain of its links, -1 where it ends
        ("first_cell", np.int32),  # in a PAIR: of the table of its joint moves, -1 for none
        ("prior_visits", np.float32),  # how many visits the priors of its moves count as
        ("proven", np.int16),  # role 0's result under best play; -1 while unknown
        ("bound", np.int16),  # the best that the to_move is proven to reach; -1 for none
        ("to_move", np.int16),  # the one role with a choice (0 if none has), PAIR or SEVERAL
        ("status", np.uint8),  # FRESH, LEAF, OPEN or ENDED
        ("opening", np.uint8),  # 1 while its moves are being listed
    ]
)
EDGE = np.dtype(
    [
        ("total", np.float64),  # sum of the role's results, 0..1 each
        ("visits", np.int32),
        ("pending", np.int32),
        ("worth", np.float32),  # what selection takes the move to be worth; in a PAIR its regret
        ("child", np.int32),  # where the edge is the role to move's: the node it leads to, -1 for none yet
        ("move", np.int32),  # move id
        ("proven", np.int16),  # as that of the child, where the edge is the role to move's
        ("best", np.uint16),  # the best result, in units of 1 / BEST
        ("prior", np.float32),  # what the move was thought to be worth before it was tried
        ("share", np.float32),  # what PUCT multiplies the move's bonus with
    ]
)
LINK = np.dtype(
    [
        ("joint", np.uint64),  # the joint move: mixed radix over the roles' places among their moves
        ("parent", np.int32),
        ("child", np.int32),
        ("next", np.int32),  # the next link of the same parent
    ]
)
CELL = np.dtype(
    [
        ("first", np.float32),  # mean result, 0..1, the n-th with weight n, of the first role with a choice
        ("second", np.float32),  # the same of the second one
        ("visits", np.int32),  # finished paths that made this joint move
        ("link", np.int32),  # its link, -1 for none yet
    ]
)
BEST = 10_000
_PAIRS = 1 << 16
"""Rows for moves and the moves before them."""
MAX_DEPTH = 264
"""A path does not go deeper into the tree than this; states may repeat in a game. No power of two: the
beginnings of all paths, which are what is used most, would share a few places of the processor's caches."""


class Arrays(NamedTuple):
    """A search tree (a directed graph in truth). N nodes, E edges, L links, C cells at most.

    A *node* is a state. Its *edges* are the legal moves of role 0, then those of role 1...: they
    hold the statistics. Where one role alone has a choice, the *to_move*, its edges lead to the
    children, and the other roles' edges are used at the root only. Where several have, a *link*
    leads to a child by one joint move. A PAIR that is visited often has a table of *cells* besides, row by
    row: a row for each move of the first role that has a choice, a column for each of the second one's.
    """

    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    nodes: NDArray[np.void]  # (N,) NODE
    goals: NDArray[np.int16]  # (N, roles) results of ENDED nodes
    counts: NDArray[np.int32]  # (N, roles) legal moves of each role in OPEN nodes
    edges: NDArray[np.void]  # (E,) EDGE
    links: NDArray[np.void]  # (L,) LINK
    cells: NDArray[np.void]  # (C,) CELL
    tabled: NDArray[np.int32]  # (N,) the nodes that have cells, in the order of these
    opened: NDArray[np.int32]  # (N,) the OPEN nodes in the order of their edges
    node_table: NDArray[np.int32]  # (power of two,) hash table of records: index + 1, 0 is free
    link_table: NDArray[np.int32]  # (power of two,) hash table of links: index + 1, 0 is free
    used: NDArray[np.int64]  # (7,) see NODES...
    random: NDArray[np.uint64]  # (1,) state of the random numbers
    columns: NDArray[np.int32]  # (roles + 1,) where each role's moves begin among those of all roles
    averages: NDArray[np.float32]  # (moves of all roles, 2) how often each was made, sum of the goals then
    pairs: NDArray[np.float32]  # (power of two, 2) the same of moves and the moves before them


class Paths(NamedTuple):
    """One batch of paths from the root to leaves. B lanes, D steps at most."""

    length: NDArray[np.int32]  # (B,) steps
    nodes: NDArray[np.int32]  # (B, D) the node before each step
    edges: NDArray[
        np.int32
    ]  # (B, D, roles) the edge each role took; only of the role to move if there is one
    links: NDArray[np.int32]  # (B, D) the link, where several roles had a choice
    columns: NDArray[np.int32]  # (B, D) the column of the move, -1 where several roles had a choice
    leaf: NDArray[np.int32]  # (B,) the node at the end
    parents: NDArray[np.int32]  # (B,) of the nodes made by this batch; the k-th is `nodes before` + k
    places: NDArray[np.int32]  # (B,) the role to move's edge that leads to each, or -1 minus its link
    new_moves: NDArray[np.int32]  # (B, roles) their move ids
    to_open: NDArray[np.int32]  # (B,) leaves that are to have their moves listed


def make_arrays(
    words: int,
    roles: int,
    nodes: int,
    edges: int,
    cells: int,
    seed: int,
    first_column: NDArray[np.int32],
) -> Arrays:
    """Room for so many nodes, edges and cells; nothing is in it. ``first_column`` has a place for each role
    and one more, or is empty where moves are numbered as they come up."""
    links = 2 * nodes
    columns = first_column if len(first_column) else np.zeros(roles + 1, np.int32)
    return Arrays(
        records=np.empty((nodes, words), np.uint64),
        nodes=np.empty(nodes, NODE),
        goals=np.empty((nodes, roles), np.int16),
        counts=np.empty((nodes, roles), np.int32),
        edges=np.empty(edges, EDGE),
        links=np.empty(links, LINK),
        cells=np.empty(cells, CELL),
        tabled=np.empty(nodes, np.int32),
        opened=np.empty(nodes, np.int32),
        node_table=np.zeros(_table_size(nodes), np.int32),
        link_table=np.zeros(_table_size(links), np.int32),
        used=np.zeros(7, np.int64),
        random=np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], np.uint64),
        columns=columns,
        averages=np.zeros((int(columns[-1]), 2), np.float32),
        pairs=np.zeros((_PAIRS, 2), np.float32),
    )


def make_paths(batch: int, roles: int) -> Paths:
    """Room for a batch of so many paths."""
    return Paths(
        length=np.zeros(batch, np.int32),
        nodes=np.zeros((batch, MAX_DEPTH), np.int32),
        edges=np.zeros((batch, MAX_DEPTH, roles), np.int32),
        links=np.zeros((batch, MAX_DEPTH), np.int32),
        columns=np.zeros((batch, MAX_DEPTH), np.int32),
        leaf=np.zeros(batch, np.int32),
        parents=np.zeros(batch, np.int32),
        places=np.zeros(batch, np.int32),
        new_moves=np.zeros((batch, roles), np.int32),
        to_open=np.zeros(batch, np.int32),
    )


def _table_size(entries: int) -> int:
    """A power of two at least twice as large."""
    return 1 << (2 * entries - 1).bit_length()


@inner
def find_link(table: Any, links: Any, node: Any, joint: Any) -> Any:
    """The link of a node for a joint move, or minus 1 minus the free slot of the table."""
    mask = len(table) - 1
    h = mix(mix(np.uint64(0x51ED270B), np.uint64(node)), joint)
    slot = np.int64(h & np.uint64(mask))
    while table[slot]:
        link = table[slot] - 1
        if links[link].parent == node and links[link].joint == joint:
            return np.int64(link)
        slot = (slot + 1) & mask
    return -1 - slot
