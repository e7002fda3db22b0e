"""Sliding tiles of any size, without a step counter: how many states they have is known."""

from __future__ import annotations

from collections.abc import Sequence

_RULES = """
    (role player)
    (<= (legal player (slide ?t)) (slides ?t ?x1 ?y1 ?x2 ?y2))
    (<= (slides ?t ?x1 ?y1 ?x2 ?y2)
        (true (cell ?x1 ?y1 ?t)) (adjacent ?x1 ?y1 ?x2 ?y2) (empty ?x2 ?y2))
    (<= (next (cell ?x ?y ?t)) (does player (slide ?t)) (empty ?x ?y))
    (<= (next (cell ?x ?y ?t)) (true (cell ?x ?y ?t)) (not (does player (slide ?t))))
    (<= (filled ?x ?y) (true (cell ?x ?y ?t)))
    (<= (empty ?x ?y) (square ?x ?y) (not (filled ?x ?y)))
    (<= (adjacent ?x ?y1 ?x ?y2) (next_row ?y1 ?y2) (column ?x))
    (<= (adjacent ?x ?y2 ?x ?y1) (next_row ?y1 ?y2) (column ?x))
    (<= (adjacent ?x1 ?y ?x2 ?y) (next_column ?x1 ?x2) (row ?y))
    (<= (adjacent ?x2 ?y ?x1 ?y) (next_column ?x1 ?x2) (row ?y))
    (<= (square ?x ?y) (column ?x) (row ?y))
    (<= (base (cell ?x ?y ?t)) (square ?x ?y) (tile ?t))
    (<= (input player (slide ?t)) (tile ?t))
    (<= terminal in_order)
    (<= (goal player 100) in_order)
    (<= (goal player 0) (not in_order))
    (<= in_order (not misplaced))
    (<= misplaced (home ?x ?y ?t) (not (true (cell ?x ?y ?t))))"""


def tiles(columns: int, rows: int, goal: Sequence[int] | None = None) -> str:
    """The rules. At the start the tiles are in order, and the last square is empty.

    ``goal`` has the tiles row by row, 0 for the empty square; without it no state is the goal, and there is
    no end.
    """
    squares = [(x, y) for y in range(1, rows + 1) for x in range(1, columns + 1)]
    lines = [_RULES]
    lines += [f"(tile {tile})" for tile in range(1, len(squares))]
    lines += [f"(init (cell {x} {y} {tile}))" for tile, (x, y) in enumerate(squares[:-1], 1)]
    lines += [f"(column {x})" for x in range(1, columns + 1)] + [f"(row {y})" for y in range(1, rows + 1)]
    lines += [f"(next_column {x} {x + 1})" for x in range(1, columns)]
    lines += [f"(next_row {y} {y + 1})" for y in range(1, rows)]
    if goal is None:
        # Tile 1 is to be in two squares.
        lines += ["(home 1 1 1)", "(home 2 1 1)"]
    else:
        lines += [f"(home {x} {y} {tile})" for tile, (x, y) in zip(goal, squares, strict=True) if tile]
    return "\n".join(lines)
