"""Rules as they were written: heads, formulas, their places and the game's own spelling.

Places are for messages: rules, formulas and literals are equal wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gdl.errors import Place
from gdl.hints import PictureHint, WordHint
from gdl.terms import Term


@dataclass(frozen=True, slots=True)
class Literal:
    """A relation that is asked for, ``(true (cell 1 1 b))``; also ``(distinct ?x ?y)``."""

    atom: Term
    place: Place = field(default=Place(), compare=False)

    def __str__(self) -> str:
        return str(self.atom)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation as failure of one formula."""

    formula: Formula
    place: Place = field(default=Place(), compare=False)

    def __str__(self) -> str:
        return f"(not {self.formula})"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; GDL spells it ``(and ...)`` inside ``or`` and ``not``."""

    parts: tuple[Formula, ...]
    place: Place = field(default=Place(), compare=False)

    def __str__(self) -> str:
        return f"(and {' '.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction of any number of formulas; of none it is false."""

    parts: tuple[Formula, ...]
    place: Place = field(default=Place(), compare=False)

    def __str__(self) -> str:
        return f"(or {' '.join(map(str, self.parts))})"


Formula = Literal | Not | And | Or


@dataclass(frozen=True, slots=True)
class Rule:
    """``(<= head body...)``, or a fact where the body is empty."""

    head: Term
    body: tuple[Formula, ...] = ()
    place: Place = field(default=Place(), compare=False)

    def __str__(self) -> str:
        if not self.body:
            return str(self.head)
        return f"(<= {self.head} {' '.join(map(str, self.body))})"


@dataclass(frozen=True)
class Rules:
    """All sentences of one game, in the order of the text.

    Attributes:
        rules: the sentences.
        spelling: lower-case name or variable -> its first spelling in the text. GDL ignores case, but people
            and game managers want their own spelling back (:meth:`spell`).
        name: where the rules came from (a file name, a match id), for messages.
        notation: what they were written in, one of :data:`gdl.syntax.notation.FORMS`, for messages.
        hints: what comments say about the picture of a state; they never change what the rules mean.
        word_hints: what comments say about the words for moves and ends.
    """

    rules: tuple[Rule, ...]
    spelling: dict[str, str] = field(default_factory=dict)
    name: str = ""
    notation: str = field(default="kif", compare=False)
    hints: tuple[PictureHint, ...] = field(default=(), compare=False)
    word_hints: tuple[WordHint, ...] = field(default=(), compare=False)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def spell(self, term: Term) -> str:
        """The term as KIF text in the spelling of the rules."""
        return term.spelled(self.spelling)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


def literals(formula: Formula) -> Iterator[tuple[Literal, bool]]:
    """Every literal below a formula with its sign: True where it stands under an even
    number of negations."""
    stack: list[tuple[Formula, bool]] = [(formula, True)]
    while stack:
        part, positive = stack.pop()
        match part:
            case Literal():
                yield part, positive
            case Not(inner):
                stack.append((inner, not positive))
            case And(parts) | Or(parts):
                stack.extend((p, positive) for p in reversed(parts))


Signature = tuple[str, int]
"""Name and arity."""


def body_literals(rule: Rule) -> Iterator[tuple[Literal, bool]]:
    """Every literal of a rule's body with its sign: False under an odd number of negations."""
    for formula in rule.body:
        yield from literals(formula)


def atoms_of(rule: Rule) -> Iterator[tuple[Term, Place]]:
    """The head of a rule and the atoms of its body."""
    yield rule.head, rule.place
    for literal, _ in body_literals(rule):
        yield literal.atom, literal.place


def subterms(atom: Term) -> Iterator[Term]:
    """The arguments of an atom, their arguments, and so on."""
    todo = list(atom.args)
    while todo:
        term = todo.pop()
        yield term
        todo.extend(term.args)


def map_atoms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with every atom changed; places stay."""
    match formula:
        case Literal(atom, place):
            return Literal(change(atom), place)
        case Not(inner, place):
            return Not(map_atoms(inner, change), place)
        case And(parts, place) | Or(parts, place):
            return type(formula)(tuple([map_atoms(part, change) for part in parts]), place)
