"""Flattening: function terms vanish from the clauses; what is left is Datalog over integers.

An abstract interpretation finds, for each relation, the *shapes* its arguments can have:
``true`` of ``(cell _ _ _)``, ``true`` of ``(control _)``. Every relation is split into one
predicate per combination of shapes, whose columns are the leaves of those shapes, and every
clause into one flat clause per combination that its literals allow. Nesting deeper than a
limit (recursive functions) stays as one opaque column, taken apart by :class:`Build` literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gdl.errors import Place, TooLargeError
from gdl.normalize import Clause
from gdl.terms import DOES, INIT, LEGAL, NEXT, TRUE, Term

MAX_DEPTH = 4
"""Functions nested deeper than this in an argument become one opaque column."""

MAX_VARIANTS = 400
"""More shapes than this of one relation make the flattening retry with a smaller depth."""

MAX_FLAT_CLAUSES = 400_000

MAX_ASSIGNMENTS = 2_000
"""More choices of shapes than this in one clause make it retry with a smaller depth, too."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The shape of a column that holds symbols, or any terms where it is ``opaque``."""

    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """The shape of the terms with one functor, each argument with a shape of its own."""

    name: str
    args: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """The shape of one symbol or term (by its id): no column at all. Only
    :mod:`gdl.specialize` makes such shapes, after flattening."""

    term: int


Shape = Leaf | Function | Constant
LEAF = Leaf()
OPAQUE = Leaf(opaque=True)


@dataclass(frozen=True, slots=True)
class Predicate:
    """One relation with one shape per argument; ``arity`` counts the leaves (columns)."""

    index: int
    name: str
    shapes: tuple[Shape, ...]
    arity: int


@dataclass(frozen=True, slots=True)
class FlatAtom:
    """A predicate (by index) of constants and variables: a constant is its id in
    :class:`TermTable` (>= 0), variable v of the clause is ``-1 - v`` (< 0)."""

    predicate: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Build:
    """``value = (functor args...)``: builds the value from bound arguments, or takes a bound
    value apart (and fails where it has another functor or arity). All coded as in FlatAtom."""

    value: int
    functor: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlatClause:
    """``head <- positives, not negatives, distincts, builds``.

    ``distincts`` are pairs of equally long tuples that must differ in at least one place.
    Every variable (``0 .. variables - 1``) occurs in a positive literal or is given its
    value by a build whose other side is bound.
    """

    head: FlatAtom
    positives: tuple[FlatAtom, ...]
    negatives: tuple[FlatAtom, ...]
    distincts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    builds: tuple[Build, ...]
    variables: int
    place: Place = field(default=Place(), compare=False)


class TermTable:
    """Numbers ground terms 0, 1, 2, ... in the order they are met."""

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self._ids: dict[Term, int] = {}

    def id(self, term: Term) -> int:
        """The number of a ground term, a new one if it was never met."""
        found = self._ids.get(term)
        if found is None:
            found = self._ids[term] = len(self.terms)
            self.terms.append(term)
        return found

    def known(self, term: Term) -> int:
        """The number of a ground term, -1 if it was never met."""
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
        found = self.predicates[predicate]
        leaves = iter(row)
        return Term(found.name, *[self._grow(shape, leaves) for shape in found.shapes])

    def arguments(self, predicate: int, row: tuple[int, ...]) -> tuple[Term, ...]:
        """The arguments of that atom: of ``(does you noop)`` the terms you and noop."""
        leaves = iter(row)
        return tuple([self._grow(shape, leaves) for shape in self.predicates[predicate].shapes])

    def _grow(self, shape: Shape, leaves: Iterator[int]) -> Term:
        if isinstance(shape, Leaf):
            return self.table.terms[next(leaves)]
        if isinstance(shape, Constant):
            return self.table.terms[shape.term]
        return Term(shape.name, *[self._grow(s, leaves) for s in shape.args])

    def row(self, atom: Term) -> tuple[int, tuple[int, ...]] | None:
        """The predicate and row of a ground atom; None where no predicate has its shape."""
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


