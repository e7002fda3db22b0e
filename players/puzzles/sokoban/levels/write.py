"""Writes levels as text that every Sokoban program reads: XSB, with run lengths or without."""

from __future__ import annotations

from collections.abc import Iterable

from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.run_length import squeeze


def write_levels(levels: Iterable[Level], run_lengths: bool = False) -> str:
    """A file of levels; title, author and comment stand behind each map.

    Args:
        run_lengths: each map on one line, as in ``4#|#@-$``.

    :func:`~players.puzzles.sokoban.levels.read.read_levels` gives the same levels, but for their lines, where
    titles and so on are plain lines of text.
    """
    parts = []
    for level in levels:
        lines = [squeeze(level.rows) if run_lengths else str(level)]
        lines += [f"Title: {level.title}"] * bool(level.title)
        lines += [f"Author: {level.author}"] * bool(level.author)
        lines += ["Comment:", level.comment, "Comment-End:"] if level.comment else []
        parts.append("\n".join([*lines, ""]))
    return "\n".join(parts)
