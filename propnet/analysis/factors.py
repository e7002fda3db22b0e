"""Factors: parts of a game that do not touch each other (M. Guenther, S. Schiffel and M. Thielscher:
Factoring general games, 2009).

A move may act on one part, or be a choice in each of them (A. Hufschmitt, J.-N. Vittaut and J. Mehat:
A general approach of game description decomposition for General Game Playing, 2016).
Clocks (base propositions that no move has an influence on) are in no factor: every factor has its own copy.
"""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.cofactors import Cofactors, cofactors
from propnet.analysis.cones import clocks, relevant
from propnet.analysis.ternary import constant_bases
from propnet.network import Network
from propnet.passes.circuit import FALSE

EFFORT = 1_000_000
"""Gate inputs that may be looked at to find out what the moves do; about 2 s at most."""

QUICK_INPUTS = 20_000
QUICK_EFFORT = 100_000
"""For a quick answer networks with more gate inputs are not looked at, and so many inputs are. It takes a
tenth of a second in most games, a third in those as large as amazons_8x8."""

ALTERNATIVE = "alternative"
"""Each move acts on one factor at most; the others stay as they are."""

COMPOUND = "compound"
"""Each move is a choice in every factor, and all combinations of choices are moves."""

Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Factors:
    """How a game falls apart.

    Attributes:
        bases: int32, shape (bases,): the factor of each base proposition; -1 for clocks, for those that
            never change and for those that neither an end nor a goal depends on.
        count: how many factors there are: 1 for a game that does not fall apart.
        choices: int32, shape (factors, moves): what each move chooses in each factor: equal numbers do the
            same there and are legal there alike. 0 is what most moves of the role choose.
        kind: ``ALTERNATIVE``, ``COMPOUND``, or "" with less than two factors.
        idle: bool, shape (factors,): whether choice 0 of every role leaves the factor as it is.
    """

    bases: NDArray[np.int32]
    count: int
    choices: NDArray[np.int32]
    kind: str
    idle: NDArray[np.bool_]


def factors(network: Network, effort: int = EFFORT) -> Factors | None:
    """The factors of a game; None where finding them would take more effort than allowed."""
    effects: list[Cofactors] = []
    try:
        parts = _Parts(network, effort)
        if parts.count > 1:
            for role in range(len(network.roles)):
                found = cofactors(network, role, parts.effort)
                if found is None:
                    return None
                effects.append(found[0])
                parts.effort = found[1]
        while parts.count > 1:
            made = _assigned(network, parts, effects)
            if made is not None:
                return made
    except _TooMuchError:
        return None
    return Factors(
        parts.factor(),
        parts.count,
        np.zeros((parts.count, network.move_count), np.int32),
        "",
        np.zeros(parts.count, np.bool_),
    )


def quick_factors(network: Network) -> Factors | None:
    """The factors of a game if they are found quickly (:data:`QUICK_EFFORT`), else None. Those of the
    networks that were asked about last are known: a match asks again at every turn."""
    for known, found in _known:
        if known() is network:
            return found
    found = factors(network, QUICK_EFFORT) if len(network.gate_inputs) <= QUICK_INPUTS else None
    _known.append((weakref.ref(network), found))
    del _known[:-4]
    return found


_known: list[tuple[weakref.ref[Network], Factors | None]] = []


class _TooMuchError(Exception):
    """More effort than allowed."""


class _Parts:
    """Base propositions that must be in one factor, in a union-find forest over the nodes.

    Attributes:
        effort: how many inputs of gates may still be looked at.
    """

    def __init__(self, network: Network, effort: int) -> None:
        self.effort = effort
        bases = len(network.bases)
        self.first_move, self.first_gate = 1 + bases, network.first_gate
        matters, _ = relevant(network)
        inside = matters & ~clocks(network) & ~constant_bases(network)
        self._inside = inside.tolist()
        self._above = list(range(network.nodes))
        starts, inputs = network.gate_start.tolist(), (network.gate_inputs >> 1).tolist()
        self._starts, self._inputs, self._literals = starts, inputs, network.gate_inputs.tolist()
        # Gates that say nothing about the inside join nothing.
        self.says = [False, *self._inside, *[False] * network.move_count, *[False] * network.gates]
        for _ in range(2 if len(network.loops) else 1):
            for gate in range(network.gates):
                node = self.first_gate + gate
                if not self.says[node]:
                    self.says[node] = any(self.says[x] for x in inputs[starts[gate] : starts[gate + 1]])
        seen: set[int] = set()
        for base, x in enumerate(network.next_literals.tolist()):
            if self._inside[base] and self.says[x >> 1]:
                self.join_cone(x >> 1, seen)
                self.join(1 + base, x >> 1)
        for literal in best_goals(network):
            for x in self.terms(literal):
                self.join_all(self.below(x >> 1))

    def terms(self, literal: int) -> list[int]:
        """The literals whose AND, or whose OR, a literal is; not the other way round inside."""
        found: list[int] = []
        stack = [literal & ~1]
        seen: set[int] = set()
        while stack:
            x = stack.pop()
            if x & 1 or x >> 1 < self.first_gate:
                found.append(x)
                continue
            gate = (x >> 1) - self.first_gate
            new = set(self._literals[self._starts[gate] : self._starts[gate + 1]]) - seen
            self._spend(len(new))
            seen |= new
            stack += new
        return found

    def join_all(self, nodes: Iterable[int]) -> None:
        """Make some nodes' parts one."""
        first, *others = [*nodes] or [0]
        for node in others:
            self.join(first, node)

    def join_cone(self, node: int, seen: set[int]) -> None:
        """Join what a node says something about."""
        stack = [node]
        while stack:
            at = stack.pop()
            if at < self.first_gate or at in seen:
                continue
            seen.add(at)
            gate = at - self.first_gate
            for below in self._inputs[self._starts[gate] : self._starts[gate + 1]]:
                if self.says[below]:
                    self.join(at, below)
                    stack.append(below)

    def find(self, node: int) -> int:
        """What stands for the part that a node is in."""
        above = self._above
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    def join(self, one: int, other: int) -> None:
        """Make two nodes' parts one."""
        self._above[self.find(one)] = self.find(other)

    def below(self, node: int) -> set[int]:
        """The parts that a node says something about."""
        found: set[int] = set()
        seen = {node}
        stack = [node] if self.says[node] else []
        while stack:
            at = stack.pop()
            if at < self.first_move:
                found.add(self.find(at))
            else:
                gate = at - self.first_gate
                read = self._inputs[self._starts[gate] : self._starts[gate + 1]]
                self._spend(len(read))
                new = {below for below in read if self.says[below]} - seen
                seen |= new
                stack += new
        return found

    def _spend(self, inputs: int) -> None:
        self.effort -= inputs
        if self.effort < 0:
            raise _TooMuchError

    def inputs_of(self, literal: int) -> list[int]:
        """The literals whose AND a literal is."""
        node = literal >> 1
        if literal & 1 or node < self.first_gate:
            return [literal]
        gate = node - self.first_gate
        read: list[int] = self._literals[self._starts[gate] : self._starts[gate + 1]]
        return read

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len({self.find(1 + base) for base, inside in enumerate(self._inside) if inside})

    def factor(self) -> NDArray[np.int32]:
        """Each base proposition's part, numbered in the order of the propositions; -1 outside."""
        number: dict[int, int] = {}
        found = [
            number.setdefault(self.find(1 + base), len(number)) if inside else -1
            for base, inside in enumerate(self._inside)
        ]
        return np.array(found, np.int32)


