"""Assembly: numbered atoms, simplified rules, flat arrays.

Atoms that always hold vanish from bodies, rules that can never fire and negations that always
hold go, then whatever no output depends on, then double rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.instantiate import Instances
from gdl.grounding.join import Body
from gdl.grounding.reach import Reached
from gdl.grounding.relation import Relation
from gdl.ground_rules import GroundRules
from gdl.stratify import Dependence
from gdl.terms import DOES, GOAL, LEGAL, NEXT, ROLE, TERMINAL, TRUE, Term, sort_key

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]


@dataclass
class RuleTable:
    """Rules as flat arrays, in the atoms of one numbering.

    Attributes:
        heads: shape (rules,).
        rule_of: shape (literals,): the rule that a body literal belongs to, ascending.
        literals: shape (literals,): ``2 * atom + negated``.
    """

    heads: Int
    rule_of: Int
    literals: Int

    def keep(self, rules: Bool, literals: Bool | None = None) -> None:
        """Keep some rules, and of these some literals only."""
        kept = rules[self.rule_of]
        if literals is not None:
            kept &= literals
        number = np.cumsum(rules) - 1
        self.heads = self.heads[rules]
        self.rule_of = number[self.rule_of[kept]]
        self.literals = self.literals[kept]


class _Numbering:
    """Provisional numbers of all atoms: predicate by predicate, row by row. The atoms of
    next and legal are numbered by the base proposition or move that they are about."""

    def __init__(self, reached: Reached, auxiliary: list[int]) -> None:
        relations = reached.relations
        sizes = [r.n for r in relations] + auxiliary
        self.offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.count = int(self.offsets[-1])
        self.alias = np.arange(self.count, dtype=np.int64)
        self._auxiliary = len(relations)
        # Per atom of true its atom of next, per atom of does its atom of legal.
        self.twin = np.full(self.count, -1, np.int64)
        for copy in reached.copies:
            source, target = copy.positives[0], copy.head
            variables = {a for a in (*source.args, *target.args) if a < 0}
            bindings = reached.joiner.join(Body(copy, ()), variables)
            if not bindings.n:
                continue
            ids = relations[source.predicate].find(bindings.args(source.args), bindings.n)
            to = relations[target.predicate].find(bindings.args(target.args), bindings.n)
            atoms = self.offsets[source.predicate] + ids
            about = self.offsets[target.predicate] + to
            first = self.twin[about] < 0
            self.twin[about[first]] = atoms[first]
            self.alias[atoms] = self.twin[about]


    def start(self, predicate: int) -> int:
        """The first atom of a predicate; auxiliary ones are -1, -2, ..."""
        return int(self.offsets[predicate if predicate >= 0 else self._auxiliary - 1 - predicate])


def assemble(
    reached: Reached, instances: Instances, written: Sequence[Term], names: bool = False
) -> GroundRules:
    """Number, simplify and order everything.

    Args:
        reached: the reachable atoms.
        instances: the ground rules.
        written: the roles in the order in which the rules name them.
        names: whether to give every atom its name, for people.
    """
    program, relations = reached.program, reached.relations
    numbering = _Numbering(reached, instances.auxiliary)
    table = _table(instances, numbering)
    _add_static_outputs(reached, numbering, table)
    roles = _roles(reached, written)
    inputs = [p for name, arity in ((TRUE, 1), (DOES, 2)) for p in program.named(name, arity)]
    is_input: Bool = np.zeros(numbering.count, np.bool_)
    initial: Bool = np.zeros(numbering.count, np.bool_)
    for p in inputs:
        start = numbering.offsets[p.index]
        is_input[start : start + relations[p.index].n] = True
        initial[start : start + reached.initial.get(p.index, 0)] = True
    possible, fact = simplify(table, is_input, initial, numbering.twin)

    base_rows = _rows(reached, TRUE, possible, numbering)
    bases, base_atoms = _sorted_terms(reached, base_rows, 0)
    moves, move_atoms = _moves(reached, numbering, possible, roles)
    goals = _goals(reached, numbering, possible, roles)
    terminal = [int(numbering.offsets[p.index]) for p in program.named(TERMINAL, 0) if relations[p.index].n]
    terminal = [a for a in terminal if possible[a]]
    next_atoms = numbering.twin[base_atoms]
    next_atoms = np.where((next_atoms >= 0) & possible[next_atoms], next_atoms, -1)
    legal_atoms = numbering.twin[move_atoms]

    live: Bool = np.zeros(numbering.count, np.bool_)
    live[next_atoms[next_atoms >= 0]] = True
    live[legal_atoms] = True
    live[[a for _, _, a in goals] + terminal] = True
    _spread(table, live)
    table.keep(live[table.heads])
    _unique(table)

    number = np.full(numbering.count, -1, np.int64)
    first = np.concatenate((base_atoms, move_atoms))
    number[first] = np.arange(len(first))
    live &= ~is_input
    others = np.flatnonzero(live)
    number[others] = np.arange(len(first), len(first) + len(others))
    order = np.argsort(number[table.heads], kind="stable")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    rule_of = position[table.rule_of]
    by_rule = np.argsort(rule_of, kind="stable")
    literals = table.literals[by_rule]
    bodies = 2 * number[literals >> 1] + (literals & 1)
    lengths = np.bincount(rule_of, minlength=len(order)) if len(order) else np.zeros(0, np.int64)
    return GroundRules(
        roles=tuple(roles),
        bases=tuple(bases),
        moves=tuple(map(tuple, moves)),
        atom_count=len(first) + len(others),
        heads=number[table.heads[order]].astype(np.int32),
        body_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        bodies=bodies.astype(np.int32),
        next_atoms=np.where(next_atoms >= 0, number[next_atoms], -1).astype(np.int32),
        legal_atoms=number[legal_atoms].astype(np.int32),
        goal_atoms=tuple((r, v, int(number[a])) for r, v, a in goals),
        terminal_atom=int(number[terminal[0]]) if terminal else -1,
        initial=initial[base_atoms],
        names=_names(reached, numbering, number, others) if names else {},
    )


def _table(instances: Instances, numbering: _Numbering) -> RuleTable:
    """All blocks in one table; literals sorted in each rule, doubles and contradictions gone."""
    heads: list[Int] = []
    lengths: list[Int] = []
    literals: list[Int] = []
    for block in instances.blocks:
        own = numbering.alias[numbering.start(block.predicate) + block.heads]
        columns = []
        for predicate, ids, negated in block.literals:
            atoms = numbering.alias[numbering.start(predicate) + np.maximum(ids, 0)]
            columns.append(np.where(ids >= 0, 2 * atoms + negated, -1))
        if not columns:
            heads.append(own)
            lengths.append(np.zeros(len(own), np.int64))
            continue
        matrix = np.sort(np.stack(columns, axis=1), axis=1)
        there = matrix >= 0
        there[:, 1:] &= matrix[:, 1:] != matrix[:, :-1]
        clash = ((matrix[:, 1:] ^ 1) == matrix[:, :-1]) & (matrix[:, :-1] >= 0)
        fine = ~clash.any(axis=1)
        if not fine.all():
            matrix, there, own = matrix[fine], there[fine], own[fine]
        heads.append(own)
        lengths.append(there.sum(axis=1))
        literals.append(matrix[there])
    none = np.empty(0, np.int64)
    all_heads = np.concatenate([none, *heads])
    rule_of = np.repeat(np.arange(len(all_heads)), np.concatenate([none, *lengths]))
    return RuleTable(all_heads, rule_of, np.concatenate([none, *literals]))


def _add_static_outputs(reached: Reached, numbering: _Numbering, table: RuleTable) -> None:
    """Rules without a body for next, legal, goal and terminal atoms that always hold."""
    heads = []
    for name, arity in ((NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0)):
        for p in reached.program.named(name, arity):
            if reached.dependence[p.index] is Dependence.STATIC:
                start = numbering.offsets[p.index]
                heads.append(numbering.alias[start : start + reached.relations[p.index].n])
    table.heads = np.concatenate((table.heads, *heads))


def simplify(table: RuleTable, is_input: Bool, initial: Bool, twin: Int) -> tuple[Bool, Bool]:
    """Drop rules that never fire and literals that always hold, to a fixpoint.

    Args:
        table: changed in place.
        is_input: per atom, whether it is a base proposition or a move.
        initial: per atom, whether it is a base proposition that is initially true.
        twin: per input its next or legal atom, -1 if none.

    Returns:
        Per atom whether it is possible, and whether it always holds (inputs never do).
    """
    count = len(is_input)
    inputs = np.flatnonzero(is_input)
    fact: Bool = np.zeros(count, np.bool_)
    while True:
        possible: Bool = np.zeros(count, np.bool_)
        possible[table.heads] = True
        twins = twin[inputs]
        possible[inputs] = initial[inputs] | ((twins >= 0) & possible[twins])
        lengths = np.bincount(table.rule_of, minlength=len(table.heads))
        bare = lengths == 0
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
            return possible, fact
        table.keep(rules, ~sure)


def _spread(table: RuleTable, live: Bool) -> None:
    """Mark all atoms that the marked ones depend on."""
    order = np.argsort(table.heads[table.rule_of], kind="stable")
    heads = table.heads[table.rule_of][order]
    atoms = (table.literals >> 1)[order]
    starts = np.searchsorted(heads, np.arange(len(live) + 1))
    front = np.flatnonzero(live)
    while len(front):
        begin, end = starts[front], starts[front + 1]
        sizes = end - begin
        total = int(sizes.sum())
        ends = np.cumsum(sizes)
        rows = np.arange(total) + np.repeat(begin - ends + sizes, sizes)
        reached: Bool = np.zeros(len(live), np.bool_)
        reached[atoms[rows]] = True
        reached &= ~live
        live |= reached
        front = np.flatnonzero(reached)


def _unique(table: RuleTable) -> None:
    """Drop rules that say what an earlier one says. Bodies are sorted."""
    rules = len(table.heads)
    if not rules:
        return
    random = np.random.default_rng(20_240_229)
    size = 2 * (int(max(table.heads.max(), (table.literals >> 1).max(initial=0))) + 1)
    high, low = (random.integers(0, 1 << 64, size, np.uint64) for _ in range(2))
    sums = []
    for weights in (high, low):
        running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weights[table.literals], dtype=np.uint64)))
        ends = np.cumsum(np.bincount(table.rule_of, minlength=rules))
        body = running[ends] - running[np.concatenate(([0], ends[:-1]))]
        sums.append(body + weights[table.heads] * np.uint64(0x9E3779B97F4A7C15))
    # 128 random bits per rule: equal sums are equal rules.
    pairs = np.stack(sums, axis=1).view(np.dtype([("a", np.uint64), ("b", np.uint64)])).reshape(-1)
    first = np.unique(pairs["a"] ^ (pairs["b"] << np.uint64(1)), return_index=True)[1]
    if len(first) < rules:
        kept: Bool = np.zeros(rules, np.bool_)
        kept[first] = True
        table.keep(kept)


def _roles(reached: Reached, written: Sequence[Term]) -> list[Term]:
    """The roles in the order in which the rules name them."""
    found: set[Term] = set()
    for p in reached.program.named(ROLE, 1):
        relation = reached.relations[p.index]
        found.update(reached.program.arguments(p.index, relation.row(i))[0] for i in range(relation.n))
    rank = {role: i for i, role in reversed(list(enumerate(written)))}
    return sorted(found, key=lambda role: (rank.get(role, len(rank)), sort_key(role)))


Rows = list[tuple[int, Int]]
"""Predicates with the ids of some of their rows."""


def _rows(reached: Reached, name: str, possible: Bool, numbering: _Numbering) -> Rows:
    arity = {TRUE: 1, DOES: 2, GOAL: 2}[name]
    rows = []
    for p in reached.program.named(name, arity):
        start = numbering.offsets[p.index]
        rows.append((p.index, np.flatnonzero(possible[start : start + reached.relations[p.index].n])))
    return rows


def _sorted_terms(reached: Reached, rows: Rows, argument: int) -> tuple[list[Term], Int]:
    """The terms of rows, sorted, and their atoms."""
    found: list[tuple[Term, int]] = []
    offset = np.concatenate(([0], np.cumsum([r.n for r in reached.relations])))
    for p, ids in rows:
        for i, row in zip(ids.tolist(), _row_tuples(reached.relations[p], ids), strict=True):
            found.append((reached.program.arguments(p, row)[argument], int(offset[p]) + i))
    found.sort(key=lambda pair: sort_key(pair[0]))
    return [t for t, _ in found], np.array([a for _, a in found], np.int64)


def _row_tuples(relation: Relation, ids: Int) -> list[tuple[int, ...]]:
    if not relation.arity:
        return [()] * len(ids)
    return list(zip(*[relation.column(c)[ids].tolist() for c in range(relation.arity)], strict=True))


def _moves(
    reached: Reached, numbering: _Numbering, possible: Bool, roles: list[Term]
) -> tuple[list[list[Term]], Int]:
    """Per role its moves, sorted, and the atoms of all roles' moves in this order."""
    number = {role: i for i, role in enumerate(roles)}
    found: list[list[tuple[Term, int]]] = [[] for _ in roles]
    for p, ids in _rows(reached, DOES, possible, numbering):
        start = int(numbering.offsets[p])
        for i, row in zip(ids.tolist(), _row_tuples(reached.relations[p], ids), strict=True):
            role, move = reached.program.arguments(p, row)
            if role in number:
                found[number[role]].append((move, start + i))
    for own in found:
        own.sort(key=lambda pair: sort_key(pair[0]))
    atoms = np.array([a for own in found for _, a in own], np.int64)
    return [[t for t, _ in own] for own in found], atoms


