"""The subcommands of ``ggp``, one module each, in a folder for each theme: see :mod:`ggp.cli`.

Modules import heavy things inside their functions, because ``ggp --help`` loads them all. This module holds
the helpers that several commands share: check a machine's name, read rules files, check where results go.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gdl.errors import FileError, GdlError
from gdl.reading import read_limited, read_open, text_of
from gdl.visible import visible
from ggp.printing import complain, show

THEMES = ("play", "rules", "puzzles", "server", "learning")
"""The folders, in the order of ``ggp --help``, which shows the beginnings of their first lines as titles."""
_PIPES = "- is standard input"
OPERATORS = "For operators"
"""The panel of options that limit or open up a program which runs for others."""
GAME_HELP = (
    "A bundled game (see `ggp games`), in other sizes hex:11, a file of rules (.kif, .hrf, .pl), a Sokoban "
    "level, FILE.xsb:N, or a level of Snakes, FILE.txt:N."
)
GameName = Annotated[str, typer.Argument(help=GAME_HELP)]

MEMORY = typer.Option("600M", help="Memory for the whole process: 600M, 2G.")
SCRATCH = typer.Option(
    None,
    metavar="DIR",
    help="Folder for states that exceed the memory; a search that is saved there goes on.",
)
DISK = typer.Option(None, help="Disk space for all files in --scratch: 20G.", show_default="all")
EVENTS = typer.Option(
    None,
    min=0,
    max=65535,
    metavar="PORT",
    help="Publish matches for `ggp web --watch` on this port; 0 takes a free one.",
    rich_help_panel=OPERATORS,
)
ORIGINS = typer.Option(
    [],
    metavar="ORIGIN",
    help="Let web pages of this origin ask (https://host); * lets all.",
    rich_help_panel=OPERATORS,
)
NotationName = Annotated[
    str, typer.Option("--notation", help="Notation of the rules: kif, infix, prolog, or auto (detected).")
]


def check_machine(name: str) -> None:
    """Raise GdlError if no machine has this name."""
    from players.kaskade import LEVELS

    if name not in LEVELS:
        raise GdlError(f"there is no machine {name!r}", remedy=f"choose {', '.join(LEVELS)}")


def read_or_complain(path: Path) -> bytes | None:
    """The bytes of a file, or of standard input for ``-``.

    None, after a line on stderr, if it cannot be read, is longer than rules may be, or is not text.
    """
    from ggp.rule_files import MOST_BYTES

    try:
        standard = str(path) == "-"
        if standard and sys.stdin is None:
            raise FileError("standard input is closed", remedy="name a file")
        data = (
            read_open(sys.stdin.buffer, MOST_BYTES, "<stdin>")
            if standard
            else read_limited(path, MOST_BYTES, _PIPES)
        )
        text_of(data, "<stdin>" if standard else str(path))
        return data
    except FileError as error:
        complain(error)
    except OSError as error:  # standard input is closed, or a folder
        show(f"ggp: <stdin>: {error.strerror}", err=True)
    return None


def read_rules(name: str) -> tuple[str, str] | None:
    """The name for messages (a file's path) and the text of rules: a file, ``-`` for standard input, a
    bundled game, also in another size, or a level. None, after a line on stderr, if they cannot be read."""
    from ggp.rule_files import find_rules_file, generated_rules

    try:
        if name != "-" and (made := generated_rules(name)):
            return name, made[1]
        path = Path(name) if name == "-" else find_rules_file(name)
    except GdlError as error:
        complain(error)
        return None
    data = read_or_complain(path)
    return None if data is None else ("<stdin>" if name == "-" else visible(str(path)), text_of(data))


def check_writable(*paths: Path | None) -> None:
    """Raise GdlError if one of the paths cannot be written: better before long work than after it."""
    for path in filter(None, paths):
        there = os.path.exists(path)
        try:
            with path.open("ab"):
                pass
            if not there:
                path.resolve().unlink()
        except OSError as error:
            raise GdlError(f"cannot write {path}: {error.strerror}", remedy="choose another place") from None


def as_bytes(disk: str | None, scratch: Path | None) -> int | None:
    """The disk space that --disk allows. Raises GdlError if there is no folder for files."""
    if disk is not None and scratch is None:
        raise GdlError("--disk bounds the files in a folder", remedy="name it with --scratch DIR")
    return None if disk is None else parse_bytes(disk)


def parse_bytes(text: str) -> int:
    """An amount of memory or disk, ``600M`` or ``2G``, in bytes. Raises GdlError for any other text."""
    number, unit = text[:-1], text[-1:].upper()
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(unit)
    try:
        size = int(text) if scale is None else int(float(number) * scale)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise GdlError(f"{text!r} is not an amount of memory or disk", remedy="write it like 600M or 2G")
    return size
