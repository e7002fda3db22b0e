"""`Packed`: pieces in their places, as the drawings take them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from players.puzzles.cover.disassembly.disassembly import Disassembly

Cell = tuple[int, int, int]

_NUMBERED = re.compile(r"piece \d+|S\d+")
"""A name that nobody gave."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """A piece in its place.

    Attributes:
        name: for people.
        cells: (x, y, z) of each cell.
        kind: pieces of one kind have one colour.
    """

    name: str
    cells: tuple[Cell, ...]
    kind: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A solution of a packing puzzle.

    Attributes:
        grid: what the cells are: a key of :data:`ggp.cover.drawing.solids.SHAPES`.
        pieces: in their places.
        apart: how it comes apart, by the numbers of the pieces; None where nobody asked.
    """

    grid: str
    pieces: tuple[PlacedPiece, ...]
    apart: Disassembly | None = None

    def owners(self) -> dict[Cell, int]:
        """The number of the piece in each cell."""
        return {cell: number for number, piece in enumerate(self.pieces) for cell in piece.cells}

    def letters(self) -> list[str]:
        """One sign for each piece: its name where all are single signs that differ, else a letter of its name
        that no piece before it has, or else another letter."""
        names = [piece.name for piece in self.pieces]
        if all(len(name) == 1 and name.isprintable() for name in names) and len(set(names)) == len(names):
            return names
        free = dict.fromkeys(LETTERS)
        signs = []
        for number, name in enumerate(names):
            own = "" if _NUMBERED.fullmatch(name) else name.upper()
            sign = next((letter for letter in own if letter in free), next(iter(free), ""))
            free.pop(sign, None)
            signs.append(sign or LETTERS[number % len(LETTERS)])
        return signs

    def legend(self) -> str:
        """What the letters stand for, ``A bar, C corner``; empty where they are the names themselves."""
        letters = self.letters()
        of_kind: dict[tuple[int, str], list[str]] = {}
        for piece, letter in zip(self.pieces, letters, strict=True):
            of_kind.setdefault((piece.kind, piece.name), []).append(letter)
        if all(letter == name for (_, name), signs in of_kind.items() for letter in signs):
            return ""
        return ", ".join(f"{' '.join(signs)} {name}" for (_, name), signs in sorted(of_kind.items()))


def colour(kind: int) -> tuple[int, int, int]:
    """A colour for each kind of piece, red, green and blue from 0 to 255: neighbours in number differ well.

    >>> colour(0) != colour(1)
    True
    """
    # The golden angle spreads any number of hues; brightness alternates for those who see few colours.
    hue = (kind * 0.61803398875 + 0.02) % 1.0
    light = (0.62, 0.48, 0.75)[kind % 3]
    spread = 0.72 * min(light, 1 - light)

    def part(shift: int) -> int:
        turn = (shift + hue * 12) % 12
        return round(255 * (light - spread * max(-1.0, min(turn - 3, 9 - turn, 1.0))))

    return part(0), part(8), part(4)


def css(kind: int) -> str:
    """The colour as #rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*colour(kind))
