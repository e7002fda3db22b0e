"""Run-length encoding of Sokoban maps: ``3#-2$`` is ``###-$$``, ``2(#-)`` is ``#-#-``, ``|`` ends a row.

It is the form in which forums and level editors write maps on one line.
"""

from __future__ import annotations

from itertools import groupby

from gdl.errors import GdlError, Place
from players.puzzles.sokoban.levels.drawn_map import MOST_SIDE

_MOST_CHARACTERS = 2 * (MOST_SIDE + 1) ** 2
_MOST_DEPTH = 20

Spread = list[tuple[str, int]]
"""Characters, each with its column in the file."""


def spread(text: str, line: int, source: str) -> Spread:
    """A line without run lengths: each character and its column, from 1; tabs become blanks up to the next
    multiple of eight.

    Raises GdlError, with the place: parentheses that do not match, a number before nothing, more characters
    than any map has.
    """
    stack: list[tuple[int, int, Spread]] = []
    out: Spread = []
    count, since = "", 0

    def fault(message: str, column: int, remedy: str) -> GdlError:
        return GdlError(message, Place(line, column), remedy, source, "run-length")

    for column, char in enumerate(text, 1):
        if char.isascii() and char.isdigit():
            if not count:
                since = column
            count += char
            if len(count) > 6:
                raise fault("this run is too long", since, f"a row has at most {MOST_SIDE} squares")
            continue
        times, counted, count = int(count) if count else 1, bool(count), ""
        if char == "(":
            if len(stack) == _MOST_DEPTH:
                raise fault("parentheses are nested too deeply", column, f"at most {_MOST_DEPTH} deep")
            stack.append((times, column, out))
            out = []
            continue
        if char == ")":
            if not stack or counted:
                what = "a number" if counted else "nothing to close"
                raise fault(f"there is {what} before this )", column, "write it like 3(#-)")
            times, _, before = stack.pop()
            char, piece = "", out
            out = before
        elif char == "\t":
            piece = [(" ", column)] * (8 - len(out) % 8)
        else:
            piece = [(char, column)]
        if len(out) + times * len(piece) > _MOST_CHARACTERS:
            raise fault("this run is too long", column, f"a row has at most {MOST_SIDE} squares")
        out.extend(piece * times)
    if stack:
        raise fault("this ( is never closed", stack[-1][1], "close it with )")
    if count:
        raise fault("there is nothing behind this number", since, "a number stands before what it repeats")
    return out


def squeeze(rows: tuple[str, ...]) -> str:
    """Rows of XSB as one line with run lengths; blanks become ``-``, those at the end of a row are left out.

    >>> squeeze(("####", "#@ $"))
    '4#|#@-$'
    """
    lines = []
    for row in rows:
        groups = ((char, len(list(group))) for char, group in groupby(row.rstrip().replace(" ", "-")))
        lines.append("".join(f"{n if n > 1 else ''}{char}" for char, n in groups))
    return "|".join(lines)
