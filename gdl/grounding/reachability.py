"""Reachability: the atoms that can hold at all, as a least fixpoint of the flat clauses.

Static relations are solved exactly, stratum by stratum. Then ``true`` grows from ``init`` and ``next``,
``does`` from ``legal``. Negations of predicates that depend on the state or the moves are ignored: too many
atoms may be reachable, never too few. Evaluation is semi-naive: a clause is joined again only with rows new
to one of its literals.

Demand: relations that are too large to be solved whole are solved only for the rows that clauses read.

This is the magic sets transformation (Bancilhon, Maier, Sagiv and Ullman 1986) of some chosen predicates. A
*demand* predicate lists the values of those arguments that are known whenever the predicate is read. Its
clauses come from the clauses that read the predicate, and the predicate's own clauses read the demand. Since
reachability ignores negations of dynamic predicates, a negated literal reads like any other. A static
relation of which too much is demanded is not listed at all (:mod:`gdl.grounding.unfold`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from gdl.compile.program import (
    LEAF,
    Build,
    Constant,
    FlatAtom,
    FlatClause,
    Function,
    Leaf,
    Predicate,
    Program,
    Shape,
    variables_of,
)
from gdl.compile.stratify import Dependence, Stratum, components
from gdl.grounding.join import UNLIMITED, Body, Joiner, TooManyRowsError, Window
from gdl.grounding.limits import Budget
from gdl.grounding.relation import Relation
from gdl.grounding.unfold import OUTPUTS, Unfolding, readers, unfoldable, with_conditions
from gdl.terms import DOES, INIT, LEGAL, NEXT, ROLE, TRUE


@dataclass(frozen=True)
class Restriction:
    """A program in which some predicates are only solved on demand.

    Attributes:
        program: the rules, with the demand predicates at the end.
        demand: predicate -> its demand predicate.
        late: static predicates that read a restricted one, and so cannot be solved before reachability.
    """

    program: Program
    demand: dict[int, int]
    late: frozenset[int]


def restrict(program: Program, dependence: Sequence[Dependence], chosen: set[int]) -> Restriction:
    """The program with the chosen predicates and their readers on demand. Predicates that cannot be put on
    demand are missing from :attr:`Restriction.demand`."""
    eligible: set[int] = set()
    for p in sorted(chosen):
        eligible |= _eligible(program, dependence, p)
    bound = _bound_places(program, eligible)
    while not all(bound.values()):
        eligible = {p for p in eligible if bound[p]}
        bound = _bound_places(program, eligible)
    late = {q for p in eligible for q in readers(program, p) if dependence[q] is Dependence.STATIC}
    demand = {p: len(program.predicates) + i for i, p in enumerate(sorted(eligible))}
    predicates = list(program.predicates)
    for p, index in demand.items():
        arity = len(bound[p])
        predicates.append(Predicate(index, f"demand;{p}", (LEAF,) * arity, arity))

    def demanded(atom: FlatAtom) -> FlatAtom:
        return FlatAtom(demand[atom.predicate], tuple(atom.args[i] for i in bound[atom.predicate]))

    facts = dict(program.facts)
    clauses: dict[FlatClause, None] = {}
    for clause in program.clauses:
        own = [demanded(clause.head)] if clause.head.predicate in demand else []
        for atom, seen, literals in _questions(clause, bound):
            head = demanded(atom)
            positives = [*own, *literals]
            if not positives:
                facts.setdefault(head.predicate, set()).add(head.args)
            elif head not in positives:
                static = [n for n in clause.negatives if dependence[n.predicate] is Dependence.STATIC]
                question = replace(
                    clause,
                    head=head,
                    positives=tuple(dict.fromkeys(positives)),
                    negatives=tuple(n for n in static if variables_of(n.args) <= seen),
                    distincts=tuple(d for d in clause.distincts if variables_of(*d) <= seen),
                    builds=(),
                )
                clauses[question] = None
        clauses[replace(clause, positives=(*own, *clause.positives))] = None
    return Restriction(Program(predicates, facts, list(clauses), program.table), demand, frozenset(late))


def _eligible(program: Program, dependence: Sequence[Dependence], predicate: int) -> set[int]:
    """A predicate and those of its readers that can be solved on demand; none if it cannot. Static predicates
    must not be read under a negation, which needs their complement before reachability is done."""
    everyone = readers(program, predicate)
    names = {program.predicates[p].name for p in everyone}
    if names & {ROLE, INIT} or program.predicates[predicate].name in OUTPUTS:
        return set()
    static = {p for p in everyone if dependence[p] is Dependence.STATIC}
    if any(n.predicate in static for c in program.clauses for n in c.negatives):
        return set()
    return {p for p in everyone if program.predicates[p].name not in OUTPUTS}


Question = tuple[FlatAtom, frozenset[int], list[FlatAtom]]
"""A literal of a restricted predicate, the variables known by then, and the literals that bind them."""


def _questions(clause: FlatClause, bound: dict[int, tuple[int, ...]]) -> Iterator[Question]:
    """Yield the literals of a clause that read restricted predicates."""
    head = clause.head
    whole = head.predicate not in bound
    seen = frozenset[int]() if whole else variables_of([head.args[i] for i in bound[head.predicate]])
    literals: list[FlatAtom] = []
    waiting = list(clause.positives)
    while True:
        # First the unrestricted literals that share a variable with the known ones.
        progress = True
        while progress:
            progress = False
            for atom in list(waiting):
                variables = variables_of(atom.args)
                if atom.predicate not in bound and (whole or not variables or seen & variables):
                    waiting.remove(atom)
                    literals.append(atom)
                    seen |= variables
                    progress = True
        restricted = next((a for a in waiting if a.predicate in bound), None)
        if restricted is None:
            break
        yield restricted, seen, list(literals)
        waiting.remove(restricted)
        literals.append(restricted)
        seen |= variables_of(restricted.args)
    literals += waiting
    seen |= variables_of(*[atom.args for atom in waiting])
    for atom in clause.negatives:
        if atom.predicate in bound:
            yield atom, seen, list(literals)


def _bound_places(program: Program, restricted: set[int]) -> dict[int, tuple[int, ...]]:
    """Per restricted predicate the arguments that are known whenever it is read."""
    bound = {p: tuple(range(program.predicates[p].arity)) for p in restricted}
    changed = True
    while changed:
        changed = False
        for clause in program.clauses:
            for atom, seen, _ in _questions(clause, bound):
                p = atom.predicate
                places = tuple(i for i in bound[p] if atom.args[i] >= 0 or atom.args[i] in seen)
                if places != bound[p]:
                    bound[p] = places
                    changed = True
    return bound


@dataclass
class Reached:
    """All reachable atoms.

    Attributes:
        program: the flat rules.
        dependence: the dependence of each predicate.
        relations: the reachable rows of each predicate.
        copies: clauses ``true <- next`` and ``does <- legal``.
        initial: predicate of ``true`` -> the number of its first rows that hold initially.
        joiner: works on the relations.
        unfolding: the conditions of clauses, by relations that are not listed; None if there are none.
    """

    program: Program
    dependence: list[Dependence]
    relations: list[Relation]
    copies: list[FlatClause]
    initial: dict[int, int]
    joiner: Joiner
    unfolding: Unfolding | None


LARGE_RELATION = 1_500_000
"""A relation with more rows than this is solved on demand, if possible."""

_LARGE_JOIN = 12_000_000
"""The head of a clause whose join has more rows than this is solved on demand, if possible."""


class _TooLargeRelationError(Exception):
    """The relation of a predicate (the argument) is too large to be solved whole."""


def reach(program: Program, strata: Sequence[Stratum], budget: Budget) -> Reached:
    """All reachable atoms, with the static relations evaluated. Relations that are too large are solved only
    on demand, see :mod:`gdl.grounding.reachability`. Raises TooLargeError past a limit of the budget."""
    dependence = [Dependence.STATIC] * len(program.predicates)
    for stratum in strata:
        for p in stratum.predicates:
            dependence[p] = stratum.dependence
    chosen: set[int] = set()
    hopeless: set[int] = set()
    unfolded: frozenset[int] = frozenset()
    base = program
    restriction = Restriction(program, {}, frozenset())
    while True:
        # A relation of which too much is asked is unfolded, if it can be.
        final = {d for p, d in restriction.demand.items() if not unfoldable(base, dependence, p)}
        try:
            return _reach(restriction, strata, dependence, budget, hopeless | final, unfolded)
        except _TooLargeRelationError as error:
            (p,) = error.args
            asked = {d: q for q, d in restriction.demand.items()}
            attempt = restrict(base, dependence, chosen | {p}) if p not in chosen and p not in asked else None
            more = unfoldable(base, dependence, asked.get(p, p))
            if attempt is not None and p in attempt.demand:
                chosen.add(p)
                restriction = attempt
            elif more:
                unfolded = unfolded.union(more, *[unfoldable(base, dependence, q) for q in chosen])
                chosen -= unfolded
                base = with_conditions(program, unfolded)
                restriction = restrict(base, dependence, chosen)
            else:
                hopeless.add(asked.get(p, p))
            budget.atoms = 0


def _reach(
    restriction: Restriction,
    strata: Sequence[Stratum],
    dependence: list[Dependence],
    budget: Budget,
    hopeless: set[int],
    unfolded: frozenset[int],
) -> Reached:
    program, late = restriction.program, restriction.late
    demand = set(restriction.demand.values())
    dependence = dependence + [Dependence.STATIC] * len(demand)
    early = {p for p, d in enumerate(dependence) if d is Dependence.STATIC} - late - demand - unfolded
    relations = [Relation(p.arity) for p in program.predicates]
    joiner = Joiner(relations, program.table, budget)
    for p, rows in program.facts.items():
        budget.add_atoms(relations[p].add_rows(sorted(rows)))
    for stratum in strata:
        if stratum.clauses and early.issuperset(stratum.predicates):
            bodies = [Body(c, c.negatives) for c in stratum.clauses]
            fixpoint(joiner, bodies, set(stratum.predicates), hopeless)
    initial = _initialize(program, strata, dependence, joiner)
    copies = [*_copies(program, NEXT, TRUE, 1), *_copies(program, LEGAL, DOES, 2)]
    reads: list[list[int]] = [[] for _ in program.predicates]
    own: list[list[Body]] = [[] for _ in program.predicates]
    for clause in (*program.clauses, *copies):
        head = clause.head.predicate
        if head not in early | unfolded and program.predicates[head].name != INIT:
            reads[head].extend(a.predicate for a in clause.positives)
            own[head].append(Body(clause, [n for n in clause.negatives if n.predicate in early]))
    rank = {p: i for i, s in enumerate(strata) for p in s.predicates}
    for component in components([sorted(set(r)) for r in reads]):
        ordered = sorted(component, key=lambda p: rank.get(p, -1))
        if any(own[p] for p in ordered):
            fixpoint(joiner, [b for p in ordered for b in own[p]], set(component), hopeless)
    unfolding = Unfolding(program, unfolded, relations, budget) if unfolded else None
    return Reached(program, dependence, relations, copies, initial, joiner, unfolding)


def fixpoint(
    joiner: Joiner, bodies: list[Body], members: set[int], hopeless: Collection[int] | None = None
) -> None:
    """Evaluate clauses until they give no new rows. ``members`` are the predicates that may grow,
    ``hopeless`` those that may become large (None: all)."""
    relations = joiner.relations

    def derive(body: Body, first: int = -1, window: Window | None = None) -> None:
        head = body.clause.head.predicate
        limited = hopeless is not None and head not in hopeless
        try:
            new = _derive(joiner, body, first, window, limited)
        except TooManyRowsError:
            raise _TooLargeRelationError(head) from None
        if limited and relations[head].n > LARGE_RELATION:
            raise _TooLargeRelationError(head)
        joiner.budget.add_atoms(new)

    growing = [
        [(i, p.predicate) for i, p in enumerate(body.positives) if p.predicate in members] for body in bodies
    ]
    seen: list[list[int]] = []
    for body, literals in zip(bodies, growing, strict=True):
        seen.append([relations[p].n for _, p in literals])
        derive(body)
    changed = True
    while changed:
        changed = False
        for body, literals, upto in zip(bodies, growing, seen, strict=True):
            for k, (i, p) in enumerate(literals):
                low, high = upto[k], relations[p].n
                if high > low:
                    upto[k] = high
                    changed = True
                    derive(body, i, (low, high))


def _derive(
    joiner: Joiner, body: Body, first: int = -1, window: Window | None = None, limited: bool = False
) -> int:
    """Add the rows of a clause's head; return the number of new ones. If ``limited``, too many raise
    TooManyRowsError."""
    head = body.clause.head
    bindings = joiner.join(body, body.head, first, window, _LARGE_JOIN if limited else UNLIMITED)
    if not bindings.n:
        return 0
    if limited and bindings.n > LARGE_RELATION:
        raise TooManyRowsError
    return joiner.relations[head.predicate].add(bindings.args(head.args), bindings.n)


def _initialize(
    program: Program, strata: Sequence[Stratum], dependence: list[Dependence], joiner: Joiner
) -> dict[int, int]:
    """Evaluate ``init`` with nothing true or done and enter it into ``true``. Returns
    :attr:`Reached.initial`."""
    relations = list(joiner.relations)
    inits = program.named(INIT, 1)
    if any(dependence[p.index] is not Dependence.STATIC for p in inits):
        for p in program.predicates:
            if dependence[p.index] is not Dependence.STATIC:
                relations[p.index] = Relation(p.arity)
                if p.name not in (TRUE, DOES):
                    facts = sorted(program.facts.get(p.index, ()))
                    joiner.budget.add_atoms(relations[p.index].add_rows(facts))
        scratch = Joiner(relations, program.table, joiner.budget)
        for stratum in strata:
            if stratum.dependence is not Dependence.STATIC and stratum.clauses:
                fixpoint(scratch, [Body(c, c.negatives) for c in stratum.clauses], set(stratum.predicates))
        for p in inits:
            joiner.relations[p.index] = relations[p.index]
    for copy in _copies(program, INIT, TRUE, 1):
        joiner.budget.add_atoms(_derive(joiner, Body(copy, ())))
    return {p.index: joiner.relations[p.index].n for p in program.named(TRUE, 1)}


def _copies(program: Program, source: str, target: str, arity: int) -> list[FlatClause]:
    """Clauses by which every row of one relation is a row of another: ``true <- next``."""
    clauses = []
    for here in program.named(source, arity):
        for there in program.named(target, arity):
            copier = _Copier()
            pairs = zip(here.shapes, there.shapes, strict=True)
            if not all(copier.match(a, b) for a, b in pairs):
                continue
            body = [FlatAtom(here.index, tuple(copier.read))]
            if source == LEGAL:
                # Only roles do something.
                body += [
                    FlatAtom(role.index, (copier.written[0],))
                    for role in program.named(ROLE, 1)
                    if isinstance(there.shapes[0], Leaf) and isinstance(role.shapes[0], Leaf)
                ]
            head = FlatAtom(there.index, tuple(copier.written))
            clauses.append(FlatClause(head, tuple(body), (), (), tuple(copier.builds), copier.variables))
    return clauses


class _Copier:
    """Matches the shapes of two relations column by column.

    Attributes:
        read: the columns of the relation that is read, coded as in FlatAtom.
        written: the columns of the other relation.
        builds: connect the columns if only one of the relations holds a term in pieces.
        variables: the number of variables in them.
    """

    def __init__(self) -> None:
        self.read: list[int] = []
        self.written: list[int] = []
        self.builds: list[Build] = []
        self.variables = 0

    def variable(self) -> int:
        """A new variable."""
        self.variables += 1
        return -self.variables

    def match(self, here: Shape, there: Shape) -> bool:
        """Extend the two rows; False if no term has both shapes."""
        if isinstance(there, Leaf):
            if isinstance(here, Function) and not there.opaque:
                return False
            self.written.append(self.value(here))
            return True
        if isinstance(here, Function) and isinstance(there, Function):
            return (here.name, len(here.args)) == (there.name, len(there.args)) and all(
                self.match(a, b) for a, b in zip(here.args, there.args, strict=True)
            )
        if isinstance(here, Leaf):
            value = self.value(here)
            if isinstance(there, Function):
                if not here.opaque:
                    return False
                self.destructure(value, there)
            else:
                # Only that constant fits: the column of the row that is read is the constant itself.
                self.read[self.read.index(value)] = there.term
            return True
        return here == there

    def value(self, here: Shape) -> int:
        """The column, constant or built value of a shape that is read."""
        if isinstance(here, Leaf):
            self.read.append(self.variable())
            return self.read[-1]
        if isinstance(here, Function):
            args = tuple([self.value(a) for a in here.args])
            self.builds.append(Build(self.variable(), here.name, args))
            return self.builds[-1].value
        return here.term

    def destructure(self, value: int, there: Function) -> None:
        """Take a value apart into the columns of a shape that is written."""
        args = []
        for shape in there.args:
            args.append(shape.term if isinstance(shape, Constant) else self.variable())
            if isinstance(shape, Leaf):
                self.written.append(args[-1])
            elif isinstance(shape, Function):
                self.destructure(args[-1], shape)
        self.builds.append(Build(value, there.name, tuple(args)))
