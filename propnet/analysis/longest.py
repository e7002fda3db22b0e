"""How long a match can last at most, whatever is played: proven by clocks, and by what each move uses up.

A clock that ends the match is a bound (:mod:`propnet.analysis.phases`). So are latches: propositions that
never change back. Sort latches into groups, and call a group used when one of its latches has changed: used
groups stay used. If every joint legal move uses a new group, there are no more moves than groups. Squares of
tic-tac-toe are such groups, nine of them.

That every move uses a group is shown for one role at a time, move by move: what the move's legality says is
known, the latches that the move acts on are tried in all combinations, and ternary simulation says what
follows. In phases of clocks in which this fails, no group is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from propnet.analysis.cones import clocks
from propnet.analysis.latches import latches
from propnet.analysis.phases import Phases, phases
from propnet.analysis.ternary import CASES_PER_WORD, Ternary, Words
from propnet.network import Network

EFFORT = 100_000_000
"""Gate inputs, times words of 64 cases, that may be looked at."""

_MOST_TRIED = 14
"""Latches that are tried in all combinations."""
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BITS = CASES_PER_WORD.bit_length() - 1
_PATTERNS = [sum(1 << case for case in range(CASES_PER_WORD) if case >> bit & 1) for bit in range(_BITS)]
"""Words in which a proposition has both values in all combinations with the others."""

Groups = list[list[int]]
"""Base propositions, by group."""


def longest_match(network: Network, effort: int = EFFORT) -> int | None:
    """The most joint moves that a match of legal moves can have; None if no bound was shown. The bound need
    not be reached."""
    ternary = Ternary(network)
    steady = clocks(network)
    order = phases(ternary, steady)
    if order is None:
        return None
    best = order.end
    prover = _Prover(ternary, steady, order, effort)
    distinct = {tuple(map(tuple, groups)): groups for groups in _groupings(ternary, steady) if groups}
    for groups in sorted(distinct.values(), key=len):
        if best is not None and len(groups) >= best:
            break  # at most one group is used in a move
        bound = _walk(order, prover.uses(groups), len(groups))
        if bound is not None and (best is None or bound < best):
            best = bound
    return best


def _groupings(ternary: Ternary, steady: NDArray[np.bool_]) -> Iterator[Groups]:
    """Ways to sort latches into groups: those of one name or of all, that turn true, that turn false or both,
    each alone or together with those that differ in one argument only."""
    network = ternary.network
    latched = latches(ternary)
    initial = np.asarray(network.initial, np.bool_)
    turn_true, turn_false = latched.true & ~initial & ~steady, latched.false & initial & ~steady
    for chosen in (turn_true, turn_false, turn_true | turn_false):
        by_name: dict[object, list[int]] = defaultdict(list)
        for base in np.flatnonzero(chosen).tolist():
            by_name[network.bases[base].name].append(base)
        yield [[base] for bases in by_name.values() for base in bases]
        for bases in by_name.values():
            yield [[base] for base in bases]
            for place in range(max(len(network.bases[base].args) for base in bases)):
                alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
                for base in bases:
                    args = network.bases[base].args
                    alike[*args[:place], None, *args[place + 1 :]].append(base)
                yield list(alike.values())


def _walk(order: Phases, uses: NDArray[np.bool_], groups: int) -> int | None:
    """The most moves of a match that goes through the phases, if those that ``uses`` says use a group."""
    if order.again is not None and not uses[order.again :].any():
        return None
    moves = used = phase = 0
    while True:
        if phase == len(uses):
            if order.again is None:
                return moves
            phase = order.again
        used += int(uses[phase])
        if used > groups:
            return moves  # no move is legal here
        moves += 1
        phase += 1


class _Prover:
    """Shows in which phases every joint legal move uses a group, until the effort is spent."""

    def __init__(self, ternary: Ternary, steady: NDArray[np.bool_], order: Phases, effort: int) -> None:
        self.ternary, self.network, self.effort = ternary, ternary.network, effort
        self._clocks, self._order = np.flatnonzero(steady), order
        network = self.network
        self._owner = np.repeat(network.first_gate + np.arange(network.gates), np.diff(network.gate_start))
        self._read = network.gate_inputs.astype(np.int64) >> 1
        self._flipped = np.arange(len(network.bases)) * 2 + np.asarray(network.initial, np.int64)
        """The row that says whether a base proposition may have changed from its initial value."""

    def uses(self, groups: Groups) -> NDArray[np.bool_]:
        """Whether every move surely uses a group, by phase."""
        group_of = np.full(len(self.network.bases), -1)
        for number, members in enumerate(groups):
            group_of[members] = number
        shown = np.zeros(len(self._order.states), np.bool_)
        for phase, values in enumerate(self._order.states):
            rows = self.ternary.unknown(1)
            rows[2 * self._clocks] = np.where(values, _ALL, np.uint64(0))[:, None]
            rows[2 * self._clocks + 1] = ~rows[2 * self._clocks]
            self.effort -= len(self.network.gate_inputs)
            possible = self.ternary.step(rows).may[self.network.legal_literals, 0] != 0
            shown[phase] = any(
                all(
                    self._uses(a + move, rows, groups, group_of)
                    for move in np.flatnonzero(possible[a:b]).tolist()
                )
                for a, b in pairwise(self.ternary.role_offsets)
            )
        return shown

    def _uses(self, move: int, rows: Words, groups: Groups, group_of: NDArray[np.int64]) -> bool:
        """Whether a move surely uses a group in states in which what ``rows`` (2 * bases, 1) say holds."""
        network = self.network
        touched = sorted({group for group in group_of[self._acted_on(move)].tolist() if group >= 0})
        if not touched:
            return False
        known = self._implied([int(network.legal_literals[move]), int(network.terminal_literal) ^ 1])
        rows = rows.copy()
        for base, value in known.items():
            rows[2 * base + value] = 0
        members = [groups[group] for group in touched]
        tried = [base for group in members for base in group if base not in known]
        return self._surely_uses(move, rows, members, []) or (
            0 < len(tried) <= _MOST_TRIED and self._surely_uses(move, rows, members, tried)
        )

    def _surely_uses(self, move: int, rows: Words, groups: Groups, tried: list[int]) -> bool:
        """The same, trying all combinations of the values of some base propositions."""
        network = self.network
        words = 1 << max(0, len(tried) - _BITS)
        self.effort -= (len(network.gate_inputs) + len(network.bases)) * words
        if self.effort < 0:
            return False
        rows = np.repeat(rows, words, axis=1)
        for place, base in enumerate(tried):
            case = np.full(words, _PATTERNS[place]) if place < _BITS else _by_word(words, place - _BITS)
            rows[2 * base] &= case
            rows[2 * base + 1] &= ~case
        after = self.ternary.step(rows, move)
        used = np.zeros(words, np.uint64)
        for members in groups:
            turned = self._flipped[members]
            fresh = ~np.bitwise_or.reduce(rows[turned], axis=0)
            used |= fresh & ~np.bitwise_and.reduce(after.following[turned ^ 1], axis=0)
        open_ = after.may[network.legal_literals[move]] & after.may[network.terminal_literal ^ 1]
        return not (open_ & ~used).any()

    def _acted_on(self, move: int) -> NDArray[np.bool_]:
        """The base propositions whose next value may depend on a move: shape (bases,)."""
        network = self.network
        mark = np.zeros(network.nodes, np.bool_)
        mark[1 + len(network.bases) + move] = True
        spread(mark, self._read, self._owner)
        acted_on: NDArray[np.bool_] = mark[network.next_literals >> 1]
        return acted_on

    def _implied(self, literals: list[int]) -> dict[int, int]:
        """Base propositions whose values (0 or 1) follow from these literals' truth, by reading what an AND
        needs; others may follow, too."""
        network, known = self.network, dict[int, int]()
        seen = set(literals)
        while literals:
            literal = literals.pop()
            node = literal >> 1
            if 1 <= node <= len(network.bases):
                known[node - 1] = 1 - (literal & 1)
            elif node >= network.first_gate:
                gate = node - network.first_gate
                read = network.gate_inputs[network.gate_start[gate] : network.gate_start[gate + 1]].tolist()
                if literal & 1:
                    read = [read[0] ^ 1] if len(read) == 1 else []
                literals.extend(new for new in read if new not in seen)
                seen.update(read)
        return known


def _by_word(words: int, bit: int) -> Words:
    """All bits set in the words whose number has this bit."""
    return np.where(np.arange(words) >> bit & 1, _ALL, np.uint64(0))
