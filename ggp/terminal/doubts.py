"""One line for people who play rules that are probably not what their author meant."""

from __future__ import annotations

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check
from gdl.words import counted
from ggp.game import Game, loaded_files


def doubts(game: Game) -> str:
    """What the checks of the text say of a game, in one line; empty where they have nothing against it.

    Only warnings count: rules with errors do not play anyway, and say so themselves."""
    found = [d for d in check(game.rules) if d.severity is Severity.WARNING]
    if not found:
        return ""
    path = str(loaded_files.get(game.name, game.name))
    first = found[0]
    return (
        f"{path}:{first.place}: these rules are doubtful: {first.message}"
        f" ({counted(len(found), 'warning')}; see `ggp validate {path}`)"
    )
