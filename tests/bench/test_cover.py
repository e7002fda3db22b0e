"""The table of covers has right numbers, would not take wrong ones, and says where we are behind."""

from __future__ import annotations

import pytest

from bench.cover.__main__ import Row, measure, request
from bench.cover.instances import INSTANCES, Instance, coloured_squares, domination, queens
from players.puzzles.cover.search import count


def test_a_row_is_measured_and_its_number_checked() -> None:
    row = measure("dominoes4x4", INSTANCES["dominoes4x4"], tells=True)
    assert row.solutions == 36 and 0 < row.best[0] <= row.ours * 100
    with pytest.raises(ValueError, match="wrong has 5 solutions, "):
        measure("wrong", Instance(lambda: queens(6), 5), tells=False)


def test_rows_are_behind_by_a_ratio_and_by_a_time_that_one_notices() -> None:
    def row(ours: float, best: float, peer: float) -> list[str]:
        return Row("", True, 1, ours, "", {"bitset": best, "cells": 9.0}, {"xcover": peer}).behind

    assert row(0.100, 0.099, 0.2) == []
    assert row(0.120, 0.1, 0.2) == ["bitset 1.20"]
    assert row(0.120, 0.119, 0.1) == ["xcover 1.20"]
    assert row(0.0015, 0.0006, 0.0006) == []


def test_other_programs_get_what_they_can_solve() -> None:
    assert request(domination(4, 3)) is None
    asked = request(queens(5))
    assert asked is not None and (asked["primary"], asked["items"]) == (10, 28)
    coloured = request(coloured_squares(1, 2))
    assert coloured is not None and coloured["primary"] == 2 and max(coloured["colours"]) > 0


@pytest.mark.parametrize(
    "name", ["letters", "queens6", "latin4", "triples9", "sudoku", "burr", "dominoes6x6 without corners"]
)
def test_instances_have_their_known_numbers(name: str) -> None:
    assert count(INSTANCES[name].build()) == INSTANCES[name].solutions
