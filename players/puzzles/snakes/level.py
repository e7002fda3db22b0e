"""`SnakeLevel`: a level of Snakes from a text file. `read_levels` reads and checks the levels of a file.

A level is a block of lines, a character for each cell: ``#`` wall, ``.`` or a space free, ``*`` fruit, ``$``
block of one cell, ``1`` to ``9`` block of the cells with the same digit, ``!`` spikes, ``E`` exit, ``A`` to
``D`` heads of snakes, ``<`` ``>`` ``^`` ``v`` the rest of a snake, each pointing to the next segment on the
way to the head. Empty lines end a level; a line that begins with ``;`` is its title. Level files of Snakes
end in ``.txt``, as rules and levels of Sokoban may.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gdl.errors import FileError, GdlError, Place, or_error, sound
from gdl.reading import plain, text_of_file
from gdl.visible import visible
from players.puzzles.level_name import read_level_name

MOST_BYTES = 4 << 20
"""The most bytes of a file of levels."""
_MOVING = set("ACD<>^vE")
_DRAWN = _MOVING | set("B#.*!$ 123456789")


def names_snakes_file(name: str) -> bool:
    """Whether ``FILE.txt`` or ``FILE.txt:N`` names a readable file with levels of Snakes."""
    path, _ = read_level_name(name)
    if path.suffix.lower() != ".txt":
        return False
    try:
        return looks_like_snakes(text_of_file(path, MOST_BYTES))
    except FileError:
        return False


def looks_like_snakes(text: str) -> bool:
    """Whether a text draws snakes, valid or not: some line that is not a title consists mostly of level
    characters and has part of a snake or an exit, and no line has a keeper or a rule."""
    lines = plain(text).split("\n")
    lines = [line.strip() for line in lines if not line.startswith((";", "Title", "Author"))]
    if any("@" in line or "+" in line or "(" in line for line in lines):
        return False
    return any(
        not _MOVING.isdisjoint(line) and 2 * sum(character in _DRAWN for character in line) > len(line)
        for line in lines
        if line
    )


Cell = tuple[int, int]
"""Column from the left and row from the top, both from 0."""

ARROWS: dict[str, tuple[str, int, int]] = {
    "<": ("left", -1, 0),
    ">": ("right", 1, 0),
    "^": ("up", 0, -1),
    "v": ("down", 0, 1),
}
_HEADS = "ABCD"
BLOCK = "$"
PIECES = "123456789"
FREE = ".*E" + BLOCK + PIECES + _HEADS + "".join(ARROWS)
"""Cells that are neither walls nor spikes."""
_Fail = Callable[[str, Cell, str], GdlError]
_KNOWN = "# !" + FREE
_MOST_COLUMNS, _MOST_ROWS = 26, 99


@dataclass(frozen=True, slots=True)
class SnakeLevel:
    """A level that can be played.

    Attributes:
        title: its title, or the empty string.
        rows: its rows from the top, of equal length, free cells as ``.``.
        snakes: for each head the segments from the head to the tail, each with the character drawn: an arrow
            or the letter of the head.
    """

    title: str
    rows: tuple[str, ...]
    snakes: dict[str, tuple[tuple[Cell, str], ...]]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.rows)

    @property
    def pieces(self) -> dict[str, tuple[Cell, ...]]:
        """The blocks of several cells by their digits, each with its cells as :meth:`cells` orders them."""
        return {digit: tuple(cells) for digit in PIECES if (cells := self.cells(digit))}

    def cells(self, kinds: str) -> list[Cell]:
        """Return the cells drawn as one of these characters, from the bottom up, from left to right."""
        return [
            (x, y)
            for y in reversed(range(self.height))
            for x, character in enumerate(self.rows[y])
            if character in kinds
        ]


def levels_in(text: str, source: str = "<level>") -> list[SnakeLevel | GdlError]:
    """Return each level of a text, or its error with line and column: an unknown character, a snake without a
    head or a body, two tails, no exit or two, a map that is too large. Raises GdlError if there is no level
    at all."""
    levels: list[SnakeLevel | GdlError] = []
    title, block = "", list[tuple[int, str]]()
    for number, line in enumerate([*plain(text).split("\n"), ""], 1):
        if line.startswith(";") and not block:
            title = visible(line[1:].strip())
        elif line.strip():
            block.append((number, line.rstrip()))
        elif block:
            levels.append(or_error(partial(_level, title, block, source)))
            title, block = "", []
    if not levels:
        raise _error("the file has no level", 1, 0, "draw one, a character for each cell", source)
    return levels


def read_levels(text: str, source: str = "<level>") -> list[SnakeLevel]:
    """Return all levels of a text. Raises the first error of :func:`levels_in`."""
    return list(map(sound, levels_in(text, source)))


def _error(message: str, line: int, x: int, remedy: str, source: str) -> GdlError:
    return GdlError(message, Place(line, x + 1), remedy, source, "bad-level")


def _level(title: str, block: list[tuple[int, str]], source: str) -> SnakeLevel:
    first = block[0][0]
    for number, line in block:
        if line.startswith(";"):
            raise _error("a title in the middle of a level", number, 0, "put an empty line before", source)

    def fail(message: str, cell: Cell, remedy: str) -> GdlError:
        return _error(message, first + cell[1], cell[0], remedy, source)

    width = max(len(line) for _, line in block)
    if width > _MOST_COLUMNS or len(block) > _MOST_ROWS:
        raise fail("the level is too large", (0, 0), f"at most {_MOST_COLUMNS} columns, {_MOST_ROWS} rows")
    rows = tuple(line.ljust(width).replace(" ", ".") for _, line in block)
    drawn = {(x, y): character for y, row in enumerate(rows) for x, character in enumerate(row)}
    for cell, character in drawn.items():
        if character not in _KNOWN:
            raise fail(f"no cell is drawn as {character!r}", cell, f"known are {_KNOWN}")
    exits = [cell for cell, character in drawn.items() if character == "E"]
    if len(exits) != 1:
        raise fail(f"the level has {len(exits)} exits", exits[1] if exits else (0, 0), "draw one as E")
    return SnakeLevel(title, rows, _snakes(drawn, fail))


def _snakes(drawn: dict[Cell, str], fail: _Fail) -> dict[str, tuple[tuple[Cell, str], ...]]:
    behind: dict[Cell, Cell] = {}
    for (x, y), character in drawn.items():
        if character in ARROWS:
            _, i, j = ARROWS[character]
            to = (x + i, y + j)
            if drawn.get(to, "#") not in _HEADS + "".join(ARROWS):
                raise fail("this segment points to no segment", (x, y), "let it point towards a head")
            if to in behind:
                raise fail("two segments point to the same one", (x, y), "a snake has one tail")
            behind[to] = (x, y)
    snakes: dict[str, tuple[tuple[Cell, str], ...]] = {}
    for cell, character in drawn.items():
        if character in _HEADS:
            if character in snakes:
                raise fail(f"a second head {character}", cell, "give it another letter, A to D")
            if cell not in behind:
                raise fail("this head has no body", cell, "draw at least one of < > ^ v that points to it")
            line = [cell]
            while line[-1] in behind:
                line.append(behind[line[-1]])
            snakes[character] = tuple((segment, drawn[segment]) for segment in line)
    if not snakes:
        raise fail("the level has no snake", (0, 0), "draw a head as A and a body as < > ^ v")
    owned = {cell for segments in snakes.values() for cell, _ in segments}
    for cell, character in drawn.items():
        if character in ARROWS and cell not in owned:
            raise fail("this segment leads to no head", cell, "draw its head as A to D")
    return dict(sorted(snakes.items()))


def levels_of_file(path: str | Path) -> list[SnakeLevel | GdlError]:
    """Return each level of a file, or its error. Raises GdlError as :func:`levels_in` does, and if the file
    cannot be read."""
    return levels_in(text_of_file(path, MOST_BYTES, "name a file of levels"), str(path))


def find_level(name: str) -> SnakeLevel:
    """Return the level that ``FILE:N`` names, the first if there is no ``:N``.

    Raises GdlError: the file cannot be read, has no such level, or the level is invalid.
    """
    path, number = read_level_name(name)
    levels = levels_of_file(path)
    if number is not None and not 1 <= number <= len(levels):
        raise GdlError(f"{path} has no level {number}", remedy=f"it has levels 1 to {len(levels)}")
    return sound(levels[(number or 1) - 1])
