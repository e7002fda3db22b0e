"""The KIF grammar: one regular expression for the tokens, and an explicit stack for their nesting.

The result is nested lists whose parts know their places in the text. Hostile nesting costs neither the
interpreter's stack nor time. A text with faults is read past them.

The module also has the characters and comment marks that KIF lacks, each with its replacement. Word
processors, web pages and other keyboards put them into texts: curly quotes, full-width brackets, long
dashes, commas between arguments, ``//`` before a comment.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gdl.errors import GdlError, ParseError, Place
from gdl.reading import plain
from gdl.rules import And, Formula, Literal, Not, Or, Rule
from gdl.visible import first_forbidden

OPENING, _CLOSING = "[{（［｛【〔〈⟨「『⦅", "]}）］｝】〕〉⟩」』⦆"
"""Brackets other than parentheses."""
_QUOTES = '“”„‟«»‹›‘’‚‛″′´＂＇"`'
_COMMAS = ",，、،"
_DASHES = "‐‑‒–—―−－"
_MARK = re.compile(r"//|/\*|\*/|#|--|%")


def comment_mark(text: str, at: int = 0, own: str = "") -> str:
    """The mark that other languages begin a comment with, if one stands here; ``own`` is none of them."""
    found = _MARK.match(text, at)
    return found[0] if found and found[0] not in own else ""


def what_to_write(character: str) -> str:
    """The remedy for a character that rules have not; empty for those that they may have.

    >>> what_to_write("（"), what_to_write("–"), what_to_write("Ａ"), what_to_write("ä")
    ("write '('", "write '-'", "write 'A'", '')
    """
    if not character:
        return ""
    if character in OPENING:
        return "write '('"
    if character in _CLOSING:
        return "write ')'"
    if character in _QUOTES:
        return "leave it out: names stand without quotation marks"
    if character in _COMMAS:
        return "leave it out: blanks separate arguments"
    if character in _DASHES:
        return "write '-'"
    plain = unicodedata.normalize("NFKC", character)
    return f"write {plain!r}" if plain != character and len(plain) == 1 and plain.isascii() else ""


def look_alike(word: str) -> int:
    """The place of a letter of another script in a word of Latin letters, which looks like one of them; -1 if
    there is none.

    >>> look_alike("cell"), look_alike("сell"), look_alike("клетка"), look_alike("naïve")
    (-1, 0, -1, -1)
    """
    if word.isascii() or not any(c.isascii() and c.isalpha() for c in word):
        return -1
    scripts = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
    return next((i for i, c in enumerate(word) if unicodedata.name(c, "").startswith(scripts)), -1)


def named(character: str) -> str:
    """A character for a message: itself, and its name if it is not of ASCII."""
    name = unicodedata.name(character, "")
    return repr(character) if character.isascii() or not name else f"{character!r} ({name.lower()})"


MAX_DEPTH = 100
"""Deepest nesting of parentheses that is read (see docs/measurements.md)."""

MAX_CHARACTERS = 1_000_000
"""Longest text that is read (see docs/measurements.md)."""

MAX_ERRORS = 50
"""Syntax errors reported for one text; a text with more of them is not rules."""

_AS_HEAD = "give the rule a relation as head"
_AS_FUNCTOR = "write a name there"
FAULTS = {
    "text-too-large": (
        "the text has {:,} characters, more than {:,}",
        "send rules, not data; split what is not rules off",
    ),
    "nesting-too-deep": ("parentheses nest deeper than {} levels", "flatten the terms"),
    "unopened-parenthesis": ("this ')' closes nothing", "remove it, or open it with '('"),
    "unclosed-parenthesis": ("this '(' is never closed", "add the missing ')'"),
    "forbidden-character": ("the character {!r} cannot stand in KIF", "remove it, or write a blank"),
    "foreign-bracket": ("{} is not a sign of KIF", "write '(' and ')'"),
    "not-one-term": ("expected one term, found {}", "give exactly one"),
    "rule-without-head": ("'<=' has no head", "write (<= head body...)"),
    "arrow-alone": ("this '<=' stands outside of parentheses", "write (<= head body...)"),
    "connective-as-head": (
        "{!r} cannot stand in the head of a rule",
        "write a rule for each relation of the head; what no rule gives does not hold",
    ),
    "variable-as-head": ("a variable cannot be the head of a rule", _AS_HEAD),
    "negation-arity": ("'not' takes one formula, not {}", "wrap several in (and ...) or (or ...)"),
    "arrow-in-body": ("'<=' cannot stand inside a body", "close the rule before this one starts"),
    "comparison": (
        "GDL has no comparisons: '<=' only separates a head from its body",
        "list the order as facts, such as (less 1 2), and ask for them",
    ),
    "variable-as-formula": ("the variable {} cannot stand as a formula", "name a relation"),
    "nameless-variable": ("'?' alone is not a variable", "give it a name"),
    "variable-as-functor": ("the variable {} cannot be a relation or function", _AS_FUNCTOR),
    "empty-parentheses": ("'()' is not a term", "put a name in it, or remove it"),
    "list-as-functor": ("a list cannot be a relation or function", _AS_FUNCTOR),
}
"""Code of a fault -> message, with places for details, and remedy."""


@dataclass(slots=True)
class Atom:
    """A word of the text, in its own spelling, and its offset."""

    text: str
    offset: int


@dataclass(slots=True)
class Group:
    """``( ... )``: its parts, and the offsets of its two parentheses."""

    parts: list[SExpr]
    offset: int
    end: int


SExpr = Atom | Group


def check_is_text(text: object) -> None:
    """Raise GdlError where something else than text was given to be read."""
    if not isinstance(text, str):
        remedy = "decode the bytes" if isinstance(text, bytes) else "give the text itself"
        raise GdlError(f"a text was expected, not {text!r:.60}", remedy=remedy)


class Source:
    """A :func:`~gdl.reading.plain` text that turns its offsets into lines and columns."""

    def __init__(self, text: str, name: str = "") -> None:
        check_is_text(text)
        self.text = plain(text)
        self.name = name
        self.remarks: list[ParseError] = []
        """Warnings to the author about a readable text, as errors."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer("\n", self.text))]

    def place(self, offset: int) -> Place:
        """Line and column (both from 1) of a character offset."""
        line = bisect.bisect_right(self._line_starts, offset)
        return Place(line, offset - self._line_starts[line - 1] + 1)

    def offset(self, place: Place | None) -> int:
        """The character offset of a place; 0 for none."""
        return 0 if place is None else self._line_starts[place.line - 1] + place.column - 1

    def error(self, message: str, offset: int, remedy: str, code: str) -> ParseError:
        """A :class:`ParseError` that points at an offset."""
        return ParseError(message, self.place(offset), remedy, self.name, code)

    def fault(self, code: str, offset: int, *details: object) -> ParseError:
        """One of :data:`FAULTS` at an offset; the details fill the places in its message."""
        message, remedy = FAULTS[code]
        if self.text[offset : offset + 1] not in ("(", "?"):  # a notation whose variables have no mark
            details = tuple([d[1:] if isinstance(d, str) and d[1:] and d[0] == "?" else d for d in details])
        return self.error(message.format(*details), offset, remedy, code)


