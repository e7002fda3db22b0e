"""Levels in files: their names, ``FILE`` or ``FILE:N`` for the N-th level of a file, and kinds of files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gdl.errors import GdlError

_FILE = r".+\.(?:xsb|sok|slc|txt)(?=:[^:/\\()\s]*$)|.+(?=:[0-9]{1,9}$)"
_NUMBERED = re.compile(_FILE, re.IGNORECASE | re.DOTALL)
_RIGHT = re.compile(r"(.+):([0-9]{1,9})", re.DOTALL)
"""The format of a valid name."""


@dataclass(frozen=True, slots=True)
class LevelKind:
    """A kind of levels that people write in files; its entry point belongs to ``kaskade.levels``.

    Attributes:
        names: whether ``FILE`` or ``FILE:N`` names a readable file of this kind.
        rules: the rules in GDL of the level that ``FILE:N`` names; the game ends after the given number of
            moves, None for the kind's default. Raises GdlError.
    """

    names: Callable[[str], bool]
    rules: Callable[[str, int | None], str]


def read_level_name(name: str) -> tuple[Path, int | None]:
    """Return the path and the number, or None without a number. If a file has the whole name, the name is a
    path.

    >>> read_level_name("yards.xsb:2")
    (...Path('yards.xsb'), 2)
    >>> read_level_name("yards.xsb:x")
    Traceback (most recent call last):
    gdl.errors.GdlError: level 'yards.xsb:x': 'x' is not the number of a level (...)

    Raises GdlError if the text after the file name is not a number.
    """
    if not _NUMBERED.match(name) or os.path.isfile(name):
        return Path(name), None
    if right := _RIGHT.fullmatch(name):
        return Path(right[1]), int(right[2])
    number = name.rpartition(":")[2]
    raise GdlError(
        f"level {name!r}: {number!r} is not the number of a level", remedy="write FILE:N, as in yards.xsb:2"
    )
