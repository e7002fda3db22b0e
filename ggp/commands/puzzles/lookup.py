"""``ggp lookup``: the entry of a state in a table of `ggp tabulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import GameName


def command(
    game: GameName,
    folder: Annotated[Path, typer.Argument(help="The table that `ggp tabulate` wrote.", metavar="DIR")],
    state: Annotated[str, typer.Argument(help="All that is true in the state; init for the first.")] = "init",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: values, moves, ...")] = False,
) -> None:
    """Look up a state in a table: its value, and that of each move."""
    from ggp.game import Game
    from ggp.solving.strong import answer_query

    answer_query(Game.load(game), state, folder, as_json)
