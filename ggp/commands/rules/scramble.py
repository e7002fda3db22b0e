"""``ggp scramble``: the same game under other names."""

from __future__ import annotations

from typing import Annotated

import typer

from ggp.commands import GameName
from ggp.printing import show


def command(
    game: GameName,
    seed: Annotated[int, typer.Option(help="The same seed gives the same names.")] = 0,
) -> None:
    """Rename all symbols of a game.

    As competitions do: keywords keep their names, and so do numbers that can become goal values.
    Comments go. Prints the result, in the notation of the rules.
    """
    from gdl.scramble import scramble
    from gdl.syntax.format import convert
    from gdl.syntax.notation import named_notation
    from ggp.game import Game

    rules = Game.load(game).rules
    renamed, _ = scramble(rules, seed)
    show(convert(str(renamed), named_notation(rules.notation), rules.name, "kif").encode(), end="")
