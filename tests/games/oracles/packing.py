"""A second opinion on a packing puzzle: see :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from typing import Final

from tests.games.oracles.puzzles import Puzzle

SHAPES: Final = {
    "domino": "##",
    "bar": "###",
    "corner": "## #.",
    "i": "####",
    "l": "### #..",
    "o": "## ##",
    "s": ".## ##.",
    "t": "### .#.",
}
Cells = tuple[tuple[int, int], ...]
"""Rows up and columns to the right from the leftmost cell of the lowest row, which comes first."""


def ways(shape: str) -> list[Cells]:
    """The different ways in which a shape may lie, in the order of their cells."""
    drawn = [(y, x) for y, row in enumerate(shape.split()) for x, sign in enumerate(row) if sign == "#"]
    found = set[Cells]()
    for cells in (drawn, [(y, -x) for y, x in drawn]):
        for _ in range(4):
            cells = [(x, -y) for y, x in cells]
            first = min(cells)
            found.add(tuple(sorted((y - first[0], x - first[1]) for y, x in cells)))
    return sorted(found)


class Polyominoes(Puzzle):
    columns: Final = "abcdefg"

    def __init__(self) -> None:
        super().__init__()
        self.lying = dict[tuple[int, int], str]()
        self._lies = {(piece, n): way for piece in SHAPES for n, way in enumerate(ways(SHAPES[piece]), 1)}

    @property
    def _left(self) -> set[str]:
        return SHAPES.keys() - self.lying.values()

    def _covered(self, piece: str, way: int, x: int, y: int) -> list[tuple[int, int]]:
        return [(x + right, y + up) for up, right in self._lies[piece, way]]

    def _free(self, x: int, y: int) -> bool:
        return 0 <= x < 7 and 1 <= y <= 4 and (x, y) not in self.lying

    def moves(self) -> list[str]:
        return [
            f"(place {piece} {way} {self.columns[x]} {y})"
            for piece, way in self._lies
            for x in range(7)
            for y in range(1, 5)
            if piece in self._left and all(self._free(*at) for at in self._covered(piece, way, x, y))
        ]

    def move(self, name: str, *arguments: str) -> None:
        piece, way, x, y = arguments
        for at in self._covered(piece, int(way), self.columns.index(x), int(y)):
            self.lying[at] = piece

    def things(self) -> set[str]:
        found = {f"(cell {self.columns[x]} {y} {piece})" for (x, y), piece in self.lying.items()}
        return found | {f"(left {piece})" for piece in self._left} | {f"(placed {8 - len(self._left)})"}

    @property
    def solved(self) -> bool:
        return not self._left

    @property
    def over(self) -> bool:
        return not self.moves()

    def goals(self) -> list[int | None]:
        return [100 if self.solved else 12 * (8 - len(self._left))]
