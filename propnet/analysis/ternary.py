"""Ternary simulation of a network (R. Bryant and C. Seger: Formal verification by symbolic evaluation of
trajectories, 1995), in the dual-rail code: what may be true, and what may be false.

Each bit of a word is a case: an assumption of its own about the state. Many cases are simulated at once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.network import Network

Words = NDArray[np.uint64]

CASES_PER_WORD = 64

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True)
class GateLevel:
    """Gates that read no gate of their own level: the literal of each, shape (gates,); the literals that they
    read, gate after gate; and where each gate's begin among these, shape (gates,)."""

    rows: NDArray[np.int64]
    inputs: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TernaryStep:
    """What may hold in, and after, partly known states. Rows are of uint64 words, a bit per case.

    Attributes:
        may: shape (2 * nodes, words): row x says in which cases literal x may be true.
        following: shape (2 * bases, words): rows 2b and 2b + 1 say in which cases base proposition b may be
            true, or false, after one joint move.
    """

    may: Words
    following: Words


class Ternary:
    """Evaluates a network in states of which only a part is known.

    In case i base proposition b *may be true* if bit i of row 2b of ``bases`` is set, and *may be false* if
    bit i of row 2b + 1 is. What the simulation calls impossible is impossible in every state, and under
    every joint legal move, that the case allows.

    Gates inside loops of positive recursion are taken to be open.

    Attributes:
        before, after: the gates outside loops, level by level: those that need no moves, and the others.
        role_offsets: where each role's moves begin among those of all roles; at the end how many there are.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.before, self.after = _levels(network)
        self._open = 2 * (network.first_gate + _looping(network))
        self.role_offsets: list[int] = np.cumsum([0, *map(len, network.moves)]).tolist()

    def unknown(self, words: int) -> Words:
        """Rows (2 * bases, words) in which all is open but the base propositions that never change."""
        rows = np.full((2 * len(self.network.bases), words), _ALL, np.uint64)
        constant = constant_bases(self.network)
        value = np.asarray(self.network.initial, np.bool_)
        rows[2 * np.flatnonzero(constant & ~value)] = 0
        rows[2 * np.flatnonzero(constant & value) + 1] = 0
        return rows

    def known(self, bits: NDArray[np.bool_]) -> Words:
        """Rows for wholly known states, shape (n, bases); cases past the n-th are impossible."""
        n, bases = bits.shape
        words = (n + CASES_PER_WORD - 1) // CASES_PER_WORD
        cases = np.zeros((2 * bases, words * CASES_PER_WORD), np.bool_)
        cases[0::2, :n] = bits.T
        cases[1::2, :n] = ~bits.T
        return np.packbits(cases, axis=1, bitorder="little").view(np.uint64)

    def state(self, bases: Words) -> Words:
        """What may hold in these states: a row per literal; those of moves, and of gates that need moves,
        are not filled in."""
        may = np.zeros((2 * self.network.nodes, bases.shape[1]), np.uint64)
        may[0] = _ALL
        may[2 : 2 + len(bases)] = bases
        may[self._open] = _ALL
        may[self._open + 1] = _ALL
        _evaluate(self.before, may)
        return may

    def step(self, bases: Words, made: int | None = None) -> TernaryStep:
        """What may hold in these states and in those that follow; if the move ``made``, numbered among those
        of all roles, is made in all of them."""
        network = self.network
        may = self.state(bases)
        legal = may[network.legal_literals]
        first = 2 * (1 + len(network.bases))
        for low, high in pairwise(self.role_offsets):
            # A move may be left out where another one may be made.
            mine = legal[low:high]
            others = np.zeros_like(mine)
            others[1:] = np.bitwise_or.accumulate(mine, axis=0)[:-1]
            others[:-1] |= np.bitwise_or.accumulate(mine[::-1], axis=0)[::-1][1:]
            may[first + 2 * low : first + 2 * high : 2] = mine
            may[first + 2 * low + 1 : first + 2 * high : 2] = others
            if made is not None and low <= made < high:
                may[first + 2 * low : first + 2 * high : 2] = 0
                may[first + 2 * low + 1 : first + 2 * high : 2] = _ALL
                may[first + 2 * made : first + 2 * made + 2] = [[_ALL], [np.uint64(0)]]
        _evaluate(self.after, may)
        literals = network.next_literals.astype(np.int64)
        following = np.empty_like(bases)
        following[0::2] = may[literals]
        following[1::2] = may[literals ^ 1]
        return TernaryStep(may, following)

    def follow(self, may: Words, moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The successors, shape (n, bases), of wholly known states under moves, shape (n, moves). ``may`` is
        what :meth:`state` returned for the states; its missing rows are filled in."""
        rows = self.known(moves)
        first = 2 * (1 + len(self.network.bases))
        may[first : first + len(rows)] = rows
        _evaluate(self.after, may)
        return unpack_cases(may[self.network.next_literals], len(moves))


def unpack_cases(rows: Words, n: int) -> NDArray[np.bool_]:
    """The bits of the first n cases in some rows: shape (n, rows)."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little", count=n)
    transposed: NDArray[np.bool_] = np.ascontiguousarray(bits.T).view(np.bool_)
    return transposed


def constant_bases(network: Network) -> NDArray[np.bool_]:
    """Which base propositions keep their initial value because it is their next function: shape (bases,)."""
    return np.equal(network.next_literals, np.where(network.initial, 0, 1))


def _evaluate(levels: list[GateLevel], may: Words) -> None:
    for level in levels:
        may[level.rows] = np.bitwise_and.reduceat(may[level.inputs], level.starts, axis=0)
        may[level.rows + 1] = np.bitwise_or.reduceat(may[level.inputs ^ 1], level.starts, axis=0)


def _looping(network: Network) -> NDArray[np.int64]:
    """The gates that are in loops."""
    return np.array([gate for low, high in network.loops.tolist() for gate in range(low, high)], np.int64)


def _levels(network: Network) -> tuple[list[GateLevel], list[GateLevel]]:
    """The gates outside loops, level by level: those that need no moves, and the others."""
    first = network.first_gate
    starts = network.gate_start.tolist()
    read = (network.gate_inputs >> 1).tolist()
    height = [0] * network.nodes
    looping = set(_looping(network).tolist())
    by_level: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for gate in range(network.gates):
        if gate == network.base_gates:
            height = [0] * network.nodes  # what was evaluated before counts as input
        if gate in looping:
            continue
        level = 1 + max((height[node] for node in read[starts[gate] : starts[gate + 1]]), default=0)
        height[first + gate] = level
        by_level[gate >= network.base_gates, level].append(gate)
    levels = [(late, _level(network, gates)) for (late, _), gates in sorted(by_level.items())]
    return [level for late, level in levels if not late], [level for late, level in levels if late]


def _level(network: Network, gates: list[int]) -> GateLevel:
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
    return GateLevel(2 * (network.first_gate + chosen), inputs, starts)