def read(text: str, name: str = "", keep_comments: bool = False) -> tuple[Source, list[SExpr]]:
    """Read a KIF text into its top-level expressions; error messages call it ``name``. ``;`` starts a comment
    to the end of its line, kept on request as an :class:`Atom` whose text starts with ``;``.

    Raises ParseError: unbalanced parentheses, nesting deeper than :data:`MAX_DEPTH`, more than
    :data:`MAX_CHARACTERS` characters, or a character that is not printable in a word.
    """
    source = Source(text, name)
    if len(text) > MAX_CHARACTERS:
        raise source.fault("text-too-large", 0, len(text), MAX_CHARACTERS)
    nest = _Nest(source)
    for word, at in tokens(source):
        match word[0]:
            case "(":
                nest.opened(at)
            case ")":
                if not nest.stack:
                    _blame_bracket(source)
                nest.closed(at)
            case ";":
                if keep_comments:
                    nest.current.append(Atom(word.rstrip(), at))
            case _:
                nest.atom(word, at)
    if nest.stack:
        _blame_bracket(source)
        raise nest.unclosed()
    return source, nest.top


def _blame_bracket(source: Source) -> None:
    """Raise ParseError if the text has other brackets: parentheses that do not match are due to them."""
    for word, at in tokens(source):
        if word[0] != ";" and (found := _BRACKET.search(word)):
            raise source.fault("foreign-bracket", at + found.start(), named(found[0]))


_BRACKET = re.compile(f"[{re.escape(OPENING + _CLOSING)}]")


