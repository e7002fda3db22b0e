"""The application: ``game`` (games by name), ``cli`` and ``commands`` (the command line). Behind these:

- ``terminal``: matches at a terminal;
- ``protocol``, ``server``, ``match_process``: a player for game managers;
- ``manager``, ``tournament``: matches between players, one or many;
- ``traces``: matches recorded and replayed; ``bench``: how fast machines are; ``warm``: compiling beforehand.

>>> from ggp import Game
>>> Game.load("tictactoe")
<Game tictactoe: ... rules>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggp.game import Game, State

__all__ = ["Game", "State"]


def version() -> str:
    """The version of this program; empty if it is not installed but runs from a checkout."""
    from importlib import metadata

    try:
        return metadata.version("kaskade-ggp")
    except metadata.PackageNotFoundError:
        return ""


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: importing ggp stays cheap."""
    if name in __all__:
        import ggp.game

        return getattr(ggp.game, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
