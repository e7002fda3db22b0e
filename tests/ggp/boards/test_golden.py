"""The picture of every game that comes along is the one that somebody has looked at."""

from __future__ import annotations

import orjson
import pytest

from bench.boards.recorded import GOLDEN, hashes, own_games
from tests.places import ROOT

KNOWN = orjson.loads((ROOT / GOLDEN).read_bytes())


@pytest.mark.parametrize("game", own_games())
def test_every_picture_is_the_one_that_was_looked_at(game: str) -> None:
    assert hashes(game) == KNOWN.get(game), "look at `python -m bench.boards`, then run it with --golden"


def test_no_picture_is_of_a_game_that_is_gone() -> None:
    assert sorted(KNOWN) == sorted(own_games())
