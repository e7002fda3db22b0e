"""Games as environments for other frameworks: PettingZoo, Gymnasium, vectors of matches, Stable-Baselines3,
OpenSpiel.

``adapted_game`` is shared by all: it loads the game and has its named action ids, observations and legal
masks, and turns states into planes and pixels. Each of ``pettingzoo``, ``gymnasium``, ``vector``,
``stable_baselines`` and ``openspiel`` imports its own framework, and only when one of its names is first used
here.

>>> from ggp.adapters import AdaptedGame
>>> game = AdaptedGame("tictactoe")
>>> game.agents, game.actions("x"), game.action_names("x")[0]
(('x', 'o'), 10, '(mark a 1)')
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggp.adapters.adapted_game import AdaptedGame
    from ggp.adapters.gymnasium import GdlEnv, register_game, register_games
    from ggp.adapters.openspiel import load_gdl
    from ggp.adapters.pettingzoo import GdlAEC, GdlParallel
    from ggp.adapters.stable_baselines import GdlVecEnv, make_sb3_vec
    from ggp.adapters.vector import GdlVectorEnv, make_vec
    from propnet.environments.vector_match import VectorMatch

# The names whose packages are installed: the lines below remove the others.
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

_HOMES = {
    "ggp.adapters.adapted_game": ("numpy", ("AdaptedGame",)),
    "ggp.adapters.gymnasium": ("gymnasium", ("GdlEnv", "register_game", "register_games")),
    "ggp.adapters.openspiel": ("pyspiel", ("load_gdl",)),
    "ggp.adapters.pettingzoo": ("pettingzoo", ("GdlAEC", "GdlParallel")),
    "ggp.adapters.stable_baselines": ("stable_baselines3", ("GdlVecEnv", "make_sb3_vec")),
    "ggp.adapters.vector": ("gymnasium", ("GdlVectorEnv", "make_vec")),
    "propnet.environments.vector_match": ("numpy", ("VectorMatch",)),
}
"""Each module with the package that it needs and its public names here."""
_HOME = {name: module for module, (_, names) in _HOMES.items() for name in names}
__all__[:] = [name for need, names in _HOMES.values() if find_spec(need) for name in names]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
