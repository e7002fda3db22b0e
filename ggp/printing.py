"""Output of commands, errors for people among it: every printed character is visible, whatever its source and
the locale.

Names, errors and answers come from strangers, and control characters in them would drive the terminal. All
output of commands goes through :func:`show` or a :func:`ggp.console.new_console`; a test of the tree forbids
``print``.
"""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from pathlib import Path

from gdl.errors import FileError, GdlError, RulesError, TooLargeError
from gdl.excerpt import excerpt
from gdl.reading import text_of_file
from gdl.visible import escaped, visible

_RED, _PLAIN = "\x1b[1m\x1b[31m", "\x1b[0m"


def show(text: str | bytes, *, head: str = "", err: bool = False, end: str = "\n") -> None:
    """Print lines to stdout, or to stderr, at once.

    Args:
        text: bytes are UTF-8, and stay so outside terminals whatever the locale: JSON, rules.
        head: stands before the text, red in a terminal.
        err: whether to print to stderr.
        end: stands behind the text.
    """
    stream = sys.stderr if err else sys.stdout
    terminal = stream.isatty()
    shown = visible(text.decode() if isinstance(text, bytes) else text, keep="\n\t")
    if isinstance(text, bytes) and not terminal:
        stream.buffer.write((shown + end).encode())
        stream.flush()
        return
    if head:
        head = f"{_RED}{visible(head)}{_PLAIN}" if terminal else visible(head)
    print(f"{head}{shown}", end=end, file=stream, flush=True)


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end


def prepare_streams() -> None:
    """Have stdout and stderr write escapes for characters that the locale's encoding lacks. Streams that were
    closed go nowhere: the next file that is opened would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="visible")


codecs.register_error("visible", _replacement)


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
