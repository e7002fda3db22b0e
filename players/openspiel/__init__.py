"""OpenSpiel (Lanctot et al. 2019), both ways: our games for its algorithms, its bots as our players.

``spiel_game`` makes a game of OpenSpiel of a machine, ``bot_player`` a player of a bot:
``players.openspiel:mcts``, ``players.openspiel:uniform_random``, and every other bot that OpenSpiel has under
a name. Nothing is imported from OpenSpiel before one of these is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from players.player import Player


def __getattr__(name: str) -> type[Player]:
    """The player of a bot, by the bot's name."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    made: Any = import_module("players.openspiel.bot_player").player_class(name)
    if made is None:
        raise AttributeError(f"OpenSpiel has no bot {name!r}")
    kind: type[Player] = made
    return kind
