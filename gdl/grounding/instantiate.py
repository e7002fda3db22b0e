"""Instantiation: every rule with all bindings under which its body is reachable.

It runs after reachability, so each clause is joined once over relations that no longer grow, and every ground
rule is created exactly once. It goes from the outputs down, so it creates only rules that some output depends
on. Static literals only filter. Variables that occur only in static literals are projected away.

A rule is decomposed first if that makes fewer and shorter rules. Variables are eliminated one by one, as
along a tree decomposition of the rule's variable graph. Each elimination moves the literals around a variable
into a rule of their own, whose head is an auxiliary atom with only the variables that the rest shares.
Whether that pays is counted on the rule's bindings, not estimated. A clause that would have many bindings is
split before it is joined: by the same elimination, on estimates. Sizes follow from the relations as in query
planners, which assume that values are spread evenly and independently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.compile.stratify import Dependence, components
from gdl.grounding.join import UNLIMITED, Bindings, Body, TooManyRowsError
from gdl.grounding.keys import Coder, Ids, first_rows
from gdl.grounding.reachability import Reached, fixpoint
from gdl.grounding.relation import Relation, Row
from gdl.grounding.unfold import Diagram, Residual
from gdl.terms import GOAL, INIT, LEGAL, NEXT, SEES, TERMINAL

MIN_RULES = 32
"""Clauses with fewer ground rules stay whole."""

GAIN = 0.7
"""A split must bring the number of literals below this share."""


@dataclass
class BoundLiteral:
    """A literal under each binding of a clause: row ids, int32, shape (bindings,)."""

    predicate: int
    ids: Ids
    negated: bool
    variables: frozenset[int]


@dataclass
class BoundClause:
    """A clause with its bindings. ``constraints`` are sets of variables that some static
    literal, distinct or build connects."""

    bindings: Bindings
    head: BoundLiteral
    literals: list[BoundLiteral]
    constraints: list[frozenset[int]]


def decompose(clause: BoundClause, auxiliary: list[int], tick: Callable[[], None]) -> Iterator[BoundClause]:
    """The clause, or the clauses that it is split into. Its bindings must all be different. ``auxiliary``
    (numbers of atoms of the auxiliary predicates -1, -2, ...) grows. ``tick`` is called before each split
    and may raise."""
    todo = [_without_static_variables(clause)]
    while todo:
        tick()
        clause = todo.pop()
        split = _best_split(clause) if clause.bindings.n >= MIN_RULES else None
        if split is None:
            yield clause
            continue
        bag, interior = split
        shared = sorted(bag - interior)
        predicate = -1 - len(auxiliary)
        atoms, count = _number(clause.bindings, shared)
        auxiliary.append(count)
        link = BoundLiteral(predicate, atoms, False, frozenset(shared))
        inner = [x for x in clause.literals if x.variables & interior]
        outer = [x for x in clause.literals if not x.variables & interior]
        inner_constraints = [c for c in clause.constraints if c <= bag]
        outer_constraints = [c for c in clause.constraints if not c & interior]
        rest = frozenset(clause.bindings.env) - interior
        todo.append(_projected(clause, bag, link, inner, inner_constraints))
        todo.append(_projected(clause, rest, clause.head, [*outer, link], outer_constraints))


def _eliminations(
    variables: Iterable[int], head: frozenset[int], edges: list[frozenset[int]]
) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The ways to eliminate one of some variables: the variables that share an edge with it, which go to a
    new clause, and those of them (none of the head) that then occur nowhere else."""
    tried: set[frozenset[int]] = set()
    for v in variables:
        bag = frozenset[int]().union(*[e for e in edges if v in e])
        if bag not in tried:
            tried.add(bag)
            yield bag, frozenset(u for u in bag - head if all(e <= bag for e in edges if u in e))


def _without_static_variables(clause: BoundClause) -> BoundClause:
    """Merge the constraints around each variable that has been projected away."""
    constraints = [c for c in clause.constraints if len(c) > 1]
    for v in frozenset().union(*constraints) - frozenset(clause.bindings.env):
        around = frozenset().union(*[c for c in constraints if v in c]) - {v}
        constraints = [c for c in constraints if v not in c] + [around]
    return BoundClause(clause.bindings, clause.head, clause.literals, [c for c in constraints if len(c) > 1])