class _Nest:
    """Expressions under construction: the complete ones, and the groups that are still open."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.top: list[SExpr] = []
        self.stack: list[Group] = []
        self.current = self.top

    def opened(self, at: int) -> None:
        """A '(' was read. Raises ParseError where it nests too deep."""
        if len(self.stack) >= MAX_DEPTH:
            raise self.source.fault("nesting-too-deep", at, MAX_DEPTH)
        group = Group([], at, at)
        self.current.append(group)
        self.stack.append(group)
        self.current = group.parts

    def closed(self, at: int) -> None:
        """A ')' was read. Raises ParseError if nothing is open."""
        if not self.stack:
            raise self.source.fault("unopened-parenthesis", at)
        self.stack.pop().end = at
        self.current = self.stack[-1].parts if self.stack else self.top

    def atom(self, word: str, at: int) -> None:
        """A word was read. Raises ParseError if it is, or holds, a forbidden character."""
        if (place := first_forbidden(word)) >= 0:
            raise self.source.fault("forbidden-character", at + place, word[place])
        self.current.append(Atom(word, at))

    def unclosed(self) -> ParseError:
        """The error for a text that ends before its innermost open group does."""
        return self.source.fault("unclosed-parenthesis", self.stack[-1].offset)


_TOKEN = re.compile(r"[()]|;[^\n]*|[^\s();\x00-\x1f\x7f\ufeff]+|[^ \t\r\n\f\v\ufeff\xa0]")
"""A parenthesis, a comment, an atom, or a character that has no place; blanks match nothing.
A parser library is too slow for hostile megabytes (see docs/measurements.md)."""


def tokens(source: Source) -> Iterator[tuple[str, int]]:
    """All tokens of a text with their offsets, in order."""
    for token in _TOKEN.finditer(source.text):
        yield token[0], token.start()


def read_kif_past_faults(text: str, name: str = "") -> tuple[Source, list[SExpr], list[ParseError]]:
    """The sentences without a fault, and the faults of the others. Raises ParseError where the text is too
    long.

    A missing parenthesis is noticed where the next sentence starts: at a ``(<=``, or at a '(' in column 1
    where the text otherwise puts only sentences there. Reading then goes on from there.
    """
    try:
        source, sentences = read(text, name)
        return source, sentences, []
    except ParseError as fault:
        if len(text) > MAX_CHARACTERS:
            raise
        if fault.code == "foreign-bracket":  # parentheses do not match because of it
            return Source(text, name), [], [fault]
        first = fault
    source = Source(text, name)
    nest = _Nest(source)
    faults: list[ParseError] = []
    broken: set[int] = set()  # offsets of sentences that lost something
    loose = False  # whether literals start in column 1, too
    for word, at in tokens(source):
        if len(faults) >= MAX_ERRORS:
            break
        try:
            match word[0]:
                case "(":
                    if nest.stack and source.text[at - 1 : at] == "\n":
                        arrow = source.text.startswith("<=", at + 1)
                        late = first.place is not None and source.place(at).line > first.place.line
                        if arrow or (late and not loose):
                            faults.append(nest.unclosed())
                            broken.add(nest.top.pop().offset)
                            nest.stack.clear()
                            nest.current = nest.top
                        else:
                            loose = True
                    nest.opened(at)
                case ")":
                    nest.closed(at)
                case ";":
                    pass
                case _:
                    nest.atom(word, at)
        except ParseError as fault:
            if fault.code == "unopened-parenthesis":
                fault = _closed_early(nest) or fault
            faults.append(fault)
            if fault.code == "nesting-too-deep":
                break
            if nest.stack:
                broken.add(nest.stack[0].offset)
    else:
        if nest.stack:
            faults.append(nest.unclosed())
    if nest.stack:
        broken.add(nest.top[-1].offset)
    return source, [sentence for sentence in nest.top if sentence.offset not in broken], faults


def _closed_early(nest: _Nest) -> ParseError | None:
    """The error at the ')' that ended a rule before its body did, where a later one closes nothing. Takes the
    rule and the literals behind it away."""
    source, top = nest.source, nest.top
    for number in range(len(top) - 1, -1, -1):
        if source.place(top[number].offset).column == 1:
            rule = top[number]
            if number == len(top) - 1 or not isinstance(rule, Group) or not _is_rule(rule):
                return None
            del top[number:]
            remedy = "remove it: the rest of the rule stands behind it"
            return source.error("this ')' ends the rule too early", rule.end, remedy, "unopened-parenthesis")
    return None


def _is_rule(group: Group) -> bool:
    return bool(group.parts) and isinstance(group.parts[0], Atom) and group.parts[0].text == "<="


def kif_comments(source: Source) -> Iterator[tuple[int, int, str]]:
    """The comments of a text: where each begins and ends, and its words."""
    for word, at in tokens(source):
        if word[0] == ";":
            yield at, at + len(word), word.lstrip(";").removeprefix(" ").rstrip()


def sentence_to_kif(rule: Rule, spelling: dict[str, str]) -> str:
    """A rule on one line, as game managers send it; names are spelled as the dictionary says."""
    head = rule.head.spelled(spelling)
    if not rule.body:
        return head
    return f"(<= {head} {' '.join(formula_to_kif(part, spelling) for part in rule.body)})"


def formula_to_kif(formula: Formula, spelling: dict[str, str]) -> str:
    """A part of a body; names are spelled as the dictionary says."""
    match formula:
        case Literal(atom):
            return atom.spelled(spelling)
        case Not(inner):
            return f"(not {formula_to_kif(inner, spelling)})"
        case And(parts) | Or(parts):
            connective = "and" if isinstance(formula, And) else "or"
            return f"({' '.join([connective, *(formula_to_kif(part, spelling) for part in parts)])})"
