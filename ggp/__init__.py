"""Games, players and matches: what you load and play in Python.

``load`` gives a ``Game``, which makes states, machines, players and matches. A player of your own is a
subclass of ``Player`` and answers with a ``Choice``. ``ggp.adapters`` has environments for agents.

Behind these:

- ``cli`` and ``commands``: the command line;
- ``terminal``: matches at a terminal; ``in_code``: matches and players in code;
- ``protocol``, ``server``, ``match_process``: a player for game managers;
- ``manager``, ``tournament``: matches between players, one or many;
- ``traces``: matches recorded and replayed; ``bench``: how fast machines are; ``warm``: compiling beforehand;
- ``answers``, ``web``: questions of pages and programs.

>>> import ggp
>>> game = ggp.load("tictactoe")
>>> game
<Game tictactoe: ... rules>
>>> state = game.initial.play({"x": "(mark b 2)"})
>>> game.player("random").choose(state, seconds=1)
{'x': 'noop', 'o': '(mark ...)'}
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gdl.machine import Machine, State
    from ggp.game import Game, load
    from players.player import Choice, Player

    __version__: str

__all__ = ["Choice", "Game", "Machine", "Player", "State", "__version__", "load"]

_PLACES = {
    "Choice": "players.player",
    "Game": "ggp.game",
    "Player": "players.player",
    "Machine": "gdl.machine",
    "State": "gdl.machine",
    "load": "ggp.game",
}


def _check_packages() -> None:
    """Raise ImportError where a file of the user stands in the way of a package that comes with this one:
    Python finds the modules beside a script first."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in ("gdl", "propnet", "players"):
        try:
            spec = None if name in sys.modules else importlib.util.find_spec(name)
            origin = sys.modules[name].__file__ if name in sys.modules else spec and spec.origin
            if not origin or os.path.samefile(os.path.dirname(os.path.dirname(origin)), home):
                continue
        except (AttributeError, ValueError, OSError):  # made in code, or in an archive
            continue
        folder = os.path.basename(origin) == "__init__.py"
        raise ImportError(
            f"{os.path.dirname(origin) if folder else origin} hides the package {name!r} that ggp needs:"
            f" rename the {'folder' if folder else 'file'}"
        )


_check_packages()


def version() -> str:
    """The version of this program; empty if it is not installed but runs from a checkout."""
    from importlib import metadata

    try:
        return metadata.version("kaskade-ggp")
    except metadata.PackageNotFoundError:
        return ""


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: importing ggp stays cheap."""
    if name == "__version__":
        return version()
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
