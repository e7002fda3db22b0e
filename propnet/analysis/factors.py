"""Factors: independent parts of a game (M. Guenther, S. Schiffel and M. Thielscher: Factoring general games,
2009).

A move may act on one factor, or be a choice in each of them (A. Hufschmitt, J.-N. Vittaut and J. Mehat:
A general approach of game description decomposition for General Game Playing, 2016).
Clocks (base propositions that no move influences) are in no factor: every factor has its own copy.

The effects of a move are the cofactors (G. Boole) of the next functions by one role's moves, structurally
hashed: equal literals are equal functions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.cones import clocks, relevant
from propnet.analysis.ternary import constant_bases
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import EffortError, Remake, value


@dataclass(frozen=True, slots=True)
class _Cofactors:
    """The next functions for each single move of one role.

    Literals are those of the network up to its gates that need moves, followed by new gates
    (:mod:`propnet.substitute`); the moves of other roles are open.

    Attributes:
        usual: per base proposition its next function if none of the moves were made.
        changed: per move the base propositions whose next function differs from the usual one, and that
            function.
    """

    usual: list[int]
    changed: list[dict[int, int]]


def cofactors(network: Network, role: int, effort: int) -> tuple[_Cofactors, int]:
    """The cofactors by the moves of a role, and the rest of the effort, in gate inputs. Raises EffortError if
    the effort is not enough, or if there are loops among the gates that need moves."""
    low = 1 + len(network.bases) + sum(map(len, network.moves[:role]))
    moves = range(low, low + len(network.moves[role]))
    next_literals = network.next_literals.tolist()
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(next_literals):
        outputs.setdefault(x >> 1, []).append(base)
    gates = Remake(network, effort)
    step = gates.step()
    step.usual = dict.fromkeys(moves, FALSE)
    gates.evaluate(step)
    changed = [
        {
            base: literal ^ (next_literals[base] & 1)
            for node, literal in gates.changed(step, {move: TRUE}).items()
            for base in outputs.get(node, ())
        }
        for move in moves
    ]
    return _Cofactors([value(step.usual, x) for x in next_literals], changed), gates.effort


EFFORT = 1_000_000
"""The most gate inputs that are visited to find the effects of moves (see docs/measurements.md)."""

QUICK_INPUTS = 20_000
_QUICK_EFFORT = 100_000
"""Limits of a quick answer: gate inputs of the network, and visited ones (see docs/measurements.md)."""

ALTERNATIVE = "alternative"
"""Each move acts on at most one factor; the others stay as they are."""

COMPOUND = "compound"
"""Each move is a choice in every factor, and all combinations of choices are moves."""

Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of a game.

    Attributes:
        bases: int32, shape (bases,): the factor of each base proposition; -1 for clocks, for propositions
            that never change and for those on which neither an end nor a goal depends.
        count: the number of factors; 1 for a game without independent parts.
        choices: int32, shape (factors, moves): the choice of each move in each factor. Moves with equal
            numbers have the same effects and the same legality there; 0 is the choice of most moves of the
            role.
        kind: ``ALTERNATIVE``, ``COMPOUND``, or "" with fewer than two factors.
        idle: bool, shape (factors,): whether choice 0 of every role leaves the factor as it is.
    """

    bases: NDArray[np.int32]
    count: int
    choices: NDArray[np.int32]
    kind: str
    idle: NDArray[np.bool_]


def factors(network: Network, effort: int = EFFORT) -> Factors | None:
    """The factors of a game; None if finding them would take more effort than allowed."""
    effects: list[_Cofactors] = []
    try:
        parts = _Parts(network, effort)
        if parts.count > 1:
            for role in range(len(network.roles)):
                effect, parts.effort = cofactors(network, role, parts.effort)
                effects.append(effect)
        while parts.count > 1:
            separated = _separated(network, parts, effects)
            if separated is not None:
                return separated
    except EffortError:
        return None
    choices = np.zeros((parts.count, network.move_count), np.int32)
    return Factors(parts.factor(), parts.count, choices, "", np.zeros(parts.count, np.bool_))


