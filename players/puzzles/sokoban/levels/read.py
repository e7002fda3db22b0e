"""Read level files in all their forms: text (.xsb, .sok, .txt) and XML (.slc).

Text has maps in XSB and its dialects, between lines of text. No document defines the format, which has grown
over time; the wiki of sokobano.de ("Level format") describes most of it. Forums and level editors also write
maps on one line with run lengths: ``3#-2$`` is ``###-$$``, ``2(#-)`` is ``#-#-``, ``|`` ends a row. XML has
``Level`` elements with a row in each ``L``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gdl.errors import GdlError, Place, or_error, sound
from gdl.reading import plain, text_of_file
from players.puzzles.level_name import read_level_name
from players.puzzles.snakes.level import MOST_BYTES, looks_like_snakes
from players.puzzles.sokoban.levels.level import CHARACTERS, MOST_SIDE, DrawnMap, DrawnRow, Level
from players.puzzles.xml_tree import BrokenXmlError, Element, xml_tree

SUFFIXES = (".xsb", ".sok", ".slc", ".txt")
"""The suffixes of level files."""


def levels_in(text: str, source: str = "") -> list[Level | GdlError]:
    """Return each level of a file, in order, or the error that says, with the place, why it cannot be played
    (see :meth:`~players.puzzles.sokoban.levels.level.DrawnMap.checked`).

    Args:
        text: the contents of the file.
        source: the name of the file, for messages.

    Raises GdlError if there is no level at all.
    """
    return [or_error(drawn.checked) for drawn in _drawn(text, source)]


def read_levels(text: str, source: str = "") -> list[Level]:
    """Return all levels of a text. Raises the first error of :func:`levels_in`."""
    return list(map(sound, levels_in(text, source)))


def levels_of_file(path: str | Path) -> list[Level | GdlError]:
    """Return each level of a file, or its error. Raises GdlError as :func:`levels_in` does, and if the file
    cannot be read."""
    return levels_in(_text(Path(path)), str(path))


def find_level(name: str) -> Level:
    """Return the level that ``FILE:N`` names, counted from 1; ``FILE`` alone is its first.

    Only this level is checked: other levels of the file may be invalid. Raises GdlError if the file or the
    level does not exist, or the level is invalid.
    """
    path, number = split_name(name)
    drawn = _drawn(_text(path), str(path))
    if not 1 <= number <= len(drawn):
        has = "one level" if len(drawn) == 1 else f"{len(drawn)} levels"
        remedy = f"write {path.name}:1" if len(drawn) == 1 else f"write a number from 1 to {len(drawn)}"
        raise GdlError(f"there is no level {number}: the file has {has}", remedy=remedy, source=str(path))
    return drawn[number - 1].checked()


def split_name(name: str) -> tuple[Path, int]:
    """Return ``FILE:N`` as path and number. The number is 1 if there is none, or if a file has the whole
    name."""
    path, number = read_level_name(name)
    return path, 1 if number is None else number


def names_level_file(name: str) -> bool:
    """Return whether ``FILE`` or ``FILE:N`` names a level file: by its suffix or, for ``.txt``, by its
    contents."""
    path = split_name(name)[0]
    suffix = path.suffix.lower()
    if suffix != ".txt":
        return suffix in SUFFIXES
    if not os.path.isfile(path):
        return False
    text = _text(path)
    return "(role" not in text.lower().replace("( ", "(") and not looks_like_snakes(text)


def _drawn(text: str, source: str) -> list[DrawnMap]:
    text = plain(text)
    if text.lstrip().startswith("<"):
        maps = _read_slc(text, source)
    else:
        maps = _drawn_maps_of_text(text, source)
    if not maps:
        raise GdlError(
            "there is no level in this file",
            Place(1, 1),
            "a map has walls of #; also read: run lengths (3#|#@$.#) and XML (.slc)",
            source,
        )
    return maps


def _text(path: Path) -> str:
    return text_of_file(path, MOST_BYTES, "name a file of levels")


def _read_slc(text: str, source: str) -> list[DrawnMap]:
    """Return the maps of a collection in XML. If it breaks off, the last map has the fault."""
    try:
        return list(_drawn_maps_of_slc(xml_tree(text, source), source))
    except BrokenXmlError as error:
        maps = list(_drawn_maps_of_slc(error.root, source))
        if all(element.tag.lower() != "level" for element in error.inside):
            maps.append(DrawnMap(source, []))
        maps[-1].fault = error
        return maps


def _drawn_maps_of_slc(root: Element, source: str, author: str = "") -> Iterator[DrawnMap]:
    """Yield the maps of a collection. A level that names no author has that of the collection."""
    given = {key.lower(): value for key, value in root.attributes.items()}
    author = given.get("copyright") or author
    if root.tag.lower() == "level":
        drawn = DrawnMap(source, [], given.get("id", ""), author)
        try:
            for row in root.children:
                column = row.place.column + (0 if row.attributes else len(row.tag) + 2)
                cells = [(char, at) for at, char in enumerate(row.text, column)]
                drawn.rows += _rows(row.place.line, cells, source)
        except GdlError as error:
            drawn.fault = error
        yield drawn
    else:
        for child in root.children:
            yield from _drawn_maps_of_slc(child, source, author)


_FIELD = re.compile(r"\s*;*\s*([A-Za-z][A-Za-z /-]{0,30}?)\s*[:=]\s*(.*)")
_OTHER_FIELDS = frozenset(
    {"date", "date created", "date of last change", "email", "e-mail", "url", "homepage", "copyright"}
    | {"collection", "set", "difficulty", "rating", "width", "height", "id", "moves", "pushes"}
)
_SOLUTION = re.compile(r"\s*;*\s*(?:solution|snapshot|savegame)\b[^a-z]*(?:[:=/(].*)?", re.I)
_SOLUTION_LINE = re.compile(r"\s*|(?=.*[udlrUDLR])[udlrUDLR0-9()*\s]+")
_STEPS = re.compile(r"(?=.*[udlrUDLR]{2}|.*\d)[udlrUDLR0-9()*]{4,}")
_COMMENT_END = re.compile(r"\s*;*\s*comment[- ]end", re.I)
_WALL_FIRST = re.compile(r"[\s_\-(0-9|]*#")
_OPEN_ROW = re.compile(r"[\s_\-$.*@+0-9|()]+|[\s_\-(0-9|]*#[^#]*")
_MAP_CHARACTERS = frozenset(CHARACTERS) | frozenset("0123456789()|\t")
_MOST_STRANGE = 2
_MOST_COMMENT = 200
_MOST_SQUARES = 4 << 20
_MOST_LINE = 40 * MOST_SIDE
_MOST_CHARACTERS = 2 * (MOST_SIDE + 1) ** 2
_MOST_DEPTH = 20

_Spread = list[tuple[str, int]]
"""Characters, each with its column in the file."""


@dataclass(slots=True)
class _Text:
    """The text before, between or after maps: fields, and paragraphs of other lines."""

    fields: dict[str, str] = field(default_factory=dict)
    paragraphs: list[list[str]] = field(default_factory=lambda: [[]])

    @property
    def lines(self) -> list[list[str]]:
        """Return the paragraphs that have lines."""
        return [paragraph for paragraph in self.paragraphs if paragraph]


def _drawn_maps_of_text(text: str, source: str) -> list[DrawnMap]:
    """Return the maps of a file.

    A map is a run of rows: from a line that begins with a wall to the last such line before a blank line or a
    line of text. ``Title:``, ``Author:`` and ``Comment:`` (to ``Comment-End:``) name their field; other
    fields and solutions are skipped. Of other text the paragraph next to the map counts, with its first line
    as the title. Some files have these texts before the maps, others after them. They are after the maps if
    there are fields after the last map, or if more text adjoins the map above it than the one below.

    A map has a fault, with the place, if it has an unknown character or an invalid run length. Reading stops
    after the map with which the file becomes too large.
    """
    texts, maps = [_Text()], list[DrawnMap]()
    lines = text.rstrip("\x1a").replace("\xa0", " ").split("\n")
    number, room = 0, _MOST_SQUARES
    while number < len(lines) and room >= 0:
        line = lines[number]
        if _is_row(line) or (_is_tip(line) and number + 1 < len(lines) and _is_row(lines[number + 1])):
            first, number = number, _end_of_map(lines, number)
            maps.append(DrawnMap(source, []))
            room = _read_rows(maps[-1], lines, range(first, number), room)
            texts.append(_Text())
            continue
        number = _read_text(lines, number, texts[-1]) if line.strip() else number + 1
        if not line.strip():
            texts[-1].paragraphs.append([])
    _name(maps, texts)
    return maps


def _is_row(line: str, inside: bool = False) -> bool:
    """Return whether a line is a row with walls: the first of a map or, with ``inside``, a later one.

    A row has two walls (``# 1`` is a title) or is the lower tip of a map. It begins with a wall unless it has
    only characters of a map. A first row has few characters that do not belong in a map (``## Level one ##``
    is a title too).
    """
    if len(line) > _MOST_LINE or not (_WALL_FIRST.match(line) or set(line) <= _MAP_CHARACTERS):
        return False
    if line.count("#") < 2 and not re.search(r"\d#", line) and not (inside and _is_tip(line)):
        return False
    return inside or _few_strange(line)


def _is_tip(line: str) -> bool:
    """Return whether a line may be the tip of a map: a single wall."""
    return line.strip() == "#"


def _few_strange(line: str) -> bool:
    return sum(char not in _MAP_CHARACTERS for char in line) <= _MOST_STRANGE


def _end_of_map(lines: list[str], first: int) -> int:
    """Return the line after the map that begins on line ``first`` (from 0)."""
    last = end = first
    while end < len(lines) and lines[end].strip():
        if _is_row(lines[end], inside=True):
            last = end
        elif not (_OPEN_ROW.fullmatch(lines[end]) and _few_strange(lines[end])):
            break
        end += 1
    return last + 1


def _read_rows(drawn: DrawnMap, lines: list[str], numbers: range, room: int) -> int:
    """Add the rows of a map to it, or its fault. Returns how many of ``room`` squares are left, below 0 if
    there are too few. A line that cannot be read also counts, because trying took time."""
    for number in numbers:
        cost = _MOST_CHARACTERS // 8
        try:
            cells = spread(lines[number].rstrip(), number + 1, drawn.source)
            cost = sum(char != "|" for char, _ in cells)
            drawn.rows += _rows(number + 1, cells, drawn.source)
        except GdlError as error:
            drawn.fault = error
        room -= cost
        if room < 0:
            message = f"the maps of this file have more than {_MOST_SQUARES:,} squares"
            drawn.fault = GdlError(message, Place(number + 1, 1), "split it", drawn.source, "too-large")
        if drawn.fault:
            break
    return room


def _rows(line: int, cells: _Spread, source: str) -> list[DrawnRow]:
    """Return the rows of a line: one, or several separated by ``|``."""
    rows: list[_Spread] = [[]]
    for char, column in cells:
        if char == "|":
            rows.append([])
        elif char in CHARACTERS:
            rows[-1].append((CHARACTERS[char], column))
        else:
            raise GdlError(
                f"{char!r} does not belong in a Sokoban map",
                Place(line, column),
                "# wall, $ box, . goal, * box on a goal, @ keeper, + keeper on a goal, blank - _ floor",
                source,
                "map-character",
            )
    if not rows[-1]:
        del rows[-1]  # A | at the end of the line.
    return [DrawnRow(line, "".join(c for c, _ in row), [column for _, column in row]) for row in rows]


def _read_text(lines: list[str], number: int, text: _Text) -> int:
    """Store a line of text in its field or paragraph; a comment may have several lines. Returns the number of
    the next line."""
    line = lines[number].strip()
    match = _FIELD.match(line)
    key = match[1].lower() if match else ""
    if match and key in ("title", "author", "comment"):
        text.fields.setdefault(key, match[2].strip())
        number += 1
        if key == "comment":
            within = range(number, min(number + _MOST_COMMENT, len(lines)))
            end = next((i for i in within if _COMMENT_END.match(lines[i])), 0)
            if end and not any(_is_row(lines[i]) for i in range(number, end)):
                number = end + 1
        return number
    if _SOLUTION.fullmatch(line):
        number += 1
        while number < len(lines) and not lines[number].strip():
            number += 1
        while number < len(lines) and lines[number].strip() and _SOLUTION_LINE.fullmatch(lines[number]):
            number += 1
        return number
    if (key or line.lower()) in _OTHER_FIELDS or _STEPS.fullmatch(line):
        return number + 1
    words = line.lstrip(";:").strip("-=*# \t")
    if words:
        text.paragraphs[-1].append(words)
    return number + 1


def _name(maps: list[DrawnMap], texts: list[_Text]) -> None:
    """Give each map its title and author; ``texts[i]`` comes before map ``i``."""
    if not maps:
        return
    fields_behind = bool(texts[-1].fields)
    leaning = sum(bool(text.paragraphs[0]) for text in texts[1:])
    leaning -= sum(bool(text.paragraphs[-1]) for text in texts[:-1])
    lines_behind = leaning > 0 or (leaning == 0 and bool(texts[-1].lines) and not texts[0].lines)
    author = texts[0].fields.get("author", "")
    for i, drawn in enumerate(maps):
        fields = texts[i + 1 if fields_behind else i].fields
        paragraphs = texts[i + 1 if lines_behind else i].lines
        nearest = paragraphs[0 if lines_behind else -1] if paragraphs else []
        drawn.title = fields.get("title") or (nearest[0] if nearest else "")
        drawn.author = fields.get("author") or author


def spread(text: str, line: int, source: str) -> _Spread:
    """Return a line without run lengths: each character and its column, from 1; tabs become blanks up to the
    next multiple of eight.

    Raises GdlError, with the place, for unmatched parentheses, a number without a character, or more
    characters than any map has.
    """
    stack: list[tuple[int, int, _Spread]] = []
    out: _Spread = []
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
