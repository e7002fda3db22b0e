"""BurrTools' puzzle files (.xmpuzzle), plain or packed by gzip.

Shapes are strings of marks, x running fastest, then y, then z: `#` must be filled, `+` may be filled, `_` is
outside; a number after a mark is a colour, 0 for none. A problem says how many copies of each shape fill
which other shape, and which colours of pieces and result may meet. Solutions that are saved in a file are not
read.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from dataclasses import dataclass
from functools import partial
from math import prod

from gdl.errors import GdlError, or_error, sound
from gdl.reading import text_of
from gdl.visible import visible
from players.puzzles.cover.packing.grids import GRIDS, CellGrid
from players.puzzles.cover.packing.puzzle import MOST_CELLS, CellShape, PackingPuzzle, Piece
from players.puzzles.cover.problem import CoverError
from players.puzzles.xml_tree import Element, xml_tree

_MOST_BYTES = 64 << 20
"""The most bytes after unpacking."""
_GZIP = b"\x1f\x8b"
_MOST_VOXELS = 1 << 21
"""Most voxels of all shapes of a file together, by the sizes that they state."""
_MOST_COLOUR = 63
_MARK = re.compile(r"\s*(?:(_+)(?!\d)|([#+_])(\d*))")
_REMEDY = "it should be a file as BurrTools writes it"
_LEFT_OUT = frozenset({"solutions"})
_SOLVED = "2"


@dataclass(frozen=True, eq=False, slots=True)
class _BurrProblem:
    """A problem of a file.

    Attributes:
        puzzle: pieces, result and rules.
        interrupted: the version of BurrTools whose interrupted search the file holds, "" for none.
    """

    puzzle: PackingPuzzle
    interrupted: str = ""

    def refuse_to_go_on(self) -> None:
        """Raises CoverError if the file holds an interrupted search, which only BurrTools can resume."""
        if self.interrupted:
            raise CoverError(
                f"the file holds a search that BurrTools (assembler {self.interrupted}) interrupted",
                remedy="search the puzzle from its beginning; only BurrTools can go on with that",
            )


@dataclass(frozen=True, eq=False, slots=True)
class BurrFile:
    """A file: its shapes and its problems. An error replaces one that cannot be read."""

    shapes: tuple[CellShape | GdlError, ...]
    problems: tuple[_BurrProblem | GdlError, ...]

    def problem(self, number: int = 1) -> _BurrProblem:
        """A problem by its number, from 1. Raises CoverError if there is none, or it cannot be read."""
        if not self.problems:
            raise CoverError(
                "the file has no problem", remedy="add one in BurrTools: which pieces fill which shape"
            )
        if not 1 <= number <= len(self.problems):
            raise CoverError(
                f"there is no problem {number}", remedy=f"the file has problems 1 to {len(self.problems)}"
            )
        return sound(self.problems[number - 1])


def xmpuzzle(data: bytes) -> BurrFile:
    """The puzzles in the bytes of a file, packed or not. Raises GdlError if it is not a puzzle file."""
    root = xml_tree(text_of(_unpacked(data)), leave_out=_LEFT_OUT)
    if root.tag != "puzzle":
        raise _wrong(root, f"the file is a {root.tag[:40]!r}, no puzzle")
    grid = _grid(root)
    shapes = _shapes(_inside(root, "shapes", "voxel"))
    problems = tuple(
        or_error(partial(_problem, element, number, grid, shapes))
        for number, element in enumerate(_inside(root, "problems", "problem"), 1)
    )
    return BurrFile(shapes, problems)


def _unpacked(data: bytes) -> bytes:
    """The bytes, unpacked if they are packed by gzip. Raises CoverError if they are too many or damaged."""
    if data.startswith(_GZIP):
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise CoverError(
                "the file is damaged: gzip cannot unpack it", remedy="download it again"
            ) from error
    if len(data) > _MOST_BYTES:
        raise CoverError("the file is too large", remedy=f"at most {_MOST_BYTES >> 20} MiB of XML")
    return data


def _wrong(element: Element, message: str, remedy: str = _REMEDY) -> CoverError:
    """The error for a fault in an element."""
    return CoverError(message, element.place, remedy)


def _inside(parent: Element, tag: str, inner: str) -> list[Element]:
    """The elements of one tag inside the only child of another."""
    child = parent.child(tag)
    return child.all(inner) if child else []


def _number(element: Element, name: str, default: int | None = 0) -> int:
    """An attribute that is a number, at least 0."""
    text = element.attributes.get(name, "").strip()
    if not text and default is not None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _wrong(element, f"<{element.tag}> has {name}={text[:20]!r}, no number")
    return int(text)


def _grid(root: Element) -> CellGrid:
    element = root.child("gridType")
    number = _number(element, "type", None) if element else 0
    if number >= len(GRIDS):
        remedy = f"types 0 to {len(GRIDS) - 1} are known"
        raise _wrong(element or root, f"the file's grid is of type {number}", remedy)
    return GRIDS[number]


def _shapes(elements: list[Element]) -> tuple[CellShape | GdlError, ...]:
    """The shapes of a file; shapes that are too large are refused before a single voxel is read."""
    voxels = 0
    for number, element in enumerate(elements):
        size = or_error(partial(_size, element))
        voxels += 0 if isinstance(size, GdlError) else prod(size)
        filled = element.text.count("#") + element.text.count("+")
        if voxels > _MOST_VOXELS or filled > MOST_CELLS:
            raise _wrong(
                element,
                f"{_called(number, element)} is too large, by itself or with those before it",
                f"at most {MOST_CELLS:,} cells of a shape, and {_MOST_VOXELS:,} voxels of all",
            )
    return tuple(or_error(partial(_shape, element, number)) for number, element in enumerate(elements))


def _called(number: int, element: Element) -> str:
    """A shape in messages: its number is its `id` in the problems of the file, from 0."""
    return f"the shape with id {number} ({_name(number, element)[:40]})"


def _name(number: int, element: Element) -> str:
    """A shape's name as in BurrTools, which numbers shapes from 1."""
    return visible(element.attributes.get("name", "")) or f"S{number + 1}"


