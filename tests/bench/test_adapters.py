"""The benchmark of environments plays matches and counts their steps."""

from __future__ import annotations

import pytest

from bench.adapters import vector_rate, wrapped
from ggp.game import Game


@pytest.mark.slow
def test_rates_are_of_the_environments_that_were_asked_for() -> None:
    row = vector_rate(Game.load("tictactoe"), 64, 0.05)
    assert (row.game, row.environments) == ("tictactoe", 64)
    assert row.rate > 0 and 0 < row.of_choice < 1


def test_wrapped_environments_are_timed() -> None:
    pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")
    rows = list(wrapped("tictactoe", 16, 0.05))
    assert [row.environments for row in rows] == [16, 1]
    assert all(row.rate > 0 for row in rows)
