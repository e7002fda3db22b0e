"""The infix grammar of GDL, by pyparsing: ``legal(W,mark(X,Y)) :- true(cell(X,Y,b)) & ~true(over)``.

It is the notation of chapter 2 of the Stanford notes on General Game Playing (M. Genesereth, M. Thielscher:
General Game Playing, 2014) and of Gamemaster's rules: a name that begins with a capital letter is a variable,
``_`` another one each time; ``:-`` is read "if", ``&`` "and", ``|`` "or", ``~`` "not"; ``%`` begins a
comment; a sentence ends where the next begins, a full stop behind it may be left out. Beyond that, ``X != Y``
is ``distinct(X,Y)``, ``;`` begins a comment as in KIF, and ``'...'`` holds a name that needs quotes.

What comes out are the expressions that :mod:`gdl.syntax.sexpr` reads from KIF, so both notations have one
meaning, and one reader for all that comes after.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyparsing as pp

from gdl.errors import ParseError
from gdl.syntax.notation import COMMENT, QUOTED, without_comments
from gdl.syntax.sexpr import MAX_CHARACTERS, MAX_DEPTH, Atom, Group, SExpr, Source
from gdl.syntax.typography import comment_mark, what_to_write
from gdl.visible import first_forbidden

_WORD = rf"{QUOTED}|[A-Za-z0-9_]+"
_NESTING = re.compile(rf"{QUOTED}|\S")
_TOKEN = re.compile(rf"{_WORD}|:-|!=|.")
_COLUMN_1 = re.compile(r"^(?![&|.,):])\S", re.MULTILINE)
_NAME_OF_KIF = re.compile(r"[^\s();?][^\s();]*")
_FRAMES = 16 * MAX_DEPTH + 500
"""Calls of the interpreter that the deepest text takes."""


def read_infix(text: str, name: str = "") -> tuple[Source, list[SExpr]]:
    """Read infix GDL into the expressions that the same rules in KIF are; errors call the text ``name``.

    Raises ParseError: it is not infix GDL (with line, column, and what was expected there), nests deeper than
    :data:`~gdl.syntax.sexpr.MAX_DEPTH`, is longer than :data:`~gdl.syntax.sexpr.MAX_CHARACTERS`, or holds
    a character that is not printable.
    """
    source, bare = _prepared(text, name)
    return source, _sentences(source, bare, 0)


def read_infix_terms(text: str, name: str = "") -> tuple[Source, list[SExpr]]:
    """Read a run of infix terms, moves or propositions, with commas or blanks between them.

    Raises ParseError as :func:`read_infix` does.
    """
    source, bare = _prepared(text, name)
    with _deep_stack():
        try:
            found = list(_grammars()[1].parse_string(bare, parse_all=True))
        except pp.ParseBaseException as error:
            raise _explain(source, bare, 0, error, "',' or the next term") from None
    _check_names(source, found, 0)
    return source, found


def read_past_faults(text: str, name: str = "") -> tuple[Source, list[SExpr], list[ParseError]]:
    """The sentences that can be read, and the faults of those that cannot, where each sentence begins in
    column 1 and goes on in lines that do not. Raises ParseError where the text is too long or too deep."""
    source, bare = _prepared(text, name)
    sentences: list[SExpr] = []
    faults: list[ParseError] = []
    starts = [0, *(found.start() for found in _COLUMN_1.finditer(bare) if found.start())]
    for start, end in zip(starts, [*starts[1:], len(bare)], strict=True):
        try:
            sentences += _sentences(source, bare[start:end], start)
        except ParseError as fault:
            faults.append(fault)
    return source, sentences, faults


def _prepared(text: str, name: str) -> tuple[Source, str]:
    source = Source(text, name)
    if len(text) > MAX_CHARACTERS:
        raise source.fault("text-too-large", 0, len(text), MAX_CHARACTERS)
    bare = without_comments(text).replace("\ufeff", " ")
    _check(source, bare)
    return source, bare


def _sentences(source: Source, bare: str, start: int) -> list[SExpr]:
    """The sentences of a part of the text that begins at an offset."""
    with _deep_stack():
        try:
            sentences = list(_grammars()[0].parse_string(bare, parse_all=True))
        except pp.ParseBaseException as error:
            more = "':-', '&', '|', '.' or the next sentence"
            raise _explain(source, bare, start, error, more) from None
    _check_names(source, sentences, start)
    return sentences


def _check_names(source: Source, parts: list[SExpr], start: int) -> None:
    """Moves the parts to where they stand in the text. Raises ParseError for a name that KIF cannot have."""
    todo: list[SExpr] = list(parts)
    while todo:
        part = todo.pop()
        part.offset += start
        if isinstance(part, Group):
            part.end += start
            todo.extend(part.parts)
        elif not (part.text.startswith("?") or _NAME_OF_KIF.fullmatch(part.text)):
            raise source.error(
                f"{part.text!r} is no name of GDL",
                part.offset,
                "leave blanks, parentheses and semicolons out of it, and '?' at its beginning",
                "unwritable-name",
            )


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of infix rules: the offset of each, and its words."""
    for found in COMMENT.finditer(text):
        if found[0][0] in "%;":
            yield found.start(), found[0].lstrip("%;").removeprefix(" ").rstrip()


@dataclass(slots=True)
class _Conjunction:
    """Literals joined by ``&`` that no parenthesis holds together: the literals of a body."""

    parts: list[SExpr]


