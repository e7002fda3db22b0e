"""Instantiation: every rule with all bindings under which its body is reachable.

It runs after reachability, so each clause is joined once over relations that no longer grow, and every ground
rule is created exactly once. It goes from the outputs down, so it creates only rules that some output depends
on. Static literals only filter. Variables that occur only in static literals are projected away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.compile.stratify import Dependence, components
from gdl.grounding.decompose import MIN_RULES, BoundClause, BoundLiteral, Splitter, decompose
from gdl.grounding.join import UNLIMITED, Bindings, Body, TooManyRowsError
from gdl.grounding.keys import Ids, first_rows
from gdl.grounding.reachability import Reached, fixpoint
from gdl.grounding.relation import Relation, Row, row_getter
from gdl.terms import GOAL, INIT, LEGAL, NEXT, SEES, TERMINAL

_MANY_ROWS = 3_000_000
"""A join of more rows is dropped and its clause is split, if possible."""

_NOTHING = -1
_EVERYTHING = -2


@dataclass
class Block:
    """The ground rules of one clause.

    Attributes:
        heads: row ids of the heads in the predicate's relation: int32, shape (rules,), or a list.
        literals: (predicate, row ids like ``heads``, negated) of each body literal; the id is -1 if the atom
            of a negated literal is not reachable.
    """

    predicate: int
    heads: Ids | list[int]
    literals: Sequence[tuple[int, Ids | list[int], bool]]


@dataclass
class Instances:
    """All ground rules, and the number of atoms of each auxiliary predicate -1, -2, ... of the decomposition.
    (Those of the splitter have relations and follow after the program's predicates.)"""

    blocks: list[Block]
    auxiliary: list[int]


def instantiate(reached: Reached) -> Instances:
    """Instantiate the clauses that depend on the state or on moves, if some output (next, legal, goal,
    terminal, sees) depends on their heads. Raises TooLargeError past a limit of the budget."""
    return _Instantiator(reached).run()


class _Instantiator:
    """Goes from the outputs down: joins a clause for the needed atoms of its head, then marks its body's as
    needed."""

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        self.relations = reached.relations
        self.budget = reached.joiner.budget
        self.dynamic = [d is not Dependence.STATIC for d in reached.dependence]
        self.splitter = Splitter(self.relations, self.dynamic)
        self.instances = Instances([], [])
        self.needed: list[NDArray[np.bool_]] = [np.zeros(r.n, np.bool_) for r in self.relations]

    def run(self) -> Instances:
        program = self.reached.program
        clauses: dict[int, list[FlatClause]] = {}
        reads: list[set[int]] = [set() for _ in program.predicates]
        for clause in program.clauses:
            head = clause.head.predicate
            if self.dynamic[head] and program.predicates[head].name != INIT:
                clauses.setdefault(head, []).append(clause)
                reads[head].update(a.predicate for a in (*clause.positives, *clause.negatives))
        for predicate in program.predicates:
            if predicate.name in (NEXT, LEGAL, GOAL, TERMINAL, SEES):
                self.needed[predicate.index][:] = True
        for component in reversed(list(components([sorted(r) for r in reads]))):
            own = [c for p in component for c in clauses.get(p, ())]
            if any(p in reads[p] for p in component) or len(component) > 1:
                self._close(component, own)
            demand = {p: self._demand(p) for p in component if p in clauses}
            for p in component:
                self._facts(p)
            for clause in own:
                relation = demand[clause.head.predicate]
                if relation == _NOTHING:
                    continue
                if relation != _EVERYTHING:
                    clause = _restricted(clause, relation)
                self._ground(clause)
        return self.instances

    def _demand(self, predicate: int) -> int:
        """The index of a relation of the predicate's needed rows; else _NOTHING or _EVERYTHING."""
        rows = np.flatnonzero(self.needed[predicate])
        if not len(rows):
            return _NOTHING
        if len(rows) == self.relations[predicate].n:
            return _EVERYTHING
        return self._copy(predicate, rows)

    def _copy(self, predicate: int, rows: NDArray[np.intp]) -> int:
        """The index of a new relation with some rows of another one."""
        relation = self.relations[predicate]
        copy = self._new_relation(relation.arity, dynamic=False)
        self.relations[copy].add([relation.column(c)[rows] for c in range(relation.arity)], len(rows))
        return copy

    def _new_relation(self, arity: int, dynamic: bool) -> int:
        self.relations.append(Relation(arity))
        self.dynamic.append(dynamic)
        return len(self.relations) - 1

    def _add_needed(self, predicate: int, ids: Ids) -> None:
        """Mark rows as needed; ignore auxiliary predicates and the id -1 (no row)."""
        if predicate < len(self.needed):
            self.needed[predicate][ids[ids >= 0]] = True

    def _close(self, component: list[int], clauses: list[FlatClause]) -> None:
        """Extend the needed rows through clauses that read their own component's predicates."""
        if all(self.needed[p].all() for p in component):
            return
        copies = {p: self._copy(p, np.flatnonzero(self.needed[p])) for p in component}
        bodies = []
        for clause in clauses:
            restricted = _restricted(clause, copies[clause.head.predicate])
            static = [n for n in clause.negatives if not self.dynamic[n.predicate]]
            for atom in (*clause.positives, *clause.negatives):
                if atom.predicate in copies:
                    head = FlatAtom(copies[atom.predicate], atom.args)
                    bodies.append(Body(replace(restricted, head=head), static))
        fixpoint(self.reached.joiner, bodies, set(copies.values()))
        for p, index in copies.items():
            rows = self.relations[index]
            self._add_needed(p, self.relations[p].find([rows.column(c) for c in range(rows.arity)], rows.n))

    def _facts(self, predicate: int) -> None:
        """Enter the rules without bodies."""
        rows = self.reached.program.facts.get(predicate)
        if rows and self.dynamic[predicate]:
            columns = [np.array(c, np.int32) for c in zip(*sorted(rows), strict=True)]
            heads = self.relations[predicate].find(columns, len(rows))
            self.instances.blocks.append(Block(predicate, heads, ()))

    def _ground(self, clause: FlatClause) -> None:
        """Split a clause as long as that seems to pay, and instantiate the parts."""
        todo = [clause]
        while todo:
            clause = todo.pop()
            if self._instantiate_tuples(clause):
                continue
            clauses = self.splitter.split(clause, len(self.relations))
            if clauses is None and not self._instantiate(clause, _MANY_ROWS):
                clauses = self.splitter.split(clause, len(self.relations), force=True)
                if clauses is None:
                    self._instantiate(clause)
            if clauses is not None:
                # The inner clause is instantiated first: the outer one reads it.
                inner, outer = clauses
                self._new_relation(len(inner.head.args), dynamic=True)
                todo += [outer, inner]

    def _body(self, clause: FlatClause) -> tuple[Body, list[tuple[FlatAtom, bool]]]:
        """The body to join, and the literals of the instances (True for negated ones)."""
        relations, dynamic = self.relations, self.dynamic
        static = [n for n in clause.negatives if not dynamic[n.predicate]]
        read = [(p, False) for p in clause.positives if dynamic[p.predicate]]
        read += [(n, True) for n in clause.negatives if dynamic[n.predicate] and relations[n.predicate].n]
        return Body(clause, static), read

    def _instantiate_tuples(self, clause: FlatClause) -> bool:
        """Instantiate a clause in plain Python; return False if it has too many bindings for that."""
        relations = self.relations
        body, read = self._body(clause)
        head = clause.head
        atoms = [head, *[atom for atom, _ in read]]
        if any(relations[atom.predicate].ids is None for atom in atoms):
            return False
        results = tuple(dict.fromkeys([a for atom in atoms for a in atom.args]))
        rows = self.reached.joiner.tuples(body, results)
        if rows is None:
            return False
        if not rows:
            return True
        rows = list(dict.fromkeys(rows))
        place = {a: i for i, a in enumerate(results)}
        getters = [row_getter([place[a] for a in atom.args]) for atom in atoms]
        if head.predicate >= len(self.needed):
            relations[head.predicate].add_rows(map(getters[0], rows))
        ids_of: list[list[int]] = []  # of the head, then of each literal
        for atom, getter in zip(atoms, getters, strict=True):
            ids = relations[atom.predicate].ids
            if ids is None:  # the head of an auxiliary clause has just outgrown its tuples
                self._make(body, read, _bindings(results, rows))
                return True
            ids_of.append([ids.get(row, -1) for row in map(getter, rows)])
        occurring = [k for k, (_, negated) in enumerate(read, 1) if not negated or max(ids_of[k]) >= 0]
        if len(occurring) < len(read):
            different = list(dict.fromkeys(zip(ids_of[0], *[ids_of[k] for k in occurring], strict=True)))
            if len(different) < len(rows):
                if len(different) >= MIN_RULES:
                    self._make(body, read, _bindings(results, rows))
                    return True
                for k, column in zip((0, *occurring), zip(*different, strict=True), strict=True):
                    ids_of[k] = list(column)
        if len(ids_of[0]) >= MIN_RULES:
            self._make(body, read, _bindings(results, rows), ids_of)
            return True
        literals = [(read[k - 1][0].predicate, ids_of[k], read[k - 1][1]) for k in occurring]
        for predicate, numbers, _ in literals:
            if predicate < len(self.needed):
                needed = self.needed[predicate]
                for i in numbers:
                    if i >= 0:
                        needed[i] = True
        self.budget.add_rules(len(ids_of[0]))
        self.instances.blocks.append(Block(head.predicate, ids_of[0], literals))
        return True

    def _instantiate(self, clause: FlatClause, most_rows: int = UNLIMITED) -> bool:
        """Instantiate a clause in numpy; return False if its join has too many rows."""
        body, read = self._body(clause)
        relevant = variables_of(clause.head.args, *[atom.args for atom, _ in read])
        try:
            bindings = self.reached.joiner.join(body, relevant, most_rows=most_rows)
        except TooManyRowsError:
            return False
        if bindings.n:
            self._make(body, read, bindings)
        return True

    def _make(
        self,
        body: Body,
        read: list[tuple[FlatAtom, bool]],
        bindings: Bindings,
        ids_of: list[list[int]] | None = None,
    ) -> None:
        """Create the instances of a clause from its bindings, decomposed if that pays. ``ids_of`` holds the
        row ids of the head and of each literal, if known; all bindings must then be different."""
        relations = self.relations
        atoms = [body.clause.head, *[atom for atom, _ in read]]
        self.budget.rows(bindings.n, len(atoms))
        if ids_of is not None:
            columns = [np.array(ids, np.int32) for ids in ids_of]
        else:
            if atoms[0].predicate >= len(self.needed):
                relations[atoms[0].predicate].add(bindings.args(atoms[0].args), bindings.n)
            columns = [relations[a.predicate].find(bindings.args(a.args), bindings.n) for a in atoms]
        head = BoundLiteral(atoms[0].predicate, columns[0], False, body.head)
        literals = [
            BoundLiteral(atom.predicate, ids, negated, variables_of(atom.args))
            for (atom, negated), ids in zip(read, columns[1:], strict=True)
            if not negated or bool((ids >= 0).any())
        ]
        used = body.head.union(*[x.variables for x in literals])
        if ids_of is None or len(used) < len(bindings.env):
            bindings.env = {v: c for v, c in bindings.env.items() if v in used}
            rows = first_rows(list(bindings.env.values()), bindings.n)
            if len(rows) < bindings.n:
                bindings.take(rows)
                for x in (head, *literals):
                    x.ids = x.ids[rows]
        for x in literals:
            self._add_needed(x.predicate, x.ids)
        constraints = [variables_of(p.args) for p in body.positives if not self.dynamic[p.predicate]]
        constraints += [c.variables for c in body.checks]
        constraints += [variables_of((b.value, *b.args)) for b in body.builds]
        whole = BoundClause(bindings, head, literals, constraints)
        for clause in decompose(whole, self.instances.auxiliary, self.budget.tick):
            self.budget.add_rules(clause.bindings.n)
            body_ids = [(x.predicate, x.ids, x.negated) for x in clause.literals]
            self.instances.blocks.append(Block(clause.head.predicate, clause.head.ids, body_ids))


def _bindings(results: tuple[int, ...], rows: list[Row]) -> Bindings:
    """Bindings in numpy, from tuples of constants and variables."""
    columns = np.array(rows, np.int32).reshape(len(rows), len(results)).T
    return Bindings(len(rows), {v: c for v, c in zip(results, columns, strict=True) if v < 0})


def _restricted(clause: FlatClause, relation: int) -> FlatClause:
    """The clause, only for those heads that a relation lists."""
    return replace(clause, positives=(FlatAtom(relation, clause.head.args), *clause.positives))
