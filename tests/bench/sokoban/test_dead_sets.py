"""Deadlock sets on levels that people made: no push is flagged wrongly, and most fatal ones are flagged."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.sokoban.city import write_levels
from bench.sokoban.lookup import main as measure_lookup
from players.puzzles.sokoban.levels.level import Level


def test_lookup_is_measured_on_a_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = Level(("########", "#  ..  #", "#  $$  #", "#@     #", "########"))
    file = tmp_path / "level.xsb"
    file.write_text(write_levels([level]))
    measure_lookup(["--level", f"{file}:1"])
    assert "any keeper, K 2" in capsys.readouterr().out
