"""The search tree as flat arrays: their layout, their size, and the look-up of links.

States reached by several paths are one node; the statistics belong to the moves (Childs, Brodeur and Kocsis
2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inlined
from propnet.kernels.record_table import mix

FRESH = 0
"""A node that never had a playout (its record may not be there yet)."""
LEAF = 1
"""A node that had a playout; its moves are not listed."""
OPEN = 2
"""A node with its moves listed."""
ENDED = 3
"""A node in which the match is over, or some role has no move."""

SEVERAL = -1
"""Value of a node's to_move: several roles have a choice."""
PAIR = -2
"""Value of a node's to_move: two roles have a choice, and the table of their joint moves is small enough."""

_USED = np.dtype(
    [
        ("nodes", np.int64),
        ("edges", np.int64),
        ("links", np.int64),
        ("cells", np.int64),
        ("opened", np.int64),
        ("tabled", np.int64),
        ("depth", np.int64),  # the longest path so far
    ]
)
NODE = np.dtype(
    [
        ("visits", np.int32),  # finished paths that went on from here
        ("pending", np.int32),  # paths under way that went on from here
        ("first_edge", np.int32),
        ("first_move", np.int32),  # the role to move's first edge
        ("choices", np.int32),  # number of moves of the role to move
        ("first_link", np.int32),  # head of the chain of its links, -1 where it ends
        ("first_cell", np.int32),  # in a PAIR: first cell of the table of its joint moves, -1 for none
        ("value", np.float32),  # role 0's value by learnt values and minimax, 0..1
        ("prior_visits", np.float32),  # number of visits that the priors of its moves count as
        ("proven", np.int16),  # role 0's result under best play; -1 while unknown
        ("bound", np.int8),  # what the role to move is proven to reach; 0 while unknown
        ("limit", np.int8),  # the most that it may still reach; 100 while unknown
        ("to_move", np.int16),  # the one role with a choice (0 if none has), PAIR or SEVERAL
        ("status", np.uint8),  # FRESH, LEAF, OPEN or ENDED
        ("opening", np.uint8),  # 1 from when its moves are to be listed until they have priors
    ]
)
EDGE = np.dtype(
    [
        ("total", np.float64),  # sum of the role's results, 0..1 each
        ("visits", np.int32),
        ("pending", np.int32),
        ("worth", np.float32),  # the value of the move in selection; in a PAIR its regret
        ("child", np.int32),  # for edges of the role to move: the node it leads to, -1 for none yet
        ("move", np.int32),  # move id
        ("proven", np.int8),  # for edges of the role to move: as that of the child
        ("limit", np.int8),  # for edges of the role to move: the most that it may still reach by this move
        ("best", np.uint16),  # the best result, in units of 1 / BEST
        # The estimate of the move before it was tried; with learnt values, the move's value by
        # these and minimax.
        ("prior", np.float32),
        ("share", np.float32),  # factor on the move's bonus in PUCT
    ]
)
_LINK = np.dtype(
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
_AVERAGE = np.dtype(
    [
        ("number", np.float32),  # times the move was made
        ("total", np.float32),  # sum of its role's goals, 0..100 each
    ]
)
BEST = 10_000
ABREAST = 8
"""Paths that go down the tree side by side."""
MAX_DEPTH = 264
"""The greatest depth of a path; states may repeat in a game. It is not a power of two: otherwise the
beginnings of all paths, which are used most, would share a few places of the processor's caches."""
_PAIRS = 1 << 16
"""Rows for moves and the moves before them."""
_CELLS_SHARE = 1 / 8
"""Share of the memory for tables of joint moves."""

Table = NDArray[np.void]
"""(n,) USED, NODE, EDGE, LINK, CELL or AVERAGE."""
Numbers = NDArray[np.int32]
RandomState = NDArray[np.uint64]
"""(1,), see :mod:`propnet.jit.random_numbers`."""


class Arrays(NamedTuple):
    """A search tree (a directed graph in truth). N nodes, E edges, L links, C cells at most.

    A *node* is a state. Its *edges* are the legal moves of role 0, then those of role 1...: they hold the
    statistics. If only one role has a choice (the role to move), its edges lead to the children, and the
    other roles' edges are used at the root only. If several roles have a choice, a *link* leads to a child by
    one joint move. A PAIR with many visits also has a table of *cells*: a row for each move of the first role
    with a choice, a column for each move of the second.
    """

    used: Table  # (1,) USED: the numbers of rows in use
    nodes: Table  # (N,) NODE
    edges: Table  # (E,) EDGE
    links: Table  # (L,) LINK
    cells: Table  # (C,) CELL
    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    goals: NDArray[np.int16]  # (N, roles) results of ENDED nodes
    counts: Numbers  # (N, roles) legal moves of each role in OPEN nodes
    opened: Numbers  # (N,) the OPEN nodes in the order of their edges
    tabled: Numbers  # (N,) the nodes that have cells, in the order of these
    node_table: Numbers  # (power of two,) hash table of records: index + 1, 0 is free
    link_table: Numbers  # (power of two,) hash table of links: index + 1, 0 is free
    columns: Numbers  # (roles + 1,) where each role's moves begin among those of all roles
    averages: Table  # (moves of all roles,) AVERAGE: each move's results anywhere in the tree
    pairs: Table  # (power of two,) AVERAGE: results after each move before it, by a hash of both moves
    random: RandomState


class Paths(NamedTuple):
    """A batch of paths from the root to leaves, and the notes of the kernels. B paths, D steps at most."""

    length: Numbers  # (B,) steps
    leaf: Numbers  # (B,) the node at the end
    nodes: Numbers  # (B, D) the node before each step
    edges: Numbers  # (B, D, roles) the edge each role took; only of the role to move if there is one
    links: Numbers  # (B, D) the link, where several roles had a choice
    columns: Numbers  # (B, D) the column of the move, -1 where several roles had a choice
    secured: Numbers  # (B, roles) what each role is proven to reach, at the path's nodes so far
    parents: Numbers  # (B,) of the nodes made by this batch; the k-th is `nodes before` + k
    from_edge: Numbers  # (B,) the role to move's edge that leads to each, -1 if a link does
    from_link: Numbers  # (B,) that link
    new_moves: Numbers  # (B, roles) their move ids
    to_open: Numbers  # (B,) leaves whose moves are to be listed
    going: NDArray[np.int64]  # (ABREAST,) paths that still go down
    numbers: Numbers  # (B,) the nodes of new records, after known states are found


def make_arrays(
    words: int, roles: int, nodes: int, edges: int, cells: int, seed: int, role_moves: Numbers
) -> Arrays:
    """Empty arrays with room for this many nodes, edges and cells. ``role_moves`` has a place for each role
    and one more, or is empty if moves are numbered as they come up."""
    links = 2 * nodes
    columns = role_moves if len(role_moves) else np.zeros(roles + 1, np.int32)
    return Arrays(
        used=np.zeros(1, _USED),
        nodes=np.empty(nodes, NODE),
        edges=np.empty(edges, EDGE),
        links=np.empty(links, _LINK),
        cells=np.empty(cells, CELL),
        records=np.empty((nodes, words), np.uint64),
        goals=np.empty((nodes, roles), np.int16),
        counts=np.empty((nodes, roles), np.int32),
        opened=np.empty(nodes, np.int32),
        tabled=np.empty(nodes, np.int32),
        node_table=np.zeros(_table_size(nodes), np.int32),
        link_table=np.zeros(_table_size(links), np.int32),
        columns=columns,
        averages=np.zeros(int(columns[-1]), _AVERAGE),
        pairs=np.zeros(_PAIRS, _AVERAGE),
        random=np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], np.uint64),
    )