def flatten(clauses: list[Clause]) -> Program:
    """Flatten normal clauses.

    ``true`` gets the shapes of ``init`` and ``next``, ``does`` those of ``legal``, so that a
    row of one is a row of the other.

    Raises:
        TooLargeError: the rules multiply out to more than :data:`MAX_FLAT_CLAUSES` clauses.
    """
    for depth in range(MAX_DEPTH, -1, -1):
        try:
            variants = _Shapes(clauses, depth).infer()
            return _Flattener(clauses, depth, variants).program()
        except _TooDeepError:
            if depth == 0:
                raise TooLargeError(
                    "the rules multiply out to too many clauses", remedy="use fewer alternatives per rule"
                ) from None
    raise AssertionError("unreachable")


class _TooDeepError(Exception):
    """The depth limit gives too many shapes, or cannot tell two shapes apart."""


Signature = tuple[str, int]
Variant = tuple[Shape, ...]
Env = dict[Term, Shape]


def meet(left: Shape, right: Shape) -> Shape | None:
    """The shape of the terms that have both shapes; None where there are none."""
    if isinstance(left, Leaf):
        if left.opaque:
            return right
        return left if isinstance(right, Leaf) else None
    if isinstance(right, Leaf):
        return left if right.opaque else None
    assert isinstance(left, Function) and isinstance(right, Function)
    if left.name != right.name or len(left.args) != len(right.args):
        return None
    args = []
    for a, b in zip(left.args, right.args, strict=True):
        both = meet(a, b)
        if both is None:
            return None
        args.append(both)
    return Function(left.name, tuple(args))


def match(term: Term, shape: Shape, env: Env) -> bool:
    """Whether a term can have a shape; narrows the shapes of its variables in ``env``."""
    if term.is_variable:
        known = env.get(term)
        both = shape if known is None else meet(known, shape)
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


class _Shapes:
    """The least fixpoint of the shapes that each relation's arguments can have."""

    def __init__(self, clauses: list[Clause], depth: int) -> None:
        self.clauses = clauses
        self.depth = depth
        self.variants: dict[Signature, dict[Variant, None]] = {}
        self.readers: dict[Signature, list[int]] = {}

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
            found = assignments(clause.positives, self.variants)
            work += len(found)
            if work > MAX_FLAT_CLAUSES:
                raise _TooDeepError
            for env in found:
                variant = tuple([self.shape(a, env, 0) for a in clause.head.args])
                for signature in _with_twins(clause.head.signature):
                    known = self.variants.setdefault(signature, {})
                    if variant not in known:
                        known[variant] = None
                        if len(known) > MAX_VARIANTS:
                            raise _TooDeepError
                        waiting.update(dict.fromkeys(self.readers.get(signature, ())))
        return {signature: list(found) for signature, found in self.variants.items()}

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
        """A shape moved to a nesting level: what becomes too deep becomes opaque."""
        if level >= self.depth:
            return OPAQUE
        if isinstance(shape, Leaf):
            if shape.opaque:  # an opaque term at a level where shapes must be known
                raise _TooDeepError
            return shape
        assert isinstance(shape, Function)
        return Function(shape.name, tuple([self.cap(a, level + 1) for a in shape.args]))


def _with_twins(signature: Signature) -> list[Signature]:
    """The relations whose rows are rows of this one too."""
    twins = {NEXT: [(TRUE, 1)], INIT: [(TRUE, 1)], LEGAL: [(DOES, 2)]}
    return [signature, *twins.get(signature[0], [])]


