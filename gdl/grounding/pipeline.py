"""The grounder: rules with variables become rules over numbered atoms.

It compiles the rules to flat clauses (:mod:`gdl.compile.pipeline`), then runs the steps that
:mod:`gdl.grounding` lists. The last one, assembly, is here: atoms are numbered, rules simplified and laid out
in flat arrays. It drops atoms that always hold, rules that never fire and negations that always hold; then
everything that no output depends on; then duplicate rules. Base propositions and moves are sorted as terms,
by the ranks of their leaves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gdl.compile.pipeline import compile_rules
from gdl.compile.program import Constant, Function, Leaf, Program, Shape, variables_of
from gdl.compile.stratify import Dependence
from gdl.errors import TooLargeError
from gdl.grounding.graph import spread
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.instantiate import Instances, instantiate
from gdl.grounding.join import Body
from gdl.grounding.limits import REMEDY, Budget, GroundLimits
from gdl.grounding.reachability import Reached, reach
from gdl.grounding.relation import Relation
from gdl.grounding.simplify import Bool, Int, RuleTable, merge, simplify, unique
from gdl.rules import Rules
from gdl.terms import ARITIES, DOES, GOAL, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE, Term, sort_key

Rows = list[tuple[int, Int]]
"""Predicates with the ids of some of their rows."""


class _TermOrder:
    """Sorts the rows of relations by one of their arguments."""

    def __init__(self, program: Program, relations: Sequence[Relation]) -> None:
        self.program = program
        self.relations = relations
        terms = program.table.terms
        self._rank = np.empty(len(terms), np.int64)
        self._rank[sorted(range(len(terms)), key=lambda i: sort_key(terms[i]))] = np.arange(len(terms))

    def sort(self, rows: Rows, argument: int) -> tuple[list[Term], list[tuple[int, int]]]:
        """The terms in one argument of rows, ascending, and the (predicate, row id) of each. The other
        arguments must be the same in all rows."""
        blocks: dict[tuple[Any, ...], list[tuple[Term, tuple[int, int]]]] = {}
        for p, ids in rows:
            own = self._sorted_rows(p, ids, argument)
            shape = self.program.predicates[p].shapes[argument]
            if not isinstance(shape, Function):
                for pair in own:
                    blocks.setdefault(sort_key(pair[0]), []).append(pair)
                continue
            # All these terms have one functor: every other term sorts before or after them all.
            key = (*sort_key(Term(shape.name))[:-1], len(shape.args))
            if key in blocks:
                own = sorted(blocks[key] + own, key=lambda pair: sort_key(pair[0]))
            blocks[key] = own
        pairs = [pair for key in sorted(blocks) for pair in blocks[key]]
        return [t for t, _ in pairs], [row for _, row in pairs]

    def _sorted_rows(self, predicate: int, ids: Int, argument: int) -> list[tuple[Term, tuple[int, int]]]:
        """The rows of one predicate, sorted, with the terms in the argument."""
        relation = self.relations[predicate]
        if relation.arity and len(ids) > 1:
            ranks = [self._rank[relation.column(c)[ids]] for c in range(relation.arity)]
            ids = ids[np.lexsort(ranks[::-1])]
        columns = iter([relation.column(c)[ids].tolist() for c in range(relation.arity)])
        for shape in self.program.predicates[predicate].shapes[: argument + 1]:
            terms = self._terms(shape, columns, len(ids))
        return [(term, (predicate, i)) for term, i in zip(terms, ids.tolist(), strict=True)]

    def _terms(self, shape: Shape, columns: Iterator[list[int]], n: int) -> list[Term]:
        """The terms of one argument of rows, from the columns of its leaves."""
        terms = self.program.table.terms
        if isinstance(shape, Leaf):
            return [terms[i] for i in next(columns)]
        if isinstance(shape, Constant):
            return [terms[shape.term]] * n
        arguments = [self._terms(inner, columns, n) for inner in shape.args]
        return [Term(shape.name, *args) for args in zip(*arguments, strict=True)]


def _row_tuples(relation: Relation, ids: Int) -> list[tuple[int, ...]]:
    """Rows of a relation as tuples."""
    if not relation.arity:
        return [()] * len(ids)
    return list(zip(*[relation.column(c)[ids].tolist() for c in range(relation.arity)], strict=True))


MERGE_FROM = 1_000_000
"""With fewer literals, the network's passes merge the atoms that have the same rules."""