def arrays_for(memory: int, words: int, roles: int, seed: int, role_moves: Numbers) -> Arrays:
    """Empty arrays of about ``memory`` bytes; see :func:`make_arrays`."""
    hashed = 3 * 8
    node_bytes = words * 8 + 6 * roles + NODE.itemsize + 2 * _LINK.itemsize + hashed + 8
    cells_bytes = int(memory * _CELLS_SHARE)
    rest = memory - cells_bytes
    return make_arrays(
        words,
        roles,
        nodes=max(1024, min(4_000_000, rest // 2 // node_bytes)),
        edges=max(65_536, min(2**31 - 1, rest // 2 // EDGE.itemsize)),
        cells=max(8192, cells_bytes // CELL.itemsize),
        seed=seed,
        role_moves=role_moves,
    )


def make_paths(batch: int, roles: int) -> Paths:
    """Room for ``batch`` paths."""

    def numbers(*shape: int) -> Numbers:
        return np.zeros((batch, *shape), np.int32)

    return Paths(
        length=numbers(),
        leaf=numbers(),
        nodes=numbers(MAX_DEPTH),
        edges=numbers(MAX_DEPTH, roles),
        links=numbers(MAX_DEPTH),
        columns=numbers(MAX_DEPTH),
        secured=numbers(roles),
        parents=numbers(),
        from_edge=numbers(),
        from_link=numbers(),
        new_moves=numbers(roles),
        to_open=numbers(),
        going=np.zeros(ABREAST, np.int64),
        numbers=numbers(),
    )


def _table_size(entries: int) -> int:
    """A power of two that is at least twice ``entries``."""
    return 1 << (2 * entries - 1).bit_length()


@inlined
def find_link(table: Numbers, links: Table, node: int, joint: np.uint64) -> np.int64:
    """The link of a node for a joint move, or -1 minus the free slot of the table."""
    mask = len(table) - 1
    h = mix(mix(np.uint64(0x51ED270B), np.uint64(node)), joint)
    slot = np.int64(h & np.uint64(mask))
    while table[slot]:
        link = table[slot] - 1
        if links[link].parent == node and links[link].joint == joint:
            return np.int64(link)
        slot = (slot + 1) & mask
    return -1 - slot