def _best_split(clause: BoundClause) -> tuple[frozenset[int], frozenset[int]] | None:
    """The variables of the auxiliary rule, and those of them that occur only in it."""
    bindings = clause.bindings
    everything = frozenset(bindings.env)
    edges = [x.variables for x in clause.literals] + clause.constraints
    best = None
    least = GAIN * bindings.n * (1 + len(clause.literals))
    head = clause.head.variables
    for bag, interior in _eliminations(everything - head, head, edges):
        if bag == everything:
            continue
        inside = sum(1 for x in clause.literals if x.variables & interior)
        outside = len(clause.literals) - inside + 1
        cost = float(_count(bindings, bag) * (1 + inside))
        if cost < least:
            cost += _count(bindings, everything - interior) * (1 + outside)
        if cost < least:
            best, least = (bag, interior), cost
    return best


def _count(bindings: Bindings, variables: frozenset[int]) -> int:
    """The number of different values that some variables have together."""
    return len(first_rows([bindings.env[v] for v in variables], bindings.n))


def _number(bindings: Bindings, variables: list[int]) -> tuple[Ids, int]:
    """Atoms 0, 1, ... for the different values that some variables have together."""
    columns = [bindings.env[v] for v in variables]
    coder = Coder(len(columns))
    coder.learn(columns)
    _, inverse = np.unique(coder.keys(columns, bindings.n), return_inverse=True)
    atoms: NDArray[np.int32] = inverse.reshape(-1).astype(np.int32)
    return atoms, int(atoms.max()) + 1


def _projected(
    clause: BoundClause,
    variables: frozenset[int],
    head: BoundLiteral,
    literals: list[BoundLiteral],
    constraints: list[frozenset[int]],
) -> BoundClause:
    """One side of a split: each different binding of its variables, once."""
    env = {v: c for v, c in clause.bindings.env.items() if v in variables}
    rows = first_rows(list(env.values()), clause.bindings.n)
    head, *literals = [replace(x, ids=x.ids[rows]) for x in (head, *literals)]
    bindings = Bindings(len(rows), {v: c[rows] for v, c in env.items()})
    return BoundClause(bindings, head, literals, constraints)


SPLIT_FROM = 30_000
"""Clauses with fewer expected bindings are joined as they are."""

SPLIT_GAIN = 0.5
"""The estimated number of literals after a split must be below this share."""


