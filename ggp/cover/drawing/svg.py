"""A solution as SVG: its layers side by side, each piece in its colour with a line around it."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

from ggp.cover.drawing.packed import Packed, css
from ggp.cover.drawing.solids import SHAPES, Solid

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
