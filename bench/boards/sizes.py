"""The games of `games/` on other boards: ``python -m bench.boards.sizes connectfour 5 4 > five_by_four.kif``.

The sizes are columns and rows for connectfour and breakthrough, heaps for nim. Everything else is as in the
game's own file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

GAMES = Path(__file__).resolve().parents[2] / "games"


def connect_four(columns: int, rows: int) -> str:
    """Connect Four on a board of at least four columns or rows, ten rows at most."""
    names = ascii_lowercase[:columns]
    return _with_facts(
        "connectfour",
        {
            "four_columns": [tuple(names[i : i + 4]) for i in range(columns - 3)],
            "four_rows": [tuple(map(str, range(i, i + 4))) for i in range(1, rows - 2)],
            "column": [(name,) for name in names],
            "next_row": _steps(range(1, rows + 1)),
        },
    )


def breakthrough(columns: int, rows: int) -> str:
    """Breakthrough, two rows of pawns for each side."""
    return _with_facts(
        "breakthrough",
        {
            "start": [("white", "1"), ("white", "2"), ("black", str(rows - 1)), ("black", str(rows))],
            "last_row": [("white", str(rows)), ("black", "1")],
            "next_column": _steps(ascii_lowercase[:columns]),
            "next_row": _steps(range(1, rows + 1)),
        },
    )


def nim(*heaps: int) -> str:
    """Nim with these heaps; who takes the last one wins."""
    return _with_facts(
        "nim",
        {
            "start": [(ascii_lowercase[i], str(heap)) for i, heap in enumerate(heaps)],
            "succ": _steps(range(max(heaps) + 1)),
        },
    )


MAKERS = {"connectfour": connect_four, "breakthrough": breakthrough, "nim": nim}


def _steps(names: Sequence[object]) -> list[tuple[str, str]]:
    return [(str(a), str(b)) for a, b in pairwise(names)]


def _with_facts(game: str, facts: dict[str, list[tuple[str, ...]]]) -> str:
    """The rules of a game with other facts in place of all facts of some relations."""
    lines = next(GAMES.rglob(f"{game}.kif")).read_text().splitlines()
    rules = [line for line in lines if not line.startswith(";")]
    for relation, rows in facts.items():
        fact = re.compile(rf"\({relation}( [a-z0-9]+)+\)")
        dropped = [line for line in rules if fact.fullmatch(line)]
        assert dropped, relation
        rules = [line for line in rules if line not in dropped]
        rules += [f"({relation} {' '.join(row)})" for row in rows]
    return "\n".join(rules) + "\n"


if __name__ == "__main__":
    sys.stdout.write(MAKERS[sys.argv[1]](*map(int, sys.argv[2:])))
