"""From KIF text to :class:`~gdl.rules.Rules` and terms."""

from __future__ import annotations

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.syntax.sexpr import Atom, Group, SExpr, Source, read
from gdl.terms import Term


def parse_rules(text: str, name: str = "") -> Rules:
    """Parse the rules of a game.

    >>> rules = parse_rules("(role you) (<= (legal you ?m) (true (can ?m)))")
    >>> print(rules)
    (role you)
    (<= (legal you ?m) (true (can ?m)))

    Args:
        text: KIF sentences; upper and lower case are the same.
        name: a file name or match id that messages show.

    Raises:
        ParseError: the text is not KIF, or a sentence cannot be a rule.
    """
    source, sentences = read(text, name)
    reader = Reader(source)
    return Rules(tuple(map(reader.rule, sentences)), reader.spelling, name)


def parse_term(text: str, name: str = "") -> Term:
    """Parse one term, such as a move or a proposition.

    >>> parse_term("( Mark 1 1 )")
    Term<(mark 1 1)>

    Raises:
        ParseError: the text is not exactly one term.
    """
    source, parts = read(text, name)
    if len(parts) != 1:
        extra = parts[1].offset if parts else 0
        raise source.error(
            f"expected one term, found {len(parts)}", extra, "give exactly one", "not-one-term"
        )
    return Reader(source).term(parts[0])


def parse_terms(text: str, name: str = "") -> list[Term]:
    """Parse a run of terms.

    >>> parse_terms("(mark 1 1) noop")
    [Term<(mark 1 1)>, Term<noop>]

    Raises:
        ParseError: the text is not a run of terms.
    """
    source, parts = read(text, name)
    reader = Reader(source)
    return [reader.term(part) for part in parts]


class Reader:
    """Turns expressions into rules and terms, and notes how names are spelled."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.spelling: dict[str, str] = {}

    def rule(self, part: SExpr) -> Rule:
        place = self.source.place(part.offset)
        match part:
            case Group([Atom("<="), *rest]):
                if not rest:
                    raise self.source.error(
                        "'<=' has no head", part.offset, "write (<= head body...)", "rule-without-head"
                    )
                head, *body = rest
                return Rule(self.head(head), tuple(map(self.formula, body)), place)
            case _:
                return Rule(self.head(part), (), place)

    def head(self, part: SExpr) -> Term:
        name = _first_word(part)
        if name in ("not", "or", "and", "<="):
            raise self.source.error(
                f"{name!r} cannot stand in the head of a rule",
                part.offset,
                "give the rule a relation as head",
                "connective-as-head",
            )
        head = self.term(part)
        if head.is_variable:
            raise self.source.error(
                "a variable cannot be the head of a rule",
                part.offset,
                "give the rule a relation as head",
                "variable-as-head",
            )
        return head

    def formula(self, part: SExpr) -> Formula:
        place = self.source.place(part.offset)
        match part:
            case Group([Atom(word), *rest]) if word.lower() in ("not", "or", "and", "<="):
                match word.lower():
                    case "not":
                        if len(rest) != 1:
                            raise self.source.error(
                                f"'not' takes one formula, not {len(rest)}",
                                part.offset,
                                "wrap several in (and ...) or (or ...)",
                                "negation-arity",
                            )
                        return Not(self.formula(rest[0]), place)
                    case "or":
                        return Or(tuple(map(self.formula, rest)), place)
                    case "and":
                        return And(tuple(map(self.formula, rest)), place)
                    case _:
                        raise self.source.error(
                            "'<=' cannot stand inside a body",
                            part.offset,
                            "close the rule before this one starts",
                            "arrow-in-body",
                        )
            case _:
                atom = self.term(part)
                if atom.is_variable:
                    raise self.source.error(
                        f"the variable {atom} cannot stand as a formula",
                        part.offset,
                        "name a relation",
                        "variable-as-formula",
                    )
                return Literal(atom, place)

    def term(self, part: SExpr) -> Term:
        match part:
            case Atom(word):
                folded = word.lower()
                if folded not in self.spelling and not folded.startswith("?"):
                    self.spelling[folded] = word
                if folded == "?":
                    raise self.source.error(
                        "'?' alone is no variable", part.offset, "give it a name", "nameless-variable"
                    )
                return Term(folded)
            case Group([Atom(word), *rest]):
                if word.startswith("?"):
                    raise self.source.error(
                        f"the variable {word} cannot be a relation or function",
                        part.offset,
                        "put a name after the '('",
                        "variable-as-functor",
                    )
                functor = self.term(part.parts[0])
                return Term(functor.name, *map(self.term, rest))
            case Group([]):
                raise self.source.error(
                    "'()' is no term", part.offset, "put a name in it, or remove it", "empty-parentheses"
                )
            case _:
                raise self.source.error(
                    "a list cannot be a relation or function",
                    part.offset,
                    "put a name after the '('",
                    "list-as-functor",
                )


def _first_word(part: SExpr) -> str:
    match part:
        case Atom(word) | Group([Atom(word), *_]):
            return word.lower()
        case _:
            return ""
