"""The application: games by name, the command line, the match protocol, the game manager.

>>> from ggp import Game
>>> Game.load("tictactoe")
<Game tictactoe: ... rules>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggp.game import Game, State

__all__ = ["Game", "State"]


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: importing ggp stays cheap."""
    if name in __all__:
        import ggp.game

        return getattr(ggp.game, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
