"""Proof-number search by many lines at once: proves results that one role of a game can force.

Proof-number search: Allis, van der Meulen and van den Herik 1994. It fits games in which no other role has a
choice while the own role has one. The others are assumed to play together against it (the paranoid algorithm
of Sturtevant and Korf 2000). So a result that the role can force is certain in every game. An upper bound is
the game's value only if two roles play for a constant sum. Whether a game is of this class shows during the
search.

Many lines go down the graph at the same time. Each stops at a node that is to be opened, until all have one.
Then the machine expands all these states at once, and all their successors: wins in one move are seen before
a state is chosen.

Weak proof numbers: Ueda, Hashimoto, Hashimoto and Iida 2008. A side that must answer every move needs as much
as for the hardest one, and one for each of the others: states reached by several paths do not count several
times. Lines stay below a node while its numbers are within thresholds (df-pn: Nagai 2002; with the margin of
Pawlewicz and Lew 2007), and keep away from each other by a penalty for each line below a node.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players.companions import Stepwise
from players.proof import graph as parts
from players.proof.graph import (
    ASKED,
    EDGES,
    NEVER,
    NEW,
    NODE,
    NODES,
    OPEN,
    Graph,
    SearchLines,
    make_graph,
    make_lines,
    set_numbers,
)
from propnet.expander import Expander
from propnet.jit.decorators import kernel
from propnet.kernels.record_table import find_record

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

_NOBODY = 101
"""More than the goal of any role."""
_LONGEST = 1 << 14
"""A line that moved this often without reaching a node to open restarts at the root."""


@kernel(nogil=True)
def look(
    nodes: NDArray[np.void], edges: NDArray[np.int32], node: int, claim: int, penalty: float
) -> tuple[np.int64, np.int64, np.int64]:
    """Set an open node's bounds and numbers by its successors.

    Returns the successor to go on with (-1 for none), the number of the second best for the role to move, and
    the number of undecided successors."""
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
    """Put all lines at the root."""
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
    """Let the first ``count`` lines go on until each is at a node that is to be opened, or until these have
    ``most`` successors.

    Returns the number of these nodes, 0 if the root is decided, and whether there was room for all."""
    nodes, edges = graph.nodes, graph.edges
    room = min(len(nodes) - graph.used[NODES], len(edges) - graph.used[EDGES])
    asked, successors = 0, 0
    deepest = lines.path.shape[1]
    root = lines.path[0, 0]
    if nodes[root].status == OPEN:
        look(nodes, edges, root, claim, penalty)
    if nodes[root].proof == 0 or nodes[root].disproof == 0:
        return asked, True
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
                    return asked, True
                nodes[node].lines -= 1
                lines.depth[line] = depth - 1
                continue
            if nodes[node].status == NEW:
                room -= nodes[node].choices
                successors += nodes[node].choices
                if room < 0:
                    return asked, False
                if asked > 0 and successors > most:
                    return asked, True
                nodes[node].status = ASKED
                lines.to_open[asked] = node
                asked += 1
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
            # A line that keeps away from others may go to a successor that is harder than the threshold.
            limit = max(min(np.int64(larger), second + second // 4 + 1), mine)
            rest = np.int64(other) if other >= NEVER else np.int64(other) - (live - 1)
            lines.proof[line, depth + 1] = limit if nodes[node].to_move == 0 else rest
            lines.disproof[line, depth + 1] = rest if nodes[node].to_move == 0 else limit
            nodes[best].lines += 1
            path[depth + 1] = best
            lines.depth[line] = depth + 1
    return asked, True


@kernel(nogil=True)
def _attach(
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
    """Reset the nodes from ``first`` on to fresh ones, in a game without goals above ``most``."""
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
    """Note the immediate results of the moves of the nodes from ``first`` on: successors (m,) of node ``first
    + parents[i]``.

    ``seen`` (n, roles), -1 at first, keeps the moves that lead to each node's first successor. ``sums`` (2,)
    are the least and the largest sum of all roles' goals at an end, with -1 as the least if a role had none.
    Returns False if ``role`` and another one choose at the same time."""
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
        # The role to move may become known only at the next successor: both bests are kept.
        if nodes[node].ended < 0:
            nodes[node].ended = value
            nodes[node].work = value
        nodes[node].ended = max(nodes[node].ended, value)
        nodes[node].work = min(nodes[node].work, value)
    return True


@kernel(nogil=True)
def _conclude(graph: Graph, first: int, claim: int) -> bool:
    """Set the bounds and numbers of the nodes from ``first`` on, when all their successors are judged.
    Returns False if a node has no successors: some role has no move there."""
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
    """Set all numbers for another claim. Successors mostly have higher places than their parents."""
    for node in range(graph.used[NODES]):
        set_numbers(graph.nodes, node, claim)
    for node in range(graph.used[NODES] - 1, -1, -1):
        if graph.nodes[node].status == OPEN:
            look(graph.nodes, graph.edges, node, claim, 0.0)


_DEEPEST = 512
_PENALTY = 1.0
"""Addition to a node's numbers for each line below it."""
_STUCK = 100
"""Rounds without a node to open after which a search ends: repeated states block it."""
_MOST = 4096
"""Most successors that are made in a round, unless a single node has more."""
_FIRST_MOST = 128
_ROUND_SECONDS = 0.006
"""Target seconds of a round, which cannot be interrupted."""
_SLOW_SECONDS = 0.05
"""A round that would take this long does not begin."""
_ROOM_SECONDS = 3e-7
"""Most seconds for making room, for each node."""
_EDGES = 2
"""Room for edges, for each node: most states have one path to them."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least that the role can force, and the most that it gets if the others play against it."""

    low: int = 0
    high: int = 100

    @property
    def exact(self) -> bool:
        """Whether both are equal."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Answers:
    """The results of the moves in a state; m joint moves.

    Attributes:
        moves: int32, shape (m, roles): move ids.
        low, high: int16, shape (m,): the bounds of the states after them.
        length: int16, shape (m,): number of moves in which the role gets the state's value, if it is solved
            and the length is known; else :data:`players.proof.graph.FAR`.
    """

    moves: NDArray[np.int32]
    low: NDArray[np.int16]
    high: NDArray[np.int16]
    length: NDArray[np.int16]


class Proof(Stepwise):
    """A search for the values of one state after another; the graph below the state is kept.

    Attributes:
        role: the role whose points are proven.
        fits: whether the game is of the right class, as far as it was seen.
        opened: number of opened states.
        waits: whether the search goes on only when there is time to make room.
        most: the highest goal of the role.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        role: int = 0,
        memory: int = 1 << 27,
        lines: int = 128,
    ) -> None:
        """For a network machine of two roles or more. The graph gets ``memory`` bytes, which are reserved,
        but used only as it fills. ``lines`` lines go down at once; each line below a node adds one to the
        node's numbers."""
        self.machine = machine
        self.role = role
        self._expander = Expander(machine, 1 << 14)
        words = machine.words
        nodes = max(4096, memory // (words * 8 + NODE.itemsize + 4 * _EDGES + 12))
        self._graph = make_graph(words, nodes, _EDGES * nodes)
        self._lines = make_lines(lines, _DEEPEST)
        self.fits = len(machine.roles) >= 2
        self.opened = 0
        self.waits = False
        goals = machine.network.goals
        self._values = sorted({0, *goals[goals[:, 0] == role, 1].tolist()})
        self.most = self._values[-1]
        self._sums = np.array([1 << 30, -1], np.int64)
        self._claim = self._root = self._stuck = 0
        self._guess = 0.5
        self._round = _FIRST_MOST
        self._seconds = 0.0

    def set_root(self, record: NDArray[np.uint64], guess: float = 0.5) -> None:
        """Search from this state, shape (words,), from now on; it must not be terminal.

        ``guess``: its estimated value to the role, 0..1, by which the first claim is chosen.
        """
        graph = self._graph
        self._stuck = 0
        self._guess = guess
        node = -1
        if graph.used[NODES]:
            node = int(find_record(graph.table, graph.records, record[None, :].copy(), 0))
        if node >= 0:
            self._root = node
            if not parts.shown(graph, node):
                parts.reopen(graph, node, self.most)
        else:
            graph.used[:] = 0
            graph.table[:] = 0
            graph.records[0] = record
            graph.table[-1 - find_record(graph.table, graph.records, graph.records[:1], 0)] = 1
            graph.used[NODES] = 1
            self._root = 0
            self._judge(0)
            if not self._seconds:  # the first time may have loaded code
                began = time.thread_time()
                self._judge(0)
                self._seconds = time.thread_time() - began
        self._ask()

    @property
    def constant_sum(self) -> bool:
        """Whether two roles play for a constant sum, as far as it was seen."""
        least, largest = self._sums.tolist()
        return len(self.machine.roles) == 2 and (least > largest or least == largest >= 0)

    @property
    def total(self) -> int | None:
        """The largest sum of all roles' goals at the ends that were seen; None before."""
        return int(self._sums[1]) if self._sums[1] >= 0 else None

    @property
    def bounds(self) -> Bounds:
        """The proven bounds of the root."""
        node = self._graph.nodes[self._root]
        return Bounds(int(node["low"]), int(node["high"]))

    @property
    def solved(self) -> bool:
        """Whether the root's bounds are its value: they are exact, and the game's sum is constant or the role
        gets its highest goal."""
        bounds = self.bounds
        return self.fits and bounds.exact and (self.constant_sum or 0 < self.most == bounds.low)

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found."""
        return not self.fits or not self._open_values() or self._stuck > _STUCK

    def answers(self) -> Answers:
        """The results of the root's moves."""
        graph = self._graph
        chunk = self._expander.expand(graph.records[self._root : self._root + 1].copy(), judged=True)
        value = int(graph.nodes[self._root]["low"])
        low = np.where(chunk.terminal, np.maximum(chunk.goals[:, self.role], 0), 0).astype(np.int16)
        high = np.where(chunk.terminal, low, self.most).astype(np.int16)
        length = np.where(chunk.terminal & (low >= value), 1, parts.FAR).astype(np.int16)
        going = np.flatnonzero(~chunk.terminal)
        lows, highs = low[going], high[going]
        nodes = parts.bounds_of(graph, np.ascontiguousarray(chunk.records[going]), lows, highs)
        low[going], high[going] = lows, highs
        if value and self.solved:
            in_graph = nodes >= 0
            moves_to_go = parts.lengths(graph, value)[nodes[in_graph]]
            length[going[in_graph]] = np.minimum(parts.FAR - 1, moves_to_go) + 1
        return Answers(chunk.moves, low, high, length)

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.int16]:
        """The values of states (n, words) to the role, -1 if they are not proven."""
        low, high = np.zeros(len(records), np.int16), np.ones(len(records), np.int16)
        parts.bounds_of(self._graph, np.ascontiguousarray(records), low, high)
        return np.where(low == high, low, np.int16(-1))

    def step(self, deadline: float, latest: float | None = None) -> bool:
        """See :class:`players.companions.Stepwise`. Making room takes longer than a slice: it ends by
        ``latest``, by default the deadline."""
        graph, lines = self._graph, self._lines
        self.waits = False
        while not self.finished:
            if time.monotonic() >= deadline:
                break
            began = time.thread_time()
            choices = int(graph.nodes[self._root]["choices"])
            if choices * self._seconds > _SLOW_SECONDS and not graph.nodes[self._root]["status"]:
                self._stuck = _STUCK + 1
                break
            first = int(graph.used[NODES])
            count, claim = len(lines.depth), self._claim
            asked, enough = walk(graph, lines, count, claim, _PENALTY, self._round)
            if asked:
                self._stuck = 0
                self._open(lines.to_open[:asked].copy())
                self._pace(int(graph.used[NODES]) - first, time.thread_time() - began)
            elif self._decided():
                self._ask()
            elif enough:
                self._stuck += 1
            if not enough:
                left = (deadline if latest is None else latest) - time.monotonic()
                self.waits = left < _ROOM_SECONDS * graph.used[NODES]
                if self.waits:
                    break
                self._make_room()
        return self.finished

    def _pace(self, made: int, seconds: float) -> None:
        """Learn from a round the cost of successors, and the number that the next round may make."""
        cost = seconds / max(1, made)
        self._seconds = min(cost, 2 * self._seconds) * 0.2 + self._seconds * 0.8 if self._seconds else cost
        self._round = int(min(_MOST, 2 * self._round, max(1, _ROUND_SECONDS / max(self._seconds, 1e-9))))

    def _open_values(self) -> list[int]:
        """The claims that are open."""
        bounds = self.bounds
        values = self._values if self.constant_sum else self._values[-1:]
        return [value for value in values if bounds.low < value <= bounds.high]

    def _decided(self) -> bool:
        node = self._graph.nodes[self._root]
        return bool(node["proof"] == 0 or node["disproof"] == 0)

    def _ask(self) -> None:
        """Choose an open claim near the guess, and restart all lines for it."""
        values = self._open_values()
        if values and self.fits:
            claim = min(values, key=lambda value: abs(value - 100 * self._guess))
            if claim != self._claim or self._decided():
                self._claim = claim
                ask(self._graph, claim)
            restart(self._graph, self._lines, self._root)

    def _open(self, nodes: NDArray[np.int32]) -> None:
        graph = self._graph
        first = int(graph.used[NODES])
        for chunk in self._expander.stream(graph.records[nodes], judged=True):
            _attach(graph, nodes, chunk.parents, chunk.records, chunk.terminal)
        self.opened += len(nodes)
        self._judge(first)

    def _judge(self, first: int) -> None:
        """Judge the successors of the nodes from ``first`` on."""
        graph = self._graph
        clear(graph, first, self.most)
        records = graph.records[first : int(graph.used[NODES])]
        seen = np.full((len(records), len(self.machine.roles)), -1, np.int32)
        role, constant = self.role, self.constant_sum
        for chunk in self._expander.stream(records, judged=True):
            self.fits = self.fits and judge(
                graph, first, role, seen, self._sums, chunk.parents, chunk.moves, chunk.terminal, chunk.goals
            )
            if not self.fits:
                return
        self.fits = _conclude(graph, first, self._claim)
        if constant and not self.constant_sum:
            self._ask()

    def _make_room(self) -> None:
        """Drop the nodes that the root no longer reaches, and then those with little work below, so that at
        least half of the room is free."""
        graph = self._graph
        fewest = 1
        while True:
            self._root = int(parts.keep(graph, self._root, fewest))
            if 2 * graph.used[NODES] < len(graph.nodes) and 2 * graph.used[EDGES] < len(graph.edges):
                break
            if fewest > self.opened:  # the root alone has too many successors
                self._stuck += 1
                break
            fewest *= 4
        restart(graph, self._lines, self._root)


@functools.cache
def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, so that no turn has to wait for them."""
    graph, lines = make_graph(1, 4, 8), make_lines(1, 4)
    graph.used[NODES] = 1
    none, wide = np.zeros(0, np.int32), np.zeros((0, 2), np.int32)
    sums, ended, goals = np.zeros(2, np.int64), np.zeros(0, np.bool_), np.zeros((0, 2), np.int16)
    clear(graph, 0, 100)
    judge(graph, 0, 0, wide, sums, none, wide, ended, goals)
    _conclude(graph, 0, 100)
    ask(graph, 100)
    restart(graph, lines, 0)
    walk(graph, lines, 1, 100, 1.0, 1)
    _attach(graph, none, none, graph.records[:0], ended)
    parts.reopen(graph, 0, 100)
    parts.keep(graph, 0, 1)
    parts.shown(graph, 0)
    parts.lengths(graph, 100)
    parts.bounds_of(graph, graph.records[:1].copy(), np.zeros(1, np.int16), np.zeros(1, np.int16))
    find_record(graph.table, graph.records, graph.records[:1].copy(), 0)
