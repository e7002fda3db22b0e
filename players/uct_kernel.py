"""The compiled loops of UCT: selection, expansion and backup over a tree in flat arrays.

UCT: Kocsis and Szepesvari 2006. Simultaneous moves: two roles choose by regret matching (see
``_book_pair``), more by decoupled UCT, each role by its own statistics (Shafiei, Sturtevant and
Schaeffer 2009). Leaves are collected many at a time; paths
under way count as visits in the exploration term but not in the means (WU-UCT, Liu et al. 2020).
Proven values: Winands, Bjornsson and Saito 2008. States reached by several paths are one node, the
statistics belong to the moves (Childs, Brodeur and Kocsis 2008).

All functions work on one :class:`Arrays`, whose layout is described there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from players.splitmix import next_random

FRESH = 0
"""A node that was never played out from (its record may not be there yet)."""
LEAF = 1
"""A node that was played out from; its moves are not listed."""
OPEN = 2
"""A node with its moves listed."""
ENDED = 3
"""A node in which the match is over, or some role has no move."""

SEVERAL = -1
"""As a node's mover: several roles have a choice."""
PAIR = -2
"""Two have, and the table of their joint moves is small enough to be kept."""

_LARGEST_TABLE = 1024
MIXED_RANDOM = 0.06
"""Share of choices in pairs that are random."""
_MIXED_RANDOM = np.uint64(int(MIXED_RANDOM * (1 << 64)))
_RANDOM_CHOICE = np.uint64((1 << 64) // 16)

NODES, EDGES, LINKS, OPENED, PEAK = 0, 1, 2, 3, 4
"""Places in :attr:`Arrays.used`; ``PEAK`` is the longest path so far."""


NODE = np.dtype(
    [
        ("visits", np.int32),  # finished paths that went on from here
        ("pending", np.int32),  # paths under way that went on from here
        ("first_edge", np.int32),
        ("first_move", np.int32),  # the mover's first edge
        ("choices", np.int32),  # how many the mover has
        ("first_link", np.int32),  # head of the chain of its links, -1 where it ends
        ("proven", np.int16),  # role 0's result under best play; -1 while unknown
        ("bound", np.int16),  # the best that the mover is proven to reach; -1 for none
        ("mover", np.int16),  # the one role with a choice (0 if none has), PAIR or SEVERAL
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
        ("child", np.int32),  # where the edge is the mover's: the node it leads to, -1 for none yet
        ("move", np.int32),  # move id
        ("proven", np.int16),  # as that of the child, where the edge is the mover's
        ("best", np.uint16),  # the best result, in units of 1 / BEST
    ]
)
LINK = np.dtype(
    [
        ("joint", np.uint64),  # the joint move: mixed radix over the roles' places among their moves
        ("parent", np.int32),
        ("child", np.int32),
        ("next", np.int32),  # the next link of the same parent
        ("visits", np.int32),  # finished paths that took it; the results are kept where two roles choose
        ("first", np.float32),  # sum of the first chooser's results
        ("second", np.float32),  # sum of the second one's
    ]
)
BEST = 10_000


class Arrays(NamedTuple):
    """A search tree (a directed graph in truth). N nodes, E edges, L links at most.

    A *node* is a state. Its *edges* are the legal moves of role 0, then those of role 1...: they
    hold the statistics. Where one role alone has a choice, the *mover*, its edges lead to the
    children, and the other roles' edges are used at the root only. Where several have, a *link*
    leads to a child by one joint move.
    """

    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    nodes: NDArray[np.void]  # (N,) NODE
    goals: NDArray[np.int16]  # (N, roles) results of ENDED nodes
    counts: NDArray[np.int32]  # (N, roles) legal moves of each role in OPEN nodes
    edges: NDArray[np.void]  # (E,) EDGE
    links: NDArray[np.void]  # (L,) LINK
    opened: NDArray[np.int32]  # (N,) the OPEN nodes in the order of their edges
    node_table: NDArray[np.int32]  # (power of two,) hash table of records: index + 1, 0 is free
    link_table: NDArray[np.int32]  # (power of two,) hash table of links: index + 1, 0 is free
    used: NDArray[np.int64]  # (5,) see NODES...
    random: NDArray[np.uint64]  # (1,) state of the random numbers


class Paths(NamedTuple):
    """One batch of paths from the root to leaves. B lanes, D steps at most."""

    length: NDArray[np.int32]  # (B,) steps
    nodes: NDArray[np.int32]  # (B, D) the node before each step
    edges: NDArray[np.int32]  # (B, D, roles) the edge each role took; the mover's alone where there is one
    links: NDArray[np.int32]  # (B, D) the link, where several roles had a choice
    leaf: NDArray[np.int32]  # (B,) the node at the end
    parents: NDArray[np.int32]  # (B,) of the nodes made by this batch; the k-th is `nodes before` + k
    places: NDArray[np.int32]  # (B,) the mover's edge that leads to each, or -1 minus its link
    new_moves: NDArray[np.int32]  # (B, roles) their move ids
    to_open: NDArray[np.int32]  # (B,) leaves that are to have their moves listed


@njit(cache=True, nogil=True)
def _mix(h: Any, word: Any) -> Any:
    h = (h ^ word) * np.uint64(0x9FB21C651E98DF25)
    return h ^ (h >> np.uint64(32))


@njit(cache=True, nogil=True)
def find_link(table: Any, links: Any, node: Any, joint: Any) -> Any:
    """The link of a node for a joint move, or minus 1 minus the free slot of the table."""
    mask = len(table) - 1
    h = _mix(_mix(np.uint64(0x51ED270B), np.uint64(node)), joint)
    slot = np.int64(h & np.uint64(mask))
    while table[slot]:
        link = table[slot] - 1
        if links[link].parent == node and links[link].joint == joint:
            return np.int64(link)
        slot = (slot + 1) & mask
    return -1 - slot


@njit(cache=True, nogil=True)
def find_node(table: Any, records: Any, wanted: Any, row: Any) -> Any:
    """The node whose record is ``wanted[row]``, or minus 1 minus the free slot of the table."""
    mask = len(table) - 1
    words = wanted.shape[1]
    h = np.uint64(0x243F6A88)
    for w in range(words):
        h = _mix(h, wanted[row, w])
    slot = np.int64(h & np.uint64(mask))
    while table[slot]:
        node = np.int64(table[slot] - 1)
        w = 0
        while w < words and records[node, w] == wanted[row, w]:
            w += 1
        if w == words:
            return node
        slot = (slot + 1) & mask
    return -1 - slot


@njit(cache=True, nogil=True)
def _clear_node(nodes: Any, node: Any) -> None:
    nodes[node].status = FRESH
    nodes[node].opening = 0
    nodes[node].proven = -1
    nodes[node].bound = -1
    nodes[node].visits = 0
    nodes[node].pending = 0
    nodes[node].first_link = -1
    nodes[node].mover = 0


@njit(cache=True, nogil=True)
def _start(random: Any, count: Any) -> Any:
    """A random number below ``count``."""
    return np.int64(((next_random(random) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _best_edge(edges: Any, random: Any, first: Any, count: Any, log_visits: Any, explore: Any) -> Any:
    """The edge that UCB1 prefers; edges never taken come first, in random order."""
    if count == 1:
        return np.int64(first)
    weight = np.float32(explore) * np.float32(math.sqrt(log_visits))
    at = first + _start(random, count)
    best = at
    best_score = np.float32(-1.0)
    for _ in range(count):
        tried = edges[at].visits + edges[at].pending
        if tried == 0:
            return at
        # Where the result is known visits tell more elsewhere. It counts in the final choice.
        if edges[at].proven < 0:
            score = edges[at].worth + weight / np.float32(math.sqrt(np.float32(tried)))
            if score > best_score:
                best_score = score
                best = at
        at += 1
        if at == first + count:
            at = first
    return best


@njit(cache=True, nogil=True)
def _mixed_edge(edges: Any, random: Any, first: Any, count: Any, log_visits: Any, explore: Any) -> Any:
    """The same where several roles choose: the exploration terms vary at random and some choices
    are random. Else roles with like statistics would choose in step, and learn what their
    moves are worth in pairs."""
    if count == 1:
        return np.int64(first)
    at = first + _start(random, count)
    best = at
    if next_random(random) < _RANDOM_CHOICE:
        return best
    weight = explore * math.sqrt(log_visits)
    best_score = -1.0
    for _ in range(count):
        tried = edges[at].visits + edges[at].pending
        if tried == 0:
            return at
        term = weight / math.sqrt(tried) * (0.5 + (next_random(random) >> np.uint64(11)) * 2.0**-53)
        if edges[at].worth + term > best_score:
            best_score = edges[at].worth + term
            best = at
        at += 1
        if at == first + count:
            at = first
    return best


@njit(cache=True, nogil=True)
def _matched_edge(edges: Any, random: Any, first: Any, count: Any) -> Any:
    """An edge drawn in proportion to the regrets; edges never taken come first, in random order."""
    if count == 1:
        return np.int64(first)
    start = first + _start(random, count)
    at = start
    total = 0.0
    for _ in range(count):
        if edges[at].visits + edges[at].pending == 0:
            return at
        total += edges[at].worth
        at += 1
        if at == first + count:
            at = first
    if total <= 0.0 or next_random(random) < _MIXED_RANDOM:
        return start
    rest = (next_random(random) >> np.uint64(11)) * 2.0**-53 * total
    for _ in range(count):
        rest -= edges[at].worth
        if rest < 0.0:
            return at
        at += 1
        if at == first + count:
            at = first
    return at


@njit(cache=True, nogil=True)
def select(tree: Arrays, paths: Paths, root: Any, lanes: Any, explore: Any, fixed: Any) -> Any:
    """Walk ``lanes`` paths from the root to leaves, and make the nodes that they newly reach. Of the
    root's edges, ``fixed`` is taken by its role (-1: each role chooses).

    Returns how many nodes are new (their records are still to be made) and how many leaves are
    to have their moves listed.
    """
    roles = tree.counts.shape[1]
    max_depth = paths.nodes.shape[1]
    new = 0
    opens = 0
    for lane in range(lanes):
        node = np.int64(root)
        depth = 0
        while tree.nodes[node].status == OPEN and tree.nodes[node].proven < 0 and depth < max_depth:
            log_visits = math.log(np.float32(tree.nodes[node].visits + tree.nodes[node].pending + 1))
            mover = np.int64(tree.nodes[node].mover)
            place = np.int64(0)
            if mover >= 0:
                edge = np.int64(tree.nodes[node].first_move)
                count = np.int64(tree.nodes[node].choices)
                if depth == 0 and edge <= fixed < edge + count:
                    place = np.int64(fixed)
                else:
                    place = _best_edge(tree.edges, tree.random, edge, count, log_visits, explore)
                child = np.int64(tree.edges[place].child)
                if child < 0 and tree.used[NODES] == len(tree.nodes):
                    break
                paths.edges[lane, depth, mover] = place
                tree.edges[place].pending += 1
            else:
                edge = np.int64(tree.nodes[node].first_edge)
                joint = np.uint64(0)
                for role in range(roles):
                    count = np.int64(tree.counts[node, role])
                    if depth == 0 and edge <= fixed < edge + count:
                        chosen = np.int64(fixed)
                    elif mover == PAIR:
                        chosen = _matched_edge(tree.edges, tree.random, edge, count)
                    else:
                        chosen = _mixed_edge(tree.edges, tree.random, edge, count, log_visits, explore)
                    paths.edges[lane, depth, role] = chosen
                    joint = joint * np.uint64(count) + np.uint64(chosen - edge)
                    edge += count
                link = find_link(tree.link_table, tree.links, node, joint)
                full = tree.used[NODES] == len(tree.nodes) or tree.used[LINKS] == len(tree.links)
                if link < 0 and full:
                    break
                if link < 0:
                    slot = -1 - link
                    link = tree.used[LINKS]
                    tree.used[LINKS] += 1
                    tree.link_table[slot] = link + 1
                    tree.links[link].parent = node
                    tree.links[link].joint = joint
                    tree.links[link].child = -1
                    tree.links[link].visits = 0
                    tree.links[link].first = 0.0
                    tree.links[link].second = 0.0
                    tree.links[link].next = tree.nodes[node].first_link
                    tree.nodes[node].first_link = link
                child = np.int64(tree.links[link].child)
                place = -1 - link
                paths.links[lane, depth] = link
                for role in range(roles):
                    tree.edges[paths.edges[lane, depth, role]].pending += 1
            tree.nodes[node].pending += 1
            paths.nodes[lane, depth] = node
            if child < 0:
                child = np.int64(tree.used[NODES])
                tree.used[NODES] += 1
                _clear_node(tree.nodes, child)
                edge = np.int64(tree.nodes[node].first_edge)
                for role in range(roles):
                    taken = edge
                    if mover < 0 or role == mover:
                        taken = np.int64(paths.edges[lane, depth, role])
                    paths.new_moves[new, role] = tree.edges[taken].move
                    edge += tree.counts[node, role]
                if place >= 0:
                    tree.edges[place].child = child
                else:
                    tree.links[-1 - place].child = child
                paths.parents[new] = node
                paths.places[new] = place
                new += 1
            depth += 1
            node = child
        full = tree.used[EDGES] >= len(tree.edges)
        if tree.nodes[node].status == LEAF and not tree.nodes[node].opening and not full:
            tree.nodes[node].opening = 1
            paths.to_open[opens] = node
            opens += 1
        paths.length[lane] = depth
        paths.leaf[lane] = node
        tree.used[PEAK] = max(tree.used[PEAK], depth)
    return new, opens


@njit(cache=True, nogil=True)
def settle(tree: Arrays, paths: Paths, lanes: Any, records: NDArray[np.uint64]) -> None:
    """Give the nodes that ``select`` made their records (shape (new, words)); what leads to a state
    that is a node already leads to that node from now on."""
    new = len(records)
    base = tree.used[NODES] - new
    tree.used[NODES] = base
    place = np.empty(new, np.int32)
    for k in range(new):
        node = find_node(tree.node_table, tree.records, records, k)
        if node < 0:
            slot = -1 - node
            node = tree.used[NODES]
            tree.used[NODES] += 1
            for w in range(records.shape[1]):
                tree.records[node, w] = records[k, w]
            tree.node_table[slot] = node + 1
        place[k] = node
        if paths.places[k] >= 0:
            tree.edges[paths.places[k]].child = node
        else:
            tree.links[-1 - paths.places[k]].child = node
    for lane in range(lanes):
        if paths.leaf[lane] >= base:
            paths.leaf[lane] = place[paths.leaf[lane] - base]


@njit(cache=True, nogil=True)
def list_moves(
    tree: Arrays, nodes: NDArray[np.int32], counts: NDArray[np.int32], moves: NDArray[np.int32]
) -> None:
    """Open nodes: ``counts`` (n, roles) legal moves of each role, ``moves`` their ids, node by node."""
    roles = counts.shape[1]
    at = 0
    for i in range(len(nodes)):
        node = nodes[i]
        total = 0
        free = 0
        mover = 0
        table = np.int64(1)
        stuck = False
        for role in range(roles):
            total += counts[i, role]
            stuck = stuck or counts[i, role] == 0
            table = min(table * counts[i, role], np.int64(_LARGEST_TABLE + 1))
            if counts[i, role] > 1:
                free += 1
                mover = role
        tree.nodes[node].opening = 0
        first = tree.used[EDGES]
        if not stuck and first + total <= len(tree.edges):
            tree.used[EDGES] += total
            tree.nodes[node].first_edge = first
            if free > 1:
                tree.nodes[node].mover = PAIR if free == 2 and table <= _LARGEST_TABLE else SEVERAL
            else:
                tree.nodes[node].mover = mover
            tree.nodes[node].choices = counts[i, mover]
            edge = first
            for role in range(roles):
                if role == mover:
                    tree.nodes[node].first_move = edge
                tree.counts[node, role] = counts[i, role]
                edge += counts[i, role]
            tree.opened[tree.used[OPENED]] = node
            tree.used[OPENED] += 1
            for k in range(total):
                tree.edges[first + k].move = moves[at + k]
                tree.edges[first + k].visits = 0
                tree.edges[first + k].pending = 0
                tree.edges[first + k].total = 0.0
                tree.edges[first + k].worth = 0.0 if tree.nodes[node].mover == PAIR else 0.5
                tree.edges[first + k].best = 0
                tree.edges[first + k].proven = -1
                tree.edges[first + k].child = -1
            tree.nodes[node].status = OPEN
        at += total


@njit(cache=True, nogil=True)
def _prove(tree: Arrays, node: Any) -> Any:
    """Whether the node's value now follows from its edges; sets ``proven`` if so, and ``bound``."""
    first = np.int64(tree.nodes[node].first_move)
    mover = tree.nodes[node].mover
    complete = True
    best = -1
    for edge in range(first, first + tree.nodes[node].choices):
        value = tree.edges[edge].proven
        if value < 0:
            complete = False
            continue
        if mover:
            value = 100 - value
        best = max(best, value)
    tree.nodes[node].bound = best
    if best == 100 or complete:
        tree.nodes[node].proven = 100 - best if mover else best
        return True
    return False


@njit(cache=True, nogil=True)
def average(
    goals: NDArray[np.int16],
    each: Any,
    unknown: Any,
    rows: NDArray[np.int64],
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
) -> None:
    """Write the means, 0..1, of every ``each`` rows of ``goals`` (n * each, roles; -1 for a role
    without a goal counts as ``unknown``) to ``results[rows[i]]``, and role 0's best to ``bests``."""
    for i in range(len(rows)):
        for role in range(goals.shape[1]):
            total = 0
            best = 0
            for k in range(i * each, (i + 1) * each):
                goal = goals[k, role]
                if goal < 0:
                    goal = unknown
                total += goal
                best = max(best, goal)
            results[rows[i], role] = total / (100.0 * each)
            if role == 0:
                bests[rows[i]] = best / 100.0


@njit(cache=True, nogil=True)
def _book_edge(edges: Any, edge: Any, result: Any, best: Any, greed: Any) -> None:
    edges[edge].visits += 1
    edges[edge].pending -= 1
    edges[edge].total += result
    mean = edges[edge].total / edges[edge].visits
    if greed > 0.0:
        edges[edge].best = max(edges[edge].best, np.uint16(best * BEST + 0.5))
        mean += greed * (edges[edge].best / BEST - mean)
    edges[edge].worth = np.float32(mean)


@njit(cache=True, nogil=True)
def _book_pair(tree: Arrays, paths: Paths, lane: Any, depth: Any, results: NDArray[np.float64]) -> None:
    """Book results where two roles have a choice, and what they regret not to have done: as much as
    another move has brought more on average against the same move of the other one.

    Regret matching in simultaneous-move tree search: Lisy, Kovarik, Lanctot and Bosansky 2013;
    regrets that never fall below 0: Tammelin 2014."""
    node = paths.nodes[lane, depth]
    link = paths.links[lane, depth]
    tree.links[link].visits += 1
    chooser = 0
    for role in range(results.shape[1]):
        edge = paths.edges[lane, depth, role]
        tree.edges[edge].visits += 1
        tree.edges[edge].pending -= 1
        tree.edges[edge].total += results[lane, role]
        if tree.counts[node, role] > 1:
            if chooser == 0:
                tree.links[link].first += np.float32(results[lane, role])
            else:
                tree.links[link].second += np.float32(results[lane, role])
            chooser += 1
    visits = tree.links[link].visits
    joint = tree.links[link].joint
    stride = np.uint64(1)
    edge = np.int64(tree.nodes[node].first_edge)
    for role in range(results.shape[1]):
        edge += tree.counts[node, role]
    for role in range(results.shape[1] - 1, -1, -1):
        count = tree.counts[node, role]
        edge -= count
        if count == 1:
            continue
        chooser -= 1
        got = tree.links[link].second / visits if chooser else tree.links[link].first / visits
        taken = paths.edges[lane, depth, role] - edge
        rest = joint - np.uint64(taken) * stride
        for k in range(count):
            if k == taken:
                continue
            other = find_link(tree.link_table, tree.links, node, rest + np.uint64(k) * stride)
            if other >= 0 and tree.links[other].visits > 0:
                total = tree.links[other].second if chooser else tree.links[other].first
                would = total / tree.links[other].visits
            elif tree.edges[edge + k].visits:
                would = tree.edges[edge + k].total / tree.edges[edge + k].visits
            else:
                continue
            tree.edges[edge + k].worth = max(
                np.float32(0.0), np.float32(tree.edges[edge + k].worth + would - got)
            )
        stride *= np.uint64(count)


@njit(cache=True, nogil=True)
def backup(
    tree: Arrays,
    paths: Paths,
    lanes: Any,
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
    greed: Any,
) -> None:
    """Book ``results`` (lanes, roles; 0..1) along the paths, and what is proven with them. ``bests``
    (lanes,) are the best of the results that each of role 0's is the mean of; ``greed`` is how much
    of a move's worth comes from the best of these.

    Above a node whose mover is proven to reach more than the result, that bound is booked
    (score bounded search: Cazenave and Saffidine 2010). ``results`` is overwritten."""
    roles = results.shape[1]
    for lane in range(lanes):
        for depth in range(paths.length[lane] - 1, -1, -1):
            node = paths.nodes[lane, depth]
            tree.nodes[node].visits += 1
            tree.nodes[node].pending -= 1
            mover = np.int64(tree.nodes[node].mover)
            if mover >= 0:
                edge = paths.edges[lane, depth, mover]
                _book_edge(tree.edges, edge, results[lane, mover], bests[lane], greed)
            elif mover == PAIR:
                _book_pair(tree, paths, lane, depth, results)
            else:
                for role in range(roles):
                    edge = paths.edges[lane, depth, role]
                    _book_edge(tree.edges, edge, results[lane, role], bests[lane], greed)
            bound = tree.nodes[node].bound / 100.0
            if bound > 0.0 and results[lane, mover] < bound:
                results[lane, mover] = bound
                if roles == 2:
                    results[lane, 1 - mover] = 1.0 - bound
        node = paths.leaf[lane]
        for depth in range(paths.length[lane] - 1, -1, -1):
            if tree.nodes[node].proven < 0:
                break
            parent = paths.nodes[lane, depth]
            mover = np.int64(tree.nodes[parent].mover)
            if mover < 0:
                break
            tree.edges[paths.edges[lane, depth, mover]].proven = tree.nodes[node].proven
            if tree.nodes[parent].proven < 0 and not _prove(tree, parent):
                break
            node = parent
