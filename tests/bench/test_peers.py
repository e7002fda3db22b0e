"""The table of other systems shows what was measured and what fails, and every game is one of ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.peers.__main__ import PEERS, PLAYED, markdown, rate
from ggp.game import Game


@pytest.mark.parametrize("game", PLAYED)
def test_games_are_ours_and_have_a_name_or_none_for_each_system(game: str) -> None:
    assert Game.load(game).name
    assert len(PLAYED[game]) == len(PEERS)


def test_rates_and_reasons_stand_in_their_columns() -> None:
    text = markdown({"hex": {"ours": 1234567.0, "pgx": "> 300 s", "open_spiel": 5.0}}, "a processor")
    assert "| hex | 1,234,567 |  | > 300 s | 5 |  |" in text
    assert text.startswith("a processor\n")


def test_a_system_that_fails_says_why() -> None:
    assert "KeyError" in str(rate(Path(sys.executable), "none", "chess", 0.1))
