"""Deadlock sets on levels that people made: no push is flagged wrongly, and most fatal ones are flagged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.sokoban.city import write_levels
from bench.sokoban.dead_sets import COLUMNS, count_flags
from bench.sokoban.lookup import main as measure_lookup
from bench.sokoban.state_space import explore
from gdl.errors import TooLargeError
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import levels_of_file


@pytest.mark.slow
def test_fatal_pushes_of_microban(microban: Path) -> None:
    total = np.zeros((2, len(COLUMNS)), np.int64)
    explored = 0
    for level in levels_of_file(microban)[:60]:
        geometry, start = from_level(level)
        try:
            space = explore(geometry, start, 5_000)
        except TooLargeError:
            continue
        total += count_flags(space, 3)
        explored += 1
    assert explored > 30
    assert total[0, 0] > 10_000 and not total[0, 1:].any()
    shares = dict(zip(COLUMNS, (total[1] / total[1, 0]).tolist(), strict=True))
    assert shares["keeper sides"] > 0.95 > shares["any keeper"]


def test_lookup_is_measured_on_a_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = Level(("########", "#  ..  #", "#  $$  #", "#@     #", "########"))
    file = tmp_path / "level.xsb"
    file.write_text(write_levels([level]))
    measure_lookup(["--level", f"{file}:1"])
    assert "any keeper, K 2" in capsys.readouterr().out