def _size(element: Element) -> tuple[int, int, int]:
    x, y, z = (_number(element, name, None) for name in "xyz")
    return x, y, z


def _shape(element: Element, number: int) -> CellShape:
    x, y, z = _size(element)
    if _number(element, "type"):
        raise _wrong(element, f"{_called(number, element)} is written in an unknown way")
    cells, fixed, colours = [], [], []
    position = index = 0
    text = element.text.strip()
    while position < len(text):
        match, start = _MARK.match(text, position), position
        position = match.end() if match else position
        if match and match[1]:  # many that are outside
            index += len(match[1])
            continue
        if match is None or len(match[3]) > 4 or int(match[3] or 0) > _MOST_COLOUR:
            raise _wrong(element, f"{_called(number, element)}: {text[start : start + 10]!r} is not a mark")
        if match[2] != "_":
            cells.append((index % x, index // x % y, index // (x * y)) if x * y else (0, 0, 0))
            fixed.append(match[2] == "#")
            colours.append(int(match[3] or 0))
        index += 1
    if index != x * y * z:
        raise _wrong(element, f"{_called(number, element)} has {index} voxels, not {x} x {y} x {z}")
    return CellShape.at(cells, fixed, colours, _name(number, element))


def _named_shape(element: Element, shapes: tuple[CellShape | GdlError, ...]) -> CellShape:
    number = _number(element, "id", None)
    if number >= len(shapes):
        remedy = f"the ids go from 0 to {len(shapes) - 1}" if shapes else "the file has no shapes"
        raise _wrong(element, f"a problem names the shape with id {number}, which the file has not", remedy)
    return sound(shapes[number])


def _problem(
    element: Element, number: int, grid: CellGrid, shapes: tuple[CellShape | GdlError, ...]
) -> _BurrProblem:
    pieces = [_piece(each, _named_shape(each, shapes)) for each in _inside(element, "shapes", "shape")]
    target = element.child("result")
    if target is None:
        raise _wrong(element, f"problem {number} has no result", "choose one in BurrTools")
    result = _named_shape(target, shapes)
    pairs = _inside(element, "bitmap", "pair")
    allowed = frozenset(
        (_number(pair, "piece", None) + 1, _number(pair, "result", None) + 1) for pair in pairs
    )
    holes = _number(element, "maxHoles") if "maxHoles" in element.attributes else None
    name = element.attributes.get("name", "")
    puzzle = PackingPuzzle(grid, tuple(pieces), result, allowed, holes, name)
    solved = element.attributes.get("state") == _SOLVED
    assembler = element.child("assembler")
    interrupted = assembler.attributes.get("version", "?") if assembler and not solved else ""
    return _BurrProblem(puzzle, interrupted)


def _piece(element: Element, shape: CellShape) -> Piece:
    low = high = _number(element, "count", 1)
    if "count" not in element.attributes and {"min", "max"} <= element.attributes.keys():
        low, high = _number(element, "min"), _number(element, "max")
    if low > high:
        shape_id = element.attributes.get("id", "")
        raise _wrong(
            element, f"the shape with id {shape_id} has min={low} and max={high}", "min is at most max"
        )
    group = _number(element, "group")
    groups = [(group, high)] if group else []
    groups += [(_number(each, "group", None), _number(each, "count", None)) for each in element.all("group")]
    return Piece(shape, low, high, tuple(groups))
