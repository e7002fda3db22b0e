"""The oracles of this folder: each has the name of its game."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final

from tests.games.oracles.match import Match
from tests.places import GAME_FILES

PARTS: Final = (
    "chance", "cubes", "groups", "hidden", "lined", "moving", "packing", "paper", "phantom", "plain",
    "puzzles", "several", "boards",
)  # fmt: skip
"""The modules; the last one needs other programs."""


def oracles_in(part: str) -> dict[str, Callable[[], Match]]:
    """The oracles of a module: game -> what begins a match of it."""
    things = vars(import_module(f"tests.games.oracles.{part}")).items()
    return {word.lower(): thing for word, thing in things if word.lower() in GAME_FILES}


@cache
def oracle_of(name: str) -> Callable[[], Match]:
    """What begins a match of a game by its oracle. Raises KeyError if it has none."""
    found = next((own for part in PARTS if name in (own := oracles_in(part))), {})
    return found[name]
