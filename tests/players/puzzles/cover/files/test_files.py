"""Files say what they mean, BurrTools' too: line and column of what is wrong, problems as written."""

from __future__ import annotations

import contextlib
import gzip
import os
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.truth.covers import solutions_of
from gdl.errors import GdlError, sound
from players.puzzles.cover.files.texts import problem_of, read_dlx, read_json
from players.puzzles.cover.files.xmpuzzle import xmpuzzle
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import solve
from tests.examples import examples
from tests.players.puzzles.cover.packing.plain_search import kept_of, solutions
from tests.players.puzzles.cover.problems import as_json, cover_problems


@given(cover_problems())
@examples(100)
def test_json_is_read_as_it_was_written(problem: CoverProblem) -> None:
    again = read_json(as_json(problem))
    for name in ("minimum", "maximum", "starts", "nodes", "weights", "may_be_hole"):
        assert np.array_equal(getattr(again, name), getattr(problem, name))
    assert again.holes == problem.holes
    assert solutions_of(again) == solutions_of(problem)


def test_examples_of_knuth() -> None:
    """From dlx1, dlx2 and dlx3: the option without a primary item is never chosen."""
    exact = "| A simple example\nA B C D E | F G\nC E F\nA D G\nB C F\nA D\nB G\nD E G\n"
    colours = "| colours\nA B C | X Y\nA B X:0 Y:0\nA C X:1 Y:1\nX:0 Y:1\nB X:1\nC Y:1\n"
    bounds = "| bounds\nA B 2:3|C | X Y\nA B X:0 Y:0\nA C X:1 Y:1\nC X:0\nB X:1\nC Y:1\n"
    for text, known in ((exact, [0, 3, 4]), (colours, [1, 3]), (bounds, [1, 3, 4])):
        assert [one.tolist() for one in solve(read_dlx(text))] == [known]


def test_bounds_of_items() -> None:
    problem = read_dlx("a 3|b 0:2|c | d\na d\n")
    assert list(zip(problem.minimum.tolist(), problem.maximum.tolist(), strict=True)) == [
        (1, 1), (3, 3), (0, 2), (0, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "1:1: no line"),
        ("| only this", "1:1: no line"),
        ("a a", "1:3: the item 'a' is there twice"),
        ("a | b | c", "1:7: a second |"),
        ("| x\n\n2:1|a", "3:1: 'a' cannot be covered 2 to 1 times"),
        ("a\n  b", "2:3: 'b' is not an item"),
        ("a\na a", "2:3: 'a' stands twice"),
        ("a b | c\na:1", "2:1: 'a' is primary and has a colour"),
        ("0:1|a\na:1", "2:1: 'a' is primary"),
        ("a | b\na b:", "2:3: 'b:' has no colour"),
        ("a b\na b |5", "2:5: costs (DLX5) are not read: '|5'"),
        ("a | 2:3|b", "1:5: '2:3|b' names no item"),
        ("| c\n | \n", "1:1: no line"),
        ('{"items":[1],"options":[]}', "items[0]: this is not an object"),
        ('{"items":["a"],\n"options":[["a",{"item":"b"}]]}', "options[0][1]: 'b' is not an item"),
        (
            '{"items":["a"],\n"options":[["a"],{"nodes":["a",\n  "a"]}]}',
            "options[1].nodes[1]: 'a' stands twice",
        ),
        ('{"items":["a"],"options":[],"holes":-1}', "holes: the number of holes"),
        ('{"items":["a"],"options":[],"holes":1e99}', "holes: the number of holes"),
        ('{"items":["a"],"options":[], "other":1}', "other: 'other' is unknown"),
        ('{"items":["a"],"options":[["a"]', "this is not JSON"),
        ("{" * 5000, "this is not JSON"),
    ],
)
def test_what_is_wrong_and_where(text: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / "puzzle"
    path.write_text(text)
    with pytest.raises(CoverError) as caught:
        problem_of(path.read_bytes(), str(path))
    assert where in str(caught.value) and str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet='ab:|0123 \n\t{}[]",minxholes'))
@example("a\u2028b")
@examples(200)
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (read_dlx, read_json):
        with suppress(CoverError):
            read(text).check()


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(GdlError, match=r"^puzzle:2:4: this is not text"):
        problem_of("a b\nä b".encode() + b"\0", "puzzle")


# --- BurrTools' files: what they mean, what is refused, and its bundled examples where they are at hand
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


@pytest.mark.parametrize("data", [CORNERS, gzip.compress(CORNERS)], ids=["plain", "gzip"])
def test_a_file_is_read(data: bytes) -> None:
    file = xmpuzzle(data)
    assert sound(file.shapes[0]).cells.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    result = sound(file.shapes[2])
    assert result.fixed.tolist() == [True, True, False] + [True] * 6
    assert result.colours.tolist() == [0, 0, 2, 0, 1, 0, 0, 0, 0]
    problem = file.problem()
    assert problem.puzzle.name == "Färber"
    assert [(p.minimum, p.maximum) for p in problem.puzzle.pieces] == [(2, 2), (1, 3)]
    assert problem.puzzle.pieces[1].groups == ((2, 1),)
    assert problem.puzzle.allowed == {(1, 1)}
    assert problem.puzzle.most_holes == 2


