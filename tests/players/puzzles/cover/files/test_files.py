"""Files say what they mean: line and column of what is wrong, and problems as they were written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.truth.covers import solutions_of
from gdl.errors import GdlError
from players.puzzles.cover.files.texts import problem_of, read_dlx, read_json
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import solve
from tests.examples import examples
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
