"""The stylesheets of a folder, by the games they are for."""

from __future__ import annotations

import re
from pathlib import Path

SUFFIXES = (".xsl", ".xslt")
MOST = 5000
"""More stylesheets are not looked at."""
_VERSION = re.compile(r"v(\d+)")


def find_stylesheets(folder: Path) -> dict[str, Path]:
    """Game -> its stylesheet below a folder, by name.

    As the public repository of games does it, the game is the folder that holds the file, of several versions
    (``v0``, ``v1``, ...) the newest one; a file that lies in the folder itself is called like its game.
    """
    root = folder.resolve()
    found: dict[str, tuple[int, Path]] = {}
    paths = (path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES)
    for _, path in zip(range(MOST), paths, strict=False):
        if not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        holders = path.relative_to(root).parts[:-1]
        version = -1
        if holders and (number := _VERSION.fullmatch(holders[-1])):
            version, holders = int(number[1]), holders[:-1]
        name = holders[-1] if holders else path.stem
        # Several files of one folder are called by their own names.
        if name in found and found[name][1].parent == path.parent:
            name = path.stem
        if name not in found or found[name][0] < version:
            found[name] = version, path
    return {name: path for name, (_, path) in sorted(found.items(), key=lambda item: item[0].lower())}
