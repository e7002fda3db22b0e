"""Finds a player's class by ``module:Class``, in the current folder too."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from gdl.errors import GdlError
from players.player import Player


def find_class(name: str) -> type[Player]:
    """The class that ``module:Class`` names; the module is imported.

    Modules are looked for where Python looks for them, and last of all in the current folder: the program
    ``ggp`` does not look there by itself. Raises GdlError if there is no such class, its module has a fault
    (told with file and line), or it is no player that can be made with nothing but a seed.
    """
    module, _, kind = name.partition(":")
    if kind.startswith("//"):
        raise GdlError(
            f"{name} is an address, and no player of this process",
            remedy="`ggp host` and `ggp tournament` play against addresses",
        )
    if not all(part.isidentifier() for part in (*module.split("."), kind)):
        raise GdlError(f"there is no player {name!r}", remedy="a class of yours is named module:Class")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        player = getattr(import_module(module), kind, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise GdlError(f"{module} cannot be imported: {_fault(error)}") from None
        raise GdlError(
            f"there is no player {name}: no module {error.name} in {here}, nor among Python's",
            remedy="name a file of this folder without .py",
        ) from None
    except Exception as error:
        raise GdlError(f"{module} cannot be imported: {_fault(error)}") from None
    if player is None:
        raise GdlError(
            f"there is no player {name}: {_where(module)} has no {kind}", remedy=_hint(module, here)
        )
    if not (isinstance(player, type) and issubclass(player, Player)):
        raise GdlError(f"{name} is no player", remedy="name a subclass of players.player.Player")
    if inspect.isabstract(player):
        missing = ", ".join(sorted(player.__abstractmethods__))
        raise GdlError(f"{name} lacks {missing}", remedy=f"write the method {missing}")
    try:
        inspect.signature(player).bind(seed=0)
    except TypeError as error:
        raise GdlError(
            f"{name} cannot be made with a seed alone: {error}",
            remedy="let __init__ take seed by name, and give the rest defaults",
        ) from None
    return player


def _where(module: str) -> str:
    return getattr(sys.modules[module], "__file__", None) or f"Python's module {module}"


def _hint(module: str, here: str) -> str:
    """What to do where the module has no such class: it may be another one than was meant."""
    first = module.partition(".")[0]
    spec = PathFinder.find_spec(first, [here])
    ours = spec.origin if spec is not None else None
    if ours is not None and Path(ours) != Path(getattr(sys.modules[first], "__file__", None) or ""):
        return f"another module is called {first} too: rename {Path(ours).name} in this folder"
    return "upper and lower case count"


def _fault(error: Exception) -> str:
    """What went wrong during an import, with the place in the innermost file that is not Python's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    frames = [f for f in frames if Path(f.filename) != Path(__file__)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text
