"""BurrTools' files: what they mean, what is refused, and its bundled examples where they are at hand."""

from __future__ import annotations

import contextlib
import gzip
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import FileError
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.duplicates import Duplicates
from players.puzzles.cover.packing.grids.registry import GRIDS
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.xmpuzzle.model import BurrFile
from players.puzzles.cover.xmpuzzle.places import Places
from players.puzzles.cover.xmpuzzle.reading import read_xmpuzzle, xmpuzzle
from players.puzzles.cover.xmpuzzle.tree import MOST_BYTES
from players.puzzles.cover.xmpuzzle.turns import turn_of_way, way_of_turn
from players.puzzles.cover.xmpuzzle.writing import written_xmpuzzle
from tests.players.puzzles.cover.packing.plain_search import solutions

EXAMPLES = os.environ.get("GGP_BURRTOOLS", "")
"""A folder with BurrTools' examples."""

CORNERS = b"""<?xml version="1.0"?>
<puzzle version="2">
 <gridType type="0"/>
 <colors><color red="200" green="0" blue="10"/><color red="0" green="9" blue="99"/></colors>
 <shapes>
  <voxel x="2" y="2" z="1" hx="1" name="corner" type="0">###_</voxel>
  <voxel x="1" y="1" z="1" type="0">#1</voxel>
  <voxel x="3" y="3" z="1" type="0">##+2##1####</voxel>
 </shapes>
 <problems>
  <problem name="F\xe4rber" state="2" assemblies="1" maxHoles="2">
   <shapes>
    <shape id="0" count="2"/>
    <shape id="1" min="1" max="3"><group group="2" count="1"/></shape>
   </shapes>
   <result id="2"/>
   <bitmap><pair piece="0" result="0"/></bitmap>
   <solutions>
    <solution><assembly>0 0 0 16 1 1 0 0 1 0 0 0 x x</assembly><separation><a/></separation></solution>
   </solutions>
  </problem>
 </problems>
 <comment popup="">von Stra\xdfe &amp; Weg</comment>
</puzzle>
"""


def voxel(marks: str, x: int, y: int, z: int) -> str:
    return f'<voxel x="{x}" y="{y}" z="{z}" type="0">{marks}</voxel>'


def small(pieces: str, problem: str, grid: int = 0) -> bytes:
    return (
        f'<puzzle version="2"><gridType type="{grid}"/><shapes>{pieces}</shapes>'
        f"<problems>{problem}</problems></puzzle>"
    ).encode()


def kept(file: BurrFile, number: int) -> tuple[Places, Duplicates, list[np.ndarray]]:
    problem = file.problem(number)
    packing = Packing.of(problem.puzzle)
    duplicates = Duplicates.of(packing)
    found = [np.array(each, np.int32) for each in solutions(duplicates.problem)]
    return Places(file, problem, packing), duplicates, duplicates.kept(found)


@pytest.mark.parametrize("data", [CORNERS, gzip.compress(CORNERS)], ids=["plain", "gzip"])
def test_a_file_is_read(data: bytes) -> None:
    file = xmpuzzle(data)
    assert file.comment == "von Straße & Weg"
    assert file.colours == ((200, 0, 10), (0, 9, 99))
    assert file.shapes[0].hotspot == (1, 0, 0)
    assert file.shapes[0].shape.cells.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    result = file.shapes[2].shape
    assert result.fixed.tolist() == [True, True, False] + [True] * 6
    assert result.colours.tolist() == [0, 0, 2, 0, 1, 0, 0, 0, 0]
    problem = file.problem()
    assert problem.puzzle.name == "Färber"
    assert [(p.minimum, p.maximum) for p in problem.puzzle.pieces] == [(2, 2), (1, 3)]
    assert problem.puzzle.pieces[1].groups == ((2, 1),)
    assert problem.puzzle.allowed == {(1, 1)}
    assert problem.puzzle.most_holes == 2
    assert problem.assemblies == 1
    assert problem.saved == (((0, 0, 0, 16), (1, 1, 0, 0), (1, 0, 0, 0), None, None),)


