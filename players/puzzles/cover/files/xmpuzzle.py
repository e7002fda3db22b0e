"""BurrTools' puzzle files (.xmpuzzle): read, and written with solutions, so that its program can show them.

Shapes are strings of marks, x running fastest, then y, then z: `#` must be filled, `+` may be filled, `_` is
outside; a number after a mark is a colour, 0 for none. A problem says how many copies of each shape fill
which other shape, and which colours of pieces and result may meet. A solution has a place for each copy of
each piece. Solutions that are saved in a file are not read.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from gdl.errors import GdlError, or_error, sound
from gdl.reading import read_limited
from gdl.visible import visible
from players.puzzles.cover.files.xml_tree import MOST_BYTES, Element, parsed
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids import GRIDS, CellGrid
from players.puzzles.cover.packing.puzzle import MOST_CELLS, CellShape, PackingPuzzle, Piece
from players.puzzles.cover.problem import CoverError

_MOST_VOXELS = 1 << 21
"""Most voxels of all shapes of a file together, by the sizes that they state."""
_MOST_COLOUR = 63
_MARK = re.compile(r"\s*(?:(_+)(?!\d)|([#+_])(\d*))")
_REMEDY = "it should be a file as BurrTools writes it"
_LEFT_OUT = frozenset({"solutions"})
_SOLVED, _SOME = 2, 3
Place = tuple[int, int, int, int]
"""Where the hotspot of a piece lies in the box of the result, and the number of the isometry that turned
it."""
# fmt: off
_SPHERES = (
    0, 6, 16, 7, 10, 4, 20, 5, 17, 3, 11, 19, 21, 9, 1, 23, 12, 2, 15, 18, 14, 8, 13, 22, 84, 95, 78,
    116, 63, 81, 65, 79, 74, 112, 80, 91, 69, 75, 59, 85, 110, 83, 106, 87, 101, 73, 97, 77, 31, 40, 42,
    103, 68, 29, 113, 72, 114, 30, 71, 28, 70, 100, 41, 115, 43, 102, 53, 33, 90, 62, 108, 55, 32, 35,
    88, 52, 111, 54, 109, 61, 89, 34, 82, 60, 39, 48, 37, 104, 94, 86, 58, 50, 49, 57, 93, 92, 107, 38,
    51, 56, 36, 105, 46, 99, 27, 44, 118, 26, 67, 64, 25, 117, 76, 119, 47, 98, 24, 66, 96, 45,
)
# fmt: on
"""For each rotation of spheres in a file, ours; of other grids the numbers are the same."""


@dataclass(frozen=True, eq=False, slots=True)
class _BurrShape:
    """A shape of a file.

    Attributes:
        shape: its cells.
        size: of the box it was drawn in.
        hotspot: the point by which places are given; it turns with the shape.
    """

    shape: CellShape
    size: tuple[int, int, int]
    hotspot: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, eq=False, slots=True)
class _BurrProblem:
    """A problem of a file.

    Attributes:
        puzzle: pieces, result and rules.
        shapes: the number of the shape of each piece.
        result: the number of the result's shape.
        interrupted: the version of BurrTools whose interrupted search the file holds, "" for none.
    """

    puzzle: PackingPuzzle
    shapes: tuple[int, ...]
    result: int
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
    """A file: its shapes, its problems, and the author's comments. An error replaces a shape or a problem
    that cannot be read."""

    shapes: tuple[_BurrShape | GdlError, ...]
    problems: tuple[_BurrProblem | GdlError, ...]
    comment: str = ""
    colours: tuple[tuple[int, int, int], ...] = ()

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


def read_xmpuzzle(path: Path | str) -> BurrFile:
    """The puzzles of a file. Raises FileError if it cannot be read, CoverError if it is not a puzzle file."""
    return xmpuzzle(read_limited(path, MOST_BYTES, "look at its name"))


def xmpuzzle(data: bytes) -> BurrFile:
    """The puzzles in the bytes of a file, compressed or not. Raises CoverError if it is not a puzzle file."""
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
        or_error(partial(_problem, element, number, grid, shapes))
        for number, element in enumerate(_inside(root, "problems", "problem"), 1)
    )
    comment = root.child("comment")
    return BurrFile(shapes, problems, comment.text if comment else "", colours)  # type: ignore[arg-type]


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


def _shapes(elements: list[Element]) -> tuple[_BurrShape | GdlError, ...]:
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


def _shape(element: Element, number: int) -> _BurrShape:
    x, y, z = size = _size(element)
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
    hotspot = tuple(_number(element, each) for each in ("hx", "hy", "hz"))
    return _BurrShape(CellShape.at(cells, fixed, colours, _name(number, element)), size, hotspot)  # type: ignore[arg-type]


def _shape_number(element: Element, shapes: tuple[_BurrShape | GdlError, ...]) -> int:
    number = _number(element, "id", None)
    if number >= len(shapes):
        remedy = f"the ids go from 0 to {len(shapes) - 1}" if shapes else "the file has no shapes"
        raise _wrong(element, f"a problem names the shape with id {number}, which the file has not", remedy)
    return number


def _problem(
    element: Element, number: int, grid: CellGrid, shapes: tuple[_BurrShape | GdlError, ...]
) -> _BurrProblem:
    pieces, numbers = [], []
    for each in _inside(element, "shapes", "shape"):
        numbers.append(_shape_number(each, shapes))
        pieces.append(_piece(each, sound(shapes[numbers[-1]]).shape))
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
    puzzle = PackingPuzzle(grid, tuple(pieces), sound(shapes[result]).shape, allowed, holes, name)
    solved = _number(element, "state") == _SOLVED
    assembler = element.child("assembler")
    interrupted = assembler.attributes.get("version", "?") if assembler and not solved else ""
    return _BurrProblem(puzzle, tuple(numbers), result, interrupted)


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


def burr_file(puzzle: PackingPuzzle) -> BurrFile:
    """A file with this puzzle alone. Raises CoverError if a cell has a coordinate below 0."""
    shapes = []
    for shape in [*(piece.shape for piece in puzzle.pieces), puzzle.result]:
        if shape.cells.min() < 0 or shape.colours.max() > _MOST_COLOUR:
            raise CoverError(
                f"{shape.name or 'a shape'} cannot be written", remedy="coordinates from 0 on, colours to 63"
            )
        x, y, z = (shape.cells.max(axis=0) + 1).tolist()
        if x * y * z > _MOST_VOXELS:
            raise CoverError(f"{shape.name or 'a shape'} is too large", remedy="move it to 0, 0, 0")
        shapes.append(_BurrShape(shape, (x, y, z)))
    pieces = len(puzzle.pieces)
    return BurrFile(tuple(shapes), (_BurrProblem(puzzle, tuple(range(pieces)), pieces),))


def places(file: BurrFile, number: int, packing: Packing, solution: Sequence[int]) -> list[Place | None]:
    """The places of a solution as written to a file: for each piece its copies, those not placed (None) last.

    Args:
        file: the file; `number` selects one of its problems.
        packing: the packing of that problem's puzzle.
        solution: options of the packing.
    """
    problem = file.problem(number)
    grid, room = problem.puzzle.grid, problem.puzzle.result.cells
    found: list[Place | None] = []
    for kind, (piece, number_of_shape) in enumerate(zip(problem.puzzle.pieces, problem.shapes, strict=True)):
        shape = sound(file.shapes[number_of_shape])
        points = np.concatenate([shape.shape.cells, [shape.hotspot]])
        own = [option for option in sorted(solution) if packing.pieces[option] == kind]
        for option in own:
            way = int(packing.ways[option])
            turned = grid.turned(points, way)
            assert turned is not None
            lowest = turned[np.lexsort(turned[:-1].T[::-1])[0]]
            x, y, z = (turned[-1] + room[packing.cells(option)[0]] - lowest).tolist()
            found.append((x, y, z, _turn(grid, way)))
        found += [None] * (piece.maximum - len(own))
    return found


def _turn(grid: CellGrid, way: int) -> int:
    """A file's number of an isometry; a reflection's is that of the rotation after it, plus all rotations."""
    if grid.name != "spheres":
        return way
    mirrored, rotation = divmod(way, len(_SPHERES))
    return mirrored * len(_SPHERES) + _SPHERES.index(rotation)


def written_xmpuzzle(
    file: BurrFile,
    solutions: Mapping[int, Sequence[Sequence[Place | None]]],
    *,
    complete: bool = True,
) -> bytes:
    """The bytes of a file with these solutions instead of its own.

    Args:
        file: its shapes and problems.
        solutions: by the number of the problem, from 1: their :func:`places`.
        complete: whether these are all solutions.

    Raises GdlError if a shape or problem of the file cannot be read.
    """
    problems = list(map(sound, file.problems))
    grid = problems[0].puzzle.grid if problems else GRIDS[0]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<puzzle version="2">']
    lines += [f'<gridType type="{GRIDS.index(grid)}"/>', "<colors>"]
    lines += [f'<color red="{r}" green="{g}" blue="{b}"/>' for r, g, b in file.colours]
    lines += ["</colors>", "<shapes>", *map(_voxel, map(sound, file.shapes)), "</shapes>", "<problems>"]
    for number, problem in enumerate(problems, 1):
        lines += _problem_lines(problem, solutions.get(number), complete)
    lines += ["</problems>", f'<comment popup="">{escape(_plain(file.comment))}</comment>', "</puzzle>", ""]
    return gzip.compress("\n".join(lines).encode(), mtime=0)


def _plain(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return "".join(c for c in text if c >= " " or c in "\t\n")


def _voxel(shape: _BurrShape) -> str:
    x, y, z = shape.size
    marks = ["_"] * (x * y * z)
    drawn = zip(shape.shape.cells.tolist(), shape.shape.fixed, shape.shape.colours.tolist(), strict=True)
    for (cx, cy, cz), fixed, colour in drawn:
        marks[cx + x * (cy + y * cz)] = ("#" if fixed else "+") + (str(colour) if colour else "")
    hotspot = "".join(f' h{axis}="{at}"' for axis, at in zip("xyz", shape.hotspot, strict=True) if at)
    name = f" name={quoteattr(_plain(shape.shape.name))}" if shape.shape.name else ""
    return f'<voxel x="{x}" y="{y}" z="{z}"{hotspot}{name} type="0">{"".join(marks)}</voxel>'


def _problem_lines(
    problem: _BurrProblem, solutions: Sequence[Sequence[Place | None]] | None, complete: bool
) -> list[str]:
    puzzle = problem.puzzle
    state = 'state="0"'
    if solutions is not None:
        state = f'state="{_SOLVED if complete else _SOME}" assemblies="{len(solutions)}" time="0"'
    name = f"name={quoteattr(_plain(puzzle.name))} " if puzzle.name else ""
    holes = f' maxHoles="{puzzle.holes}"' if puzzle.holes is not None else ""
    lines = [f"<problem {name}{state}{holes}>", "<shapes>"]
    for number, piece in zip(problem.shapes, puzzle.pieces, strict=True):
        bounds = f'min="{piece.minimum}" max="{piece.maximum}"'
        if piece.minimum == piece.maximum:
            bounds = f'count="{piece.minimum}"'
        lines.append(f'<shape id="{number}" {bounds}>')
        lines += [f'<group group="{group}" count="{count}"/>' for group, count in piece.groups]
        lines.append("</shape>")
    lines += ["</shapes>", f'<result id="{problem.result}"/>', "<bitmap>"]
    lines += [f'<pair piece="{ours - 1}" result="{theirs - 1}"/>' for ours, theirs in sorted(puzzle.allowed)]
    lines.append("</bitmap>")
    if solutions:
        lines.append("<solutions>")
        for number, solution in enumerate(solutions):
            words = " ".join("x" if place is None else " ".join(map(str, place)) for place in solution)
            lines.append(f'<solution asmNum="{number}"><assembly>{words}</assembly></solution>')
        lines.append("</solutions>")
    lines.append("</problem>")
    return lines
