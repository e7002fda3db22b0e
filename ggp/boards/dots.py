"""Boards of dots that lines join, such as that of dots and boxes: the lines, and their drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gdl.terms import Term
from ggp.boards.coordinates import CoordinateOrder
from ggp.boards.layers import Layer, Square

Span = tuple[str, str]
"""Text and a rich style."""
_DRAWN = "bold"
_NEW = "bold yellow"


def line_layer(
    terms: set[Term], order: CoordinateOrder
) -> tuple[Layer, tuple[Term, ...], tuple[Term, ...]] | None:
    """The layer of a functor whose four arguments are two neighbouring dots, with the columns and rows of the
    dots in order: where a line begins is its square, where it ends its panel. None for other functors."""
    name, arity = next(iter(terms)).signature
    if arity != 4 or any(arg.args for term in terms for arg in term.args):
        return None
    across = {term.args[i] for term in terms for i in (0, 2)}
    up = {term.args[i] for term in terms for i in (1, 3)}
    if min(len(across), len(up)) < 2 or not (order.sure(across) and order.sure(up)):
        return None
    columns, rows = order.sort(across), order.sort(up)
    x_place = {x: i for i, x in enumerate(columns)}
    y_place = {y: j for j, y in enumerate(rows)}
    steps = {
        (abs(x_place[x1] - x_place[x2]), abs(y_place[y1] - y_place[y2]))
        for x1, y1, x2, y2 in (term.args for term in terms)
    }
    return (Layer(name, 4, 0, 1, (2, 3)), columns, rows) if steps == {(1, 0), (0, 1)} else None


def draw_dots(
    columns: Sequence[tuple[Term, str]],
    rows: Sequence[tuple[Term, str]],
    boxes: Mapping[Square, Sequence[Span]],
    lines: Mapping[Square, bool],
) -> list[list[Span]]:
    """Dots with the lines between them.

    Args:
        columns, rows: coordinates of the dots, and their names.
        boxes: what stands in the boxes, by the dot at their lower left.
        lines: the lines that are drawn, and whether they are new: new ones are made of ``#``.
    """
    margin = max(len(name) for _, name in rows)
    wide = max([3, *(2 + _length(signs) for signs in boxes.values()), *(len(name) for _, name in columns)])

    def joined(a: tuple[Term, Term], b: tuple[Term, Term], sign: str, length: int) -> Span:
        for (x1, y1), (x2, y2) in ((a, b), (b, a)):
            new = lines.get(((x2, y2), x1, y1))
            if new is not None:
                return ("#" if new else sign) * length, _NEW if new else _DRAWN
        return " " * length, ""

    drawn: list[list[Span]] = []
    for j in reversed(range(len(rows))):
        y, name = rows[j]
        line: list[Span] = [(f"{name:>{margin}}  ", "dim")]
        for i, (x, _) in enumerate(columns):
            line.append(("+", "dim"))
            if i + 1 < len(columns):
                line.append(joined((x, y), (columns[i + 1][0], y), "-", wide))
        drawn.append(line)
        if not j:
            break
        below = rows[j - 1][0]
        line = [(" " * (margin + 2), "")]
        for x, _ in columns:
            line.append(joined((x, below), (x, y), "|", 1))
            signs = boxes.get(((), x, below), ())
            space = wide - _length(signs)
            line += [(" " * (space // 2), ""), *signs, (" " * (space - space // 2), "")]
        drawn.append(line)
    axis = "".join(f"{name:<{wide + 1}}" for _, name in columns)
    drawn.append([(" " * (margin + 2) + axis.rstrip(), "dim")])
    return drawn


def _length(signs: Sequence[Span]) -> int:
    return sum(len(text) for text, _ in signs)