@cache
def _grammars() -> tuple[pp.ParserElement, pp.ParserElement]:
    """Sentences, and runs of terms. Every choice is settled by its next token, so nothing is read twice;
    ``-`` in place of ``+`` says that from there on a failure is an error of the text."""
    word = pp.Regex(_WORD).set_name("a name or a variable").set_parse_action(_word)
    opened, comma = pp.Suppress("("), pp.Suppress(",")
    closed = pp.Literal(")").set_parse_action(lambda _, at, found: Atom(")", at))
    term, formula, literal = pp.Forward(), pp.Forward(), pp.Forward()
    term.set_name("a name or a variable")
    formula.set_name("a relation, '~' or '('")
    literal.set_name("a relation, '~' or '('")
    arguments = pp.Optional(term + pp.ZeroOrMore(comma - term)) - closed.copy().set_name("',' or ')'")
    term <<= (word + pp.Optional(opened - arguments)).set_parse_action(_term)

    mark = pp.Literal("~").set_parse_action(lambda _, at, found: Atom("not", at))
    negation = (mark - literal).set_parse_action(
        lambda found: Group(list(found), found[0].offset, _end(found[1]))
    )
    held = (opened - formula - closed.copy().set_name("'&', '|' or ')'")).set_parse_action(
        lambda found: _closed(found[0])
    )
    unequal = pp.Literal("!=").set_parse_action(lambda _, at, found: Atom("distinct", at))
    relation = (term + pp.Optional(unequal - term)).set_parse_action(_relation)
    literal <<= (negation | held | relation).set_name("a relation, '~' or '('")
    conjunction = (literal + pp.ZeroOrMore(pp.Suppress("&") - literal)).set_parse_action(
        lambda found: found[0] if len(found) == 1 else _Conjunction(list(found))
    )
    formula <<= (conjunction + pp.ZeroOrMore(pp.Suppress("|") - conjunction)).set_parse_action(
        lambda found: found[0] if len(found) == 1 else _joined("or", list(map(_closed, found)))
    )
    sentence = (
        term + pp.Optional(pp.Suppress(":-") - formula) + pp.Optional(pp.Suppress("."))
    ).set_parse_action(_sentence)
    run = pp.Optional(term + pp.ZeroOrMore((comma - term) | term))
    # Offsets are those of the text: tabs stay.
    return pp.ZeroOrMore(sentence).parse_with_tabs(), run.parse_with_tabs()


def _word(text: str, at: int, found: pp.ParseResults) -> Atom:
    word = found[0]
    if word == "_":
        return Atom(f"?_{at}", at)
    if word[0] == "_" or word[0].isupper():
        return Atom(f"?{word}", at)
    return Atom(re.sub(r"\\(.)", r"\1", word[1:-1]) if word[0] == "'" else word, at)


def _term(found: pp.ParseResults) -> SExpr:
    """A word, or a word with its arguments and the closing parenthesis."""
    if len(found) == 1:
        return found[0]  # type: ignore[no-any-return]
    *parts, closed = found
    return Group(parts, parts[0].offset, closed.offset)


def _relation(found: pp.ParseResults) -> SExpr:
    if len(found) == 1:
        return found[0]  # type: ignore[no-any-return]
    left, unequal, right = found
    return Group([unequal, left, right], left.offset, _end(right))


def _sentence(found: pp.ParseResults) -> SExpr:
    head = found[0]
    if len(found) == 1:
        return head  # type: ignore[no-any-return]
    body = found[1].parts if isinstance(found[1], _Conjunction) else [found[1]]
    return Group([Atom("<=", head.offset), head, *body], head.offset, _end(body[-1]))


def _closed(formula: Any) -> SExpr:
    """A formula that something outside holds together."""
    return _joined("and", formula.parts) if isinstance(formula, _Conjunction) else formula


def _joined(connective: str, parts: list[SExpr]) -> Group:
    return Group([Atom(connective, parts[0].offset), *parts], parts[0].offset, _end(parts[-1]))


def _end(part: SExpr) -> int:
    return part.end if isinstance(part, Group) else part.offset + len(part.text) - 1


def _check(source: Source, bare: str) -> None:
    """Raises ParseError where parentheses or negations nest too deep, or a character cannot stand."""
    levels: list[int] = []
    marks = below = 0
    for token in _NESTING.finditer(bare):
        match token[0]:
            case "(":
                levels.append(marks)
                below += marks + 1
                marks = 0
            case ")":
                below -= levels.pop() + 1 if levels else 0
                marks = 0
            case "~":
                marks += 1
            case word:
                marks = 0
                if (place := first_forbidden(word)) >= 0:
                    raise source.fault("forbidden-character", token.start() + place, word[place])
        if below + marks > MAX_DEPTH:
            raise source.fault("nesting-too-deep", token.start(), MAX_DEPTH)


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


def _explain(source: Source, bare: str, start: int, error: pp.ParseBaseException, more: str) -> ParseError:
    """What was expected where, in our words; ``more``: what could have stood behind all that was read."""
    at = error.loc
    while at < len(bare) and bare[at].isspace():
        at += 1
    expected = error.msg.removeprefix("Expected ")
    if expected == "end of text":
        expected = more
    if at == len(bare):
        found, at = "the end of the text", len(bare.rstrip())
        if start + at < len(source.text.rstrip()):
            found = "the next sentence"
    else:
        token = _TOKEN.match(bare, at)
        found = repr(token[0][:40] if token else bare[at])
    return source.error(
        f"expected {expected}, found {found}", start + at, _what_to_write(bare, at), "not-infix"
    )


def _what_to_write(bare: str, at: int) -> str:
    """The remedy for text that is not infix GDL."""
    if comment_mark(bare, at, "%"):
        return "begin comments with '%'"
    return what_to_write(bare[at : at + 1]) or "see docs/notations.md"
