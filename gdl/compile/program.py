"""`Program`: function-free clauses over integers, on which the prover and the grounder work."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from gdl.compile.shapes import Constant, Leaf, Shape
from gdl.errors import Place
from gdl.terms import Term

MAX_FLAT_CLAUSES = 400_000  # rules that multiply out to more are too large


@dataclass(frozen=True, slots=True)
class Predicate:
    """One relation with one shape per argument; ``arity`` counts the leaves (columns)."""

    index: int
    name: str
    shapes: tuple[Shape, ...]
    arity: int


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
    apart (and fails where it has another functor or arity). Coded as in FlatAtom."""

    value: int
    functor: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlatClause:
    """``head <- positives, not negatives, distincts, builds``.

    ``distincts`` are pairs of equally long tuples that must differ in at least one place. Every variable
    (``0 .. variables - 1``) occurs in a positive literal or gets its value by a build whose other side is
    bound.
    """

    head: FlatAtom
    positives: tuple[FlatAtom, ...]
    negatives: tuple[FlatAtom, ...]
    distincts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    builds: tuple[Build, ...]
    variables: int
    place: Place = field(default=Place(), compare=False)

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
        """The number of a ground term, a new one if it was never met."""
        number = self._ids.get(term)
        if number is None:
            number = self._ids[term] = len(self.terms)
            self.terms.append(term)
        return number

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
        return Term(self.predicates[predicate].name, *self.arguments(predicate, row))

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