class _Parts:
    """Union-find of base propositions that must share a factor. ``effort`` gate inputs may still be
    visited."""

    def __init__(self, network: Network, effort: int) -> None:
        self.effort = effort
        bases = len(network.bases)
        self.first_move, self.first_gate = 1 + bases, network.first_gate
        matters, _ = relevant(network)
        inside = matters & ~clocks(network) & ~constant_bases(network)
        self._inside = inside.tolist()
        self._above = list(range(network.nodes))
        bounds, literals = list(pairwise(network.gate_start.tolist())), network.gate_inputs.tolist()
        self._literals: list[list[int]] = [literals[a:b] for a, b in bounds]
        nodes = (network.gate_inputs >> 1).tolist()
        self._inputs = [nodes[a:b] for a, b in bounds]
        # Gates that do not depend on the inside join nothing.
        self.says = [False, *self._inside, *[False] * network.move_count, *[False] * network.gates]
        for _ in range(2 if len(network.loops) else 1):
            for node, read in enumerate(self._inputs, self.first_gate):
                if not self.says[node]:
                    self.says[node] = any(self.says[x] for x in read)
        seen: set[int] = set()
        for base, x in enumerate(network.next_literals.tolist()):
            if self._inside[base] and self.says[x >> 1]:
                self.join_cone(x >> 1, seen)
                self.join(1 + base, x >> 1)
        for literal in _best_goals(network):
            for x in self.terms(literal):
                self.join_all(self.below(x >> 1))

    def terms(self, literal: int) -> list[int]:
        """The literals of which a literal is the AND, or the OR, through nested gates of the same kind."""
        terms: list[int] = []
        stack = [literal & ~1]
        seen: set[int] = set()
        while stack:
            x = stack.pop()
            if not self._is_gate(x):
                terms.append(x)
                continue
            new = set(self.inputs_of(x)) - seen
            self._spend(len(new))
            seen |= new
            stack += new
        return terms

    def join_all(self, nodes: Iterable[int]) -> None:
        """Merge the parts of some nodes."""
        first, *rest = [*nodes] or [0]
        for node in rest:
            self.join(first, node)

    def join_cone(self, root: int, seen: set[int]) -> None:
        """Join a node with everything inside on which it depends."""
        stack = [root]
        while stack:
            node = stack.pop()
            if node < self.first_gate or node in seen:
                continue
            seen.add(node)
            for below in self._inputs[node - self.first_gate]:
                if self.says[below]:
                    self.join(node, below)
                    stack.append(below)

    def find(self, node: int) -> int:
        """The node that represents the part of a node."""
        above = self._above
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    def join(self, a: int, b: int) -> None:
        """Merge the parts of two nodes."""
        self._above[self.find(a)] = self.find(b)

    def below(self, root: int) -> set[int]:
        """The parts on which a node depends."""
        parts: set[int] = set()
        seen = {root}
        stack = [root] if self.says[root] else []
        while stack:
            node = stack.pop()
            if node < self.first_move:
                parts.add(self.find(node))
            else:
                read = self._inputs[node - self.first_gate]
                self._spend(len(read))
                new = {below for below in read if self.says[below]} - seen
                seen |= new
                stack += new
        return parts

    def _spend(self, inputs: int) -> None:
        self.effort -= inputs
        if self.effort < 0:
            raise EffortError("too much effort")

    def _is_gate(self, literal: int) -> bool:
        """Whether a literal is the AND that a gate computes, rather than its negation or an input."""
        return not literal & 1 and literal >> 1 >= self.first_gate

    def inputs_of(self, literal: int) -> list[int]:
        """The literals of which a literal is the AND; itself if it is not a gate."""
        return self._literals[(literal >> 1) - self.first_gate] if self._is_gate(literal) else [literal]

    @property
    def count(self) -> int:
        """The number of parts."""
        return len({self.find(1 + base) for base, inside in enumerate(self._inside) if inside})

    def factor(self) -> NDArray[np.int32]:
        """Each base proposition's part, numbered in the order of the propositions; -1 outside."""
        number: dict[int, int] = {}
        roots = [self.find(1 + base) if inside else -1 for base, inside in enumerate(self._inside)]
        return np.array([-1 if x < 0 else number.setdefault(x, len(number)) for x in roots], np.int32)


