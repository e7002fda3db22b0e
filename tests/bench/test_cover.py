"""The table of covers has right numbers, and would not take wrong ones."""

from __future__ import annotations

import pytest

from bench import cover
from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.outcome import CoverOptions


def test_a_row_is_measured_and_its_number_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cover.measure("dominoes6x6", CoverOptions()).startswith("| dominoes6x6 | 6,728 | ")
    monkeypatch.setitem(cover.INSTANCES, "wrong", (lambda: cover.queens(6), 5))
    with pytest.raises(ValueError, match="has 5 solutions, not 4"):
        cover.measure("wrong", CoverOptions())


def test_sudokus_have_one_solution() -> None:
    problem, given = cover.sudokus(8)
    assert [count for count, _ in Bitset(problem).each(given)] == [1] * 8
