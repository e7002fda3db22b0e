"""What each move of a one-player game reads and changes, from the cofactors of its network; and cases: states
of which a few propositions are known, each perhaps with a move that is made in it, many at once (ternary
simulation, :mod:`propnet.analysis.ternary`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.cones import clocks
from propnet.analysis.ternary import CASES_PER_WORD, Ternary, Words, constant_bases
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import EffortError, Remake, value

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


@dataclass(frozen=True, slots=True)
class MoveEffect:
    """What is known of one move, wherever it is legal and the match goes on.

    Attributes:
        touched: base propositions that may be others after it than before.
        forced: literals of base propositions, each true wherever the move is made.
        reads: bit b says whether base proposition b matters to the move's legality, or to what becomes of
            the touched ones.
    """

    touched: frozenset[int]
    forced: tuple[int, ...]
    reads: int


def move_effects(network: Network, effort: int) -> Generator[None, None, list[MoveEffect | None]]:
    """Yields now and then; returns the effect of each move of a one-player game; None for those that are
    never legal. Raises EffortError where ``effort`` gate inputs are too few, or what a move does depends on
    positive recursion."""
    gates = Remake(network, effort)
    bases, first = len(network.bases), 1 + len(network.bases)
    legal, following = network.legal_literals.tolist(), network.next_literals.tolist()
    running = gates.implied(int(network.terminal_literal) ^ 1)
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(following):
        outputs.setdefault(x >> 1, []).append(base)
    step = gates.step()
    step.usual = dict.fromkeys(range(first, network.first_gate), FALSE)
    gates.evaluate(step, running)
    drifting = {b for b, x in enumerate(following) if value(step.usual, x) != 2 * (1 + b)}
    supports = _Supports(gates)
    effects: list[MoveEffect | None] = []
    for move, literal in enumerate(legal):
        yield
        known = running | gates.implied(literal)
        if literal == FALSE or any(x ^ 1 in known for x in known):
            effects.append(None)
            continue
        changed = gates.changed(step, {first + move: TRUE}, known)
        touched, reads = set(), supports.of(literal)
        for base in drifting.union(*(outputs.get(node, ()) for node in changed)):
            x = following[base]
            after = value(changed if x >> 1 in changed else step.usual, x, known)
            before = 2 * (1 + base)
            same = after == before or (after == TRUE and before in known)
            if not same and not (after == FALSE and before + 1 in known):
                touched.add(base)
                reads |= supports.of(after)
        forced = tuple(sorted(x for x in known if 1 <= x >> 1 <= bases))
        effects.append(MoveEffect(frozenset(touched), forced, reads))
    return effects


def conditions(network: Network, goals: Iterable[int], effort: int) -> list[int]:
    """What an end with one of these goals (literals) depends on, condition by condition: a mask of base
    propositions for each, bit b for base proposition b. All conditions of a goal must hold, and each
    depends on its own propositions alone. Raises EffortError as :func:`move_effects`."""
    gates = Remake(network, effort)
    supports = _Supports(gates)
    masks: dict[int, None] = {}
    waiting = [int(network.terminal_literal), *goals]
    seen: set[int] = set()
    while waiting:
        x = waiting.pop()
        if x in seen:
            continue
        seen.add(x)
        below = () if x & 1 else gates.inputs(x >> 1)
        gates.spend(1 + len(below))
        if below:
            waiting += below
        else:
            masks[supports.of(x)] = None
    return list(masks)


class _Supports:
    """The base propositions that gates read, directly or not: a bit each."""

    def __init__(self, gates: Remake) -> None:
        self.gates = gates
        network = gates.network
        bases = len(network.bases)
        self._looping = {
            network.first_gate + gate for low, high in network.loops.tolist() for gate in range(low, high)
        }
        self._masks = [0, *(1 << base for base in range(bases)), *([0] * network.move_count)]

    def of(self, literal: int) -> int:
        """Those of a literal over gates that need no move, and new ones."""
        masks, node = self._masks, literal >> 1
        while len(masks) <= node:
            below = self.gates.inputs(len(masks))
            self.gates.spend(len(below))
            mask = -1 if len(masks) in self._looping else 0
            for x in below if not mask else ():
                mask |= masks[x >> 1]
            masks.append(mask)
        return masks[node]
