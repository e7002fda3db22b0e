"""OpenSpiel (Lanctot et al. 2019), both ways: our games for its algorithms, its bots as our players.

``spiel_game`` creates a game of OpenSpiel from a machine, ``bot_player`` a player from a bot:
``players.openspiel:mcts``, ``players.openspiel:uniform_random``, and every other bot that OpenSpiel has
registered by name. Nothing is imported from OpenSpiel before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from players.player import Player


_BOTS = "mcts", "uniform_random", "fixed_action_preference", "uniform_restricted_actions"
"""Bots for which a missing OpenSpiel is reported; with OpenSpiel there may be others."""


def __dir__() -> list[str]:
    return sorted(_BOTS) if find_spec("pyspiel") else []


def __getattr__(name: str) -> type[Player]:
    """The player of a bot, by the bot's name. Raises MissingOpenSpielError if OpenSpiel is not installed."""
    found: Any = None
    if not name.startswith("_"):
        try:
            import_module(f"{__name__}.spiel_game").pyspiel_module()
            found = import_module(f"{__name__}.bot_player").player_class(name)
        except ImportError:
            if name in _BOTS:
                raise
    if found is None:
        raise AttributeError(f"OpenSpiel has no bot {name!r}")
    kind: type[Player] = found
    return kind
