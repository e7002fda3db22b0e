"""`Program`: function-free clauses over integers, the input of the prover and the grounder.

The shapes of the arguments of its relations are computed here too.

The shape of a term is its functors down to the symbols: ``(cell _ _ _)``. The shapes that the arguments of
each relation can have are the least fixpoint over the clauses.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from gdl.compile.normalize import Clause
from gdl.errors import Place
from gdl.terms import DOES, INIT, LEGAL, NEXT, TRUE, Term

_MAX_VARIANTS = 400
_MAX_ASSIGNMENTS = 2_000
_MAX_WORK = 400_000
"""The most shapes of one relation, choices of shapes in one clause, and choices in all clauses together."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The shape of a column that holds symbols, or any terms if it is ``opaque``."""

    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """The shape of the terms with one functor, each argument with a shape of its own."""

    name: str
    args: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """The shape of one symbol or term (by its id), which takes no column. Only
    :mod:`gdl.compile.specialize` makes such shapes, after flattening."""

    term: int


Shape = Leaf | Function | Constant
LEAF = Leaf()
OPAQUE = Leaf(opaque=True)


class TooManyShapesError(Exception):
    """The depth limit gives too many shapes, or two shapes cannot be distinguished."""


Signature = tuple[str, int]
Variant = tuple[Shape, ...]
Env = dict[Term, Shape]

_TWINS = {NEXT: [(TRUE, 1)], INIT: [(TRUE, 1)], LEGAL: [(DOES, 2)]}
"""Relation -> the relations that also have all its rows."""


def meet(left: Shape, right: Shape) -> Shape | None:
    """The shape of the terms that have both shapes; None if no term has both."""
    if isinstance(left, Leaf):
        if left.opaque:
            return right
        return left if isinstance(right, Leaf) else None
    if isinstance(right, Leaf):
        return left if right.opaque else None
    assert isinstance(left, Function) and isinstance(right, Function)
    if left.name != right.name or len(left.args) != len(right.args):
        return None
    args = [both for a, b in zip(left.args, right.args, strict=True) if (both := meet(a, b)) is not None]
    return Function(left.name, tuple(args)) if len(args) == len(left.args) else None


def match(term: Term, shape: Shape, env: Env) -> bool:
    """Whether a term can have a shape; narrows the shapes of its variables in ``env``."""
    if term.is_variable:
        shape_so_far = env.get(term)
        both = shape if shape_so_far is None else meet(shape_so_far, shape)
        if both is None:
            return False
        env[term] = both
        return True
    if isinstance(shape, Leaf):
        if not term.args:
            return True
        return shape.opaque and all(match(a, OPAQUE, env) for a in term.args)
    assert isinstance(shape, Function)
    if term.signature != (shape.name, len(shape.args)):
        return False
    return all(match(a, s, env) for a, s in zip(term.args, shape.args, strict=True))