def best_goals(network: Network) -> list[int]:
    """Of each role the literal of the highest goal that it may get."""
    found: dict[int, tuple[int, int]] = {}
    for role, value, literal in network.goals.tolist():
        if literal != FALSE and value > found.get(role, (-1, FALSE))[0]:
            found[role] = (value, literal)
    return [literal for _, literal in found.values()]


def _assigned(network: Network, parts: _Parts, effects: list[Cofactors]) -> Factors | None:
    """The factors, if every move can be told apart into choices; else None, and parts have been joined."""
    factor = parts.factor()
    number = {parts.find(1 + base): int(f) for base, f in enumerate(factor) if f >= 0}
    count = len(number)
    below: dict[int, list[int]] = {}
    for literal in network.legal_literals.tolist():
        for x in parts.inputs_of(literal):
            if x not in below:
                below[x] = [number[part] for part in parts.below(x >> 1)]
    meeting = [some for some in below.values() if len(some) > 1]
    for some in meeting:
        _join_factors(parts, factor, some)
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
            for column, part in zip(signatures, signature, strict=True):
                column.append(tuple(part))
        for f, column in enumerate(signatures):
            place, rests = _numbered(column, effect.usual, np.flatnonzero(factor == f).tolist())
            choices[f, first : first + len(moves)] = [place[key] for key in column]
            idle[f] &= rests
        some_choices = choices[:, first : first + len(moves)].T.tolist()
        kinds = [len(set(column)) for column in signatures]
        product &= len(set(map(tuple, some_choices))) == math.prod(kinds)
        first += len(moves)
    touched = choices > 0
    if touched.sum(axis=0).max(initial=0) < 2:
        return Factors(factor, count, choices, ALTERNATIVE, idle)
    if product:
        return Factors(factor, count, choices, COMPOUND, idle)
    for column in touched.T:
        if np.count_nonzero(column) > 1:
            _join_factors(parts, factor, np.flatnonzero(column).tolist())
    return None


def _numbered(
    column: list[Signature], usual: list[int], bases: list[int]
) -> tuple[dict[Signature, int], bool]:
    """Numbers for what a role's moves do in one factor, and whether 0 leaves the factor as it is.

    0 is what most moves do, or what leaves it as it is; no move has it where each does something else."""

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


def _join_factors(parts: _Parts, factor: NDArray[np.int32], some: Iterable[int]) -> None:
    """Make some factors one."""
    parts.join_all([1 + int(np.flatnonzero(factor == f)[0]) for f in some])


def goal_terms(network: Network, found: Factors, literal: int) -> tuple[bool, list[list[int]]] | None:
    """What a goal asks of each factor.

    Returns:
        whether all of it is asked (else any), and per factor its literals; what asks something of clocks
        alone is left out. None where a part of the goal asks something of several factors at once, or
        where it takes too long to tell.
    """
    wanted: list[list[int]] = [[] for _ in range(found.count)]
    try:
        parts = _Parts(network, EFFORT)
        # Parts that moves have joined are several here, but of one factor.
        factor = {parts.find(1 + base): int(f) for base, f in enumerate(found.bases) if f >= 0}
        for x in parts.terms(literal):
            asked = {factor[root] for root in parts.below(x >> 1)}
            if len(asked) > 1:
                return None
            for f in asked:
                wanted[f].append(x ^ (literal & 1))
    except _TooMuchError:
        return None
    return not literal & 1, wanted
