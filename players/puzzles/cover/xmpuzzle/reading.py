"""Reads BurrTools' puzzle files.

Shapes are strings of marks, x running fastest, then y, then z: `#` must be filled, `+` may be filled, `_` is
outside; a number after a mark is a colour, 0 for none. A problem says how many copies of each shape fill
which other shape, and which colours of pieces and result may meet.
"""

from __future__ import annotations

import re
from pathlib import Path

from gdl.reading import read_limited
from players.puzzles.cover.packing.grids.grid import CellGrid
from players.puzzles.cover.packing.grids.registry import GRIDS
from players.puzzles.cover.packing.puzzle import PackingPuzzle, Piece
from players.puzzles.cover.packing.shape import MOST_CELLS, CellShape
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.xmpuzzle.model import BurrFile, BurrProblem, BurrShape, Place
from players.puzzles.cover.xmpuzzle.tree import MOST_BYTES, Element, parsed

MOST_VOXELS = 1 << 21
"""Of all shapes of a file, by the sizes that they state."""
MOST_COLOUR = 63
_MARK = re.compile(r"\s*(?:(_+)(?!\d)|([#+_])(\d*))")
_REMEDY = "it should be a file as BurrTools writes it"
_LEFT_OUT = frozenset({"separation", "separationInfo"})
"""How saved solutions come apart: not read."""
_SOLVED = 2


def read_xmpuzzle(path: Path | str) -> BurrFile:
    """The puzzles of a file; raises FileError for one that cannot be read, CoverError for
    what is no puzzle file."""
    return xmpuzzle(read_limited(path, MOST_BYTES, "look at its name"))


def xmpuzzle(data: bytes) -> BurrFile:
    """The puzzles in the bytes of a file, packed or not; raises CoverError for what is no puzzle file."""
    root = parsed(data, _LEFT_OUT)
    if root.tag != "puzzle":
        raise _wrong(root, f"the file is a {root.tag[:40]!r}, no puzzle")
    grid = _grid(root)
    shapes = _shapes(_inside(root, "shapes", "voxel"))
    colours = tuple(
        tuple(min(255, _number(element, name)) for name in ("red", "green", "blue"))
        for element in _inside(root, "colors", "color")
    )
    problems = tuple(
        _problem(element, number, grid, shapes)
        for number, element in enumerate(_inside(root, "problems", "problem"), 1)
    )
    comment = root.child("comment")
    return BurrFile(shapes, problems, comment.text if comment else "", colours)  # type: ignore[arg-type]


def _wrong(element: Element, message: str, remedy: str = _REMEDY) -> CoverError:
    """The error for what is wrong with an element."""
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


def _shapes(elements: list[Element]) -> tuple[BurrShape, ...]:
    """The shapes of a file; what is too large is refused before a single voxel is read."""
    voxels = 0
    for number, element in enumerate(elements, 1):
        x, y, z = _size(element)
        voxels += x * y * z
        filled = element.text.count("#") + element.text.count("+")
        if voxels > MOST_VOXELS or filled > MOST_CELLS:
            raise _wrong(
                element,
                f"shape {number} is too large, by itself or with those before it",
                f"at most {MOST_CELLS:,} cells of a shape, and {MOST_VOXELS:,} voxels of all",
            )
    return tuple(_shape(element, number) for number, element in enumerate(elements, 1))


def _size(element: Element) -> tuple[int, int, int]:
    x, y, z = (_number(element, name, None) for name in "xyz")
    return x, y, z


