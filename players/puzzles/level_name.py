"""Levels in files: their names, ``FILE`` or ``FILE:N`` for the N-th level of a file, and kinds of files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gdl.syntax.phrases import read_phrase

if TYPE_CHECKING:
    from pyparsing import ParserElement

_FILE = r".+\.(?:xsb|sok|slc|txt)(?=:[^:/\\()\s]*$)|.+(?=:[0-9]{1,9}$)"
_NUMBERED = re.compile(_FILE, re.IGNORECASE | re.DOTALL)
_RIGHT = re.compile(r"(.+):([0-9]{1,9})", re.DOTALL)
"""The format of a valid name. Only errors in other names need the grammar, which is slow to load."""


@dataclass(frozen=True, slots=True)
class LevelKind:
    """A kind of levels that people write in files; its entry point belongs to ``kaskade.levels``.

    Attributes:
        names: whether ``FILE`` or ``FILE:N`` names a readable file of this kind.
        rules: the rules in GDL of the level that ``FILE:N`` names. Raises GdlError.
    """

    names: Callable[[str], bool]
    rules: Callable[[str], str]


def read_level_name(name: str) -> tuple[Path, int | None]:
    """Return the path and the number, or None without a number. If a file has the whole name, the name is a
    path.

    >>> read_level_name("yards.xsb:2")
    (...Path('yards.xsb'), 2)
    >>> read_level_name("yards.xsb:x")
    Traceback (most recent call last):
    gdl.errors.GdlError: level 'yards.xsb:x', column 11: expected the number of a level, found 'x' (...)

    Raises GdlError, with the column, if the text after the file name is not a number.
    """
    if not _NUMBERED.match(name) or os.path.isfile(name):
        return Path(name), None
    if right := _RIGHT.fullmatch(name):
        return Path(right[1]), int(right[2])
    path, number = read_phrase(_grammar(), name, "level", "it is named FILE:N, for example yards.xsb:2")
    return Path(path), int(number)


@cache
def _grammar() -> ParserElement:
    from pyparsing import Regex, Suppress

    path = Regex(_FILE, re.IGNORECASE | re.DOTALL).set_name("a file of levels")
    number = Regex("[0-9]{1,9}").set_name("the number of a level")
    return (path + Suppress(":") - number).leave_whitespace()
