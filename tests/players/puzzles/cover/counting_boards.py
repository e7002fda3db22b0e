"""Boards whose covers are known in number."""

from __future__ import annotations

from players.puzzles.cover.problem import CoverProblem


def dominoes(rows: int, columns: int) -> CoverProblem:
    """A board to be covered with dominoes."""
    cells = [(y, x) for y in range(rows) for x in range(columns)]
    options = [
        (f"{y},{x}", f"{y + down},{x + right}")
        for y, x in cells
        for down, right in ((0, 1), (1, 0))
        if y + down < rows and x + right < columns
    ]
    return CoverProblem.of([f"{y},{x}" for y, x in cells], options)


def queens(size: int) -> CoverProblem:
    """Queens that do not attack each other, one in each row and column."""
    options = [(f"r{y}", f"c{x}", f"a{y + x}", f"b{y - x}") for y in range(size) for x in range(size)]
    lines = [f"{line}{k}" for line in "rc" for k in range(size)]
    diagonals = [f"a{k}" for k in range(2 * size - 1)] + [f"b{k}" for k in range(1 - size, size)]
    return CoverProblem.of(lines, options, secondary=diagonals)