def test_what_is_written_is_read_again() -> None:
    file = xmpuzzle(CORNERS)
    places, _, ours = kept(file, 1)
    assert ours
    listed = [places.places(each) for each in ours]
    again = xmpuzzle(written_xmpuzzle(file, {1: listed}))
    assert again.problem().saved == tuple(listed)
    assert again.problem().assemblies == len(ours)
    there = Places(again, again.problem(), places.packing)
    for each, back in zip(ours, again.problem().saved, strict=True):
        assert (there.solution(back) == each).all()
    assert again.comment == file.comment and again.colours == file.colours
    one, other = again.problem().puzzle, file.problem().puzzle
    assert (one.name, one.allowed, one.holes) == (other.name, other.allowed, other.holes)
    for ours_, theirs in zip(again.shapes, file.shapes, strict=True):
        assert (ours_.size, ours_.hotspot) == (theirs.size, theirs.hotspot)
        assert (ours_.shape.cells == theirs.shape.cells).all()
        assert (ours_.shape.fixed == theirs.shape.fixed).all()
        assert (ours_.shape.colours == theirs.shape.colours).all()


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)
def test_turns_are_numbered_both_ways(grid) -> None:  # type: ignore[no-untyped-def]
    numbers = range(len(grid.matrices))
    assert sorted(way_of_turn(grid, number) for number in numbers) == list(numbers)
    assert all(turn_of_way(grid, way_of_turn(grid, number)) == number for number in numbers)
    assert way_of_turn(grid, 0) == 0


def test_of_two_solutions_that_mirror_each_other_one_is_kept() -> None:
    """Two left screws make a cube, and so do two right ones, its mirror image; one of each do not."""
    screws = voxel("###__#__", 2, 2, 2) + voxel("###___#_", 2, 2, 2) + voxel("########", 2, 2, 2)
    both = '<shape id="0" min="0" max="2"/><shape id="1" min="0" max="2"/>'
    one = '<shape id="0" count="2"/>'
    problems = "".join(f'<problem><shapes>{p}</shapes><result id="2"/></problem>' for p in (both, one))
    file = xmpuzzle(small(screws, problems))
    alone = solutions(Packing.of(file.problem(2).puzzle).problem)
    assert len(solutions(Packing.of(file.problem(1).puzzle).problem)) == 2 * len(alone) > 0
    assert len(kept(file, 1)[2]) == len(kept(file, 2)[2]) == 1


def test_an_interrupted_search_is_refused_and_a_finished_one_is_not() -> None:
    pieces = voxel("#", 1, 1, 1)
    inside = '<shapes><shape id="0"/></shapes><result id="0"/><assembler version="1.4">0 1</assembler>'
    halted = xmpuzzle(small(pieces, f'<problem state="1">{inside}</problem>')).problem()
    with pytest.raises(CoverError, match=r"assembler 1\.4") as caught:
        halted.refuse_to_go_on()
    assert "from its beginning" in str(caught.value)
    xmpuzzle(small(pieces, f'<problem state="2">{inside}</problem>')).problem().refuse_to_go_on()


BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>
<puzzle><comment>&b;</comment></puzzle>"""
REFUSED = {
    "entities": (BOMB, "document type"),
    "outside file": (b'<!DOCTYPE p SYSTEM "file:///etc/passwd"><puzzle/>', "document type"),
    "no XML": (b"GIF89a", "no XML"),
    "cut off": (CORNERS[:-40], "no XML"),
    "cut off, packed": (gzip.compress(CORNERS)[:-20], "ends too early"),
    "damaged, packed": (gzip.compress(CORNERS)[:30] + b"\0" * 300, "damaged|too early"),
    "empty": (b"", "no XML"),
    "deep": (b"<a>" * 1000 + b"</a>" * 1000, "too deep"),
    "deep where nothing is read": (b"<puzzle><separation>" + b"<a>" * 1000, "too deep"),
    "another thing": (b"<html/>", "no puzzle"),
    "packed to nothing": (gzip.compress(b" " * (MOST_BYTES + 1), 9), "too large"),
    "unknown grid": (small("", "", 7), "type 7"),
    "huge shape": (small(voxel("#", 99999, 99999, 99999), ""), "too large"),
    "huge shape, and nothing of it read": (small(voxel("?", 144, 144, 144), ""), "too large"),
    "huge shapes together": (small(voxel("?", 100, 100, 100) * 3, ""), "shape 3 is too large"),
    "too many cells": (small(voxel("#" * 100_001, 1, 1, 1), ""), "too large"),
    "too few voxels": (small(voxel("##", 3, 1, 1), ""), "2 voxels"),
    "too many voxels": (small(voxel("####", 3, 1, 1), ""), "4 voxels"),
    "strange mark": (small(voxel("#?", 2, 1, 1), ""), "no mark"),
    "strange colour": (small(voxel("#64", 1, 1, 1), ""), "no mark"),
    "number": (small('<voxel x="-1" y="1" z="1">#</voxel>', ""), "no number"),
    "no such shape": (small("", '<problem><result id="3"/></problem>'), "shape 4"),
    "no result": (small("", "<problem/>"), "no result"),
    "bounds": (
        small(
            voxel("#", 1, 1, 1),
            '<problem><shapes><shape id="0" min="2" max="1"/></shapes><result id="0"/></problem>',
        ),
        "2 to 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_puzzle_is_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(CoverError, match=message) as caught:
        xmpuzzle(data)
    assert "\n" not in str(caught.value)
    if not data.startswith(b"\x1f\x8b"):
        place = caught.value.place
        assert place is not None and place.line >= 1 and place.column >= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [("0 0 0", "damaged"), ("a b c d", "damaged"), ("0 0 0 99", "turn 99"), ("x x", "2 pieces, not 1")],
)
def test_damaged_solutions_are_refused(words: str, message: str) -> None:
    solution = f"<solutions><solution><assembly>{words}</assembly></solution></solutions>"
    problem = f'<problem><shapes><shape id="0"/></shapes><result id="0"/>{solution}</problem>'
    with pytest.raises(CoverError, match=message):
        xmpuzzle(small(voxel("#", 1, 1, 1), problem))


def test_solutions_that_do_not_fit_are_refused() -> None:
    solution = "<solutions><solution><assembly>5 0 0 0</assembly></solution></solutions>"
    problem = f'<problem><shapes><shape id="0"/></shapes><result id="0"/>{solution}</problem>'
    file = xmpuzzle(small(voxel("#", 1, 1, 1), problem))
    with pytest.raises(CoverError, match="does not fit"):
        Places(file, file.problem(), Packing.of(file.problem().puzzle)).solution(file.problem().saved[0])
    with pytest.raises(CoverError, match="no problem 2"):
        file.problem(2)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        read_xmpuzzle(tmp_path / "none.xmpuzzle")


@given(at=st.integers(0, len(CORNERS) - 1), what=st.binary(max_size=6), width=st.integers(0, 30))
def test_damage_gives_an_error_or_a_puzzle(at: int, what: bytes, width: int) -> None:
    with contextlib.suppress(CoverError):
        file = xmpuzzle(CORNERS[:at] + what + CORNERS[at + width :])
        for problem in file.problems:
            if max((len(shape.shape) for shape in file.shapes), default=0) < 50:
                Packing.of(problem.puzzle)


COUNTS = {
    "12PieceSeparation": [1],
    "AlPackino": [1],
    "AugmentedSecondStellation": [2],
    "BallRoom": [2, 1, 3],
    "Bermuda": [1],
    "BrokenSticks": [2, 0],
    "CubeInCage": [96],
    "DemoMirrorParadox": [1, 1],
    "DemoPieceGenerator": [928],
    "DiagonalCube": [2],
    "DraculasDentalDesaster": [84],
    "FourPieceTetrahedron": [1],
    "HexSticks": [33],
    "PelikanBurr": [12],
    "PermutatedThirdStellation": [2],
    "PiecesOfEight": [6, 4, 43, 12, 20, 12],
    "Prisgon": [1, 1],
    "SolidSixPieceBurrs": [588],
}
"""What BurrTools' own program counts in its bundled examples."""


@pytest.mark.skipif(not EXAMPLES, reason="GGP_BURRTOOLS names no folder with BurrTools' examples")
@pytest.mark.parametrize("name", COUNTS)
def test_bundled_examples_of_burrtools(name: str) -> None:
    file = read_xmpuzzle(Path(EXAMPLES) / f"{name}.xmpuzzle")
    assert len(file.problems) == len(COUNTS[name])
    for number, count in enumerate(COUNTS[name], 1):
        problem = file.problem(number)
        search = PackingSearch(problem.puzzle)
        ours = set()
        while search.step(time.monotonic() + 1):
            ours |= {tuple(each.tolist()) for each in search.taken()}
        ours |= {tuple(each.tolist()) for each in search.taken()}
        assert len(ours) == count
        places = Places(file, problem, search.packing)
        duplicates = Duplicates.of(search.packing)
        saved = {tuple(duplicates.least(places.solution(each)).tolist()) for each in problem.saved}
        assert saved <= ours
        if len(problem.saved) == problem.assemblies == count:
            assert saved == ours
