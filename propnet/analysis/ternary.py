"""Ternary simulation of a network (R. Bryant and C. Seger: Formal verification by symbolic evaluation of
trajectories, 1995), in the dual-rail code: each proposition may be true, and may be false. It proves latches
(base propositions that, once true or once false, stay so), and follows the clocks of a game
(:mod:`propnet.analysis.cones`), which run in the same way for all moves.

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
class _GateLevel:
    """Gates that read no gate of their own level: the literal of each, shape (gates,); the literals that they
    read, gate after gate; and the place of each gate's first literal among these, shape (gates,)."""

    rows: NDArray[np.int64]
    inputs: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _TernaryStep:
    """The values that are possible in, and after, partly known states. Rows are of uint64 words, a bit per
    case.

    Attributes:
        may: shape (2 * nodes, words): row x holds the cases in which literal x may be true.
        following: shape (2 * bases, words): rows 2b and 2b + 1 hold the cases in which base proposition b may
            be true, or false, after one joint move.
    """

    may: Words
    following: Words


class Ternary:
    """Evaluates a network in partly known states.

    In case i base proposition b *may be true* if bit i of row 2b of ``bases`` is set, and *may be false* if
    bit i of row 2b + 1 is. A value that the simulation excludes is impossible in every state, and under
    every joint legal move, that the case allows.

    Gates inside loops of positive recursion are assumed to be open.

    Attributes:
        before, after: the gates outside loops, level by level: those that need no moves, and the others.
        role_offsets: the number of each role's first move among those of all roles; at the end their number.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.before, self.after = _levels(network)
        self._open = 2 * (network.first_gate + _looping(network))
        self.role_offsets: list[int] = np.cumsum([0, *map(len, network.moves)]).tolist()

    def unknown(self, words: int) -> Words:
        """Rows (2 * bases, words) in which everything is open except the base propositions that never
        change."""
        rows = np.full((2 * len(self.network.bases), words), _ALL, np.uint64)
        constant = constant_bases(self.network)
        value = np.asarray(self.network.initial, np.bool_)
        rows[2 * np.flatnonzero(constant & ~value)] = 0
        rows[2 * np.flatnonzero(constant & value) + 1] = 0
        return rows

    def known(self, bits: NDArray[np.bool_]) -> Words:
        """Rows for completely known states, shape (n, bases); cases past the n-th are impossible."""
        n, bases = bits.shape
        words = (n + CASES_PER_WORD - 1) // CASES_PER_WORD
        cases = np.zeros((2 * bases, words * CASES_PER_WORD), np.bool_)
        cases[0::2, :n] = bits.T
        cases[1::2, :n] = ~bits.T
        return np.packbits(cases, axis=1, bitorder="little").view(np.uint64)

    def state(self, bases: Words) -> Words:
        """The values that are possible in these states: a row per literal. The rows of moves, and of gates
        that need moves, are not filled in."""
        may = np.zeros((2 * self.network.nodes, bases.shape[1]), np.uint64)
        may[0] = _ALL
        may[2 : 2 + len(bases)] = bases
        may[self._open] = _ALL
        may[self._open + 1] = _ALL
        _evaluate(self.before, may)
        return may

    def step(self, bases: Words, made: int | None = None) -> _TernaryStep:
        """The values that are possible in these states and in their successors. If ``made`` is given (a
        number among the moves of all roles), that move is made in all of them."""
        network = self.network
        may = self.state(bases)
        legal = may[network.legal_literals]
        first = 2 * (1 + len(network.bases))
        for low, high in pairwise(self.role_offsets):
            # A move may be omitted if another one may be made.
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
        return _TernaryStep(may, following)

    def follow(self, may: Words, moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The successors, shape (n, bases), of completely known states under moves, shape (n, moves). ``may``
        is the result of :meth:`state` for the states; its missing rows are filled in."""
        rows = self.known(moves)
        first = 2 * (1 + len(self.network.bases))
        may[first : first + len(rows)] = rows
        _evaluate(self.after, may)
        return unpack_cases(may[self.network.next_literals], len(moves))


