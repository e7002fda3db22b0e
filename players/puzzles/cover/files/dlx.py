"""DLX text, as Knuth's programs dlx1, dlx2, dlx3 and their kin read it.

D. E. Knuth, https://www-cs-faculty.stanford.edu/~knuth/programs.html. Lines that begin with ``|`` are
comments. The first other line names the items, the secondary ones after a ``|`` of its own; ``2:3|c`` is an
item to be covered two or three times, ``2|c`` twice. Each further line is an option. ``x:red`` is a
secondary item with a colour.
"""

from __future__ import annotations

import re

from gdl.errors import Place
from players.puzzles.cover.files.builder import ProblemBuilder
from players.puzzles.cover.problem import CoverProblem

_WORD = re.compile(r"\S+")
_BOUNDS = re.compile(r"(?:(\d{1,10}):)?(\d{1,10})\|(.*)", re.ASCII)


def read_dlx(text: str, source: str = "") -> CoverProblem:
    """The problem that a text says. Knuth's programs leave options without primary items out: here such a one
    keeps its number, but can never be chosen. Raises CoverError with line and column.

    >>> problem = read_dlx("| a comment\\n a b 2:3|c | x\\na b x:red\\nb c")
    >>> problem.item_names, problem.maximum.tolist()
    (('a', 'b', 'c', 'x'), [1, 1, 3, 1])
    """
    builder = ProblemBuilder(source)
    primary = -1
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("|"):
            continue
        if primary < 0:
            primary = _read_items(builder, line, number)
        else:
            _read_option(builder, line, number, primary)
    if primary < 0:
        raise builder.wrong("no line names the items", "the first line does", Place(1, 1))
    return builder.problem()


def _read_items(builder: ProblemBuilder, line: str, number: int) -> int:
    """Returns how many of the items are primary."""
    primary = -1
    for word in _WORD.finditer(line):
        name, place = word[0], Place(number, word.start() + 1)
        low = high = 1
        if name == "|":
            if primary >= 0:
                raise builder.wrong("a second | among the items", "secondary items follow the first", place)
            primary = len(builder.number)
            continue
        if "|" in name:
            bounds = _BOUNDS.fullmatch(name)
            if bounds is None or primary >= 0:
                raise builder.wrong(f"{name[:40]!r} names no item", "primary items may be like 2:3|c", place)
            low, high, name = int(bounds[1] or bounds[2]), int(bounds[2]), bounds[3]
        if not name or ":" in name or "|" in name:
            raise builder.wrong(f"{word[0][:40]!r} names no item", "no : and | in names", place)
        builder.item(name, low if primary < 0 else 0, high, place=place)
    if primary == 0 or not builder.number:
        raise builder.wrong("there is no primary item", "name one before the |", Place(number, 1))
    return len(builder.number) if primary < 0 else primary


def _read_option(builder: ProblemBuilder, line: str, number: int, primary: int) -> None:
    chosen = False
    for word in _WORD.finditer(line):
        name, colon, colour = word[0].partition(":")
        place = Place(number, word.start() + 1)
        if colon and (not colour or ":" in colour or "|" in colour):
            raise builder.wrong(f"{word[0][:40]!r} has no colour after its :", "x:red", place)
        item = builder.node(name, colour=colour if colon else None, place=place)
        if item < primary:
            chosen = True
            if colon:
                raise builder.wrong(
                    f"{name[:40]!r} is primary and has a colour", "colours are for secondary items", place
                )
    if not chosen:
        builder.never()
    builder.end_option(" ".join(line.split()))