class Splitter:
    """Splits clauses. ``dynamic`` is true for predicates that depend on the state or the moves."""

    def __init__(self, relations: list[Relation], dynamic: list[bool]) -> None:
        self.relations = relations
        self.dynamic = dynamic

    def split(
        self, clause: FlatClause, auxiliary: int, force: bool = False
    ) -> tuple[FlatClause, FlatClause] | None:
        """A clause for the new predicate with the index ``auxiliary``, and the clause that reads it; None if
        the clause is better left whole. With ``force`` the clause is split even if that does not pay."""
        if clause.builds or clause.conditions:
            return None
        whole = self._rows(clause.positives, self._relevant(clause))
        if whole < SPLIT_FROM and not force:
            return None
        least = (1.0 if force else SPLIT_GAIN) * whole * (1 + len(self._literals(clause)))
        best = None
        edges = [variables_of(atom.args) for atom in (*clause.positives, *clause.negatives)]
        edges += [variables_of(left, right) for left, right in clause.distincts]
        head = variables_of(clause.head.args)
        variables = variables_of(*[p.args for p in clause.positives])
        for bag, interior in _eliminations(sorted(variables - head, reverse=True), head, edges):
            clauses = self._cut(clause, bag, interior, auxiliary)
            if clauses is None:
                continue
            inner, outer = clauses
            shared = {
                v: min(self._column(a, v) for a in inner.positives if v in a.args) for v in inner.head.args
            }
            inside = self._rows(inner.positives, self._relevant(inner))
            atoms = min(inside, prod(shared.values()))
            read = [p for p in outer.positives if p.predicate != auxiliary]
            outside = self._rows(read, self._relevant(outer), (atoms, shared))
            cost = inside * (1 + len(self._literals(inner))) + outside * (1 + len(self._literals(outer)))
            if cost < least:
                best, least = clauses, cost
        return best

    def _cut(
        self, clause: FlatClause, bag: frozenset[int], interior: frozenset[int], auxiliary: int
    ) -> tuple[FlatClause, FlatClause] | None:
        """The two clauses of a split; None if one of them would have nothing to do."""

        def touches(atom: FlatAtom) -> bool:
            return not interior.isdisjoint(atom.args)

        def inside(atom: FlatAtom) -> bool:
            return touches(atom) or (not self.dynamic[atom.predicate] and variables_of(atom.args) <= bag)

        positives = tuple(p for p in clause.positives if inside(p))
        moved = [a for a in (*clause.positives, *clause.negatives) if touches(a)]
        bound = variables_of(*[p.args for p in positives])
        if not any(self.dynamic[a.predicate] for a in moved) or not bag <= bound:
            return None
        head = FlatAtom(auxiliary, tuple(sorted(bag - interior, reverse=True)))
        inner = replace(
            clause,
            head=head,
            positives=positives,
            negatives=tuple(n for n in clause.negatives if inside(n)),
            distincts=tuple(d for d in clause.distincts if variables_of(*d) <= bag),
        )
        outer = replace(
            clause,
            positives=(head, *[p for p in clause.positives if not touches(p)]),
            negatives=tuple(n for n in clause.negatives if not touches(n)),
            distincts=tuple(d for d in clause.distincts if not variables_of(*d) & interior),
        )
        if set(inner.positives) == set(clause.positives) and set(inner.negatives) == set(clause.negatives):
            return None
        return inner, outer

    def _literals(self, clause: FlatClause) -> list[FlatAtom]:
        """The body literals that the ground rules of a clause have."""
        literals = (*clause.positives, *clause.negatives)
        return [a for a in literals if a.predicate >= len(self.dynamic) or self.dynamic[a.predicate]]

    def _relevant(self, clause: FlatClause) -> frozenset[int]:
        """The variables in which ground rules of a clause differ."""
        return variables_of(clause.head.args, *[a.args for a in self._literals(clause)])

    def _column(self, atom: FlatAtom, variable: int) -> int:
        """The number of different values of a variable in a literal."""
        view = self.relations[atom.predicate].view(atom.args)
        order = list(dict.fromkeys(a for a in atom.args if a < 0))
        return max(view.distinct(order.index(variable)), 1)

    def _rows(
        self,
        atoms: Collection[FlatAtom],
        relevant: frozenset[int],
        extra: tuple[float, dict[int, int]] | None = None,
    ) -> float:
        """The estimated number of different bindings of the relevant variables. ``extra`` is
        one more literal, given by its rows and the number of different values per variable."""
        rows = 1.0
        values: dict[int, list[int]] = {}
        for atom in atoms:
            rows *= self.relations[atom.predicate].view(atom.args).n
            for v in variables_of(atom.args):
                values.setdefault(v, []).append(self._column(atom, v))
        if extra is not None:
            rows *= extra[0]
            for v, count in extra[1].items():
                values.setdefault(v, []).append(count)
        most = 1.0
        for v, counts in values.items():
            counts.sort()
            for count in counts[1:]:
                rows /= count
            if v in relevant:
                most *= counts[0]
        return min(rows, most)


_MANY_ROWS = 3_000_000
"""A join of more rows is dropped and its clause is split, if possible."""

_ROW_WORDS = 80
"""The 4-byte words of memory that a tuple of values takes, or the set of a variable's values, roughly."""

_NOTHING = -1
_EVERYTHING = -2


