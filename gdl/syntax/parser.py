"""From text in any notation to :class:`~gdl.rules.Rules` and terms."""

from __future__ import annotations

from gdl.hints import read_hints, read_word_hints
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.syntax.notation import Notation, form_of
from gdl.syntax.sexpr import Atom, Group, SExpr, Source
from gdl.terms import CONNECTIVES, Term


def parse_rules(text: str, name: str = "", notation: Notation = "auto") -> Rules:
    """Parse the rules of a game; messages show ``name``, a file name or match id. The notation, one of
    :data:`gdl.syntax.notation.FORMS`, is by default detected from the text and the suffix of the name.

    >>> rules = parse_rules("(role you) (<= (legal you ?m) (true (can ?m)))")
    >>> print(rules)
    (role you)
    (<= (legal you ?m) (true (can ?m)))

    >>> parse_rules("role(you) legal(you,M) :- true(can(M))").rules == rules.rules
    True
    >>> parse_rules("role(you). legal(you,M) :- true(can(M)).").rules == rules.rules
    True

    Upper and lower case are the same. Raises ParseError: the text is not in this notation, or a sentence
    cannot be a rule.
    """
    form = form_of(text, notation, name)
    source, sentences = form.read(text, name)
    reader = Reader(source)
    hints, _ = read_hints(source.text)
    words, _ = read_word_hints(source.text)
    return Rules(tuple(map(reader.rule, sentences)), reader.spelling, name, form.name, hints, words)


def parse_term(text: str, name: str = "", notation: Notation = "kif") -> Term:
    """Parse one term, such as a move or a proposition: by default in KIF, as game managers send it.
    Raises ParseError if the text is not exactly one term.

    >>> parse_term("( Mark 1 1 )")
    Term<(mark 1 1)>
    >>> parse_term("mark(1,1)", notation="auto")
    Term<(mark 1 1)>
    """
    source, parts = form_of(text, notation).read_terms(text, name)
    if len(parts) != 1:
        raise source.fault("not-one-term", parts[1].offset if parts else 0, len(parts))
    return Reader(source).term(parts[0])


def parse_terms(text: str, name: str = "", notation: Notation = "kif") -> list[Term]:
    """Parse a run of terms, with blanks between them, outside KIF also commas. Raises ParseError where the
    text is none.

    >>> parse_terms("(mark 1 1) noop") == parse_terms("mark(1,1), noop", notation="auto")
    True
    """
    source, parts = form_of(text, notation).read_terms(text, name)
    reader = Reader(source)
    return [reader.term(part) for part in parts]


class Reader:
    """Turns expressions into rules and terms; ``spelling``: lower-case word -> its first spelling."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.spelling: dict[str, str] = {}

    def rule(self, part: SExpr) -> Rule:
        """A rule or fact. This and the other readers raise ParseError."""
        place = self.source.place(part.offset)
        match part:
            case Group([Atom("<=")]):
                raise self.source.fault("rule-without-head", part.offset)
            case Group([Atom("<="), head, *body]):
                return Rule(self.head(head), tuple(map(self.formula, body)), place)
            case _:
                return Rule(self.head(part), (), place)

    def head(self, part: SExpr) -> Term:
        """The head of a rule."""
        match part:
            case Atom("<="):
                raise self.source.fault("arrow-alone", part.offset)
            case Atom(word) | Group([Atom(word), *_]) if word.lower() in CONNECTIVES:
                raise self.source.fault("connective-as-head", part.offset, word.lower())
        head = self.term(part)
        if head.is_variable:
            raise self.source.fault("variable-as-head", part.offset)
        return head

    def formula(self, part: SExpr) -> Formula:
        """A part of a body."""
        place = self.source.place(part.offset)
        match part:
            case Group([Atom(word), *rest]) if word.lower() in CONNECTIVES:
                match word.lower():
                    case "or":
                        return Or(tuple(map(self.formula, rest)), place)
                    case "and":
                        return And(tuple(map(self.formula, rest)), place)
                    case "not" if len(rest) == 1:
                        return Not(self.formula(rest[0]), place)
                    case "not":
                        raise self.source.fault("negation-arity", part.offset, len(rest))
                    case _ if any(isinstance(side, Atom) and side.text[0] in "?0123456789" for side in rest):
                        raise self.source.fault("comparison", part.offset)
                    case _:
                        raise self.source.fault("arrow-in-body", part.offset)
        atom = self.term(part)
        if atom.is_variable:
            raise self.source.fault("variable-as-formula", part.offset, str(atom))
        return Literal(atom, place)

    def term(self, part: SExpr) -> Term:
        """A term of any depth."""
        match part:
            case Atom("?"):
                raise self.source.fault("nameless-variable", part.offset)
            case Atom(word):
                self.spelling.setdefault(word.lower(), word)
                return Term(word)
            case Group([Atom(word), *_]) if word.startswith("?"):
                raise self.source.fault("variable-as-functor", part.offset, word)
            case Group([Atom() as functor, *args]):
                return Term(self.term(functor).name, *map(self.term, args))
            case Group([]):
                raise self.source.fault("empty-parentheses", part.offset)
            case _:
                raise self.source.fault("list-as-functor", part.offset)
