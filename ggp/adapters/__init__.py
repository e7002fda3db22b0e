"""Our games as environments for other people's agents: PettingZoo, Gymnasium, vectors of matches,
Stable-Baselines3, OpenSpiel.

``adapted_game`` is what all share: the game loaded, action ids with names, observations, legal masks. Each of
``pettingzoo``, ``gymnasium``, ``vector``, ``stable_baselines`` and ``openspiel`` imports its own framework,
and only when one of its names is first used here; ``missing`` tells what to install. ``planes`` makes arrays
and pixels of states.

>>> from ggp.adapters import AdaptedGame
>>> game = AdaptedGame("tictactoe")
>>> game.agents, game.actions("x"), game.action_names("x")[0]
(('x', 'o'), 10, '(mark a 1)')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggp.adapters.adapted_game import AdaptedGame
    from ggp.adapters.gymnasium import GdlEnv, register_game, register_games
    from ggp.adapters.openspiel import load_gdl
    from ggp.adapters.pettingzoo import GdlAEC, GdlParallel
    from ggp.adapters.stable_baselines import GdlVecEnv, make_sb3_vec
    from ggp.adapters.vector import GdlVectorEnv, make_vec
    from propnet.environments.vector_match import VectorMatch

__all__ = [
    "AdaptedGame",
    "GdlAEC",
    "GdlEnv",
    "GdlParallel",
    "GdlVecEnv",
    "GdlVectorEnv",
    "VectorMatch",
    "load_gdl",
    "make_sb3_vec",
    "make_vec",
    "register_game",
    "register_games",
]

_PLACES = {
    "AdaptedGame": "ggp.adapters.adapted_game",
    "GdlAEC": "ggp.adapters.pettingzoo",
    "GdlEnv": "ggp.adapters.gymnasium",
    "GdlParallel": "ggp.adapters.pettingzoo",
    "GdlVecEnv": "ggp.adapters.stable_baselines",
    "GdlVectorEnv": "ggp.adapters.vector",
    "VectorMatch": "propnet.environments.vector_match",
    "load_gdl": "ggp.adapters.openspiel",
    "make_sb3_vec": "ggp.adapters.stable_baselines",
    "make_vec": "ggp.adapters.vector",
    "register_game": "ggp.adapters.gymnasium",
    "register_games": "ggp.adapters.gymnasium",
}


def __getattr__(name: str) -> Any:
    """Import what is used when it is first used."""
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
