"""Output of commands: every printed character is visible, whatever its source and the locale.

Names, errors and answers come from strangers, and control characters in them would drive the terminal. All
output of commands goes through :func:`show` or a :func:`ggp.console.new_console`; a test of the tree forbids
``print``.
"""

from __future__ import annotations

import codecs
import io
import os
import sys

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
