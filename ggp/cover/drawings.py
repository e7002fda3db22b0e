"""Solutions drawn: layers side by side as SVG, and an HTML page with the pieces in space.

The pieces on the page turn and come apart; it needs no network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

import orjson

from ggp.cover.packed import Packed, PlacedPiece, colour, css
from ggp.cover.solids import SHAPES, Point, Solid, edges, surface

SCALE = 28
"""Pixels for one cell."""
_GAP = 1.0


def svg(packed: Packed) -> str:
    """The layers (z) from left to right. Raises KeyError for a grid without shapes."""
    shape = SHAPES[packed.grid]
    owners = packed.owners()
    letters = packed.letters()
    parts: list[str] = []
    left, height = 0.0, 0.0
    solids = {cell: shape(cell) for cell in owners}
    low = [min(point[axis] for solid in solids.values() for point in solid.corners) for axis in range(2)]
    high = [max(point[axis] for solid in solids.values() for point in solid.corners) for axis in range(2)]
    for z in sorted({cell[2] for cell in owners}):
        lines: dict[frozenset[tuple[int, int]], tuple[list[int], str]] = {}
        for cell, owner in owners.items():
            if cell[2] != z:
                continue
            fill = css(packed.pieces[owner].kind)
            points = [(left + x - low[0], y - low[1]) for x, y in _outline(solids[cell])]
            middle = (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))
            if solids[cell].ball:
                parts.append(
                    f'<circle cx="{_px(middle[0])}" cy="{_px(middle[1])}" r="{_px(solids[cell].ball)}" '
                    f'fill="{fill}" stroke="#222"/>'
                )
            else:
                corners = " ".join(f"{_px(x)},{_px(y)}" for x, y in points)
                parts.append(f'<polygon points="{corners}" fill="{fill}"/>')
                for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1], strict=True):
                    key = frozenset((round(x * 1024), round(y * 1024)) for x, y in ((ax, ay), (bx, by)))
                    drawn = f"M{_px(ax)} {_px(ay)}L{_px(bx)} {_px(by)}"
                    lines.setdefault(key, ([], drawn))[0].append(owner)
            parts.append(f'<text x="{_px(middle[0])}" y="{_px(middle[1])}">{escape(letters[owner])}</text>')
        border = "".join(drawn for owned, drawn in lines.values() if len(owned) == 1 or owned[0] != owned[1])
        if border:
            parts.append(f'<path d="{border}"/>')
        left += high[0] - low[0] + _GAP
        height = high[1] - low[1]
    width = left - _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 {_px(width + 0.3)} {_px(height + 0.3)}" '
        f'width="{_px(width + 0.3)}" role="img" aria-label="{len(packed.pieces)} pieces in their places">'
        "<style>text{font:11px sans-serif;text-anchor:middle;dominant-baseline:central}"
        "path{fill:none;stroke:#222;stroke-width:2.5;stroke-linecap:round}</style>"
        + "".join(parts)
        + "</svg>\n"
    )


def _outline(solid: Solid) -> list[tuple[float, float]]:
    """The corners of the cell as seen from above, around its middle."""
    flat = sorted({(round(x, 6), round(y, 6)) for x, y, _ in solid.corners})
    middle = (sum(x for x, _ in flat) / len(flat), sum(y for _, y in flat) / len(flat))
    return sorted(flat, key=lambda point: math.atan2(point[1] - middle[1], point[0] - middle[0]))


def _px(value: float) -> str:
    return f"{value * SCALE:.1f}".rstrip("0").rstrip(".")


_FAR = 3
"""A part that is free is drawn so many sizes of the assembly away."""


def page(title: str, solutions: Sequence[Packed]) -> str:
    """The page. Raises KeyError for a grid without shapes, ValueError for no solutions."""
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
    # "<" inside JSON only stands in strings, and there \u003c means the same: no tag can begin.
    parts = {
        "@TITLE@": escape(title),
        "@LIBRARY@": (files / "ogl.min.js").read_text("utf-8"),
        "@DATA@": orjson.dumps(data).decode().replace("<", "\\u003c"),
        "@SCRIPT@": (files / "page.js").read_text("utf-8"),
    }
    text = (files / "page.html").read_text("utf-8")
    pieces = []
    while text:
        at = {text.find(mark): mark for mark in parts if mark in text}
        if not at:
            pieces.append(text)
            break
        first = min(at)
        pieces += [text[:first], parts[at[first]]]
        text = text[first + len(at[first]) :]
    return "".join(pieces)


def _solution(packed: Packed, size: float) -> dict[str, Any]:
    frames, told = _frames(packed, size)
    return {"pieces": [_piece(packed.grid, piece) for piece in packed.pieces], "frames": frames, "told": told}


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
    """Where each piece has moved to after each move of the disassembly, and what the move is."""
    places = [[0.0, 0.0, 0.0] for _ in packed.pieces]
    frames, told = [[list(place) for place in places]], [""]
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
                told.append(f"{len(told)}: {names} {'out' if step.out else ''}".rstrip())
    return frames, told