def _shape(element: Element, number: int) -> BurrShape:
    x, y, z = size = _size(element)
    if _number(element, "type"):
        raise _wrong(element, f"shape {number} is written in an unknown way")
    cells, fixed, colours = [], [], []
    position = index = 0
    text = element.text.strip()
    while position < len(text):
        match = _MARK.match(text, position)
        position = match.end() if match else position
        if match and match[1]:  # many that are outside
            index += len(match[1])
            continue
        if match is None or len(match[3]) > 4 or int(match[3] or 0) > MOST_COLOUR:
            raise _wrong(element, f"shape {number}: {text[position : position + 10]!r} is no mark")
        if match[2] != "_":
            cells.append((index % x, index // x % y, index // (x * y)) if x * y else (0, 0, 0))
            fixed.append(match[2] == "#")
            colours.append(int(match[3] or 0))
        index += 1
    if index != x * y * z:
        raise _wrong(element, f"shape {number} has {index} voxels, not {x} x {y} x {z}")
    name = element.attributes.get("name", "") or f"S{number}"
    hotspot = tuple(_number(element, each) for each in ("hx", "hy", "hz"))
    return BurrShape(CellShape.at(cells, fixed, colours, name), size, hotspot)  # type: ignore[arg-type]


def _shape_number(element: Element, shapes: tuple[BurrShape, ...]) -> int:
    number = _number(element, "id", None)
    if number >= len(shapes):
        raise _wrong(element, f"a problem names shape {number + 1}, of {len(shapes)}")
    return number


def _problem(element: Element, number: int, grid: CellGrid, shapes: tuple[BurrShape, ...]) -> BurrProblem:
    pieces, numbers = [], []
    for each in _inside(element, "shapes", "shape"):
        numbers.append(_shape_number(each, shapes))
        pieces.append(_piece(each, shapes[numbers[-1]].shape))
    target = element.child("result")
    if target is None:
        raise _wrong(element, f"problem {number} has no result", "choose one in BurrTools")
    result = _shape_number(target, shapes)
    pairs = _inside(element, "bitmap", "pair")
    allowed = frozenset(
        (_number(pair, "piece", None) + 1, _number(pair, "result", None) + 1) for pair in pairs
    )
    holes = _number(element, "maxHoles") if "maxHoles" in element.attributes else None
    name = element.attributes.get("name", "")
    puzzle = PackingPuzzle(grid, tuple(pieces), shapes[result].shape, allowed, holes, name)
    copies = sum(piece.maximum for piece in pieces)
    saved = tuple(
        _assembly(inner, number, grid, copies)
        for solution in _inside(element, "solutions", "solution")
        for inner in solution.all("assembly")
    )
    solved = _number(element, "state") == _SOLVED
    assemblies = _number(element, "assemblies") if solved and "assemblies" in element.attributes else None
    assembler = element.child("assembler")
    interrupted = assembler.attributes.get("version", "?") if assembler and not solved else ""
    return BurrProblem(puzzle, tuple(numbers), result, assemblies, saved, interrupted)


def _piece(element: Element, shape: CellShape) -> Piece:
    low = high = _number(element, "count", 1)
    if "count" not in element.attributes and {"min", "max"} <= element.attributes.keys():
        low, high = _number(element, "min"), _number(element, "max")
    if low > high:
        raise _wrong(element, f"a piece has {low} to {high} copies")
    group = _number(element, "group")
    groups = [(group, high)] if group else []
    groups += [(_number(each, "group", None), _number(each, "count", None)) for each in element.all("group")]
    return Piece(shape, low, high, tuple(groups))


def _assembly(element: Element, number: int, grid: CellGrid, copies: int) -> tuple[Place | None, ...]:
    """A saved solution: four numbers for a copy that is placed, x for one that is not."""
    places: list[Place | None] = []
    words = element.text.split()
    position = 0
    while position < len(words):
        if words[position] == "x":
            places.append(None)
            position += 1
            continue
        four = words[position : position + 4]
        if len(four) < 4 or not all(re.fullmatch(r"-?\d{1,7}", word) for word in four):
            raise _wrong(element, f"problem {number}: a saved solution is damaged")
        x, y, z, turn = map(int, four)
        if not 0 <= turn < grid.rotations:
            raise _wrong(element, f"problem {number}: a saved solution has a turn {turn}")
        places.append((x, y, z, turn))
        position += 4
    if len(places) != copies:
        message = f"problem {number}: a saved solution places {len(places)} pieces, not {copies}"
        raise _wrong(element, message)
    return tuple(places)
