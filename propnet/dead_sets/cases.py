"""Cases: states of which a few propositions are known, each perhaps with a move that is made in it, many at
once (ternary simulation, :mod:`propnet.analysis.ternary`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.cones import clocks
from propnet.analysis.ternary import CASES_PER_WORD, Ternary, Words, constant_bases
from propnet.substitute import EffortError

Int64s = NDArray[np.int64]

_ROUNDS = 500
_ALL, _NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)

CHUNK = 1024
"""Cases that are simulated at once."""


class Simulated:
    """What may hold in n cases, and after their moves.

    Attributes:
        possible: bool, shape (n,): whether a case is not known to be contradictory, terminal, or one in which
            its move is illegal.
    """

    def __init__(
        self, ternary: Ternary, always: Words, flat: Int64s, owner: Int64s, moves: Int64s | None, n: int
    ) -> None:
        network = ternary.network
        self._following = network.next_literals.astype(np.int64)
        rows = np.repeat(always, (n + CASES_PER_WORD - 1) // CASES_PER_WORD, axis=1)
        bit = np.uint64(1) << (owner % CASES_PER_WORD).astype(np.uint64)
        np.bitwise_and.at(rows, ((flat ^ 1) - 2, owner // CASES_PER_WORD), ~bit)
        self._cases = np.arange(n)
        sound = np.bitwise_and.reduce(rows[0::2] | rows[1::2], axis=0)
        self.possible = self._bits(sound[None], np.zeros(n, np.int64), self._cases)
        self._may = ternary.state(rows)
        if moves is None:
            return
        self.possible &= self.may(np.full(n, network.terminal_literal ^ 1), self._cases)
        self.possible &= self.may(network.legal_literals[moves].astype(np.int64), self._cases)
        made = np.zeros((n, network.move_count), np.bool_)
        made[self._cases, moves] = True
        ternary.follow(self._may, made)

    def may(self, literals: Int64s, cases: Int64s) -> NDArray[np.bool_]:
        """Whether each literal may be true in the case beside it; both shape (k,)."""
        return self._bits(self._may, literals, cases)

    def may_follow(self, literals: Int64s, cases: Int64s) -> NDArray[np.bool_]:
        """Whether each literal of a base proposition may be true after the move of the case beside it."""
        return self.may(self._following[(literals >> 1) - 1] ^ (literals & 1), cases)

    def open_base(self, literal: int, case: int, ternary: Ternary) -> int:
        """A base proposition that is not known in a case and on which it hangs that a base literal after
        the case's move is not known either; -1 if none was found."""
        network = ternary.network
        node = int(self._following[(literal >> 1) - 1]) >> 1
        bases, first = len(network.bases), network.first_gate
        while node > bases:
            if node < first:
                return -1
            gate = node - first
            read = network.gate_inputs[network.gate_start[gate] : network.gate_start[gate + 1]].astype(
                np.int64
            )
            at = np.full(len(read), case)
            unknown = read[self.may(read, at) & self.may(read ^ 1, at)]
            below = int(unknown.min()) >> 1 if len(unknown) else node
            if below >= node:  # positive recursion
                return -1
            node = below
        return node - 1

    def _bits(self, rows: NDArray[np.uint64], row: Int64s, cases: Int64s) -> NDArray[np.bool_]:
        words = rows[row, cases // CASES_PER_WORD] >> (cases % CASES_PER_WORD).astype(np.uint64)
        return (words & np.uint64(1)).astype(np.bool_)


class Cases:
    """Simulates cases of states that can be reached from the initial one, as long as ``effort`` (gate inputs,
    each for 64 cases) lasts. What no case says is what may be so in any state (:func:`_ever`)."""

    def __init__(self, ternary: Ternary, effort: int) -> None:
        self.ternary = ternary
        self.effort = effort
        self._size = len(ternary.network.gate_inputs) + len(ternary.network.bases)
        self._always = self._ever()

    def _ever(self) -> Words:
        """What may ever be true, or false, by ternary simulation from the initial state on: rows (2 *
        bases, 1), the least fixpoint. Where it takes too many rounds nothing is known."""
        ternary = self.ternary
        network = ternary.network
        may = np.where(ternary.known(np.asarray(network.initial, np.bool_)[None]) & np.uint64(1), _ALL, _NONE)
        # To open clocks at once only saves rounds.
        still = constant_bases(network) | (network.next_literals == 2 * np.arange(1, 1 + len(network.bases)))
        may[np.repeat(clocks(network) & ~still, 2)] = _ALL
        for _ in range(_ROUNDS):
            self.spend(self._size)
            more = may | ternary.step(may).following
            if (more == may).all():
                return more
            may = more
        return ternary.unknown(1)

    def run(
        self, literals: Sequence[Int64s], moves: Int64s | None = None
    ) -> Iterator[tuple[slice, Simulated]]:
        """Simulate cases, a part of them at a time: yields which, and what may hold.

        Args:
            literals: per case the literals of base propositions that are known to be true.
            moves: per case the move that is made, shape (n,); None for no moves.

        Raises EffortError where it would take too much.
        """
        for low in range(0, len(literals), CHUNK):
            part = literals[low : low + CHUNK]
            n = len(part)
            self.spend((n + CASES_PER_WORD - 1) // CASES_PER_WORD * self._size)
            widths = np.fromiter(map(len, part), np.int64, n)
            flat = np.concatenate(part) if n else np.zeros(0, np.int64)
            owner = np.repeat(np.arange(n), widths)
            some = moves[low : low + n] if moves is not None else None
            yield slice(low, low + n), Simulated(self.ternary, self._always, flat, owner, some, n)

    def spend(self, effort: int) -> None:
        """Take this from the effort. Raises EffortError where that is too much."""
        self.effort -= effort
        if self.effort < 0:
            raise EffortError("too many cases")
