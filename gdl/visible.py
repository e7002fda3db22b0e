"""Makes text of strangers fit for terminals, logs and pages: unprintable characters are escaped.

Names of files and titles of puzzles may hold anything. Controls (C0, C1) drive terminals, bidirectional
marks let a text seem to say something else (Boucher and Anderson, Trojan Source, 2021), and surrogates for
bytes that are not UTF-8 cannot be written at all. The reader of KIF refuses all these in symbols.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

_FOLDERS = re.compile(r"""(?<![\w.:/~-])/([^\s/:'"(),;]+)/(?:[^\s/:'"(),;]+/)*""")
"""The folders of an absolute path, the first of them by itself."""
_REPLACEMENT = "\ufffd"


def visible(text: str, keep: str = "") -> str:
    r"""The text with each character that is not printable as JSON escapes it, so that JSON stays the same
    JSON; those in ``keep`` stay.

    >>> print(visible("red\x9b31m \u202e \udcff"))
    red\u009b31m \u202e \udcff
    >>> visible("naïve 棋 ♞")
    'naïve 棋 ♞'
    """
    rest = text
    for character in keep:
        rest = rest.replace(character, "")
    if rest.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else escaped(c) for c in text)


def escaped(text: str) -> str:
    r"""Characters other than quotes and backslashes in ASCII, as JSON escapes them.

    >>> print(escaped("♞"))
    \u265e
    """
    return json.dumps(text)[1:-1]


def without_folders(text: str) -> str:
    """A message for people elsewhere: files of this machine without the folders that they lie in.

    >>> without_folders("cannot read /usr/share/my games/x.kif: it is large; see http://usr/x, /api/games")
    'cannot read my games/x.kif: it is large; see http://usr/x, /api/games'
    """
    for root in {_folder(os.getcwd), _folder(lambda: os.path.expanduser("~"))}:
        if len(root) > 1:  # they may have blanks
            text = text.replace(f"{root}/", "")
    return _FOLDERS.sub(lambda found: "" if os.path.isdir(f"/{found[1]}") else found[0], text)


def _folder(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except OSError:  # it was removed
        return ""


def first_forbidden(word: str) -> int:
    """The index of the first character that a symbol must not hold, or -1. Such a character is not printable,
    or stands for bytes that could not be decoded, so that two words may have become one."""
    if word.isprintable() and _REPLACEMENT not in word:
        return -1
    return next(i for i, c in enumerate(word) if not c.isprintable() or c == _REPLACEMENT)
