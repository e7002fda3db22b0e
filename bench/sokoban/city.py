"""Draws games/levels/city.xsb: streets on 100 by 100 squares, a yard of parcels, doors to bring them to.

    python -m bench.sokoban.city > games/levels/city.xsb

Streets are two squares wide: a parcel stays at its wall until the next crossing, and comes in at a door only
from the lane next to it, pushed from the other lane. The same program draws the same city everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import groupby

from players.puzzles.sokoban.levels.level import Level

BLOCKS = 12
"""Blocks of houses along each side of the city."""
BLOCK, STREET = 6, 2
PITCH = BLOCK + STREET
SIDE = BLOCKS * PITCH + STREET + 2
DOORS = 20
YARD = range(5, 7)
"""Columns and rows of the blocks that were pulled down for the yard."""
PARKS = 8


def city(seed: int = 1927) -> Level:
    """The city. Every parcel stands in the yard in the middle, every door is in another block."""
    rng = random.Random(seed)
    cells = [["#"] * SIDE for _ in range(SIDE)]

    def open_up(x: int, y: int, width: int, height: int) -> None:
        for row in cells[y : y + height]:
            row[x : x + width] = " " * width

    for i in range(BLOCKS + 1):
        open_up(1 + PITCH * i, 1, STREET, SIDE - 2)
        open_up(1, 1 + PITCH * i, SIDE - 2, STREET)
    first, last = PITCH * YARD.start + 1 + STREET, PITCH * YARD.stop + 1
    open_up(first, first, last - first, last - first)

    blocks = [(i, j) for i in range(BLOCKS) for j in range(BLOCKS) if not (i in YARD and j in YARD)]
    rng.shuffle(blocks)
    for i, j in blocks[:DOORS]:
        along = rng.randrange(1, BLOCK - 1)
        left, top = PITCH * i + 1 + STREET, PITCH * j + 1 + STREET
        far = BLOCK - 1
        x, y = rng.choice([(along, 0), (along, far), (0, along), (far, along)])
        cells[top + y][left + x] = "."
    for i, j in blocks[DOORS : DOORS + PARKS]:
        # A park with a wall around it: nobody comes in, but it is to be seen.
        open_up(PITCH * i + 2 + STREET, PITCH * j + 2 + STREET, BLOCK - 2, BLOCK - 2)
    for n in range(DOORS):
        cells[first + 3 + 2 * (n // 5)][first + 2 + 2 * (n % 5)] = "$"
    cells[first + 1][first + 6] = "@"
    return Level(
        tuple(map("".join, cells)),
        "The city",
        "the authors of this project",
    )


def write_levels(levels: Iterable[Level], run_lengths: bool = False) -> str:
    """A file of levels; title and author stand behind each map.

    Args:
        run_lengths: each map on one line, as in ``4#|#@-$``.

    :func:`players.puzzles.sokoban.levels.read.read_levels` gives the same levels, but for their lines, where
    titles and so on are plain lines of text.
    """
    parts = []
    for level in levels:
        lines = [squeeze(level.rows) if run_lengths else str(level)]
        lines += [f"Title: {level.title}"] * bool(level.title)
        lines += [f"Author: {level.author}"] * bool(level.author)
        parts.append("\n".join([*lines, ""]))
    return "\n".join(parts)


def run_length(text: str) -> str:
    """A text with each run of a character as number and character: ``3rU`` for ``rrrU``."""
    runs = ((char, len(list(run))) for char, run in groupby(text))
    return "".join(char if count == 1 else f"{count}{char}" for char, count in runs)


def squeeze(rows: tuple[str, ...]) -> str:
    """Rows of XSB as one line with run lengths; blanks become ``-``, those at the end of a row are left out.

    >>> squeeze(("####", "#@ $"))
    '4#|#@-$'
    """
    return "|".join(run_length(row.rstrip().replace(" ", "-")) for row in rows)


if __name__ == "__main__":
    print(write_levels([city()]), end="")