_ASSEMBLY_WORDS = 12
"""The 4-byte words of memory that assembly takes per literal, roughly."""

_Spell = Callable[[Term], str]


class _Numbering:
    """Provisional numbers of all atoms: predicate by predicate, row by row.

    Attributes:
        offsets: the first atom of each predicate, auxiliary ones last; then the end.
        twin: per atom of true its atom of next, per atom of does its atom of legal; -1 if none.
        alias: per atom of next and legal the atom that stands for it (their predicates may have several atoms
            for one base proposition or move); other atoms stand for themselves.
    """

    def __init__(self, reached: Reached, auxiliary: list[int]) -> None:
        relations = reached.relations
        self.offsets = np.cumsum([0, *[r.n for r in relations], *auxiliary], dtype=np.int64)
        self.count = int(self.offsets[-1])
        self._starts: list[int] = self.offsets.tolist()
        self.alias = np.arange(self.count, dtype=np.int64)
        self._auxiliary = len(relations)
        self.twin = np.full(self.count, -1, np.int64)
        for copy in reached.copies:
            source, target = copy.positives[0], copy.head
            body = Body(copy, ())
            read, written = relations[source.predicate], relations[target.predicate]
            bindings = reached.joiner.join(body, variables_of(source.args, target.args))
            if not bindings.n:
                continue
            read_ids = read.find(bindings.args(source.args), bindings.n)
            written_ids = written.find(bindings.args(target.args), bindings.n)
            atoms = self.start(source.predicate) + read_ids.astype(np.int64)
            about = self.start(target.predicate) + written_ids.astype(np.int64)
            first = self.twin[about] < 0
            self.twin[about[first]] = atoms[first]
            self.alias[atoms] = self.twin[about]

    def start(self, predicate: int) -> int:
        """The first atom of a predicate; auxiliary predicates are -1, -2, ..."""
        return self._starts[predicate if predicate >= 0 else self._auxiliary - 1 - predicate]


def assemble(
    reached: Reached, instances: Instances, written: Sequence[Term], spell: _Spell | None = None
) -> GroundRules:
    """Number, simplify and order everything. ``written`` holds the roles in the order in which the rules name
    them. ``spell`` writes the terms that name the atoms; without it there are no names."""
    program, relations = reached.program, reached.relations
    budget = reached.joiner.budget
    budget.rows(sum(len(b.heads) * (1 + len(b.literals)) for b in instances.blocks), _ASSEMBLY_WORDS)
    numbering = _Numbering(reached, instances.auxiliary)
    table = _table(instances, numbering)
    _add_static_outputs(reached, numbering, table)
    roles = _roles(reached, written)
    inputs = [p for name, arity in ((TRUE, 1), (DOES, 2)) for p in program.named(name, arity)]
    is_input: Bool = np.zeros(numbering.count, np.bool_)
    initial: Bool = np.zeros(numbering.count, np.bool_)
    for p in inputs:
        start = numbering.start(p.index)
        is_input[start : start + relations[p.index].n] = True
        initial[start : start + reached.initial.get(p.index, 0)] = True
    possible = simplify(table, is_input, initial, numbering.twin, budget.tick)

    order = _TermOrder(program, relations)
    bases, base_rows = order.sort(_rows(reached, TRUE, possible, numbering), 0)
    base_atoms = np.array([numbering.start(p) + i for p, i in base_rows], np.int64)
    moves, move_rows = _by_role(reached, order, _rows(reached, DOES, possible, numbering), roles)
    move_atoms = np.array([numbering.start(p) + i for p, i in move_rows], np.int64)
    goals = _goals(reached, numbering, possible, roles)
    terminal = [numbering.start(p.index) for p in program.named(TERMINAL, 0) if relations[p.index].n]
    terminal = [a for a in terminal if possible[a]]
    next_atoms = numbering.twin[base_atoms]
    next_atoms = np.where((next_atoms >= 0) & possible[next_atoms], next_atoms, -1)
    legal_atoms = numbering.twin[move_atoms]
    percepts, percept_rows = _by_role(reached, order, _rows(reached, SEES, possible, numbering), roles)
    percept_atoms = np.array([numbering.start(p) + i for p, i in percept_rows], np.int64)

    live: Bool = np.zeros(numbering.count, np.bool_)
    live[next_atoms[next_atoms >= 0]] = True
    live[legal_atoms] = True
    live[percept_atoms] = True
    live[[a for _, _, a in goals] + terminal] = True
    if len(table.literals) > MERGE_FROM:
        merge(table, live | is_input, budget.tick)
    spread(live, table.heads[table.rule_of], table.literals >> 1)
    table.keep(live[table.heads])
    unique(table)

    number = np.full(numbering.count, -1, np.int64)
    input_atoms = np.concatenate((base_atoms, move_atoms))
    number[input_atoms] = np.arange(len(input_atoms))
    live &= ~is_input
    others = np.flatnonzero(live)
    number[others] = np.arange(len(input_atoms), len(input_atoms) + len(others))
    by_head = np.argsort(number[table.heads], kind="stable")
    position = np.empty(len(by_head), np.int64)
    position[by_head] = np.arange(len(by_head))
    rule_of = position[table.rule_of]
    by_rule = np.argsort(rule_of, kind="stable")
    literals = table.literals[by_rule]
    bodies = 2 * number[literals >> 1] + (literals & 1)
    lengths = np.bincount(rule_of, minlength=len(by_head))
    return GroundRules(
        roles=tuple(roles),
        bases=tuple(bases),
        moves=moves,
        atom_count=len(input_atoms) + len(others),
        heads=number[table.heads[by_head]].astype(np.int32),
        body_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        bodies=bodies.astype(np.int32),
        next_atoms=np.where(next_atoms >= 0, number[next_atoms], -1).astype(np.int32),
        legal_atoms=number[legal_atoms].astype(np.int32),
        goal_atoms=tuple((r, v, int(number[a])) for r, v, a in goals),
        terminal_atom=int(number[terminal[0]]) if terminal else -1,
        initial=initial[base_atoms],
        names=_names(reached, numbering, number, others, spell) if spell else {},
        percepts=percepts if reached.program.named(SEES, 2) else (),
        percept_atoms=number[percept_atoms].astype(np.int32),
    )


