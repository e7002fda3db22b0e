"""Games in subfolders of ``games/``, move by move beside an oracle of their own."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from ggp.game import Game
from tests.games.oracles.oracle import Oracle, difference
from tests.games.rules_of_games import FILES
from tests.places import GAMES, in_turn

ORACLES = {
    "boards": "tests.games.oracles.boards",
}
"""Folder -> the module with its oracles."""
NAMES = [name for name, path in FILES.items() if path.parent != GAMES]
FEW, MANY = 150, 1000
"""Positions of a usual run, and of a slow one."""


def oracle_of(name: str) -> Callable[[], Oracle]:
    """What begins a match of a game by its oracle."""
    module = importlib.import_module(ORACLES[FILES[name].parent.name])
    found: Callable[[], Oracle] = getattr(module, name)
    return found


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_random_matches_agree_with_the_oracle(name: str) -> None:
    found, done = difference(Game.load(name).machine("propnet"), oracle_of(name), FEW, 1)
    assert not found
    assert done >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_random_matches_agree_with_the_oracle(name: str) -> None:
    assert not difference(Game.load(name).machine("propnet"), oracle_of(name), MANY, 2)[0]
