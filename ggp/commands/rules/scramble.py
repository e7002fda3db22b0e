"""``ggp scramble``: the same game under other names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import GameName, write
from ggp.printing import show


def command(
    game: GameName,
    seed: Annotated[int, typer.Option(help="The same seed gives the same names.")] = 0,
    mapping: Annotated[
        Path | None, typer.Option(help="Write old name -> new name there, as JSON.", metavar="OUT.json")
    ] = None,
) -> None:
    """Rename all symbols of a game.

    As competitions do: keywords keep their names, and so do numbers that can become goal values.
    Comments go. Prints the result, in the notation of the rules.
    """
    import orjson

    from gdl.scramble import scramble
    from gdl.syntax.format import convert
    from gdl.syntax.notation import named_notation
    from ggp.game import Game

    rules = Game.load(game).rules
    renamed, names = scramble(rules, seed)
    if mapping is not None:
        spelled = {rules.spelling.get(old, old): new for old, new in names.items()}
        write(mapping, orjson.dumps(spelled, option=orjson.OPT_INDENT_2) + b"\n")
    show(convert(str(renamed), named_notation(rules.notation), rules.name, "kif").encode(), end="")
