"""OpenSpiel (Lanctot et al. 2019), both ways: our games for its algorithms, its tree search as our player.

``spiel_game`` creates a game of OpenSpiel from a machine; ``players.openspiel:mcts`` is a player. Nothing is
imported from OpenSpiel before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec


def __dir__() -> list[str]:
    return ["mcts"] if find_spec("pyspiel") else []


def __getattr__(name: str) -> object:
    """The player ``mcts``. Raises MissingOpenSpielError if OpenSpiel is not installed."""
    if name != "mcts":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module(f"{__name__}.spiel_game")  # first: it says which package is missing
    return import_module(f"{__name__}.bot_player").SpielMcts
