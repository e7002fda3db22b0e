"""Ternary simulation of a network, many assumptions at once (R. Bryant and C. Seger: Formal verification by
symbolic evaluation of trajectories, 1995), in the dual-rail code: what may be true, and what may be false.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.network import Network

Words = NDArray[np.uint64]

LANES_PER_WORD = 64

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Level:
    """Gates that read no gate of their own level.

    Attributes:
        rows: int64, shape (gates,): the literal of each gate.
        inputs: int64: the literals that they read, gate after gate.
        starts: int64, shape (gates,): where each gate's begin.
    """

    rows: NDArray[np.int64]
    inputs: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """What may hold in, and after, partly known states. Rows are of uint64 words, a bit per lane.

    Attributes:
        may: shape (2 * nodes, words): row x tells where literal x may be true.
        following: shape (2 * bases, words): rows 2b and 2b + 1 tell where base proposition b may be true,
            or false, after one joint move.
    """

    may: Words
    following: Words


class Ternary:
    """Evaluates a network in states of which only a part is known.

    In lane i base proposition b *may be true* where bit i of row 2b of ``bases`` is set, and *may be
    false* where that of row 2b + 1 is. Whatever is said to be impossible is so in every state, and under
    every joint legal move, that the lane allows for.

    Gates inside loops of positive recursion are taken to be open.

    Attributes:
        network: the network.
        before, after: its gates outside loops, level by level: those that need no moves, and the others.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.before, self.after = _levels(network)
        self._open = 2 * (network.first_gate + _looping(network))
        self._roles = np.cumsum([0, *map(len, network.moves)]).tolist()

    def unknown(self, words: int) -> Words:
        """Rows (2 * bases, words) that say nothing, but of the base propositions that never change."""
        rows = np.full((2 * len(self.network.bases), words), _ALL, np.uint64)
        constant = constant_bases(self.network)
        value = np.asarray(self.network.initial, np.bool_)
        rows[2 * np.flatnonzero(constant & ~value)] = 0
        rows[2 * np.flatnonzero(constant & value) + 1] = 0
        return rows

    def known(self, bits: NDArray[np.bool_]) -> Words:
        """Rows for states, shape (n, bases), that are wholly known; lanes past the n-th are impossible."""
        n, bases = bits.shape
        words = (n + LANES_PER_WORD - 1) // LANES_PER_WORD
        lanes = np.zeros((2 * bases, words * LANES_PER_WORD), np.bool_)
        lanes[0::2, :n] = bits.T
        lanes[1::2, :n] = ~bits.T
        return np.packbits(lanes, axis=1, bitorder="little").view(np.uint64)

    def state(self, bases: Words) -> Words:
        """What may hold in these states: rows by literal, those of moves and of gates that need moves
        not filled in."""
        network = self.network
        words = bases.shape[1]
        may = np.zeros((2 * network.nodes, words), np.uint64)
        may[0] = _ALL
        may[2 : 2 + len(bases)] = bases
        may[self._open] = _ALL
        may[self._open + 1] = _ALL
        _evaluate(self.before, may)
        return may

    def step(self, bases: Words) -> Step:
        """What may hold in these states and in those that follow."""
        network = self.network
        may = self.state(bases)
        legal = may[network.legal_literals]
        first = 2 * (1 + len(network.bases))
        for low, high in pairwise(self._roles):
            if low == high:
                continue
            # A move may be left out where another one may be made.
            made = legal[low:high]
            others = np.zeros_like(made)
            others[1:] = np.bitwise_or.accumulate(made, axis=0)[:-1]
            others[:-1] |= np.bitwise_or.accumulate(made[::-1], axis=0)[::-1][1:]
            may[first + 2 * low : first + 2 * high : 2] = made
            may[first + 2 * low + 1 : first + 2 * high : 2] = others
        _evaluate(self.after, may)
        literals = network.next_literals.astype(np.int64)
        following = np.empty_like(bases)
        following[0::2] = may[literals]
        following[1::2] = may[literals ^ 1]
        return Step(may, following)

    def follow(self, may: Words, moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The states, shape (n, bases), that follow under the moves made, shape (n, moves), where the
        states that ``may`` is about (see :meth:`state`; it is filled in) are wholly known."""
        made = self.known(moves)
        first = 2 * (1 + len(self.network.bases))
        may[first : first + len(made)] = made
        _evaluate(self.after, may)
        return lanes_of(may[self.network.next_literals], len(moves))


def lanes_of(rows: Words, n: int) -> NDArray[np.bool_]:
    """The first n lanes of some rows: shape (n, rows)."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little", count=n)
    turned: NDArray[np.bool_] = np.ascontiguousarray(bits.T).view(np.bool_)
    return turned


def constant_bases(network: Network) -> NDArray[np.bool_]:
    """Which base propositions keep their initial value for ever, as their outputs say: shape (bases,)."""
    return np.equal(network.next_literals, np.where(network.initial, 0, 1))


def _evaluate(levels: list[Level], may: Words) -> None:
    for level in levels:
        may[level.rows] = np.bitwise_and.reduceat(may[level.inputs], level.starts, axis=0)
        may[level.rows + 1] = np.bitwise_or.reduceat(may[level.inputs ^ 1], level.starts, axis=0)


def _looping(network: Network) -> NDArray[np.int64]:
    """The gates that are in loops."""
    return np.array([gate for low, high in network.loops.tolist() for gate in range(low, high)], np.int64)


def _levels(network: Network) -> tuple[list[Level], list[Level]]:
    """The gates outside loops, level by level: those that need no moves, and the others."""
    first = network.first_gate
    starts = network.gate_start.tolist()
    read = (network.gate_inputs >> 1).tolist()
    height = [0] * network.nodes
    looping = set(_looping(network).tolist())
    by_level: tuple[list[list[int]], list[list[int]]] = ([], [])
    for gate in range(network.gates):
        if gate == network.base_gates:
            height = [0] * network.nodes  # what was evaluated before counts as input
        if gate in looping:
            continue
        level = 1 + max((height[node] for node in read[starts[gate] : starts[gate + 1]]), default=0)
        height[first + gate] = level
        part = by_level[gate >= network.base_gates]
        while len(part) < level:
            part.append([])
        part[level - 1].append(gate)
    before, after = ([_level(network, gates) for gates in part if gates] for part in by_level)
    return before, after


def _level(network: Network, gates: list[int]) -> Level:
    chosen = np.array(gates, np.int64)
    widths = np.diff(network.gate_start)[chosen].astype(np.int64)
    # An AND of nothing is true: it reads the constant, literal 0.
    wide = np.maximum(widths, 1)
    ends = np.cumsum(wide)
    starts = ends - wide
    places = np.repeat(network.gate_start[chosen] - starts, wide) + np.arange(ends[-1])
    empty = np.repeat(widths == 0, wide)
    literals = np.append(network.gate_inputs, 0).astype(np.int64)
    inputs = np.where(empty, 0, literals[np.where(empty, 0, places)])
    return Level(2 * (network.first_gate + chosen), inputs, starts)
