"""The players by name. A player's module is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from gdl.errors import GdlError
from players.player import Player

_PLACES = {
    "legal": ("players.legal", "LegalPlayer"),
    "random": ("players.random", "RandomPlayer"),
    "uct": ("players.uct", "UctPlayer"),
}

NAMES: tuple[str, ...] = tuple(_PLACES)
"""The names that :func:`make_player` knows."""


def make_player(name: str, seed: int = 0) -> Player:
    """A new player of a kind: ``legal``, ``random`` or ``uct``.

    Raises:
        GdlError: there is no such kind.
    """
    try:
        module, kind = _PLACES[name.lower()]
    except KeyError:
        raise GdlError(f"there is no player {name}", remedy=f"the players are {', '.join(NAMES)}") from None
    player: Player = getattr(import_module(module), kind)(seed=seed)
    return player
