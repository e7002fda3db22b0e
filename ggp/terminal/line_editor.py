"""Lines typed at a prompt: with editing, history and completion by GNU readline or libedit, in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType


class LineEditor:
    """Asks for lines. In a terminal the arrow keys edit the line and bring back earlier ones, and Tab
    completes it to one of ``words``; elsewhere, or in a Python without readline, lines come as they are."""

    def __init__(self) -> None:
        self.words: Sequence[str] = ()
        self._readline: ModuleType | None = None

    def __call__(self, prompt: str) -> str:
        """Print a prompt and read a line. Raises EOFError where there is none."""
        if self._readline is None and sys.stdin.isatty() and sys.stdout.isatty():
            self._readline = _readline()
        if self._readline is not None:
            self._readline.set_completer(self.complete)
        try:
            return input(prompt)
        finally:
            if self._readline is not None:
                self._readline.set_completer(None)

    def complete(self, text: str, number: int) -> str | None:
        """The word of this number, from 0, among those that a line may become; None after the last one. The
        first bracket may be left out."""
        typed = text.lower().lstrip()
        fitting = [w for w in self.words if w.lower().startswith(typed) or w.lower()[1:].startswith(typed)]
        return fitting[number] if number < len(fitting) else None


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not built on every platform
        return None
    # A move is one word, spaces and brackets included.
    readline.set_completer_delims("\n")
    edits = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if edits else "tab: complete")
    return readline
