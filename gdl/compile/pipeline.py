"""From rules to strata of flat clauses: the front half of every machine, in one call.

Flattening: function terms vanish from the clauses; Datalog over integers remains. Abstract interpretation
(:mod:`gdl.compile.program`) finds the shapes that the arguments of each relation can have: ``true`` of
``(cell _ _ _)``, ``true`` of ``(control _)``. Every relation is split into one predicate per combination of
shapes, whose columns are the leaves of those shapes, and every clause into one flat clause per combination
that its literals allow. Terms that nest too deep (recursive functions) stay in one opaque column;
:class:`Build` literals take them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from gdl.compile.normalize import Clause, normalize
from gdl.compile.program import (
    LEAF,
    MAX_FLAT_CLAUSES,
    OPAQUE,
    Build,
    Env,
    FlatAtom,
    FlatClause,
    Function,
    Leaf,
    Predicate,
    Program,
    Shape,
    ShapeInference,
    Signature,
    TermTable,
    TooManyShapesError,
    Variant,
    leaf_count,
    meet,
)
from gdl.compile.specialize import specialize
from gdl.compile.stratify import Stratum, stratify
from gdl.errors import RulesError, TooLargeError
from gdl.rules import Rules
from gdl.terms import ROLE, Term

MAX_DEPTH = 4  # functions nested deeper than this in an argument become one opaque column


def flatten(clauses: list[Clause]) -> Program:
    """The program of flat clauses for normal clauses.

    The rows of ``init`` and ``next`` are also rows of ``true``, so ``true`` gets their shapes. ``does`` gets
    the shapes of ``legal``. Raises TooLargeError if the rules multiply out to more than
    :data:`MAX_FLAT_CLAUSES` clauses.
    """
    for depth in range(MAX_DEPTH, -1, -1):
        try:
            inference = ShapeInference(clauses, depth)
            return _Flattener(inference, inference.infer()).program()
        except TooManyShapesError:
            if depth == 0:
                raise TooLargeError(
                    "the rules multiply out to too many clauses", remedy="use fewer alternatives per rule"
                ) from None
    raise AssertionError("unreachable")


Tree = int | tuple[str, tuple["Tree", ...]]
"""The value of a variable: a column, or a functor over trees. Constants are columns >= 0."""


class _Flattener:
    """Writes the flat clauses once the shapes are known."""

    def __init__(self, shapes: ShapeInference, variants: dict[Signature, list[Variant]]) -> None:
        self.shapes = shapes
        self.variants = variants
        self.table = TermTable()
        self.predicates: list[Predicate] = []
        self.index: dict[tuple[Signature, Variant], int] = {}
        for signature, choices in variants.items():
            for variant in choices:
                index = self.index[signature, variant] = len(self.predicates)
                arity = sum(map(leaf_count, variant))
                self.predicates.append(Predicate(index, signature[0], variant, arity))

    def program(self) -> Program:
        """The program of all flat clauses. Raises TooManyShapesError if there are too many."""
        facts: dict[int, set[tuple[int, ...]]] = {}
        flat: dict[FlatClause, None] = {}
        for clause, envs in zip(self.shapes.clauses, self.shapes.assigned, strict=True):
            for env in envs:
                written = _ClauseWriter(self, clause, env).write()
                if written is None:
                    continue
                if written.has_body:
                    flat[written] = None
                    if len(flat) > MAX_FLAT_CLAUSES:
                        raise TooManyShapesError
                else:
                    facts.setdefault(written.head.predicate, set()).add(written.head.args)
        return Program(self.predicates, facts, list(flat), self.table)


class _ClauseWriter:
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

    def write(self) -> FlatClause | None:
        """The flat clause; None if the body has no match under the assignment."""
        clause = self.clause
        shapes = self.flattener.shapes
        variant = tuple([shapes.shape(a, self.env, 0) for a in clause.head.args])
        if (clause.head.signature, variant) not in self.flattener.index:
            return None
        head = next(self.atoms(clause.head, [variant]), None)
        if head is None:
            return None
        choices = [list(self.atoms(atom)) for atom in clause.positives]
        negatives = [flat for atom in clause.negatives for flat in self.atoms(atom)]
        distincts = []
        for left, right in clause.distincts:
            pairs: list[tuple[int, int]] = []
            if self.differ(self.tree(left), self.tree(right), pairs):
                continue
            if not pairs:
                return None
            distincts.append((tuple(a for a, _ in pairs), tuple(b for _, b in pairs)))
        if not all(choices):
            return None
        return FlatClause(
            head,
            tuple(dict.fromkeys(c[0] for c in choices)),  # under one assignment an atom fits one variant
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

    def atoms(self, atom: Term, variants: list[Variant] | None = None) -> Iterator[FlatAtom]:
        """The flat atoms of the variants (all of its relation by default) that an atom can belong to."""
        signature = atom.signature
        if variants is None:
            variants = self.flattener.variants.get(signature, [])
        trees = [self.tree(a) for a in atom.args]
        for variant in variants:
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
                raise TooManyShapesError
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
        column = self.built.get((tree[0], args))
        if column is None:
            self.count += 1
            column = self.built[tree[0], args] = -self.count
            self.builds.append(Build(column, tree[0], args))
        return column

    def ground(self, tree: Tree) -> Term | None:
        """The term of a value without variables."""
        if isinstance(tree, int):
            return self.table.terms[tree] if tree >= 0 else None
        args = [self.ground(a) for a in tree[1]]
        return None if None in args else Term(tree[0], *[a for a in args if a is not None])

    def differ(self, left: Tree, right: Tree, pairs: list[tuple[int, int]]) -> bool:
        """Whether two values surely differ. If that is open, add to ``pairs`` the columns, one pair of which
        must differ."""
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
        return any(self.differ(a, b, pairs) for a, b in zip(left[1], right[1], strict=True))


def compile_rules(rules: Rules) -> tuple[Program, list[Stratum]]:
    """Normalize, flatten, specialize and stratify: the program and its strata in evaluation order.

    Raises:
        RulesError: no role, a keyword as a head, or unstratified negation.
        TooLargeError: the rules multiply out beyond the limits.
    """
    program = specialize(flatten(normalize(rules)))
    derived = {c.head.predicate for c in program.clauses}
    if not any(p.index in derived or program.facts.get(p.index) for p in program.named(ROLE, 1)):
        raise RulesError("the rules name no role", remedy="add a fact such as (role player)")
    return program, stratify(program)