def unpack_cases(rows: Words, n: int) -> NDArray[np.bool_]:
    """The bits of the first n cases in rows: shape (n, rows)."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little", count=n)
    transposed: NDArray[np.bool_] = np.ascontiguousarray(bits.T).view(np.bool_)
    return transposed


def constant_bases(network: Network) -> NDArray[np.bool_]:
    """Base propositions whose next function is their constant initial value: shape (bases,)."""
    return np.equal(network.next_literals, np.where(network.initial, 0, 1))


def _evaluate(levels: list[_GateLevel], may: Words) -> None:
    for level in levels:
        may[level.rows] = np.bitwise_and.reduceat(may[level.inputs], level.starts, axis=0)
        may[level.rows + 1] = np.bitwise_or.reduceat(may[level.inputs ^ 1], level.starts, axis=0)


def _looping(network: Network) -> NDArray[np.int64]:
    """The gates that are in loops."""
    return np.array([gate for low, high in network.loops.tolist() for gate in range(low, high)], np.int64)


def _levels(network: Network) -> tuple[list[_GateLevel], list[_GateLevel]]:
    """The gates outside loops, level by level: those that need no moves, and the others."""
    first = network.first_gate
    starts = network.gate_start.tolist()
    read = (network.gate_inputs >> 1).tolist()
    height = [0] * network.nodes
    looping = set(_looping(network).tolist())
    by_level: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for gate in range(network.gates):
        if gate == network.base_gates:
            height = [0] * network.nodes  # gates that were evaluated before count as inputs
        if gate in looping:
            continue
        level = 1 + max((height[node] for node in read[starts[gate] : starts[gate + 1]]), default=0)
        height[first + gate] = level
        by_level[gate >= network.base_gates, level].append(gate)
    levels = [(late, _level(network, gates)) for (late, _), gates in sorted(by_level.items())]
    return [level for late, level in levels if not late], [level for late, level in levels if late]


def _level(network: Network, gates: list[int]) -> _GateLevel:
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
    return _GateLevel(2 * (network.first_gate + chosen), inputs, starts)


_LATCH_EFFORT = 10_000_000
"""Gate inputs, each for 512 propositions (see docs/measurements.md)."""

_WORDS = 8


@dataclass(frozen=True, slots=True)
class Latches:
    """Base propositions that never change back, each bool, shape (bases,): those that stay ``true``, or
    ``false``, once they are so. ``constant`` ones never change at all and are in neither of the others."""

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    constant: NDArray[np.bool_]


def latches(ternary: Ternary) -> Latches:
    """The latches that one step shows: with one base proposition known and nothing else, it stays the same
    after every joint legal move. Some are missed if finding them would take more than :data:`_LATCH_EFFORT`
    gate inputs."""
    effort = _LATCH_EFFORT
    network = ternary.network
    bases = len(network.bases)
    constant = constant_bases(network)
    holds = np.zeros((2, bases), np.bool_)
    open_ = np.flatnonzero(~constant)
    cases = _WORDS * CASES_PER_WORD
    for value in (0, 1):
        for start in range(0, len(open_), cases):
            effort -= len(network.gate_inputs)
            if effort < 0:
                break
            propositions = open_[start : start + cases]
            case = np.arange(len(propositions))
            word, bit = case // CASES_PER_WORD, np.uint64(1) << (case % CASES_PER_WORD).astype(np.uint64)
            rows = ternary.unknown(_WORDS)
            # If it is false, it may not be true (row 2b), and the other way round.
            rows[2 * propositions + value, word] &= ~bit
            after = ternary.step(rows).following
            holds[value, propositions] = after[2 * propositions + value, word] & bit == 0
    return Latches(holds[1], holds[0], constant)


EFFORT = 20_000_000
"""The most gate inputs that are visited (see docs/measurements.md)."""


@dataclass(frozen=True, slots=True)
class Phases:
    """The course of a game's clocks.

    Attributes:
        end: the number of joint moves after which the match is over for all moves; None if no clock ends it.
        states: shape (phases, clocks): the clocks' values.
        again: the phase that follows the last one; None if the match is then over.
    """

    end: int | None
    states: NDArray[np.bool_]
    again: int | None


def phases(ternary: Ternary, clocks: NDArray[np.bool_], effort: int = EFFORT) -> Phases | None:
    """Follow the clocks until they repeat a state, or the match is over; None if the effort is too small."""
    network, cost = ternary.network, max(1, len(ternary.network.gate_inputs))
    places = np.flatnonzero(clocks)
    values = np.asarray(network.initial, np.bool_)[places]
    states: list[NDArray[np.bool_]] = []
    seen: dict[bytes, int] = {}
    end: int | None = None
    while values.tobytes() not in seen:
        seen[values.tobytes()] = len(states)
        effort -= cost
        if effort < 0:
            return None
        rows = ternary.unknown(1)
        rows[2 * places] = np.where(values, ~np.uint64(0), np.uint64(0))[:, None]
        rows[2 * places + 1] = ~rows[2 * places]
        step = ternary.step(rows)
        if not step.may[network.terminal_literal ^ 1, 0]:
            end = len(states)
            break
        states.append(values)
        values = unpack_cases(step.following[2 * places], 1)[0]
    return Phases(
        end=end,
        states=np.array(states, np.bool_).reshape(len(states), len(places)),
        again=seen[values.tobytes()] if end is None else None,
    )
