"""The KIF grammar: tokens, folded into nested lists that know their places.

The grammar is flat (a text is a run of parentheses, atoms and comments) and nesting is kept
on an explicit stack, so that hostile nesting costs neither the interpreter's stack nor time.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gdl.errors import ParseError, Place

MAX_DEPTH = 100
"""Deepest nesting of parentheses that is read; real games stay below 20."""

MAX_CHARACTERS = 1_000_000
"""Longest text that is read; the longest public game has 70,000 characters."""


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


class Source:
    """A text with the means to turn offsets into lines and columns."""

    def __init__(self, text: str, name: str = "") -> None:
        self.text = text
        self.name = name

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def place(self, offset: int) -> Place:
        """Line and column (both from 1) of a character offset."""
        line = bisect.bisect_right(self._line_starts, offset)
        return Place(line, offset - self._line_starts[line - 1] + 1)

    def error(self, message: str, offset: int, remedy: str, code: str) -> ParseError:
        """A :class:`ParseError` that points at an offset."""
        return ParseError(message, self.place(offset), remedy, self.name, code)


def read(text: str, name: str = "", keep_comments: bool = False) -> tuple[Source, list[SExpr]]:
    """Read a text into its top-level expressions.

    Args:
        text: KIF; ``;`` starts a comment that runs to the end of its line.
        name: what error messages call the text.
        keep_comments: keep comments as :class:`Atom` whose text starts with ``;``.

    Raises:
        ParseError: unbalanced parentheses, nesting deeper than :data:`MAX_DEPTH`, more
            than :data:`MAX_CHARACTERS` characters, or a control character.
    """
    source = Source(text, name)
    if len(text) > MAX_CHARACTERS:
        raise source.error(
            f"the text has {len(text):,} characters, more than {MAX_CHARACTERS:,}",
            0,
            "send rules, not data; split what is not rules off",
            "text-too-large",
        )
    nest = Nest(source)
    for word, at in tokens(source):
        match word[0]:
            case "(":
                nest.opened(at)
            case ")":
                nest.closed(at)
            case ";":
                if keep_comments:
                    nest.current.append(Atom(word.rstrip(), at))
            case _:
                nest.atom(word, at)
    if nest.stack:
        raise nest.unclosed()
    return source, nest.top


class Nest:
    """Expressions under construction: what is complete, and the groups that are still open."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.top: list[SExpr] = []
        self.stack: list[Group] = []
        self.current = self.top

    def opened(self, at: int) -> None:
        """A '(' was read. Raises ParseError where it nests too deep."""
        if len(self.stack) >= MAX_DEPTH:
            raise self.source.error(
                f"parentheses nest deeper than {MAX_DEPTH} levels",
                at,
                "flatten the terms",
                "nesting-too-deep",
            )
        group = Group([], at, at)
        self.current.append(group)
        self.stack.append(group)
        self.current = group.parts

    def closed(self, at: int) -> None:
        """A ')' was read. Raises ParseError where nothing is open."""
        if not self.stack:
            raise self.source.error(
                "this ')' closes nothing", at, "remove it, or open it with '('", "unopened-parenthesis"
            )
        self.stack.pop().end = at
        self.current = self.stack[-1].parts if self.stack else self.top

    def atom(self, word: str, at: int) -> None:
        """A word was read. Raises ParseError where it is a character that cannot stand."""
        if word[0].isspace() or not word[0].isprintable():
            raise self.source.error(
                f"the character {word[0]!r} cannot stand in KIF", at, "remove it", "forbidden-character"
            )
        self.current.append(Atom(word, at))

    def unclosed(self) -> ParseError:
        """What to raise where the text ends before the innermost open group does."""
        return self.source.error(
            "this '(' is never closed", self.stack[-1].offset, "add the missing ')'", "unclosed-parenthesis"
        )


_TOKEN = re.compile(r"[()]|;[^\n]*|[^\s();\x00-\x1f\x7f\ufeff]+|[^ \t\r\n\f\v\ufeff\xa0]")
"""A parenthesis, a comment, an atom, or a character that has no place; blanks match nothing.

A lexical grammar this small is one regular expression: pyparsing, tried first, took twenty times
as long for it (6.0 s against 0.3 s for 1.8 MB), and hostile megabytes must not hang."""


def tokens(source: Source) -> Iterator[tuple[str, int]]:
    """All tokens of a text with their offsets, in order."""
    for found in _TOKEN.finditer(source.text):
        yield found[0], found.start()
