"""`Packed`: pieces in their places, as layers of letters; their disassembly in words and for JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from players.puzzles.cover.packing.disassembly import Disassembly

Cell = tuple[int, int, int]

_NUMBERED = re.compile(r"piece \d+|S\d+")
"""The pattern of default names."""
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
        grid: the kind of cells: a key of :data:`ggp.cover.drawings.SHAPES`.
        pieces: the pieces in their places.
        apart: its disassembly, by the numbers of the pieces; None if it was not asked for.
    """

    grid: str
    pieces: tuple[PlacedPiece, ...]
    apart: Disassembly | None = None

    def owners(self) -> dict[Cell, int]:
        """The number of the piece in each cell."""
        return {cell: number for number, piece in enumerate(self.pieces) for cell in piece.cells}

    def letters(self) -> list[str]:
        """One sign for each piece. The signs are the names if these are single signs that differ. Otherwise a
        sign is an unused letter of the piece's name, or another letter."""
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
        """The meaning of the letters, ``A bar, C corner``; empty if they are the names themselves."""
        letters = self.letters()
        of_kind: dict[tuple[int, str], list[str]] = {}
        for piece, letter in zip(self.pieces, letters, strict=True):
            of_kind.setdefault((piece.kind, piece.name), []).append(letter)
        if all(letter == name for (_, name), signs in of_kind.items() for letter in signs):
            return ""
        return ", ".join(f"{' '.join(signs)} {name}" for (_, name), signs in sorted(of_kind.items()))


def colour(kind: int) -> tuple[int, int, int]:
    """A colour for each kind of piece, red, green and blue from 0 to 255; neighbouring numbers have clearly
    different colours.

    >>> colour(0) != colour(1)
    True
    """
    # The golden angle spreads any number of hues. Brightness alternates for people with colour blindness.
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


def layers(packed: Packed) -> RenderableType:
    """Each layer (z) as a panel, rows (y) from top to bottom: one letter for each piece on its colour, a dot
    for an empty cell. Letters alone distinguish the pieces."""
    owners = packed.owners()
    letters = packed.letters()
    xs, ys, zs = (sorted({cell[axis] for cell in owners}) for axis in range(3))
    panels = []
    for z in range(zs[0], zs[-1] + 1):
        text = Text(no_wrap=True)
        for y in range(ys[0], ys[-1] + 1):
            for x in range(xs[0], xs[-1] + 1):
                owner = owners.get((x, y, z))
                if owner is None:
                    text.append("· ", "dim")
                else:
                    red, green, blue = colour(packed.pieces[owner].kind)
                    text.append(f"{letters[owner]} ", f"black on rgb({red},{green},{blue})")
            if y < ys[-1]:
                text.append("\n")
        panels.append(Panel.fit(text, title=f"z = {z}" if len(zs) > 1 else None, border_style="dim"))
    return Columns(panels)


def moves_told(packed: Packed, apart: Disassembly) -> Iterator[str]:
    """Whether the solution comes apart, at which level, and each move on a line of its own.

    Pieces are named by their letters in the drawing of layers.
    """
    level = ".".join(map(str, apart.level))
    if apart.apart:
        yield f"comes apart, level {level}" if level else "stays together, as it may"
    elif apart.apart is None:
        yield "whether it comes apart is not known: too many arrangements of its pieces"
    else:
        yield f"does not come apart, beyond level {level}" if level else "does not come apart"
    letters = packed.letters()
    number = 0
    for part in apart.separations():
        for step in part.steps:
            number += 1
            names = " ".join(letters[piece] for piece in step.pieces)
            yield f"{number:>3}  {names}: {_way_told(step.way)}{', out' if step.out else ''}"


def moves_as_json(apart: Disassembly) -> dict[str, object]:
    """The disassembly for JSON.

    ``apart`` is true, false, or null if it is not known. ``level`` has the number of moves of each
    separation. ``moves`` has for each move the numbers of the pieces, the translation, and whether the pieces
    are then out.
    """
    return {
        "apart": apart.apart,
        "level": list(apart.level),
        "moves": [
            {"pieces": list(step.pieces), "way": list(step.way), "out": step.out}
            for part in apart.separations()
            for step in part.steps
        ],
    }


def _way_told(way: tuple[int, int, int]) -> str:
    """A translation in words.

    >>> _way_told((0, -2, 0)), _way_told((1, 1, 0))
    ('2 along -y', '1 along +x +y')
    """
    steps = max(map(abs, way))
    axes = [("+" if part > 0 else "-") + axis for part, axis in zip(way, "xyz", strict=True) if part]
    return f"{steps} along {' '.join(axes)}"
