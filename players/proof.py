"""Proves what states of two-player games are worth: proof-number search by many lines at once.

Proof-number search: Allis, van der Meulen and van den Herik 1994. For games of constant sum in which the
roles move in turn; that a game is none of these shows as it is searched, and then the search gives up.

A number of lines go down the graph at the same time. Each goes to a node that is to be opened and waits
there until all have one; then the machine expands all these states at once, and all states that come of
them, so that wins in one move are seen before a state is ever chosen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players import proof_kernel as kernels
from players.proof_arrays import EDGES, NODE, NODES, Graph, Lines
from players.uct_arrays import find_node
from propnet.expand import Expander

if TYPE_CHECKING:
    from propnet.interpret import PropnetMachine

_DEEPEST = 512
_STUCK = 100
"""So many rounds without anything to open end a search: states that repeat are in its way."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What role 0 gets at least and at most under best play."""

    low: int = 0
    high: int = 100

    @property
    def exact(self) -> bool:
        """Whether both are the same."""
        return self.low == self.high


class Proof:
    """A search for the value of one state after another; what is known below the state is kept.

    Attributes:
        fits: whether the game can be searched so, as far as it was seen.
        opened: how many states were opened.
    """

    def __init__(
        self, machine: PropnetMachine, memory: int = 1 << 27, lines: int = 128, penalty: float = 1.0
    ) -> None:
        """Args:
        machine: a network machine of two roles.
        memory: bytes for the graph.
        lines: how many go down at once.
        penalty: what each line below a node adds to its numbers.
        """
        self.machine = machine
        self._expander = Expander(machine)
        words = machine.words
        nodes = max(4096, memory // (words * 8 + NODE.itemsize + 4 * 4 + 8))
        self._graph = Graph(
            np.empty((nodes, words), np.uint64),
            np.empty(nodes, NODE),
            np.empty(4 * nodes, np.int32),
            np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32),
            np.zeros(2, np.int64),
        )
        path, proof, disproof = (np.zeros((lines, _DEEPEST), np.int32) for _ in range(3))
        self._lines = Lines(np.zeros(lines, np.int32), path, proof, disproof, np.zeros(lines, np.int32))
        self._penalty = penalty
        self.fits = len(machine.roles) == 2
        self.opened = 0
        self._values = sorted({0, 100, *machine.network.goals[:, 1].tolist()})
        self._claim = 100
        self._root = 0
        self._stuck = 0

    def set_root(self, record: NDArray[np.uint64], guess: float = 0.5) -> None:
        """Search from this state, shape (words,), from now on; it is not terminal.

        ``guess``: what it may be worth to role 0, 0..1; says which claim comes first.
        """
        graph = self._graph
        self._stuck = 0
        found = -1
        if graph.used[NODES]:
            found = int(find_node(graph.table, graph.records, record[None, :].copy(), 0))
        if found >= 0:
            self._root = int(kernels.keep(graph, found, 0))
        else:
            graph.used[:] = 0
            graph.table[:] = 0
            graph.records[0] = record
            graph.table[-1 - find_node(graph.table, graph.records, graph.records[:1], 0)] = 1
            graph.used[NODES] = 1
            self._root = 0
            self._judge(0)
        self._ask(guess)

    @property
    def bounds(self) -> Bounds:
        """What is proven of the root."""
        node = self._graph.nodes[self._root]
        return Bounds(int(node["low"]), int(node["high"]))

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to find."""
        return not self.fits or self.bounds.exact or self._stuck > _STUCK

    def known(self, records: NDArray[np.uint64]) -> NDArray[np.int16]:
        """The values of states (n, words) to role 0, -1 where they are not proven."""
        return kernels.known(self._graph, np.ascontiguousarray(records))  # type: ignore[no-any-return]

    def search(self, deadline: float) -> None:
        """Go on until the deadline (time.monotonic() seconds), or until the value is proven."""
        graph, lines = self._graph, self._lines
        while not self.finished and time.monotonic() < deadline:
            wanted, enough = kernels.walk(graph, lines, len(lines.depth), self._claim, self._penalty)
            if wanted:
                self._stuck = 0
                self._open(lines.wanted[:wanted].copy())
            elif self._decided():
                self._ask(0.5)
            elif enough:
                self._stuck += 1
            if not enough:
                self._make_room()

    def _decided(self) -> bool:
        node = self._graph.nodes[self._root]
        return bool(node["proof"] == 0 or node["disproof"] == 0)

    def _ask(self, guess: float) -> None:
        """Choose a claim that is open, near the guess, and let all lines begin with it."""
        bounds = self.bounds
        open_values = [value for value in self._values if bounds.low < value <= bounds.high]
        if open_values and self.fits:
            self._claim = min(open_values, key=lambda value: abs(value - 100 * guess))
            kernels.ask(self._graph, self._claim)
            kernels.restart(self._graph, self._lines, self._root)

    def _open(self, nodes: NDArray[np.int32]) -> None:
        graph = self._graph
        first = int(graph.used[NODES])
        for chunk in self._expander.stream(graph.records[nodes], judged=True):
            kernels.attach(graph, nodes, chunk.parents, chunk.records, chunk.terminal)
        self.opened += len(nodes)
        self._judge(first)

    def _judge(self, first: int) -> None:
        """See what follows the nodes from ``first`` on."""
        graph = self._graph
        kernels.clear(graph, first)
        records = graph.records[first : int(graph.used[NODES])]
        seen = np.full((len(records), 2), -1, np.int32)
        for chunk in self._expander.stream(records, judged=True):
            if not kernels.judge(graph, first, seen, chunk.parents, chunk.moves, chunk.terminal, chunk.goals):
                self.fits = False
                return
        if not kernels.conclude(graph, first, self._claim):
            self.fits = False

    def _make_room(self) -> None:
        """Drop what little work was done below, so that at least half of the room is free."""
        graph = self._graph
        fewest = 1
        while True:
            self._root = int(kernels.keep(graph, self._root, fewest))
            if 2 * graph.used[NODES] < len(graph.nodes) and 2 * graph.used[EDGES] < len(graph.edges):
                break
            if fewest > self.opened:  # the root alone has too many successors
                self._stuck += 1
                break
            fewest *= 4
        kernels.restart(graph, self._lines, self._root)
