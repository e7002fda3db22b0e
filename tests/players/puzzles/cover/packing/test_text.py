"""Packing puzzles as text: what they say, what is refused, and that what is written is read again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.packing.search import Duplicates
from players.puzzles.cover.packing.text import is_packing_text, packing_of_text
from players.puzzles.cover.problem import CoverError
from tests.places import GAMES
from tests.players.puzzles.cover.packing.plain_search import solutions

PUZZLES = sorted((GAMES / "puzzles").glob("*.packing"))
COLOURED = """; a remark
packing cubes
title Two colours
allow 1 1
allow 2 2
holes 1
piece bar x1-2
12
piece corner
##
-
..
.#
result
1a+
##.
-
...
.#.
"""


def different(puzzle: PackingPuzzle) -> int:
    duplicates = Duplicates.of(Packing.of(puzzle))
    return len(duplicates.kept([np.array(each, np.int32) for each in solutions(duplicates.problem)]))


def test_a_text_is_read() -> None:
    puzzle = packing_of_text(COLOURED)
    assert (puzzle.name, puzzle.holes, puzzle.allowed) == ("Two colours", 1, {(1, 1), (2, 2)})
    bar, corner = puzzle.pieces
    assert (bar.minimum, bar.maximum, bar.shape.colours.tolist()) == (1, 2, [1, 2])
    assert corner.shape.cells.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 1]]
    result = puzzle.result
    assert result.cells.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert result.fixed.tolist() == [True, False, False, True, True, True]
    assert result.colours.tolist() == [1, 1, 0, 0, 0, 0]


def test_our_puzzles_are_there_and_known_as_such() -> None:
    assert {path.stem for path in PUZZLES} >= {"pentominoes6x10", "pentominoes3x4x5", "soma"}
    assert all(is_packing_text(path.read_text()) for path in PUZZLES)
    assert not is_packing_text("a b c\na\n") and not is_packing_text('{"packing": 1}')
    # An expression that could split these lines in many ways would never end.
    assert not is_packing_text("\n" * 100_000 + "x") and is_packing_text("\n;\n" * 1000 + " packing")


def test_soma_of_its_file() -> None:
    path = next(path for path in PUZZLES if path.stem == "soma")
    packing = Packing.of(packing_of_text(path.read_text()))
    assert len(Duplicates.of(packing).images) == 47
    assert different(packing.puzzle) == 240


def test_flat_pieces_are_not_turned_over() -> None:
    """S- and L-tetrominoes alone: of a 2 x 4 rectangle two L make 2 tilings, which are reflections."""
    text = "packing cubes\n{}result 4 x 2\ntetrominoes LL\n"
    free = packing_of_text(text.format(""))
    flat = packing_of_text(text.format("flat\n"))
    assert len(solutions(Packing.of(free).problem)) == 2
    assert len(solutions(Packing.of(flat).problem)) == 1
    assert different(free) == different(flat) == 1


CELL = {
    "cubes": (0, 0, 0),
    "prisms": (0, 0, 0),
    "spheres": (0, 0, 0),
    "rhombic": (2, 1, 0),
    "tetra-octahedra": (1, 1, 1),
}


@pytest.mark.parametrize(
    ("grid", "cells", "places"),
    [
        ("cubes", 216, 216),
        ("prisms", 216, 216),
        ("spheres", 108, 108),
        ("rhombic", 24 + 3 * 4, 24 + 3 * 4),
        ("tetra-octahedra", 8 * 5, 8),
    ],
)
def test_boxes_of_every_grid(grid: str, cells: int, places: int) -> None:
    """A single cell fits wherever there is one of its kind: rotations take each to each, but in the last grid
    only tetrahedra to tetrahedra."""
    x, y, z = CELL[grid]
    drawing = "".join(".\n-\n" * z + ".\n" * y + "." * x + "#\n")
    puzzle = packing_of_text(f"packing {grid}\nresult 6 x 6 x 6\npiece a x0-300\n{drawing}")
    assert len(puzzle.result) == cells
    assert len(Packing.of(puzzle).placed[0]) == places


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^line 1, column 1: no packing puzzle"),
        ("packing hexagons\n", "^line 1, column 1: .*hexagons"),
        ("packing\n", "^line 1, column 1: .*no result"),
        ("packing\nresult 2 x 2\n", "no pieces"),
        ("packing\nresult 2 x q\n", "^line 2, column 1: .*not a size"),
        ("packing\nresult 9999 x 9999\n", "^line 2, column 1: .*too large"),
        ("packing\n\n; so\n  piece\n##\n", "^line 4, column 3: expected a name and how often, found ''"),
        ("packing\npiece a y3\n##\n", "^line 2, column 1: expected a name and how often, found 'a y3'"),
        ("packing\npiece a\nresult 2 x 2\n", "^line 2, column 1: 'a' has no drawing"),
        ("packing\npiece a\n #X#\nresult 2 x 2\n", "^line 3, column 3: 'X' is not a mark .*write # "),
        ("packing\npiece a\n##\n#*\nresult 2 x 2\n", r"^line 4, column 2: '\*' is not a mark"),
        ("packing\npentominoes Q\n", "^line 2, column 1: .*'Q' among"),
        ("packing\ncolour 3\n", "^line 2, column 1: 'colour' means nothing"),
        ("packing\nallow 3\n", "^line 2, column 1: expected 2 numbers, found '3'"),
        ("packing\nholes many\n", "^line 2, column 1: expected 1 number, found 'many'"),
        ("packing\npiece a x3-2\n#\nresult 2 x 2\n", "^line 2, column 1: 3 to 2 copies"),
        ("packing\npiece a x2\n##\nresult\n##\n##\n##\n", "^line 4, column 1: .* 2 cells too few .* as \\+"),
        ("packing\npiece a x3\n##\nresult 4 x 1\n", "^line 4, column 1: .* 2 cells more than the result"),
        ("packing prisms\nflat\npiece a x4\n#\nresult 2 x 2\n", "flat"),
        ("packing\npiece a\n+\nresult 2 x 2\n", "variable"),
        ("packing rhombic\npiece a\n#\nresult 5 x 5 x 5\n", "no cell"),
    ],
)
def test_what_is_no_puzzle_is_refused(text: str, message: str) -> None:
    with pytest.raises(CoverError, match=message) as caught:
        packing_of_text(text)
    assert caught.value.remedy


@given(at=st.integers(0, len(COLOURED) - 1), what=st.text(max_size=4), width=st.integers(0, 20))
def test_damage_gives_an_error_or_a_puzzle(at: int, what: str, width: int) -> None:
    try:
        puzzle = packing_of_text(COLOURED[:at] + what + COLOURED[at + width :])
    except CoverError:
        return
    Packing.of(puzzle)


def test_sizes_may_be_written_with_the_sign_of_times() -> None:
    assert len(packing_of_text("packing\npiece a x3\n##\nresult 3×2\n").result) == 6


def test_remarks_may_stand_behind_a_line_and_in_a_drawing() -> None:
    text = "packing cubes ; a remark\nresult 2 x 2 ; a size\npiece bar x2 ; two\n## ; marks\n"
    puzzle = packing_of_text(text)
    assert (puzzle.pieces[0].minimum, len(puzzle.pieces[0].shape), len(puzzle.result)) == (2, 2, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "packing\nholes 1\nresult\n+++\npiece a\n##\n",
            "fixed numbers of pieces each solution leaves 1 cell",
        ),
        ("packing\nholes 1\nresult 3 x 1\npiece a x0-2\n##\n", "no cell of the result may stay empty"),
        ("packing\nholes 1\nresult\n+++\npiece a x0-2\n##\n", ""),
        ("packing\nresult\n+++\npiece a\n##\n", ""),
    ],
)
def test_why_holes_change_nothing_is_said(text: str, why: str) -> None:
    remark = packing_of_text(text).remark
    assert why in remark and bool(remark) is bool(why)


def test_a_second_result_is_refused_with_the_line_of_the_first() -> None:
    with pytest.raises(CoverError, match="line 3, column 1: a second result, after that in line 2"):
        packing_of_text("packing\nresult 2 x 2\nresult 2 x 3\npiece a\n##\n##\n")
