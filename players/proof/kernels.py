"""The compiled loops of proof-number search by many lines at once: see :mod:`players.proof.search`.

Weak proof numbers: Ueda, Hashimoto, Hashimoto and Iida 2008 (a side that must answer every move needs as
much as for the hardest one, and one for each of the others: states reached by several paths do not
count several times). Lines stay below a node while its numbers are within thresholds (df-pn: Nagai 2002; with
the margin of Pawlewicz and Lew 2007), and keep away from each other by a penalty for each line that is
below a node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.proof.graph import ASKED, EDGES, NEVER, NEW, NODES, OPEN, Graph, SearchLines, set_numbers
from propnet.jit.decorators import kernel
from propnet.kernels.record_table import find_record

_NOBODY = 101
"""More than the goal of any role."""
_LONGEST = 1 << 14
"""A line that moved so often without coming to a node to open begins again at the root."""


@kernel(nogil=True)
def look(
    nodes: NDArray[np.void], edges: NDArray[np.int32], node: int, claim: int, penalty: float
) -> tuple[np.int64, np.int64, np.int64]:
    """Set an open node's bounds and numbers by its successors.

    Returns the successor to go on with (-1 for none), the number of the second best for the role to move,
    and how many successors are undecided."""
    to_move = nodes[node].to_move
    low = np.int64(nodes[node].ended)
    if to_move == 1 and low < 0:
        low = np.int64(_NOBODY)
    high = low
    hardest, easiest = np.int64(0), np.int64(NEVER)
    live = np.int64(0)
    best, least, second, most = np.int64(-1), np.int64(NEVER), np.int64(NEVER), np.int64(0)
    first = np.int64(nodes[node].first)
    for edge in range(first, first + nodes[node].choices):
        child = np.int64(edges[edge])
        if to_move == 0:
            low = max(low, np.int64(nodes[child].low))
            high = max(high, np.int64(nodes[child].high))
            mine, other = np.int64(nodes[child].proof), np.int64(nodes[child].disproof)
        else:
            low = min(low, np.int64(nodes[child].low))
            high = min(high, np.int64(nodes[child].high))
            mine, other = np.int64(nodes[child].disproof), np.int64(nodes[child].proof)
        if mine >= NEVER:
            continue
        live += 1
        hardest = max(hardest, other)
        easiest = min(easiest, mine)
        number = mine + np.int64(penalty * nodes[child].lines)
        if number < least or (number == least and other > most):
            second = least
            least, most, best = number, other, child
        elif number < second:
            second = number
    nodes[node].low = max(np.int64(nodes[node].low), low)
    nodes[node].high = min(np.int64(nodes[node].high), high)
    if nodes[node].low >= claim:
        nodes[node].proof, nodes[node].disproof = 0, NEVER
    elif nodes[node].high < claim:
        nodes[node].proof, nodes[node].disproof = NEVER, 0
    else:
        hardest = min(hardest + live - 1, np.int64(NEVER - 1))
        if to_move == 0:
            nodes[node].proof, nodes[node].disproof = easiest, hardest
        else:
            nodes[node].proof, nodes[node].disproof = hardest, easiest
    return best, second, live


@kernel(nogil=True)
def restart(graph: Graph, lines: SearchLines, root: int) -> None:
    """Let all lines begin at the root."""
    for node in range(graph.used[NODES]):
        graph.nodes[node].lines = 0
        if graph.nodes[node].status == ASKED:
            graph.nodes[node].status = NEW
    for line in range(len(lines.depth)):
        lines.depth[line] = 0
        lines.path[line, 0] = root
        lines.proof[line, 0] = lines.disproof[line, 0] = NEVER


@kernel(nogil=True)
def _leave(nodes: NDArray[np.void], path: NDArray[np.int32], depth: int) -> None:
    for d in range(1, depth + 1):
        nodes[path[d]].lines -= 1


@kernel(nogil=True)
def walk(
    graph: Graph, lines: SearchLines, count: int, claim: int, penalty: float, most: int
) -> tuple[int, bool]:
    """Let the first ``count`` lines go on until each stands before a node that is to be opened, or until
    these have ``most`` successors.

    Returns how many nodes that is, and whether there was room for all. None when the root is decided."""
    nodes, edges = graph.nodes, graph.edges
    room = min(len(nodes) - graph.used[NODES], len(edges) - graph.used[EDGES])
    wanted, successors = 0, 0
    deepest = lines.path.shape[1]
    root = lines.path[0, 0]
    if nodes[root].status == OPEN:
        look(nodes, edges, root, claim, penalty)
    if nodes[root].proof == 0 or nodes[root].disproof == 0:
        return wanted, True
    for line in range(count):
        path = lines.path[line]
        turns = 0
        while True:
            turns += 1
            depth = lines.depth[line]
            node = np.int64(path[depth])
            best, second, live = np.int64(-1), np.int64(NEVER), np.int64(0)
            if nodes[node].status == OPEN:
                best, second, live = look(nodes, edges, node, claim, penalty)
            proof, disproof = nodes[node].proof, nodes[node].disproof
            limits = lines.proof[line, depth], lines.disproof[line, depth]
            if proof == 0 or disproof == 0 or proof > limits[0] or disproof > limits[1]:
                if depth == 0:
                    return wanted, True
                nodes[node].lines -= 1
                lines.depth[line] = depth - 1
                continue
            if nodes[node].status == NEW:
                room -= nodes[node].choices
                successors += nodes[node].choices
                if room < 0:
                    return wanted, False
                if wanted > 0 and successors > most:
                    return wanted, True
                nodes[node].status = ASKED
                lines.wanted[wanted] = node
                wanted += 1
                for d in range(depth + 1):
                    nodes[path[d]].work += 1
                break
            stuck = best < 0 or depth + 1 == deepest or turns > _LONGEST
            for d in range(depth + 1):
                stuck = stuck or path[d] == best
            if stuck:
                _leave(nodes, path, depth)
                lines.depth[line] = 0
                break
            larger, other = limits
            mine = np.int64(nodes[best].proof)
            if nodes[node].to_move != 0:
                larger, other = other, larger
                mine = np.int64(nodes[best].disproof)
            # A line that keeps away from others may go where it is harder than above.
            limit = max(min(np.int64(larger), second + second // 4 + 1), mine)
            rest = np.int64(other) if other >= NEVER else np.int64(other) - (live - 1)
            lines.proof[line, depth + 1] = limit if nodes[node].to_move == 0 else rest
            lines.disproof[line, depth + 1] = rest if nodes[node].to_move == 0 else limit
            nodes[best].lines += 1
            path[depth + 1] = best
            lines.depth[line] = depth + 1
    return wanted, True


@kernel(nogil=True)
def attach(
    graph: Graph,
    opened: NDArray[np.int32],
    parents: NDArray[np.int32],
    records: NDArray[np.uint64],
    terminal: NDArray[np.bool_],
) -> None:
    """Give nodes their edges: successors (m,) follow ``opened[parents[i]]``."""
    nodes, used = graph.nodes, graph.used
    for i in range(len(parents)):
        parent = opened[parents[i]]
        if nodes[parent].status == ASKED:
            nodes[parent].status = OPEN
            nodes[parent].first = used[EDGES]
        if terminal[i]:
            continue
        node = find_record(graph.table, graph.records, records, i)
        if node < 0:
            slot = -1 - node
            node = used[NODES]
            used[NODES] += 1
            graph.records[node] = records[i]
            graph.table[slot] = node + 1
        graph.edges[used[EDGES]] = node
        used[EDGES] += 1


@kernel(nogil=True)
def clear(graph: Graph, first: int, most: int) -> None:
    """Know nothing yet of the nodes from ``first`` on, but that no goal is above ``most``."""
    for node in range(first, graph.used[NODES]):
        graph.nodes[node].low = 0
        graph.nodes[node].high = most
        graph.nodes[node].ended = -1
        graph.nodes[node].choices = 0
        graph.nodes[node].work = 0
        graph.nodes[node].lines = 0
        graph.nodes[node].to_move = 0
        graph.nodes[node].status = NEW
        graph.nodes[node].proof = graph.nodes[node].disproof = 1


@kernel(nogil=True)
def judge(
    graph: Graph,
    first: int,
    role: int,
    seen: NDArray[np.int32],
    sums: NDArray[np.int64],
    parents: NDArray[np.int32],
    moves: NDArray[np.int32],
    terminal: NDArray[np.bool_],
    goals: NDArray[np.int16],
) -> bool:
    """Note what the moves of the nodes from ``first`` on lead to: successors (m,) of node ``first +
    parents[i]``. ``seen`` (n, roles), -1 at first, keeps the moves that each node's first successor comes
    by; ``sums`` (2,) the least and the largest sum of all roles' goals at an end, -1 as the least where a
    role had none. Returns False where ``role`` and another one choose at the same time."""
    nodes = graph.nodes
    roles = seen.shape[1]
    for i in range(len(parents)):
        row = parents[i]
        node = first + row
        if seen[row, 0] < 0:
            seen[row] = moves[i]
        for other in range(roles):
            if moves[i, other] != seen[row, other]:
                nodes[node].to_move |= 2 if other == role else 1
        if nodes[node].to_move == 3:
            return False
        if not terminal[i]:
            nodes[node].choices += 1
            continue
        total = np.int64(0)
        for other in range(roles):
            if goals[i, other] < 0 or total < 0:
                total = np.int64(-1)
            else:
                total += goals[i, other]
        sums[0] = min(sums[0], total)
        sums[1] = max(sums[1], total)
        value = max(goals[i, role], np.int16(0))
        # The role to move may be known only from the next successor on: both bests are kept.
        if nodes[node].ended < 0:
            nodes[node].ended = value
            nodes[node].work = value
        nodes[node].ended = max(nodes[node].ended, value)
        nodes[node].work = min(nodes[node].work, value)
    return True


@kernel(nogil=True)
def conclude(graph: Graph, first: int, claim: int) -> bool:
    """Set the bounds and numbers of the nodes from ``first`` on, when all their successors are judged.
    Returns False where one has none: some role has no move there."""
    nodes = graph.nodes
    for node in range(first, graph.used[NODES]):
        to_move = nodes[node].to_move & 1
        nodes[node].to_move = to_move
        most, least = nodes[node].ended, np.int16(nodes[node].work)
        nodes[node].work = 0
        if most < 0 and nodes[node].choices == 0:
            return False
        if most >= 0:
            if to_move == 0:
                nodes[node].low = most
            else:
                nodes[node].high = nodes[node].ended = least
            if nodes[node].choices == 0:
                nodes[node].low = nodes[node].high = nodes[node].ended
        set_numbers(nodes, node, claim)
    return True


@kernel(nogil=True)
def ask(graph: Graph, claim: int) -> None:
    """Set all numbers for another claim. Successors mostly come after what they follow."""
    for node in range(graph.used[NODES]):
        set_numbers(graph.nodes, node, claim)
    for node in range(graph.used[NODES] - 1, -1, -1):
        if graph.nodes[node].status == OPEN:
            look(graph.nodes, graph.edges, node, claim, 0.0)
