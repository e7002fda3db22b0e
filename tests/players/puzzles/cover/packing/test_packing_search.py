"""Known numbers of packing puzzles by the real search; slices, saved searches and limits change nothing."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from bench.truth.covers import is_solution
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing.grids import grid
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.packing.text import FAMILIES, packing_of_text
from players.puzzles.cover.problem import CoverError
from tests.places import GAMES

PUZZLES = GAMES / "puzzles"
SLICE = 0.005


def ours(name: str) -> PackingPuzzle:
    return packing_of_text((PUZZLES / f"{name}.packing").read_text())


def ranged(family: str, most: int, x: int, y: int) -> PackingPuzzle:
    """Any of a family's pieces, each up to so often, in a rectangle."""
    pieces = tuple(Piece(CellShape.of(drawing, name), 0, most) for name, drawing in FAMILIES[family].items())
    return PackingPuzzle(grid("cubes"), pieces, CellShape.of([["#" * x] * y]))


def counted(puzzle: PackingPuzzle, *, every: bool = False, delivers: bool = True) -> int:
    search = PackingSearch(puzzle, CoverOptions(delivers=delivers), every=every)
    while not search.step(time.monotonic() + 1):
        pass
    result = search.result()
    assert result.complete and (not delivers or len(search.taken()) == result.solutions)
    return result.solutions


@pytest.mark.parametrize("delivers", [True, False])
@pytest.mark.parametrize(
    ("puzzle", "all_of_them", "different"),
    [
        (ours("soma"), 11_520, 240),
        (ours("burr"), 12, 1),
        (ranged("tetrominoes", 5, 5, 4), 454, None),
        (ranged("pentominoes", 1, 5, 5), 856, 107),
        (ranged("pentominoes", 5, 5, 5), 4_006, None),
    ],
    ids=["soma", "burr", "tetrominoes in 4x5", "pentominoes in 5x5, each once", "pentominoes in 5x5"],
)
def test_known_numbers(
    puzzle: PackingPuzzle, all_of_them: int, different: int | None, delivers: bool
) -> None:
    assert counted(puzzle, every=True, delivers=delivers) == all_of_them
    if different is not None:
        assert counted(puzzle, delivers=delivers) == different


def test_pentominoes_come_in_slices_and_as_many_as_are_asked_for() -> None:
    search = PackingSearch(ours("pentominoes6x10"), CoverOptions(first=7))
    found: list[np.ndarray] = []
    while not search.step(time.monotonic() + SLICE):
        found += search.taken()
    found += search.taken()
    assert len(found) == search.result().solutions == 7
    for each in found:
        assert is_solution(search.packing.problem, each.tolist())
        assert (search.packing.drawn(each) >= 0).all()


def test_a_saved_search_goes_on() -> None:
    puzzle = ours("soma")
    search = PackingSearch(puzzle)
    whole = set()
    steps = 0
    while not search.step(time.monotonic()):
        whole |= {tuple(each.tolist()) for each in search.taken()}
        steps += 1
        search = PackingSearch.resumed(puzzle, json.loads(json.dumps(search.saved())))
    whole |= {tuple(each.tolist()) for each in search.taken()}
    assert steps and len(whole) == search.result().solutions == 240


def test_a_search_that_has_enough_goes_on_for_more() -> None:
    puzzle, found = ours("soma"), []
    search = PackingSearch(puzzle, CoverOptions(first=100))
    while not search.step(time.monotonic() + 1):
        pass
    found += search.taken()
    assert len(found) == search.result().solutions == 100 and not search.result().complete
    search = PackingSearch.resumed(puzzle, json.loads(json.dumps(search.saved())))
    while not search.step(time.monotonic() + 1):
        pass
    found += search.taken()
    assert len({tuple(each.tolist()) for each in found}) == len(found) == search.result().solutions == 240
    assert search.result().complete


def test_a_search_of_another_puzzle_is_refused() -> None:
    saved = PackingSearch(ours("soma")).saved()
    for damage in ({}, {"packing": {}}, {**saved, "packing": {"kept": -1, "sieved": True}}):
        with pytest.raises(CoverError):
            PackingSearch.resumed(ours("soma"), damage)
    with pytest.raises(CoverError):
        PackingSearch.resumed(ours("pentominoes6x10"), saved)