class ShapeInference:
    """The least fixpoint of the shapes that each relation's arguments can have."""

    def __init__(self, clauses: list[Clause], depth: int) -> None:
        self.clauses = clauses
        self.depth = depth
        self.variants: dict[Signature, dict[Variant, None]] = {}
        self.readers: dict[Signature, list[int]] = {}
        self.assigned: list[list[Env]] = [[] for _ in clauses]
        """Per clause every consistent choice of shapes; :meth:`infer` fills it."""

    def infer(self) -> dict[Signature, list[Variant]]:
        """Shapes per relation, in a fixed order."""
        for number, clause in enumerate(self.clauses):
            for atom in clause.positives:
                self.readers.setdefault(atom.signature, []).append(number)
        waiting = dict.fromkeys(range(len(self.clauses)))
        work = 0
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            clause = self.clauses[number]
            envs = self.assigned[number] = assignments(clause.positives, self.variants)
            work += len(envs)
            if work > _MAX_WORK:
                raise TooManyShapesError
            for env in envs:
                variant = tuple([self.shape(a, env, 0) for a in clause.head.args])
                for signature in (clause.head.signature, *_TWINS.get(clause.head.name, ())):
                    variants = self.variants.setdefault(signature, {})
                    if variant not in variants:
                        variants[variant] = None
                        if len(variants) > _MAX_VARIANTS:
                            raise TooManyShapesError
                        waiting.update(dict.fromkeys(self.readers.get(signature, ())))
        return {signature: list(variants) for signature, variants in self.variants.items()}

    def shape(self, term: Term, env: Env, level: int) -> Shape:
        """The shape of a term at a nesting level under an assignment of shapes."""
        if level >= self.depth:
            return OPAQUE
        if term.is_variable:
            return self.cap(env[term], level)
        if not term.args:
            return LEAF
        return Function(term.name, tuple([self.shape(a, env, level + 1) for a in term.args]))

    def cap(self, shape: Shape, level: int) -> Shape:
        """A shape moved to a nesting level; parts that become too deep become opaque."""
        if level >= self.depth:
            return OPAQUE
        if isinstance(shape, Leaf):
            if shape.opaque:  # an opaque term at a level where shapes must be known
                raise TooManyShapesError
            return shape
        assert isinstance(shape, Function)
        return Function(shape.name, tuple([self.cap(a, level + 1) for a in shape.args]))


def assignments(atoms: tuple[Term, ...], variants: dict[Signature, dict[Variant, None]]) -> list[Env]:
    """Every consistent choice of one variant per atom, as the shapes of the variables. Raises
    TooManyShapesError if there are more than :data:`_MAX_ASSIGNMENTS` choices."""
    envs: list[Env] = [{}]
    for atom in atoms:
        choices = list(variants.get(atom.signature, ()))
        if len(envs) == len(choices) == 1:  # as in most rules: no copies, no comparisons
            if not all(match(a, s, envs[0]) for a, s in zip(atom.args, choices[0], strict=True)):
                return []
            continue
        extended: dict[tuple[Shape, ...], Env] = {}
        for env in envs:
            for variant in choices:
                trial = dict(env)
                if all(match(a, s, trial) for a, s in zip(atom.args, variant, strict=True)):
                    # All have bound the same variables in the same order.
                    extended.setdefault(tuple(trial.values()), trial)
            if len(extended) > _MAX_ASSIGNMENTS:
                raise TooManyShapesError
        envs = list(extended.values())
    return envs


def leaf_count(shape: Shape) -> int:
    """The number of columns that a shape takes."""
    if isinstance(shape, Function):
        return sum(map(leaf_count, shape.args))
    return 1 if isinstance(shape, Leaf) else 0


MAX_FLAT_CLAUSES = 400_000  # rules that multiply out to more are too large


@dataclass(frozen=True, slots=True)
class Predicate:
    """One relation with one shape per argument; ``arity`` counts the leaves (columns)."""

    index: int
    name: str
    shapes: tuple[Shape, ...]
    arity: int


def variables_of(*rows: Iterable[int]) -> frozenset[int]:
    """The variables among the arguments of atoms."""
    return frozenset([a for row in rows for a in row if a < 0])


def all_bound(args: Iterable[int], bound: Container[int]) -> bool:
    """Whether arguments are constants and bound variables."""
    return all(arg >= 0 or arg in bound for arg in args)


@dataclass(frozen=True, slots=True)
class FlatAtom:
    """A predicate (by index) of constants and variables: a constant is its id in
    :class:`TermTable` (>= 0), variable v of the clause is ``-1 - v`` (< 0)."""

    predicate: int
    args: tuple[int, ...]

    def bound_columns(self, bound: Container[int]) -> tuple[int, ...]:
        """The columns that hold constants or bound variables."""
        return tuple([c for c, arg in enumerate(self.args) if arg >= 0 or arg in bound])