def _best_goals(network: Network) -> list[int]:
    """For each role the literal of its highest possible goal."""
    best: dict[int, tuple[int, int]] = {}
    for role, worth, literal in network.goals.tolist():
        if literal != FALSE and worth > best.get(role, (-1, FALSE))[0]:
            best[role] = (worth, literal)
    return [literal for _, literal in best.values()]


def _separated(network: Network, parts: _Parts, effects: list[_Cofactors]) -> Factors | None:
    """The factors, if every move splits into one choice per factor. Otherwise None, after joining parts."""
    factor = parts.factor()
    number = {parts.find(1 + base): int(f) for base, f in enumerate(factor) if f >= 0}
    count = len(number)
    below: dict[int, list[int]] = {}
    for literal in network.legal_literals.tolist():
        for x in parts.inputs_of(literal):
            if x not in below:
                below[x] = [number[part] for part in parts.below(x >> 1)]
    meeting = [touched for touched in below.values() if len(touched) > 1]
    for touched in meeting:
        _join_factors(parts, factor, touched)
    if meeting:
        return None
    choices = np.zeros((count, network.move_count), np.int32)
    idle = np.ones(count, np.bool_)
    product = True
    first = 0
    for moves, effect in zip(network.moves, effects, strict=True):
        signatures: list[list[Signature]] = [[] for _ in range(count)]
        for move in range(len(moves)):
            signature: list[list[object]] = [[] for _ in range(count)]
            for x in parts.inputs_of(int(network.legal_literals[first + move])):
                for f in below[x]:
                    signature[f].append(x)
            for base, literal in sorted(effect.changed[move].items()):
                if factor[base] >= 0:
                    signature[factor[base]].append((base, literal))
            for column, effects_on_factor in zip(signatures, signature, strict=True):
                column.append(tuple(effects_on_factor))
        for f, column in enumerate(signatures):
            place, rests = _numbered(column, effect.usual, np.flatnonzero(factor == f).tolist())
            choices[f, first : first + len(moves)] = [place[key] for key in column]
            idle[f] &= rests
        combinations = set(map(tuple, choices[:, first : first + len(moves)].T.tolist()))
        product &= len(combinations) == math.prod(len(set(column)) for column in signatures)
        first += len(moves)
    chooses = choices > 0
    if chooses.sum(axis=0).max(initial=0) < 2:
        return Factors(factor, count, choices, ALTERNATIVE, idle)
    if product:
        return Factors(factor, count, choices, COMPOUND, idle)
    for choosing in chooses.T:
        if np.count_nonzero(choosing) > 1:
            _join_factors(parts, factor, np.flatnonzero(choosing).tolist())
    return None


def _numbered(
    column: list[Signature], usual: list[int], bases: list[int]
) -> tuple[dict[Signature, int], bool]:
    """Numbers for the effects of a role's moves in one factor, and whether choice 0 leaves the factor as it
    is."""
    # 0 is the effect of most moves, or leaving the factor as it is. It is unused if all moves have other
    # effects.

    def rests(choice: Signature) -> bool:
        changed: dict[int, int] = dict(entry for entry in choice if isinstance(entry, tuple))
        return all(changed.get(base, usual[base]) == 2 * (1 + base) for base in bases)

    ranked = sorted(Counter(column).items(), key=lambda item: (item[1], rests(item[0])), reverse=True)
    if not ranked:
        return {}, True
    usual_choice, times = ranked[0]
    resting = rests(usual_choice)
    begin = 0 if resting or times > 1 or len(column) == 1 else 1
    return {key: i for i, (key, _) in enumerate(ranked, begin)}, resting


def _join_factors(parts: _Parts, factor: NDArray[np.int32], numbers: Iterable[int]) -> None:
    """Merge the factors with these numbers."""
    parts.join_all([1 + int(np.flatnonzero(factor == f)[0]) for f in numbers])