def assignments(
    atoms: tuple[Term, ...],
    variants: dict[Signature, dict[Variant, None]] | dict[Signature, list[Variant]],
) -> list[Env]:
    """Every consistent choice of one variant per atom, as the shapes of the variables.

    Raises _TooDeepError where the choices are more than :data:`MAX_ASSIGNMENTS`.
    """
    found: list[Env] = [{}]
    for atom in atoms:
        choices = list(variants.get(atom.signature, ()))
        if len(found) == len(choices) == 1:  # as in most rules: no copies, no comparisons
            if not all(match(a, s, found[0]) for a, s in zip(atom.args, choices[0], strict=True)):
                return []
            continue
        extended: dict[tuple[Shape, ...], Env] = {}
        for env in found:
            for variant in choices:
                trial = dict(env)
                if all(match(a, s, trial) for a, s in zip(atom.args, variant, strict=True)):
                    # All have bound the same variables in the same order.
                    extended.setdefault(tuple(trial.values()), trial)
            if len(extended) > MAX_ASSIGNMENTS:
                raise _TooDeepError
        found = list(extended.values())
    return found


Tree = int | tuple[str, tuple["Tree", ...]]
"""The value of a variable: a column, or a functor over trees. Constants are columns >= 0."""


class _Flattener:
    """Writes the flat clauses once the shapes are known."""

    def __init__(self, clauses: list[Clause], depth: int, variants: dict[Signature, list[Variant]]) -> None:
        self.clauses = clauses
        self.depth = depth
        self.variants = variants
        self.table = TermTable()
        self.predicates: list[Predicate] = []
        self.index: dict[tuple[Signature, Variant], int] = {}
        for signature, found in variants.items():
            for variant in found:
                self.index[signature, variant] = len(self.predicates)
                self.predicates.append(
                    Predicate(len(self.predicates), signature[0], variant, sum(map(_leaf_count, variant)))
                )

    def program(self) -> Program:
        """All clauses, flat."""
        facts: dict[int, set[tuple[int, ...]]] = {}
        flat: dict[FlatClause, None] = {}
        for clause in self.clauses:
            for env in assignments(clause.positives, self.variants):
                for written in _Writer(self, clause, env).write():
                    if written.positives or written.negatives or written.distincts or written.builds:
                        flat[written] = None
                        if len(flat) > MAX_FLAT_CLAUSES:
                            raise _TooDeepError
                    else:
                        facts.setdefault(written.head.predicate, set()).add(written.head.args)
        return Program(self.predicates, facts, list(flat), self.table)


