"""Drawings of solutions: layers side by side as SVG, and an HTML page with the pieces in space; the shape of
a cell in each kind of grid, its corners and faces in space and its outline in a layer.

The pieces on the page turn and come apart; the page needs no network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

import orjson

from ggp.boards.svg.markup import element, number, points, text_of
from ggp.cover.packed import Cell, Packed, PlacedPiece, colour, css

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Solid:
    """A convex cell.

    Attributes:
        corners: its points in space.
        faces: for each face the numbers of its corners, counter-clockwise as seen from outside.
        ball: if not 0, a ball of this radius around the middle of the corners is drawn instead.
    """

    corners: tuple[Point, ...]
    faces: tuple[tuple[int, ...], ...]
    ball: float = 0.0

    def middle(self) -> Point:
        """The mean of the corners."""
        x, y, z = (sum(axis) / len(self.corners) for axis in zip(*self.corners, strict=True))
        return x, y, z


_BOX = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def cube(cell: Cell) -> Solid:
    """A unit cube with its lowest corner at the cell."""
    x, y, z = cell
    corners = tuple((x + i, y + j, z + k) for k in (0.0, 1.0) for j in (0.0, 1.0) for i in (0.0, 1.0))
    return Solid(corners, _BOX)


def prism(cell: Cell) -> Solid:
    """An upright prism over a triangle of side 1: even x + y points along y, odd against it."""
    x, y, z = cell
    high = math.sqrt(0.75)
    flat, tip = (y, y + 1) if (x + y) % 2 == 0 else (y + 1, y)
    base = [(x / 2, flat * high), (x / 2 + 1, flat * high), (x / 2 + 0.5, tip * high)]
    if (x + y) % 2:
        base[0], base[1] = base[1], base[0]
    corners = tuple((i, j, float(z + k)) for k in (0, 1) for i, j in base)
    return Solid(corners, ((2, 1, 0), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)))


def _sphere(cell: Cell) -> Solid:
    """A ball that touches its twelve neighbours, which are a diagonal of two axes away."""
    box = cube(cell)
    return Solid(box.corners, box.faces, math.sqrt(0.5))


def rhombic(cell: Cell) -> Solid:
    """One of the 24 tetrahedra that the planes of its diagonals cut a cube into: from the cube's middle to
    one edge of one face. A cube is 5 x 5 x 5 triples."""
    place = [axis % 5 - 2 for axis in cell]
    middle: Point = (cell[0] // 5 + 0.5, cell[1] // 5 + 0.5, cell[2] // 5 + 0.5)
    face, edge, along = (next(i for i in range(3) if abs(place[i]) == size) for size in (2, 1, 0))
    outward = [0.0, 0.0, 0.0]
    outward[face] = place[face] / 4
    points = [middle, _plus(middle, outward)]
    for end in (-0.5, 0.5):
        step = list(outward)
        step[edge], step[along] = place[edge] / 2, end
        points.append(_plus(middle, step))
    return _tetrahedron(points)


def _tetra_octahedral(cell: Cell) -> Solid:
    """The tetrahedron inside a cube, or one of the four corners that it leaves: an eighth of an octahedron.
    A cube is 3 x 3 x 3 triples."""
    cube = [axis // 3 for axis in cell]
    place = [axis % 3 for axis in cell]
    low: Point = (float(cube[0]), float(cube[1]), float(cube[2]))
    ends = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    if place == [1, 1, 1]:
        return _tetrahedron([_plus(low, end) for end in ends if (sum(end) + sum(cube)) % 2 == 0])
    tip = tuple(axis // 2 for axis in place)
    near = [end for end in ends if sum(abs(p - q) for p, q in zip(end, tip, strict=True)) <= 1]
    return _tetrahedron([_plus(low, end) for end in near])


def _plus(point: Sequence[float], step: Sequence[float]) -> Point:
    return point[0] + step[0], point[1] + step[1], point[2] + step[2]


def _tetrahedron(points: list[Point]) -> Solid:
    """The tetrahedron of these points, with its faces turned outwards."""
    a, b, c, d = points
    x, y, z = _normal((a, b, c))
    if x * (d[0] - a[0]) + y * (d[1] - a[1]) + z * (d[2] - a[2]) > 0:
        a, b = b, a
    return Solid((a, b, c, d), ((0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)))


SHAPES: dict[str, Callable[[Cell], Solid]] = {
    "cubes": cube,
    "prisms": prism,
    "spheres": _sphere,
    "rhombic": rhombic,
    "tetra-octahedra": _tetra_octahedral,
}
"""The shape of a cell, by the name of the grid."""


def surface(solids: Iterable[Solid]) -> list[tuple[Point, ...]]:
    """The visible faces of a piece: those that no two of its cells share."""
    faces: dict[frozenset[tuple[int, int, int]], tuple[Point, ...]] = {}
    for solid in solids:
        for face in solid.faces:
            corners = tuple(solid.corners[number] for number in face)
            key = frozenset((round(x * 1024), round(y * 1024), round(z * 1024)) for x, y, z in corners)
            if key in faces:
                del faces[key]
            else:
                faces[key] = corners
    return list(faces.values())


def edges(faces: Iterable[tuple[Point, ...]]) -> list[tuple[Point, Point]]:
    """The lines in which two faces of a surface meet at an angle; flat parts have no lines."""
    seen: dict[frozenset[tuple[int, int, int]], tuple[tuple[Point, Point], list[Point]]] = {}
    for face in faces:
        normal = _normal(face)
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            key = frozenset((round(x * 1024), round(y * 1024), round(z * 1024)) for x, y, z in (a, b))
            seen.setdefault(key, ((a, b), []))[1].append(normal)
    return [
        line
        for line, normals in seen.values()
        if len(normals) != 2 or sum(p * q for p, q in zip(*normals, strict=True)) < 0.999
    ]


def _normal(face: tuple[Point, ...]) -> Point:
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = face[:3]
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


SCALE = 28
"""Pixels for one cell."""
_GAP = 1.0


def svg(packed: Packed) -> str:
    """The SVG file with the layers (z) from left to right. Raises KeyError for a grid without shapes."""
    owners = packed.owners()
    letters = packed.letters()
    parts: list[str] = []
    solids = {cell: SHAPES[packed.grid](cell) for cell in owners}
    corners = [point for solid in solids.values() for point in solid.corners]
    low, high = ([limit(point[axis] for point in corners) for axis in (0, 1)] for limit in (min, max))
    left = 0.0
    for z in sorted({cell[2] for cell in owners}):
        sides: dict[frozenset[tuple[int, int]], tuple[list[int], str]] = {}
        for cell, owner in owners.items():
            if cell[2] != z:
                continue
            fill = css(packed.pieces[owner].kind)
            outline = [(left + x - low[0], y - low[1]) for x, y in _outline(solids[cell])]
            x, y = (_px(sum(axis) / len(outline)) for axis in zip(*outline, strict=True))
            if solids[cell].ball:
                parts.append(
                    element("circle", cx=x, cy=y, r=_px(solids[cell].ball), fill=fill, stroke="#222")
                )
            else:
                parts.append(
                    element("polygon", points=points((_px(x), _px(y)) for x, y in outline), fill=fill)
                )
                for side in zip(outline, outline[1:] + outline[:1], strict=True):
                    key = frozenset((round(x * 1024), round(y * 1024)) for x, y in side)
                    drawn = "M" + "L".join(f"{number(_px(x))} {number(_px(y))}" for x, y in side)
                    sides.setdefault(key, ([], drawn))[0].append(owner)
            parts.append(element("text", text_of(letters[owner]), x=x, y=y))
        border = "".join(drawn for owned, drawn in sides.values() if len(owned) == 1 or owned[0] != owned[1])
        if border:
            parts.append(element("path", d=border))
        left += high[0] - low[0] + _GAP
    width, height = _px(left - _GAP + 0.3), _px(high[1] - low[1] + 0.3)
    style = (
        "<style>text{font:11px sans-serif;text-anchor:middle;dominant-baseline:central}"
        "path{fill:none;stroke:#222;stroke-width:2.5;stroke-linecap:round}</style>"
    )
    drawing = element(
        "svg",
        style,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"-4 -4 {number(width)} {number(height)}",
        width=width,
        role="img",
        aria_label=f"{len(packed.pieces)} pieces in their places",
    )
    return drawing + "\n"


def _outline(solid: Solid) -> list[tuple[float, float]]:
    """The corners of the cell as seen from above, around its middle."""
    flat = sorted({(round(x, 6), round(y, 6)) for x, y, _ in solid.corners})
    middle = (sum(x for x, _ in flat) / len(flat), sum(y for _, y in flat) / len(flat))
    return sorted(flat, key=lambda point: math.atan2(point[1] - middle[1], point[0] - middle[0]))


def _px(value: float) -> float:
    return round(value * SCALE, 1)


_FAR = 3
"""Distance at which a free part is drawn, in sizes of the assembly."""


def page(title: str, solutions: Sequence[Packed]) -> str:
    """The HTML page with the solutions. Raises KeyError for a grid without shapes, ValueError for no
    solutions."""
    if not solutions:
        raise ValueError("a page needs a solution")
    corners = [
        point
        for piece in solutions[0].pieces
        for cell in piece.cells
        for point in SHAPES[solutions[0].grid](cell).corners
    ]
    low = [min(axis) for axis in zip(*corners, strict=True)]
    high = [max(axis) for axis in zip(*corners, strict=True)]
    size = max(b - a for a, b in zip(low, high, strict=True))
    data = {
        "middle": [(a + b) / 2 for a, b in zip(low, high, strict=True)],
        "size": size,
        "solutions": [_solution(packed, size) for packed in solutions],
    }
    files = resources.files("ggp.cover") / "page"
    # In JSON "<" occurs only in strings, where \u003c means the same: no tag can begin.
    parts = {
        "@TITLE@": escape(title),
        "@LIBRARY@": (files / "ogl.min.js").read_text(encoding="utf-8"),
        "@DATA@": orjson.dumps(data).decode().replace("<", "\\u003c"),
        "@SCRIPT@": (files / "page.js").read_text(encoding="utf-8"),
    }
    text = (files / "page.html").read_text(encoding="utf-8")
    # All at once: a mark inside a part is not replaced.
    return re.sub("|".join(parts), lambda mark: parts[mark[0]], text)


def _solution(packed: Packed, size: float) -> dict[str, Any]:
    frames, captions = _frames(packed, size)
    return {
        "pieces": [_piece(packed.grid, piece) for piece in packed.pieces],
        "frames": frames,
        "told": captions,
    }


def _piece(grid: str, piece: PlacedPiece) -> dict[str, Any]:
    solids = [SHAPES[grid](cell) for cell in piece.cells]
    balls = [(*solid.middle(), solid.ball) for solid in solids if solid.ball]
    faces: list[tuple[Point, ...]] = [] if balls else surface(solids)
    middles = [solid.middle() for solid in solids]
    return {
        "name": piece.name,
        "colour": colour(piece.kind),
        "faces": faces,
        "edges": edges(faces),
        "balls": balls,
        "middle": [sum(axis) / len(middles) for axis in zip(*middles, strict=True)],
    }


def _frames(packed: Packed, size: float) -> tuple[list[list[list[float]]], list[str]]:
    """The places of all pieces after each move of the disassembly, and each move in words."""
    places = [[0.0, 0.0, 0.0] for _ in packed.pieces]
    frames, captions = [[list(place) for place in places]], [""]
    if packed.apart is not None:
        for part in packed.apart.separations():
            for step in part.steps:
                far = 1.0
                if step.out:
                    far = _FAR * size / max(1, max(map(abs, step.way)))
                for number in step.pieces:
                    for axis in range(3):
                        places[number][axis] += step.way[axis] * far
                frames.append([list(place) for place in places])
                names = ", ".join(packed.pieces[number].name for number in step.pieces)
                captions.append(f"{len(captions)}: {names} {'out' if step.out else ''}".rstrip())
    return frames, captions