def _goals(
    reached: Reached, numbering: _Numbering, possible: Bool, roles: list[Term]
) -> list[tuple[int, int, int]]:
    """(role, value, atom) of every possible goal whose value is a number."""
    number = {role: i for i, role in enumerate(roles)}
    goals = []
    for p, ids in _rows(reached, GOAL, possible, numbering):
        start = int(numbering.offsets[p])
        for i, row in zip(ids.tolist(), _row_tuples(reached.relations[p], ids), strict=True):
            role, value = reached.program.arguments(p, row)
            if role in number and value.name.isascii() and value.name.isdecimal() and len(value.name) < 10:
                goals.append((number[role], int(value.name), start + i))
    return sorted(goals)


def _names(reached: Reached, numbering: _Numbering, number: Int, others: Int) -> dict[int, str]:
    """The GDL atoms of all but the inputs; auxiliary ones are numbered."""
    names: dict[int, str] = {}
    predicate = np.searchsorted(numbering.offsets, others, side="right") - 1
    for atom, p in zip(others.tolist(), predicate.tolist(), strict=True):
        i = atom - int(numbering.offsets[p])
        if p < len(reached.program.predicates):
            term = reached.program.atom(p, reached.relations[p].row(i))
            names[int(number[atom])] = str(term)
        else:
            names[int(number[atom])] = f"part;{p}.{i}"
    return names