def test_of_two_solutions_that_mirror_each_other_one_is_kept() -> None:
    """Two left screws make a cube, and so do two right ones, its mirror image; one of each do not."""
    screws = voxel("###__#__", 2, 2, 2) + voxel("###___#_", 2, 2, 2) + voxel("########", 2, 2, 2)
    both = '<shape id="0" min="0" max="2"/><shape id="1" min="0" max="2"/>'
    one = '<shape id="0" count="2"/>'
    problems = "".join(f'<problem><shapes>{p}</shapes><result id="2"/></problem>' for p in (both, one))
    file = xmpuzzle(small(screws, problems))
    alone = solutions(Packing.of(file.problem(2).puzzle).problem)
    assert len(solutions(Packing.of(file.problem(1).puzzle).problem)) == 2 * len(alone) > 0
    assert [len(kept_of(Packing.of(file.problem(number).puzzle))[2]) for number in (1, 2)] == [1, 1]


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
    "entities": (BOMB, "declares the entity 'a'"),
    "outside file": (
        b'<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><puzzle/>',
        "declares the entity",
    ),
    "no XML": (b"GIF89a", "this is not XML"),
    "cut off": (CORNERS[:-40], "this is not XML"),
    "cut off, packed": (gzip.compress(CORNERS)[:-20], "damaged"),
    "damaged, packed": (gzip.compress(CORNERS)[:30] + b"\0" * 300, "damaged"),
    "empty": (b"", "this is not XML"),
    "deep": (b"<a>" * 1000 + b"</a>" * 1000, "too deep"),
    "deep where nothing is read": (b"<puzzle><separation>" + b"<a>" * 1000, "too deep"),
    "another thing": (b"<html/>", "no puzzle"),
    "packed to nothing": (gzip.compress(b" " * (64 << 20 | 1), 9), "too large"),
    "unknown grid": (small("", "", 7), "type 7"),
    "huge shape": (small(voxel("#", 99999, 99999, 99999), ""), "too large"),
    "huge shape, and nothing of it read": (small(voxel("?", 144, 144, 144), ""), "too large"),
    "huge shapes together": (
        small(voxel("?", 100, 100, 100) * 3, ""),
        r"the shape with id 2 \(S3\) is too large",
    ),
    "too many cells": (small(voxel("#" * 100_001, 1, 1, 1), ""), "too large"),
    "too few voxels": (small(voxel("##", 3, 1, 1), ""), "2 voxels"),
    "too many voxels": (small(voxel("####", 3, 1, 1), ""), "4 voxels"),
    "strange mark": (small(voxel("#?", 2, 1, 1), ""), r"id 0 \(S1\): '\?' is not a mark"),
    "strange colour": (small(voxel("#64", 1, 1, 1), ""), r"id 0 \(S1\): '#64' is not a mark"),
    "number": (small('<voxel x="-1" y="1" z="1">#</voxel>', ""), "no number"),
    "no such shape": (small("", '<problem><result id="3"/></problem>'), "names the shape with id 3"),
    "no result": (small("", "<problem/>"), "no result"),
    "bounds": (
        small(
            voxel("#", 1, 1, 1),
            '<problem><shapes><shape id="0" min="2" max="1"/></shapes><result id="0"/></problem>',
        ),
        "min=2 and max=1",
    ),
}


def read_whole(data: bytes) -> None:
    file = xmpuzzle(data)
    for item in (*file.shapes, *file.problems):
        sound(item)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_puzzle_is_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(GdlError, match=message) as caught:
        read_whole(data)
    assert "\n" not in str(caught.value)
    if not data.startswith(b"\x1f\x8b"):
        place = caught.value.place
        assert place is not None and place.line >= 1 and place.column >= 1


def test_only_problems_that_are_there_are_found() -> None:
    file = xmpuzzle(CORNERS)
    with pytest.raises(CoverError, match="no problem 2"):
        file.problem(2)
    with pytest.raises(CoverError, match="the file has no problem"):
        xmpuzzle(small(voxel("#", 1, 1, 1), "")).problem()


def test_a_bad_shape_or_problem_costs_only_what_needs_it() -> None:
    def problem(piece: int, more: str = "") -> str:
        inside = f'<shapes><shape id="{piece}" count="1"/></shapes><result id="0"/>'
        return f"<problem{more}>{inside}</problem>"

    shapes = voxel("#", 1, 1, 1) + voxel("?", 1, 1, 1) + voxel("#", 1, 1, 1)
    file = xmpuzzle(small(shapes, problem(1) + problem(9) + problem(2) + problem(0, ' maxHoles="x"')))
    for number, message in (
        (1, "id 1 \\(S2\\): '\\?' is not a mark"),
        (2, "the shape with id 9"),
        (4, "no number"),
    ):
        with pytest.raises(CoverError, match=message):
            file.problem(number)
    assert len(file.problem(3).puzzle.pieces) == 1


@given(at=st.integers(0, len(CORNERS) - 1), what=st.binary(max_size=6), width=st.integers(0, 30))
def test_damage_gives_an_error_or_a_puzzle(at: int, what: bytes, width: int) -> None:
    with contextlib.suppress(GdlError):
        file = xmpuzzle(CORNERS[:at] + what + CORNERS[at + width :])
        for problem in map(sound, file.problems):
            if max((len(sound(shape)) for shape in file.shapes), default=0) < 50:
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
    data = (Path(EXAMPLES) / f"{name}.xmpuzzle").read_bytes()
    file = xmpuzzle(data)
    assert len(file.problems) == len(COUNTS[name])
    for number, count in enumerate(COUNTS[name], 1):
        problem = file.problem(number)
        search = PackingSearch(problem.puzzle, CoverOptions(delivers=False))
        while not search.step(time.monotonic() + 1):
            pass
        assert search.result().solutions == count
