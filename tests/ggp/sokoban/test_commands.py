"""The options of ``ggp solve`` for Sokoban: what they print, and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ggp.program import ggp
from tests.ggp.sokoban.levels import CORNER


@pytest.fixture
def level(tmp_path: Path) -> str:
    path = tmp_path / "corner.xsb"
    path.write_text(str(CORNER) + "\n")
    return str(path)


def test_explain_and_files(level: str, tmp_path: Path) -> None:
    svg = tmp_path / "x.svg"
    done = ggp("solve", level, "--explain", "--json", "-o", str(svg), "--fps", "9")
    assert done.returncode == 0, done.stderr
    found, solution = map(json.loads, done.stdout.splitlines())
    assert found["found"][0]["kind"] == "dead squares"
    assert solution["steps"]
    assert svg.read_text().startswith("<svg ")
    assert "\x1b" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["solve", "hanoi", "--explain"], "hanoi is not Sokoban"),
        (["solve", "{level}", "-o", "x.mp4"], "x.mp4 does not say what to write"),
        (["solve", "{level}", "--all", "--explain"], "this is shown for one level only"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(level: str, words: list[str], says: str) -> None:
    done = ggp(*(word.format(level=level) for word in words))
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_match_is_drawn_as_a_level_and_explained(level: str) -> None:
    done = ggp("play", level, "--clock", "2", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert "  #######\n  #  .  #\n  # $#  #\n  #  @$ #\n  #.    #\n  #######\n" in done.stdout
    assert "\nsolved: " in done.stdout
    assert "dead squares: 5 squares" in done.stdout
