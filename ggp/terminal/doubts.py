"""One line for people who play rules that are probably not what their author meant."""

from __future__ import annotations

from collections import Counter

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from gdl.visible import visible
from gdl.words import counted
from ggp.game import Game, loaded_files


def doubts(game: Game) -> str:
    """What the checks of the text say of a game, the worst first, in one line; empty where they have nothing
    against it. Notes do not count."""
    found = [d for d in check_text(game.text, game.name)[1] if d.severity > Severity.INFO]
    if not found:
        return ""
    counts = Counter(d.severity for d in found)
    numbers = ", ".join(counted(counts[severity], str(severity)) for severity in sorted(counts, reverse=True))
    path = visible(str(loaded_files.get(game.name, game.name)))
    first = found[0]
    return (
        f"{path}:{first.place}: these rules are doubtful: {first.message}"
        f" ({numbers}; see `ggp validate {path}`)"
    )
