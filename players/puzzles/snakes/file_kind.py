"""Tells level files of Snakes from others that end in ``.txt``: rules, and levels of Sokoban."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import FileError
from gdl.reading import read_limited
from players.puzzles.level_name import read_level_name

MOST_BYTES = 4 << 20
"""Of a file of levels."""
_MOVING = set("ACD<>^vE")
_DRAWN = _MOVING | set("B#.*!$ 123456789")


def split_name(name: str) -> tuple[Path, int | None]:
    """``FILE:N`` as path and number, ``FILE``, or a file that is really called so, as path and None."""
    return read_level_name(name)


def names_snakes_file(name: str) -> bool:
    """Whether ``FILE.txt`` or ``FILE.txt:N`` names a readable file with levels of Snakes."""
    path, _ = split_name(name)
    if path.suffix.lower() != ".txt":
        return False
    try:
        data = read_limited(path, MOST_BYTES)
    except FileError:
        return False
    return looks_like_snakes(data.decode("utf-8-sig", errors="replace"))


def looks_like_snakes(text: str) -> bool:
    """Whether a text draws snakes, right or wrong: a line that is no title is mostly of what levels have and
    has a part of a snake or an exit, and nowhere stands a keeper or a rule."""
    lines = [line.strip() for line in text.splitlines() if not line.startswith((";", "Title", "Author"))]
    if any("@" in line or "+" in line or "(" in line for line in lines):
        return False
    return any(
        not _MOVING.isdisjoint(line) and 2 * sum(character in _DRAWN for character in line) > len(line)
        for line in lines
        if line
    )