class _Writer:
    """Writes one clause under one assignment of shapes."""

    def __init__(self, flattener: _Flattener, clause: Clause, env: Env) -> None:
        self.flattener = flattener
        self.table = flattener.table
        self.clause = clause
        self.env = env
        self.count = 0
        self.builds: list[Build] = []
        self.built: dict[tuple[str, tuple[int, ...]], int] = {}
        self.values: dict[Term, Tree] = {v: self.fresh(s) for v, s in env.items()}

    def write(self) -> Iterator[FlatClause]:
        clause = self.clause
        head = next(self.atoms(clause.head, exact=True), None)
        if head is None:
            return
        choices: list[list[FlatAtom]] = []
        for atom in clause.positives:
            choices.append(list(self.atoms(atom)))
        negatives: list[FlatAtom] = []
        for atom in clause.negatives:
            negatives.extend(self.atoms(atom))
        distincts = []
        for left, right in clause.distincts:
            pairs: list[tuple[int, int]] = []
            if self.differ(self.tree(left), self.tree(right), pairs):
                continue
            if not pairs:
                return
            distincts.append((tuple(a for a, _ in pairs), tuple(b for _, b in pairs)))
        if not all(choices):
            return
        # Under one assignment an atom fits exactly one variant.
        positives = dict.fromkeys(c[0] for c in choices)
        yield FlatClause(
            head,
            tuple(positives),
            tuple(dict.fromkeys(negatives)),
            tuple(dict.fromkeys(distincts)),
            tuple(self.builds),
            self.count,
            clause.place,
        )

    def fresh(self, shape: Shape) -> Tree:
        """New columns for a variable of this shape."""
        if isinstance(shape, Leaf):
            self.count += 1
            return -self.count
        assert isinstance(shape, Function)
        return shape.name, tuple([self.fresh(s) for s in shape.args])

    def tree(self, term: Term) -> Tree:
        """The value of a term: trees of columns and constants."""
        if term.is_variable:
            return self.values[term]
        if not term.args:
            return self.table.id(term)
        return term.name, tuple([self.tree(a) for a in term.args])

    def atoms(self, atom: Term, exact: bool = False) -> Iterator[FlatAtom]:
        """The flat atoms of the variants that an atom can belong to."""
        signature = atom.signature
        if exact:
            shapes = _Shapes([], self.flattener.depth)
            variant = tuple([shapes.shape(a, self.env, 0) for a in atom.args])
            found = self.flattener.index.get((signature, variant))
            candidates = [] if found is None else [variant]
        else:
            candidates = self.flattener.variants.get(signature, [])
        trees = [self.tree(a) for a in atom.args]
        for variant in candidates:
            if all(map(self.fits, trees, variant, atom.args)):
                columns: list[int] = []
                for tree, shape in zip(trees, variant, strict=True):
                    self.lay(tree, shape, columns)
                yield FlatAtom(self.flattener.index[signature, variant], tuple(columns))

    def fits(self, tree: Tree, shape: Shape, term: Term) -> bool:
        """Whether a value can stand where the shape is."""
        if isinstance(shape, Leaf):
            return shape.opaque or isinstance(tree, int)
        assert isinstance(shape, Function)
        if isinstance(tree, int):
            if term.is_variable and self.env[term] is OPAQUE:
                raise _TooDeepError
            return False
        if tree[0] != shape.name or len(tree[1]) != len(shape.args):
            return False
        inner = term.args if term.args else (term,) * len(shape.args)
        if term.is_variable:
            return meet(self.env[term], shape) is not None
        return all(map(self.fits, tree[1], shape.args, inner))

    def lay(self, tree: Tree, shape: Shape, columns: list[int]) -> None:
        """Append the columns of a value in the layout of a shape."""
        if isinstance(shape, Leaf):
            columns.append(tree if isinstance(tree, int) else self.build(tree))
        else:
            assert isinstance(shape, Function) and not isinstance(tree, int)
            for inner, part in zip(tree[1], shape.args, strict=True):
                self.lay(inner, part, columns)

    def build(self, tree: tuple[str, tuple[Tree, ...]]) -> int:
        """One column for a whole function term."""
        ground = self.ground(tree)
        if ground is not None:
            return self.table.id(ground)
        args = tuple([a if isinstance(a, int) else self.build(a) for a in tree[1]])
        known = self.built.get((tree[0], args))
        if known is None:
            self.count += 1
            known = self.built[tree[0], args] = -self.count
            self.builds.append(Build(known, tree[0], args))
        return known

    def ground(self, tree: Tree) -> Term | None:
        """The term of a value without variables."""
        if isinstance(tree, int):
            return self.table.terms[tree] if tree >= 0 else None
        args = [self.ground(a) for a in tree[1]]
        return None if None in args else Term(tree[0], *[a for a in args if a is not None])

    def differ(self, left: Tree, right: Tree, pairs: list[tuple[int, int]]) -> bool:
        """Whether two values surely differ; else collects the columns one pair of which must."""
        if isinstance(left, int) and isinstance(right, int):
            if left >= 0 and right >= 0:
                return left != right
            if left != right:
                pairs.append((left, right))
            return False
        if isinstance(left, int) or isinstance(right, int):
            column, tree = (left, right) if isinstance(left, int) else (right, left)
            assert isinstance(column, int) and not isinstance(tree, int)
            if column >= 0:
                term = self.table.terms[column]
                if not term.args:
                    return True
                return self.differ(self.tree(term), tree, pairs)
            if all(s is LEAF for v, s in self.env.items() if self.values[v] == column):
                return True
            pairs.append((column, self.build(tree)))
            return False
        if left[0] != right[0] or len(left[1]) != len(right[1]):
            return True
        return any([self.differ(a, b, pairs) for a, b in zip(left[1], right[1], strict=True)])


def _leaf_count(shape: Shape) -> int:
    if isinstance(shape, Function):
        return sum(map(_leaf_count, shape.args))
    return 1 if isinstance(shape, Leaf) else 0