def _table(instances: Instances, numbering: _Numbering) -> RuleTable:
    """All blocks in one table; each rule's literals are sorted, without duplicates and contradictions."""
    bits = (2 * numbering.count).bit_length()
    heads, rule_of, read = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    count = 0
    for block in instances.blocks:
        heads.append(numbering.start(block.predicate) + block.heads.astype(np.int64))
        rules = np.arange(count, count + len(block.heads))
        count += len(rules)
        for predicate, ids, negated in block.literals:
            literals = 2 * (numbering.start(predicate) + ids.astype(np.int64)) + negated
            reachable: Bool | slice = ids >= 0 if negated else slice(None)
            rule_of.append(rules[reachable])
            read.append(literals[reachable])
    literals = np.concatenate(read)
    literals = 2 * numbering.alias[literals >> 1] + (literals & 1)
    # A rule and a literal in one number, which is sorted fast.
    pairs = (np.concatenate(rule_of) << bits) + literals
    pairs.sort()
    pairs = pairs[np.concatenate((pairs[:1] == pairs[:1], pairs[1:] != pairs[:-1]))]
    rules, literals = pairs >> bits, pairs & ((1 << bits) - 1)
    table = RuleTable(numbering.alias[np.concatenate(heads)], rules, literals)
    clash = (rules[1:] == rules[:-1]) & ((literals[1:] ^ 1) == literals[:-1])
    if clash.any():
        sound: Bool = np.ones(count, np.bool_)
        sound[rules[1:][clash]] = False
        table.keep(sound)
    return table


def _add_static_outputs(reached: Reached, numbering: _Numbering, table: RuleTable) -> None:
    """Add rules without a body for next, legal, goal, terminal and sees atoms that always hold."""
    heads = []
    for name, arity in ((NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0), (SEES, 2)):
        for p in reached.program.named(name, arity):
            if reached.dependence[p.index] is Dependence.STATIC:
                start = numbering.start(p.index)
                heads.append(numbering.alias[start : start + reached.relations[p.index].n])
    table.heads = np.concatenate((table.heads, *heads))


def _roles(reached: Reached, written: Sequence[Term]) -> list[Term]:
    """The roles in the order in which the rules name them."""
    program, relations = reached.program, reached.relations
    predicates = [p.index for p in program.named(ROLE, 1)]
    roles = {program.arguments(p, relations[p].row(i))[0] for p in predicates for i in range(relations[p].n)}
    rank = {role: i for i, role in reversed(list(enumerate(written)))}
    return sorted(roles, key=lambda role: (rank.get(role, len(rank)), sort_key(role)))


