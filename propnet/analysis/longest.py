"""The longest possible match for any moves, proven by clocks and by resources that each move uses up. Also
the step at which step clocks begin to matter.

A clock that ends the match is a bound (:mod:`propnet.analysis.ternary`). So are latches: propositions that
never change back. Sort latches into groups, and call a group used when one of its latches has changed: used
groups stay used. If every joint legal move uses a new group, there are no more moves than groups. The nine
squares of tic-tac-toe are such groups.

That every move uses a group is shown for one role at a time, move by move. The move's legality fixes some
propositions, the latches that the move affects are tried in all combinations, and ternary simulation computes
the consequences. In phases of clocks in which this fails, no group is counted.

A step clock begins to matter at the first step at which the end or a goal depends on the rest in another way.
The gates that a clock reaches are rebuilt with the clock's values at each step inserted, hash-consed: equal
literals are equal functions. Different literals may be equal functions too, so the answer is safe, not exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from propnet.analysis.cones import clocks
from propnet.analysis.ternary import CASES_PER_WORD, Phases, Ternary, Words, latches, phases
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder, replaced
from propnet.rests import Implied

_UNKNOWN = 1 << 40
"""Nodes from here on stand for gates that are not examined."""


def first_change(network: Network, clocks: NDArray[np.bool_], values: NDArray[np.bool_]) -> int | None:
    """The first step at which the end of the match or a goal depends on the clocks in another way than at
    step 0. In two states of earlier steps that differ only in the clocks they are the same. None if there is
    no such step.

    ``clocks``, shape (bases,), marks the base propositions that are clocks. ``values``, shape (steps, bases),
    holds their values at each step from 0 on, until they repeat.
    """
    fold = _Fold(network, clocks)
    first = None
    for step, row in enumerate(values):
        outputs = fold.outputs(step, row)
        if first is None:
            first = outputs
        elif outputs != first:
            return step
    return None


class _Fold:
    """Builds the gates between clocks and the end or a goal, for one step after another."""

    def __init__(self, network: Network, clocks: NDArray[np.bool_]) -> None:
        start, read = network.gate_start.tolist(), network.gate_inputs.astype(np.int64)
        first = network.first_gate
        owner = np.repeat(first + np.arange(network.gates), np.diff(network.gate_start))
        reached = np.zeros(network.nodes, np.bool_)
        reached[1 : 1 + len(clocks)] = clocks
        spread(reached, read >> 1, owner)
        needed = np.zeros(network.nodes, np.bool_)
        literals = [*network.goals[:, 2].tolist(), int(network.terminal_literal)]
        needed[np.array(literals) >> 1] = True
        spread(needed, owner, read >> 1)
        self._outputs = literals
        self._clocks = np.flatnonzero(clocks).tolist()
        inputs: list[int] = read.tolist()
        gates: list[int] = np.flatnonzero((reached & needed)[first:]).tolist()
        self._gates = [(first + gate, inputs[start[gate] : start[gate + 1]]) for gate in gates]
        self._looped = {
            first + gate
            for low, high in network.loops.tolist()
            for gate in range(low, high)
            if reached[first + gate] and needed[first + gate]
        }
        self._literals = list(range(0, 2 * network.nodes, 2))
        self._builder = CircuitBuilder(network.nodes)

    def outputs(self, step: int, values: NDArray[np.bool_]) -> list[int]:
        """The literals of the goals and of the end for these values of the clocks, a row of base
        propositions."""
        literals = self._literals
        for base in self._clocks:
            literals[1 + base] = TRUE if values[base] else FALSE
        for node, inputs in self._gates:
            # The result of recursion at this step is not examined: it counts as unlike that of any other
            # step.
            literals[node] = (
                2 * (_UNKNOWN * (step + 1) + node)
                if node in self._looped
                else self._builder.conjunction(replaced(inputs, literals))
            )
        return replaced(self._outputs, literals)


EFFORT = 100_000_000
"""The most gate inputs, times words of 64 cases, that are visited."""

_MOST_TRIED = 14
"""The most latches that are tried in all combinations."""
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

Groups = list[list[int]]
"""Base propositions, by group."""


def longest_match(network: Network, effort: int = EFFORT) -> int | None:
    """The most joint moves that a match of legal moves can have; None if no bound was proven. The bound is
    not always reached."""
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
    """Ways to sort latches into groups: those of one name or of all, that become true, that become false or
    both, each alone or together with those that differ in only one argument."""
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
    """The most moves of a match that goes through the phases, if moves use a group in the phases of
    ``uses``."""
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
    """Shows the phases in which every joint legal move uses a group, until the effort is used up."""

    def __init__(self, ternary: Ternary, steady: NDArray[np.bool_], order: Phases, effort: int) -> None:
        self.ternary, self.network, self.effort = ternary, ternary.network, effort
        self._clocks, self._order = np.flatnonzero(steady), order
        network = self.network
        self._owner = np.repeat(network.first_gate + np.arange(network.gates), np.diff(network.gate_start))
        self._read = network.gate_inputs.astype(np.int64) >> 1
        self._flipped = np.arange(len(network.bases)) * 2 + np.asarray(network.initial, np.int64)
        """The row for "a base proposition may have changed from its initial value"."""
        self._implied = Implied(network, effort)

    def uses(self, groups: Groups) -> NDArray[np.bool_]:
        """Whether every move surely uses a group, per phase."""
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
        """Whether a move surely uses a group in states with the values of ``rows`` (2 * bases, 1)."""
        network = self.network
        touched = sorted({group for group in group_of[self._acted_on(move)].tolist() if group >= 0})
        if not touched:
            return False
        known = self._implied.bases([int(network.legal_literals[move]), int(network.terminal_literal) ^ 1])
        rows = rows.copy()
        rows[[(x ^ 1) - 2 for x in known]] = 0  # true: may not be false, and the other way round
        members = [groups[group] for group in touched]
        tried = sorted({base for group in members for base in group} - {x // 2 - 1 for x in known})
        return self._surely_uses(move, rows, members, []) or (
            0 < len(tried) <= _MOST_TRIED and self._surely_uses(move, rows, members, tried)
        )

    def _surely_uses(self, move: int, rows: Words, groups: Groups, tried: list[int]) -> bool:
        """Like :meth:`_uses`, trying all combinations of the values of some base propositions."""
        network = self.network
        words = max(1, (1 << len(tried)) // CASES_PER_WORD)
        self.effort -= (len(network.gate_inputs) + len(network.bases)) * words
        if self.effort < 0:
            return False
        rows = np.repeat(rows, words, axis=1)
        cases = np.arange(CASES_PER_WORD * words)
        for place, base in enumerate(tried):
            case = np.packbits(cases >> place & 1, bitorder="little").view(np.uint64)
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
