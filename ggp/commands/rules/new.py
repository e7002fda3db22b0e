"""``ggp new``: a game of one's own, begun from one that plays."""

from __future__ import annotations

from pathlib import Path

import typer

from ggp.printing import show

_KINDS = {"board": "breakthrough:6x6", "puzzle": "lightsout:3", "simultaneous": "rockpaperscissors"}


def command(
    name: str = typer.Argument(help="Its file will be NAME.kif; a folder may stand before it."),
    kind: str = typer.Argument(
        "board", metavar="[KIND]", help=f"What to begin from: {', '.join(_KINDS)}, or a game (hex:5)."
    ),
) -> None:
    """Begin a game of your own.

    Writes the rules of a small game that plays already, with words that say what stands where, to be changed
    step by step. A file that is there is never overwritten.
    """
    from gdl.errors import GdlError
    from ggp.game import Game

    path = Path(name if name.endswith(".kif") else f"{name}.kif")
    title = path.stem.replace("_", " ").capitalize()
    if not path.stem.isidentifier():
        raise GdlError(f"{path.stem!r} is no name for a game", remedy="use letters, digits and _")
    game = Game.load(_KINDS.get(kind, kind))
    head = f"""\
; {title}: say here in a line what it is.
;
; It begins as {game.name}, below. Change words and rules a step at a time.
;
"""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(head + game.kif)
    except OSError as error:
        why = "it is there already" if isinstance(error, FileExistsError) else error.strerror
        raise GdlError(f"cannot write {path}: {why}", remedy="choose another name") from None
    show(f"{path} plays as {game.name}. Change it, in an editor or with `ggp web`, and after each step:")
    show(f"ggp validate {path}\nggp play {path} --players human,uct\nggp format --write {path}")