def _rows(reached: Reached, name: str, possible: Bool, numbering: _Numbering) -> Rows:
    """The possible rows of a relation."""
    predicates = [p.index for p in reached.program.named(name, ARITIES[name])]
    return [(p, np.flatnonzero(possible[numbering.start(p) :][: reached.relations[p].n])) for p in predicates]


def _by_role(
    reached: Reached, order: _TermOrder, rows: Rows, roles: Sequence[Term]
) -> tuple[tuple[tuple[Term, ...], ...], list[tuple[int, int]]]:
    """Per role the second arguments of its rows, ascending; and the (predicate, row id) of each, in order."""
    terms: list[tuple[Term, ...]] = []
    places: list[tuple[int, int]] = []
    for role in roles:
        own, their_places = order.sort(_rows_of_role(reached, rows, role), 1)
        terms.append(tuple(own))
        places += their_places
    return tuple(terms), places


def _rows_of_role(reached: Reached, rows: Rows, role: Term) -> Rows:
    """Those rows whose first argument is the role."""
    program = reached.program
    own_rows: Rows = []
    for p, ids in rows:
        relation = reached.relations[p]
        if isinstance(program.predicates[p].shapes[0], Leaf):
            own = relation.column(0)[ids] == program.table.find(role)
        else:
            arguments = [program.arguments(p, row) for row in _row_tuples(relation, ids)]
            own = np.array([performer is role for performer, _ in arguments], np.bool_)
        own_rows.append((p, ids[own]))
    return own_rows


def _goals(
    reached: Reached, numbering: _Numbering, possible: Bool, roles: list[Term]
) -> list[tuple[int, int, int]]:
    """(role, value, atom) of every possible goal whose value is a number."""
    number = {role: i for i, role in enumerate(roles)}
    goals = []
    for p, ids in _rows(reached, GOAL, possible, numbering):
        start = numbering.start(p)
        for i, row in zip(ids.tolist(), _row_tuples(reached.relations[p], ids), strict=True):
            role, value = reached.program.arguments(p, row)
            if role in number and value.name.isascii() and value.name.isdecimal() and len(value.name) < 10:
                goals.append((number[role], int(value.name), start + i))
    return sorted(goals)


def _names(
    reached: Reached, numbering: _Numbering, number: Int, others: Int, spell: _Spell
) -> dict[int, str]:
    """The GDL atoms of all but the inputs; auxiliary ones are numbered."""
    names: dict[int, str] = {}
    predicate = np.searchsorted(numbering.offsets, others, side="right") - 1
    for atom, p in zip(others.tolist(), predicate.tolist(), strict=True):
        i = atom - numbering.start(p)
        if p < len(reached.program.predicates):
            term = reached.program.atom(p, reached.relations[p].row(i))
            names[int(number[atom])] = spell(term)
        else:
            names[int(number[atom])] = f"part;{p}.{i}"
    return names


__all__ = ["GroundLimits", "ground"]


def ground(rules: Rules, limits: GroundLimits | None = None, names: bool = False) -> GroundRules:
    """Ground the rules of a game, by default within 4 GB and a minute of CPU time. With ``names``, also fill
    in :attr:`GroundRules.names`.

    Raises:
        RulesError: the rules have no role or no stratification.
        TooLargeError: a limit was passed; the error names the rule that was being grounded.
    """
    budget = Budget(limits or GroundLimits())
    clock = [time.process_time()]
    try:
        program, strata = compile_rules(rules)
        clock.append(time.process_time())
        reached = reach(program, strata, budget)
        clock.append(time.process_time())
        instances = instantiate(reached)
        clock.append(time.process_time())
        budget.place = None
        written = [rule.head.args[0] for rule in rules if rule.head.signature == (ROLE, 1)]
        result = assemble(reached, instances, written, rules.spell if names else None)
        clock.append(time.process_time())
    except (MemoryError, RecursionError) as error:
        raise TooLargeError("grounding ran out of memory", budget.place, REMEDY) from error
    steps = ("compile", "reach", "instantiate", "assemble")
    stats: dict[str, float] = {f"{s}_s": b - a for s, a, b in zip(steps, clock, clock[1:], strict=False)}
    stats["ground_s"] = clock[-1] - clock[0]
    stats["reachable_atoms"] = sum(r.n for r in reached.relations)
    stats["instances"] = budget.rules
    stats["auxiliary_atoms"] = sum(instances.auxiliary)
    stats["rules"] = len(result.heads)
    stats["literals"] = len(result.bodies)
    stats["atoms"] = result.atom_count
    return replace(result, stats=stats)
