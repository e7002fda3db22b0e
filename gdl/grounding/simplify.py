"""Simplification of ground rules in flat arrays: constants, dead rules, double rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import Ints

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]


@dataclass
class RuleTable:
    """Rules as flat arrays, in the atoms of one numbering.

    Attributes:
        heads: int, shape (rules,).
        rule_of: int, shape (literals,): the rule that a body literal belongs to, ascending.
        literals: int, shape (literals,): ``2 * atom + negated``.
    """

    heads: Ints
    rule_of: Ints
    literals: Ints

    @property
    def lengths(self) -> Int:
        """How many literals each rule's body has."""
        return np.bincount(self.rule_of, minlength=len(self.heads))

    def keep(self, rules: Bool, literals: Bool | None = None) -> None:
        """Keep some rules only, and of these some literals."""
        left = rules[self.rule_of]
        if literals is not None:
            left &= literals
        number = np.cumsum(rules) - 1
        self.heads = self.heads[rules]
        self.rule_of = number[self.rule_of[left]]
        self.literals = self.literals[left]


def simplify(table: RuleTable, is_input: Bool, initial: Bool, twin: Int, tick: Callable[[], None]) -> Bool:
    """Drop rules that never fire and literals that always hold, to a fixpoint; returns what is possible.

    Per atom, ``is_input`` says whether it is a base proposition or a move, ``initial`` whether it is a base
    proposition that is initially true; ``twin`` has per input its next or legal atom, -1 if none. Changes the
    table in place; calls ``tick`` in each round, which may raise.
    """
    count = len(is_input)
    inputs = np.flatnonzero(is_input)
    fact: Bool = np.zeros(count, np.bool_)
    while True:
        tick()
        possible: Bool = np.zeros(count, np.bool_)
        possible[table.heads] = True
        twins = twin[inputs]
        possible[inputs] = initial[inputs] | ((twins >= 0) & possible[twins])
        bare = table.lengths == 0
        fact[:] = False
        fact[table.heads[bare]] = True
        atoms = table.literals >> 1
        negated = (table.literals & 1).astype(np.bool_)
        sure = np.where(negated, ~possible[atoms], fact[atoms])
        never = np.where(negated, fact[atoms], ~possible[atoms])
        rules = ~fact[table.heads]
        # Of the bare rules of an atom one is enough.
        bare_rules = np.flatnonzero(bare)
        rules[bare_rules[np.unique(table.heads[bare_rules], return_index=True)[1]]] = True
        rules[table.rule_of[never]] = False
        if rules.all() and not sure.any():
            return possible
        table.keep(rules, ~sure)


def merge(table: RuleTable, fixed: Bool, tick: Callable[[], None]) -> None:
    """Let one atom stand for all that have the same rules, to a fixpoint from the inputs up.

    Relations with arguments that rarely matter have many such atoms: whether the king is threatened once a
    chess piece has left a certain square, for instance. Changes the table in place, double rules go; atoms
    that are ``fixed`` (inputs and outputs) stay as they are. Calls ``tick`` in each round, which may raise.
    """
    weights = _mixed(2 * len(fixed))
    signatures = _signatures(table, weights)
    mixed = _mix(signatures)
    sums = np.zeros(len(fixed), np.uint64)
    np.add.at(sums, table.heads, mixed)
    free: Bool = np.zeros(len(fixed), np.bool_)
    free[table.heads] = True
    free &= ~fixed
    alive: Bool = np.ones(len(table.heads), np.bool_)
    literals = table.literals
    while True:
        tick()
        atoms = np.flatnonzero(free)
        _, chosen, group = np.unique(sums[atoms], return_index=True, return_inverse=True)
        into = np.arange(len(fixed))
        into[atoms] = atoms[chosen[group.reshape(-1)]]
        gone = into != np.arange(len(fixed))
        if not gone.any():
            break
        free &= ~gone
        alive &= ~gone[table.heads]
        places = np.flatnonzero(gone[literals >> 1])
        places = places[alive[table.rule_of[places]]]
        old = literals[places]
        new = literals[places] = 2 * into[old >> 1] + (old & 1)
        rules = table.rule_of[places]
        np.add.at(signatures, rules, weights[new] - weights[old])
        rules = rules[np.concatenate((rules[:1] == rules[:1], rules[1:] != rules[:-1]))]
        before = mixed[rules]
        mixed[rules] = _mix(signatures[rules])
        np.add.at(sums, table.heads[rules], mixed[rules] - before)
    if not alive.all():
        table.keep(alive)


def _signatures(table: RuleTable, weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Per rule the sum of the weights of its body's literals."""
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weights[table.literals], dtype=np.uint64)))
    ends = np.cumsum(table.lengths)
    signatures = running[ends]
    signatures[1:] -= running[ends[:-1]]
    return signatures


def unique(table: RuleTable) -> None:
    """Drop rules that equal an earlier one."""
    rules = len(table.heads)
    if not rules:
        return
    # A rule's signature is a sum of well mixed 64-bit numbers, one per literal and one for the head.
    size = 2 * (int(max(table.heads.max(), (table.literals >> 1).max(initial=0))) + 1)
    weights = _mixed(size)
    signatures = _signatures(table, weights)
    signatures += weights[2 * table.heads] * np.uint64(0x9E3779B97F4A7C15)
    first = np.unique(signatures, return_index=True)[1]
    if len(first) < rules:
        distinct: Bool = np.zeros(rules, np.bool_)
        distinct[first] = True
        table.keep(distinct)


def _mixed(size: int) -> NDArray[np.uint64]:
    """Pseudorandom numbers: the splitmix64 generator (Steele, Lea and Flood 2014)."""
    return _mix(np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
