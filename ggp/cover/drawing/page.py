"""Solutions as one HTML file: the pieces in space, which turn, come apart, and need no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

import orjson

from ggp.cover.drawing.packed import Packed, PlacedPiece, colour
from ggp.cover.drawing.solids import SHAPES, Point, edges, surface

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
    files = resources.files("ggp.cover.drawing") / "page"
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
