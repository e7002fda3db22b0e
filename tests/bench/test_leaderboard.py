"""The leaderboard is resumed, and its page says what its JSON says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import leaderboard
from ggp.game import Game
from ggp.rule_files import installed_games
from tests.places import ROOT

KEPT = json.loads((ROOT / "docs" / "measurements" / "leaderboard.json").read_text(encoding="utf-8"))


def test_the_page_is_that_of_the_rows() -> None:
    page = (ROOT / "docs" / "measurements" / "leaderboard.md").read_text(encoding="utf-8")
    assert page == leaderboard.page(KEPT)
    names = {path.stem for path in installed_games()}
    assert set(KEPT["games"]) <= names and set(leaderboard.KNOWN) <= names
    assert all(f"(`{name}`)" in page for name in KEPT["games"])


@pytest.mark.parametrize(
    ("name", "two"),
    [("nim", True), ("backgammon", True), ("hanoi", False), ("montyhall", False), ("threenim", False)],
)
def test_two_roles_play_whatever_chance_does(name: str, two: bool) -> None:
    assert leaderboard.two_roles(Game.load(name)) == two


@pytest.mark.slow
def test_a_row_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path for path in installed_games() if path.stem in ("nim", "hanoi")]
    monkeypatch.setattr(leaderboard, "installed_games", lambda: files)
    words = ["--minutes", "0.02", "--seconds", "0.01", "--solve", "2", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["leaderboard", *words])
    leaderboard.main()
    rows = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))["games"]
    assert list(rows) == ["nim"]
    assert rows["nim"]["values"] == {"first": 100, "second": 0}
    assert rows["nim"]["random"]["matches"] >= 2
    monkeypatch.setattr(leaderboard, "solved", None)
    monkeypatch.setattr(leaderboard, "call", None)
    leaderboard.main()
    assert json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))["games"] == rows
