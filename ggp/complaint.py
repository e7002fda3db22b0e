"""Errors for people: one line with place, fault and remedy, then the line of the file with a caret."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gdl.errors import FileError, GdlError, RulesError, TooLargeError
from gdl.excerpt import excerpt
from gdl.reading import text_of_file
from ggp.printing import show

_MOST_BYTES = 4_000_000


def complain(error: GdlError) -> None:
    """Print an error on stderr, in colours if that is a terminal.

    Errors in rules name the file, the line and the column, whichever command met them.
    """
    path = _file_of(error)
    if path is not None:
        error.source = str(path)
    show(f" {error}", head="ggp:", err=True)
    shown = None if path is None else excerpt(_text(path), error.place, shutil.get_terminal_size().columns)
    if shown is not None:
        show(shown[0], err=True)
        show("", head=shown[1], err=True)


def _file_of(error: GdlError) -> Path | None:
    """The file that an error is about, if it is about a place in one, or about rules."""
    games = sys.modules.get("ggp.rule_files")
    loaded: dict[str, Path] = games.loaded_files if games is not None else {}
    of_rules = isinstance(error, RulesError | TooLargeError)
    if error.place is None and not (of_rules and not error.source):
        return None
    if error.source:
        try:
            path = Path(error.source)
            return path if path.is_file() else loaded.get(error.source)
        except (OSError, ValueError):  # no name of a file
            return None
    # Errors of compiling and grounding have a place, but no source.
    return next(iter(loaded.values())) if of_rules and len(loaded) == 1 else None


def _text(path: Path) -> str:
    try:
        return text_of_file(path, _MOST_BYTES)
    except FileError:
        return ""
