"""The common part of notations with operators, by pyparsing: ``head :- literals``, each with its own signs.

:mod:`gdl.syntax.notation` defines these signs. The results are the expressions
that :mod:`gdl.syntax.sexpr` reads from KIF, so that all notations share one meaning and all later readers.
Signs of other notations, of logic programs and of programming languages get advice on what to write in their
place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gdl.errors import ParseError
from gdl.syntax.sexpr import MAX_CHARACTERS, MAX_DEPTH, MAX_ERRORS, Atom, Group, SExpr, Source, what_to_write
from gdl.visible import first_forbidden

if TYPE_CHECKING:
    import pyparsing as pp

_INSIDE = re.compile(r"\(([^()]*)")
_ARROW = "write ':-', with the head before it"
_EQUATION = "GDL has no equations: write one variable or constant in both places; {unequal} is understood"
_ARITHMETIC = "GDL has no arithmetic: write the numbers as facts, succ(1,2)"
_ADVICE = {
    "->": "GDL has no if-then-else: write a rule for each case, (a, b ; \\+ a, c) for (a -> b ; c)",
    "[": "GDL has no lists: write a function, pair(X,Y)",
    "{": "GDL has no choices: legal says who may do what",
    "#": "GDL has no aggregates: count step by step, in the state or by a relation for each number",
    '"': "write a name in single quotes",
    "..": "GDL has no intervals: write the facts one by one",
    ":-": "a sentence has one ':-', and one head before it",
    "'": "close the quote",
    "/*": "close the comment with '*/'",
    **dict.fromkeys(("=", "=="), _EQUATION),
    **dict.fromkeys(("-->", "<-", "=>", "<="), _ARROW),
    **dict.fromkeys("is + - * / < > =< >= =:= mod // **".split(), _ARITHMETIC),  # noqa: SIM905
    **dict.fromkeys(("~", "\\+", "!"), "write {negation} for 'not'"),
    **dict.fromkeys((",", "&", "&&"), "write {conjunction} for 'and'"),
    **dict.fromkeys(("|", "||", ";"), "write {disjunction} for 'or'"),
    **dict.fromkeys(("!=", "\\=", "\\==", "=\\="), "write {unequal}"),
}
_MISSING = {
    ")": ("a name", "write an argument, or leave the ',' before it out"),
    ",": ("a name", "write an argument before it"),
    "": ("',' or ')'", "close the parenthesis"),
}


def advice(found: str, bare: str, at: int, expected: str, shown: tuple[str, str, str], unequal: str) -> str:
    """The remedy for an unexpected sign, or for the end (""), at a place of a text; empty if there is none.
    ``shown``: negation, conjunction and disjunction of the notation."""
    negation, conjunction, disjunction = shown
    where, missing = _MISSING.get(found, ("-", ""))
    if expected.startswith(where):
        return missing
    if not found:
        return (
            "write the rest of the sentence" if expected.startswith("a relation") else "close the parenthesis"
        )
    if found == ")":
        return "remove it, or open it with '('"
    if repr(found) in shown:
        twice = bare[at - 1 : at] == found
        return "write it once" if twice else "" if expected != "',' or ')'" else "write a sentence for each"
    if expected == "',' or ')'" and (found[0].isalnum() or found[0] == "_"):
        return "write ',' between arguments"
    if found == "(":
        inside = _INSIDE.match(bare, at)
        what = "" if inside is None else inside[1]
        if "," in what:
            return f"GDL has no tuples: write a function, pair({what})"
        return _ARITHMETIC if set(what) & set("+-*/") else ""
    return _ADVICE.get(found, "").format(
        negation=negation, conjunction=conjunction, disjunction=disjunction, unequal=unequal
    )


_KIF_NAME = re.compile(r"[^\s();?][^\s();]*")
_FRAMES = 16 * MAX_DEPTH + 500
"""Calls of the interpreter that the deepest text takes."""
ANONYMOUS = "?_-"
"""Begins the variables that stand for ``_``; no variable that has a name can be spelled like this."""
COLUMN_1 = re.compile(r"^(?![&|.,;):])\S", re.MULTILINE)
"""The beginning of a line that goes on with no other."""
_SEE = "see docs/notations.md"


@dataclass(slots=True)
class Conjunction:
    """Literals that no parenthesis holds together: the literals of a body."""

    parts: list[SExpr]


class Grammar:
    """The signs of a notation, and the reader of its texts. Patterns are regular expressions.

    Attributes:
        code: of the errors of texts that are not in this notation.
        quoted: a name in quotes.
        word: a name, a number or a variable.
        sign: an operator, in messages one thing.
        comment: matches comments and, as no comment begins in one, quoted names.
        negation, conjunction, disjunction, unequal, stop: operators, and the end of a sentence.
        shown: negation, conjunction and disjunction in messages.
        sample: an inequality, as an example.
        must_stop: whether each sentence has a stop.
    """

    code: str
    quoted: str
    word: str
    sign: str
    comment: re.Pattern[str]
    negation: str
    conjunction: str
    disjunction: str
    unequal: str
    stop = r"\."
    shown: tuple[str, str, str]
    sample: str
    must_stop: bool

    def read(self, text: str, name: str = "") -> tuple[Source, list[SExpr]]:
        """Read rules into the expressions that the same rules in KIF are; errors call the text ``name``.

        Raises ParseError: it is not in this notation (with line, column and the expected part), nests
        deeper than :data:`~gdl.syntax.sexpr.MAX_DEPTH`, is longer than
        :data:`~gdl.syntax.sexpr.MAX_CHARACTERS`, or holds a character that is not printable.
        """
        source, bare = self._prepared(text, name)
        sentences = self._sentences(source, bare, 0)
        self.settle_names(source, sentences)
        return source, sentences

    def read_terms(self, text: str, name: str = "") -> tuple[Source, list[SExpr]]:
        """Read a run of terms, moves or propositions, with commas or blanks between them.

        Raises ParseError as :meth:`read` does.
        """
        source, bare = self._prepared(text, name)
        found = self._parsed(self._parsers[1], source, bare, 0, "',' or the next term")
        self.settle_names(source, found)
        return source, found

    def read_past_faults(self, text: str, name: str = "") -> tuple[Source, list[SExpr], list[ParseError]]:
        """The sentences that can be read, and the faults of those that cannot. Raises ParseError where the
        text is too long or too deep."""
        try:
            return *self.read(text, name), []
        except ParseError as fault:
            first = fault
        source, bare = self._prepared(text, name)
        sentences: list[SExpr] = []
        faults: list[ParseError] = []
        todo = self.pieces(bare)[::-1]
        while todo and len(faults) < MAX_ERRORS:
            start, end = todo.pop()
            try:
                sentences += self._sentences(source, bare[start:end], start)
            except ParseError as fault:
                faults.append(fault)
                # Where a stop is missing, the next sentence probably begins in column 1.
                following = COLUMN_1.search(bare, max(source.offset(fault.place), start + 1), end)
                if following is not None:
                    todo.append((following.start(), end))
        try:
            self.settle_names(source, sentences)
        except ParseError as fault:
            faults.append(fault)
            sentences = []
        return source, sentences, faults or [first]

    def comments(self, source: Source) -> Iterator[tuple[int, int, str]]:
        """The comments of a text, line by line: where each begins and ends, and its words."""
        for found in self.comment.finditer(source.text):
            if not found[0].startswith("'"):
                yield from self.comment_lines(found[0], found.start())

    def comment_lines(self, comment: str, at: int) -> Iterator[tuple[int, int, str]]:
        """The lines of a comment that begins at an offset."""
        yield at, at + len(comment), comment.lstrip("%;").removeprefix(" ").rstrip()

    def without_comments(self, text: str) -> str:
        """A text with blanks for its comments: offsets and lines stay."""
        return self.comment.sub(
            lambda found: found[0] if self.is_kept(found[0]) else re.sub(r"[^\n]", " ", found[0]), text
        )

    def is_kept(self, found: str) -> bool:
        """Whether a match of :attr:`comment` is a quoted name, which stays."""
        return found.startswith("'")

    def spelled(self, word: str) -> str:
        """The name that a word of the text, quoted or not, stands for."""
        return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith("'") else word

    def literal(self, part: SExpr, quoted: bool) -> SExpr:
        """A relation of a body; ``quoted``: its name stands in quotes."""
        return part

    def pieces(self, bare: str) -> list[tuple[int, int]]:
        """Begin and end of the parts of a text that are read separately, so that faults stay in one part."""
        raise NotImplementedError

    def settle_names(self, source: Source, parts: list[SExpr]) -> None:
        """A last look at the names of a text. Raises ParseError for a name that KIF cannot have."""
        for atom in atoms(parts):
            if not (atom.text.startswith("?") or _KIF_NAME.fullmatch(atom.text)):
                raise source.error(
                    f"{atom.text!r} is not a name of GDL",
                    atom.offset,
                    "leave blanks, parentheses and semicolons out of it, and '?' at its beginning",
                    "unwritable-name",
                )

    def remedy(self, bare: str, at: int, expected: str) -> str:
        """The remedy for an unexpected token at a place of a text."""
        found = self.token(bare, at)
        specific = advice(found, bare, at, expected, self.shown, self.sample)
        return specific or what_to_write(found) or _SEE

    def sentences(self, parser: pp.ParserElement) -> pp.ParserElement:
        """The parser of everything that may stand in place of a sentence, from the parser of sentences."""
        return parser

    def taken(self, source: Source, parts: list[SExpr]) -> list[SExpr]:
        """The sentences among the results of :meth:`sentences`. Raises ParseError for unreadable ones."""
        return parts

    def _prepared(self, text: str, name: str) -> tuple[Source, str]:
        source = Source(text, name)
        if len(text) > MAX_CHARACTERS:
            raise source.fault("text-too-large", 0, len(text), MAX_CHARACTERS)
        bare = self.without_comments(source.text).replace("\ufeff", " ")
        self._check(source, bare)
        return source, bare

    def _sentences(self, source: Source, bare: str, start: int) -> list[SExpr]:
        """The sentences of a part of the text that begins at an offset."""
        more = f"':-', {self.shown[1]}, {self.shown[2]}, '.' or the next sentence"
        if self.must_stop:
            more = "the head of a sentence"
        return self.taken(source, self._parsed(self._parsers[0], source, bare, start, more))

    def _parsed(
        self, parser: pp.ParserElement, source: Source, bare: str, start: int, more: str
    ) -> list[SExpr]:
        """The expressions that a parser reads from a part of the text; ``more``: parts that could follow."""
        from pyparsing import ParseBaseException

        with _deep_stack():
            try:
                found = list(parser.parse_string(bare, parse_all=True))
            except ParseBaseException as error:
                raise self._explain(source, bare, start, error, more) from None
        if start:
            _move(found, start)
        return found

    @cached_property
    def _parsers(self) -> tuple[pp.ParserElement, pp.ParserElement]:
        """Sentences, and runs of terms. Every choice is settled by its next token, so nothing is read twice;
        ``-`` in place of ``+`` says that from there on a failure is an error of the text."""
        import pyparsing as pp

        from gdl.syntax.term_token import TermToken

        negation, conjunction, disjunction = self.shown
        start, go_on = f"a relation, {negation} or '('", f"{conjunction}, {disjunction} or "
        opened, comma = pp.Suppress("("), pp.Suppress(",")
        closed = pp.Literal(")").set_parse_action(lambda _, at, found: Atom(")", at))
        formula, literal = pp.Forward(), pp.Forward()
        formula.set_name(start)
        term = TermToken(self.word, self._atom)

        mark = pp.Regex(self.negation).set_parse_action(lambda _, at, found: Atom("not", at))
        negated = (mark - literal).set_parse_action(
            lambda found: Group(list(found), found[0].offset, _end(found[1]))
        )
        held = (opened - formula - closed.copy().set_name(f"{go_on}')'")).set_parse_action(
            lambda found: _closed(found[0])
        )
        unequal = pp.Regex(self.unequal).set_parse_action(lambda _, at, found: Atom("distinct", at))
        subject = TermToken(self.word, self._atom, self.negation)
        relation = (subject + pp.Optional(unequal - term)).set_parse_action(self._relation)
        literal <<= (relation | negated | held).set_name(start)
        joined = (
            literal + pp.ZeroOrMore(pp.Suppress(pp.Regex(self.conjunction)) - literal)
        ).set_parse_action(lambda found: found[0] if len(found) == 1 else Conjunction(list(found)))
        formula <<= (
            joined + pp.ZeroOrMore(pp.Suppress(pp.Regex(self.disjunction)) - joined)
        ).set_parse_action(
            lambda found: found[0] if len(found) == 1 else _joined("or", list(map(_closed, found)))
        )
        body = pp.Suppress(":-") - formula
        if self.must_stop:
            end = pp.Suppress(pp.Regex(self.stop))
            fact = end.copy().set_name("':-' or '.'")
            sentence = term - ((body - end.copy().set_name(f"{go_on}'.'")) | fact).set_name("':-' or '.'")
        else:
            sentence = term + pp.Optional(body) + pp.Optional(pp.Suppress(pp.Regex(self.stop)))
        sentence = self.sentences(sentence.set_parse_action(_sentence))
        run = pp.Optional(term + pp.ZeroOrMore((comma - term) | term))
        # Offsets are those of the text: tabs stay.
        return pp.ZeroOrMore(sentence).parse_with_tabs(), run.parse_with_tabs()

    def _atom(self, word: str, at: int) -> Atom:
        if word == "_":
            return Atom(f"{ANONYMOUS}{at}", at)
        if word[0] == "_" or word[0].isupper():
            return Atom(f"?{word}", at)
        return Atom(self.spelled(word), at)

    def _relation(self, text: str, at: int, found: pp.ParseResults) -> SExpr:
        if len(found) == 1:
            return self.literal(found[0], text[found[0].offset] == "'")
        left, unequal, right = found
        return Group([unequal, left, right], left.offset, _end(right))

    @cached_property
    def _nesting(self) -> re.Pattern[str]:
        return re.compile(rf"{self.quoted}|(?P<negation>{self.negation})|[()]|\w+|\S")

    def _check(self, source: Source, bare: str) -> None:
        """Raises ParseError where parentheses or negations nest too deep, or a character cannot stand."""
        levels: list[int] = []
        marks = below = 0
        for token in self._nesting.finditer(bare):
            match token[0]:
                case "(":
                    levels.append(marks)
                    below += marks + 1
                    marks = 0
                case ")":
                    below -= levels.pop() + 1 if levels else 0
                    marks = 0
                case word if token["negation"] is not None:
                    marks += 1
                case word:
                    marks = 0
                    if (place := first_forbidden(word)) >= 0:
                        raise source.fault("forbidden-character", token.start() + place, word[place])
            if below + marks > MAX_DEPTH:
                raise source.fault("nesting-too-deep", token.start(), MAX_DEPTH)

    def token(self, bare: str, at: int) -> str:
        """The word or sign that stands at a place; empty at the end."""
        found = self._token.match(bare, at)
        return found[0] if found else bare[at : at + 1]

    @cached_property
    def _token(self) -> re.Pattern[str]:
        return re.compile(rf"{self.word}|{self.sign}|\w+|.")

    def _explain(
        self, source: Source, bare: str, start: int, error: pp.ParseBaseException, more: str
    ) -> ParseError:
        """The error with place and expected part, in our words; ``more``: parts that could also follow."""
        at = error.loc
        while at < len(bare) and bare[at].isspace():
            at += 1
        expected = error.msg.removeprefix("Expected ")
        remedy = _SEE
        if expected == "end of text":
            expected = more
        if at == len(bare):
            found, at, remedy = "the end of the text", len(bare.rstrip()), self.remedy("", 0, expected)
            if start + at < len(source.text.rstrip()):
                found = "the next sentence"
        else:
            found, remedy = repr(self.token(bare, at)[:40]), self.remedy(bare, at, expected)
        return source.error(f"expected {expected}, found {found}", start + at, remedy, self.code)


def atoms(parts: list[SExpr]) -> Iterator[Atom]:
    """The words of expressions, in the order of the text."""
    todo = parts[::-1]
    while todo:
        part = todo.pop()
        if isinstance(part, Group):
            todo.extend(reversed(part.parts))
        else:
            yield part


def _move(parts: list[SExpr], by: int) -> None:
    """Adds to all offsets."""
    todo = list(parts)
    while todo:
        part = todo.pop()
        part.offset += by
        if isinstance(part, Group):
            part.end += by
            todo.extend(part.parts)


def _sentence(found: pp.ParseResults) -> SExpr:
    head = found[0]
    if len(found) == 1:
        return head  # type: ignore[no-any-return]
    body = found[1].parts if isinstance(found[1], Conjunction) else [found[1]]
    return Group([Atom("<=", head.offset), head, *body], head.offset, _end(body[-1]))


def _closed(formula: Any) -> SExpr:
    """A formula that something outside holds together."""
    return _joined("and", formula.parts) if isinstance(formula, Conjunction) else formula


def _joined(connective: str, parts: list[SExpr]) -> Group:
    return Group([Atom(connective, parts[0].offset), *parts], parts[0].offset, _end(parts[-1]))


def _end(part: SExpr) -> int:
    return part.end if isinstance(part, Group) else part.offset + len(part.text) - 1


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Lets the grammar call itself as deep as a text may nest; these calls take no stack of the processor."""
    usual = sys.getrecursionlimit()
    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(max(usual, depth + _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)
