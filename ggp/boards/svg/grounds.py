"""Draws the lines of a board on whose crossings stones lie, with the star points of boards of Go."""

from __future__ import annotations

from ggp.boards.svg.layout import UNIT, BoardLayout, SpotKind
from ggp.boards.svg.markup import box, circle, element

_FROM_SIDE = {9: 2, 11: 3, 13: 3, 15: 3, 17: 3, 19: 3}
"""Lines between a side and the star points next to it, by the number of lines."""


def draw_lines(layout: BoardLayout) -> str:
    """The ground, its lines and star points; empty for boards without such crossings. Sides of 19 lines have
    a star in the middle too."""
    spots = [spot for spot in layout.spots.values() if spot.kind is SpotKind.CROSSING]
    xs, ys = sorted({spot.x for spot in spots}), sorted({spot.y for spot in spots})
    if not spots:
        return ""
    wide, high = xs[-1] - xs[0] + UNIT, ys[-1] - ys[0] + UNIT
    path = [f"M{x:g} {ys[0]:g}V{ys[-1]:g}" for x in xs] + [f"M{xs[0]:g} {y:g}H{xs[-1]:g}" for y in ys]
    drawn = [box("gb-cell", (xs[0] + xs[-1]) / 2, (ys[0] + ys[-1]) / 2, wide, high)]
    drawn.append(element("path", cls="gb-lines", d="".join(path)))
    if len(xs) == len(ys) in _FROM_SIDE:
        n, first = len(xs), _FROM_SIDE[len(xs)]
        sides = (first, n // 2, n - 1 - first)
        stars = [(i, j) for i in sides for j in sides if n == 19 or (i == n // 2) == (j == n // 2)]
        drawn += [circle("gb-star", xs[i], ys[j], 3.5) for i, j in stars]
    return "".join(drawn)
