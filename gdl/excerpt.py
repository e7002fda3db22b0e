"""The line of a text that a message is about, with a caret below the spot."""

from __future__ import annotations

import unicodedata

from gdl.errors import Place
from gdl.reading import plain

_CLIPPED = "..."


def excerpt(text: str, place: Place | None, width: int = 80) -> tuple[str, str] | None:
    """Two lines for people: the text's line with its number, and a caret below the place.

    The caret is as long as the word or the parentheses that begin there, as far as they are on the line. A
    long line is cut to ``width`` columns around it; characters that a terminal does not show become ``?``.
    None where the text has no such place.
    """
    if not text or place is None or place.line < 1 or place.column < 1:
        return None
    lines = plain(text).removesuffix("\n").split("\n")
    if place.line > len(lines) or place.column > len(lines[place.line - 1]) + 1:
        return None
    line = lines[place.line - 1]
    at = place.column - 1
    gutter = f"{place.line:>5} | "
    room = max(width - len(gutter), 20)
    end = at + extent(line[at : at + room])
    first = 0
    if len(line.rstrip()) > room:
        first = max(0, min(at - room // 3, len(line) - room))
    before, marked, after = (_shown(part) for part in (line[first:at], line[at:end], line[end : end + room]))
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
    """The length of the word, or of the group in parentheses, at the beginning of a line, in characters."""
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
    """The width of a text in a terminal, in columns."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") - bool(unicodedata.combining(c)) for c in text)
