"""``ggp playthrough``: random matches, recorded state by state."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from ggp.commands import GameName
from ggp.printing import show


def command(
    game: GameName,
    seed: Annotated[int, typer.Option(help="The same seed gives the same moves.")] = 0,
    playouts: Annotated[int, typer.Option(min=1, help="Matches to play.")] = 1,
    opening: Annotated[
        str,
        typer.Option(help="Moves that begin the first match, as GDL: one for each role that has a choice."),
    ] = "",
    max_bytes: Annotated[
        int | None, typer.Option(min=1, help="Leave out the middle of matches to keep to about this size.")
    ] = None,
) -> None:
    """Record random matches, state by state.

    Prints a trace: one JSON object per line with each state, the legal moves, the moves made and the
    goals. ``ggp verify`` replays it.
    """
    from ggp.game import Game
    from ggp.traces import record

    loaded = Game.load(game)
    recorder = partial(record, seed=seed, playouts=playouts, opening=opening, max_bytes=max_bytes)
    show(b"".join(recorder(loaded.machine("prover"), loaded.name)), end="")