@dataclass(frozen=True, slots=True)
class Build:
    """``value = (functor args...)``: builds the value from bound arguments, or takes a bound value
    apart (and fails if it has another functor or arity). Coded as in FlatAtom."""

    value: int
    functor: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlatClause:
    """``head <- positives, not negatives, distincts, builds, conditions``.

    ``distincts`` are pairs of equally long tuples that must differ in at least one place. Every variable
    (``0 .. variables - 1``) occurs in a positive literal or gets its value by a build whose other side is
    bound. ``conditions`` are positive literals of static predicates that the grounder does not list
    (:mod:`gdl.grounding.unfold`); others have none.
    """

    head: FlatAtom
    positives: tuple[FlatAtom, ...]
    negatives: tuple[FlatAtom, ...]
    distincts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    builds: tuple[Build, ...]
    variables: int
    place: Place = field(default=Place(), compare=False)
    conditions: tuple[FlatAtom, ...] = ()

    @property
    def has_body(self) -> bool:
        """Whether it is more than a fact."""
        return bool(self.positives or self.negatives or self.distincts or self.builds)


class TermTable:
    """Numbers ground terms 0, 1, 2, ... in the order in which they are met."""

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self._ids: dict[Term, int] = {}

    def id(self, term: Term) -> int:
        """The number of a ground term; a new number for a new term."""
        number = self._ids.get(term)
        if number is None:
            number = self._ids[term] = len(self.terms)
            self.terms.append(term)
        return number

    def find(self, term: Term) -> int:
        """The number of a ground term; -1 if the table does not have it."""
        return self._ids.get(term, -1)

    def __len__(self) -> int:
        return len(self.terms)


@dataclass
class Program:
    """Flat clauses, their predicates and the numbers of their terms.

    Attributes:
        predicates: by index.
        facts: predicate index -> rows of constants (clauses without a body).
        clauses: the clauses with a body.
        table: constants.
    """

    predicates: list[Predicate]
    facts: dict[int, set[tuple[int, ...]]]
    clauses: list[FlatClause]
    table: TermTable

    def __post_init__(self) -> None:
        self._by_name: dict[tuple[str, int], list[Predicate]] = {}
        for predicate in self.predicates:
            self._by_name.setdefault((predicate.name, len(predicate.shapes)), []).append(predicate)

    def named(self, name: str, arity: int) -> list[Predicate]:
        """The predicates that one relation was split into (none if it has no rules)."""
        return self._by_name.get((name, arity), [])

    def atom(self, predicate: int, row: tuple[int, ...]) -> Term:
        """The GDL atom, ``(true (cell 1 1 b))``, of a row of a predicate."""
        return Term(self.predicates[predicate].name, *self.arguments(predicate, row))

    def arguments(self, predicate: int, row: tuple[int, ...]) -> tuple[Term, ...]:
        """The arguments of the GDL atom of a row: you and noop for ``(does you noop)``."""
        leaves = iter(row)
        return tuple([self._grow(shape, leaves) for shape in self.predicates[predicate].shapes])

    def _grow(self, shape: Shape, leaves: Iterator[int]) -> Term:
        if isinstance(shape, Leaf):
            return self.table.terms[next(leaves)]
        if isinstance(shape, Constant):
            return self.table.terms[shape.term]
        return Term(shape.name, *[self._grow(s, leaves) for s in shape.args])

    def row(self, atom: Term) -> tuple[int, tuple[int, ...]] | None:
        """The predicate and row of a ground atom; None if no predicate has its shape."""
        for predicate in self.named(*atom.signature):
            leaves: list[int] = []
            if all(self._leaves(a, s, leaves) for a, s in zip(atom.args, predicate.shapes, strict=True)):
                return predicate.index, tuple(leaves)
        return None

    def _leaves(self, term: Term, shape: Shape, leaves: list[int]) -> bool:
        if isinstance(shape, Leaf):
            if term.args and not shape.opaque:
                return False
            leaves.append(self.table.id(term))
            return True
        if isinstance(shape, Constant):
            return term is self.table.terms[shape.term]
        if term.signature != (shape.name, len(shape.args)):
            return False
        return all(self._leaves(t, s, leaves) for t, s in zip(term.args, shape.args, strict=True))