@dataclass
class Block:
    """The ground rules of one clause.

    Attributes:
        heads: row ids of the heads in the predicate's relation: int32, shape (rules,).
        literals: (predicate, row ids like ``heads``, negated) of each body literal; the id is -1 if the atom
            of a negated literal is not reachable.
    """

    predicate: int
    heads: Ids
    literals: Sequence[tuple[int, Ids, bool]]


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
        if clause.conditions:
            self._unfold(clause)
            return
        todo = [clause]
        while todo:
            clause = todo.pop()
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

    def _instantiate(self, clause: FlatClause, most_rows: int = UNLIMITED) -> bool:
        """Instantiate a clause; return False if its join has too many rows."""
        body, read = self._body(clause)
        relevant = variables_of(clause.head.args, *[atom.args for atom, _ in read])
        try:
            bindings = self.reached.joiner.join(body, relevant, most_rows=most_rows)
        except TooManyRowsError:
            return False
        if bindings.n:
            self._make(body, read, bindings)
        return True

    def _make(self, body: Body, read: list[tuple[FlatAtom, bool]], bindings: Bindings) -> None:
        """Create the instances of a clause from its bindings, decomposed if that pays."""
        relations = self.relations
        atoms = [body.clause.head, *[atom for atom, _ in read]]
        self.budget.rows(bindings.n, len(atoms))
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

    def _unfold(self, clause: FlatClause) -> None:
        """Instantiate a clause with conditions: along a diagram for each binding of the other variables, one
        for all bindings that leave the same residual and values."""
        unfolding, joiner = self.reached.unfolding, self.reached.joiner
        assert unfolding is not None
        body, read = self._body(clause)
        inner = unfolding.inner(clause, [atom for atom, _ in read])
        atoms = [clause.head, *[atom for atom, _ in read], *clause.conditions]
        joint = unfolding.joint(clause, inner)
        outer = sorted(
            variables_of(*[a.args for a in atoms], *[args for _, _, args in joint]).difference(inner)
        )
        rows: dict[Row, list[set[int]]] = {}
        bindings = joiner.join(body, outer)
        self.budget.rows(bindings.n, _ROW_WORDS * (1 + len(inner)))
        for row in _rows_of(bindings, outer):
            rows[row] = [set() for _ in inner]
        for place, v in enumerate(inner):
            for *known, value in _rows_of(joiner.join(body, [*outer, v]), [*outer, v]):
                rows[tuple(known)][place].add(value)
        groups: dict[tuple[Residual, tuple[tuple[int, ...], ...]], list[Row]] = {}
        whole = unfolding.residual(clause.conditions, joint)
        for row, values in rows.items():
            residual = whole
            for v, value in zip(outer, row, strict=True):
                residual = None if residual is None else unfolding.bind(residual, v, value)
            if residual is not None:
                groups.setdefault((residual, tuple(tuple(sorted(own)) for own in values)), []).append(row)
        for (residual, domains), own in groups.items():
            diagram = unfolding.diagram(residual, list(zip(inner, domains, strict=True)))
            self._along(
                diagram,
                clause.head,
                read,
                inner,
                outer,
                np.array(own, np.int32).reshape(len(own), len(outer)),
            )

    def _along(
        self,
        diagram: Diagram,
        head: FlatAtom,
        read: list[tuple[FlatAtom, bool]],
        inner: list[int],
        outer: list[int],
        rows: NDArray[np.int32],
    ) -> None:
        """Create the instances along a diagram, for each row of values of the outer variables. Its node n is
        atom ``n + nodes * row`` of an auxiliary predicate."""
        if inner and not len(diagram.edges[0]):
            return
        auxiliary = -1 - len(self.instances.auxiliary)
        self.instances.auxiliary.append(diagram.nodes * len(rows))
        first = np.arange(len(rows), dtype=np.int32) * diagram.nodes

        def make(
            head: tuple[int, Ids], own: list[tuple[FlatAtom, bool]], bindings: Bindings, link: Ids | None
        ) -> None:
            literals = []
            for atom, negated in own:
                ids = self.relations[atom.predicate].find(bindings.args(atom.args), bindings.n)
                self._add_needed(atom.predicate, ids)
                literals.append((atom.predicate, ids, negated))
            if link is not None:
                literals.append((auxiliary, link, False))
            self.budget.add_rules(bindings.n)
            self.instances.blocks.append(Block(*head, literals))

        bindings = Bindings(len(rows), dict(zip(outer, rows.T, strict=True)))
        ids = self.relations[head.predicate].find(bindings.args(head.args), bindings.n)
        free = [(atom, negated) for atom, negated in read if not set(inner).intersection(atom.args)]
        make((head.predicate, ids), free, bindings, first if inner else None)
        for place, v in enumerate(inner):
            edges = diagram.edges[place]
            self.budget.rows(len(rows) * len(edges), len(outer) + 3)
            nodes, values, children = np.tile(edges, (len(rows), 1)).T
            offset = np.repeat(first, len(edges))
            env = {u: np.repeat(column, len(edges)) for u, column in bindings.env.items()}
            own = [(atom, negated) for atom, negated in read if v in atom.args]
            link = children + offset if place < len(inner) - 1 else None
            make((auxiliary, nodes + offset), own, Bindings(len(nodes), env | {v: values}), link)


def _rows_of(bindings: Bindings, variables: Sequence[int]) -> list[Row]:
    """The values of some variables under each binding."""
    if not variables:
        return [()] * bindings.n
    return list(zip(*[bindings.env[v].tolist() for v in variables], strict=True))


def _restricted(clause: FlatClause, relation: int) -> FlatClause:
    """The clause, only for those heads that a relation lists."""
    return replace(clause, positives=(FlatAtom(relation, clause.head.args), *clause.positives))
