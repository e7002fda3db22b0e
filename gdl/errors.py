"""The errors that all packages raise: each says where, what, and what to do; and the line of the text that
an error is about, with a caret below the spot."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from gdl.visible import visible


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a rules text. ``line`` and ``column`` count from 1; 0 means unknown."""

    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class GdlError(Exception):
    """Something is wrong with rules, a move, or a state that came from outside.

    Attributes:
        message: what is wrong, one sentence, no trailing full stop.
        place: where in the text, None if unknown.
        remedy: what to do about it; may be empty.
        source: name of the file or message; may be empty.
        code: a short name of the kind of fault (``unclosed-parenthesis``); may be empty.
    """

    def __init__(
        self, message: str, place: Place | None = None, remedy: str = "", source: str = "", code: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.remedy = remedy
        self.source = source
        self.code = code

    def __str__(self) -> str:
        where, place = self.source, self.place
        if place is not None:
            where = f"{where}:{place}" if where else f"line {place.line}, column {place.column}"
        text = f"{where}: {self.message}" if where else self.message
        return visible(f"{text} ({self.remedy})" if self.remedy else text)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.place, self.remedy, self.source, self.code)


class FileError(GdlError):
    """A file that cannot be read: it is no regular file, is too large, or may not be read."""


class MissingFileError(FileError):
    """There is no such file."""


class ParseError(GdlError):
    """The text is not KIF: unbalanced parentheses, nothing to read, too deep, too large."""


class RulesError(GdlError):
    """The text is KIF, but not rules that can be played (no role, unstratified negation...)."""


class TooLargeError(GdlError):
    """Grounding or building went past its limit of memory, time or number of rules."""


class MoveError(GdlError):
    """A move that is unknown or not legal in the state at hand."""


class StateError(GdlError):
    """A state that this machine cannot represent, or a question that the state has no answer to."""


class StuckError(MoveError):
    """A match that cannot go on: a role has no legal move in a state that is not terminal."""


_CLIPPED = "..."


def excerpt(text: str, place: Place | None, width: int = 80) -> tuple[str, str] | None:
    """Two lines for people: the text's line with its number, and a caret below the place.

    The caret is as long as the word or the parentheses that begin there, as far as they are on the line. A
    long line is cut to ``width`` columns around it; characters that a terminal does not show become ``?``.
    None where the text has no such place.
    """
    if place is None or place.line < 1 or place.column < 1:
        return None
    lines = text.splitlines()
    if place.line > len(lines) or place.column > len(lines[place.line - 1]) + 1:
        return None
    line = lines[place.line - 1]
    at = place.column - 1
    end = at + extent(line[at:])
    gutter = f"{place.line:>5} | "
    room = max(width - len(gutter), 20)
    first = 0
    if len(line.rstrip()) > room:
        first = max(0, min(at - room // 3, len(line) - room))
    before, marked, after = (_shown(part) for part in (line[first:at], line[at:end], line[end:]))
    if first:
        before = _CLIPPED + before[len(_CLIPPED) :]
    shown = (before + marked + after).rstrip()
    if len(shown) > room:
        shown = shown[: room - len(_CLIPPED)] + _CLIPPED
    left = room - _columns(before)
    return gutter + shown, " " * (len(gutter) - 2) + "| " + " " * _columns(before) + "^" * max(
        1, min(_columns(marked), left)
    )


def extent(rest: str) -> int:
    """How many characters of a line the word, or the group in parentheses, at its beginning has."""
    if not rest.startswith("("):
        end = next((i for i, c in enumerate(rest) if c in "() \t;" and i), len(rest))
        # In infix GDL the arguments stand directly behind the name.
        return end + extent(rest[end:]) if rest[end : end + 1] == "(" else end
    depth = 0
    for i, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if not depth:
            return i + 1
        if character == ";":
            return len(rest[:i].rstrip())
    return len(rest.rstrip())


def _shown(text: str) -> str:
    return "".join(" " if c == "\t" else c if c.isprintable() else "?" for c in text)


def _columns(text: str) -> int:
    """How wide a terminal shows it."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") - bool(unicodedata.combining(c)) for c in text)
