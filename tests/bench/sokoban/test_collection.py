"""`bench.sokoban`: a collection is measured, and two measurements are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.sokoban.__main__ import compared, main, numbers, totals


def _row(level: int, result: str, seconds: float) -> dict[str, object]:
    sizes = {"pushes": 3, "moves": 5, "megabytes": 100, "solver": "greedy"}
    return {"level": level, "result": result, "seconds": seconds, **sizes}


@pytest.mark.parametrize(
    ("text", "found"), [("", [1, 2, 3, 4]), ("2", [2]), ("1-2,4", [1, 2, 4]), ("3-9", [3, 4])]
)
def test_levels_are_named(text: str, found: list[int]) -> None:
    assert numbers(text, 4) == found


def test_totals_count_what_is_solved_in_time() -> None:
    told = totals([_row(1, "solved", 0.5), _row(2, "solved", 5.0), _row(3, "time", 10.2)])
    assert told.startswith("2 of 3 solved: 1 in 1 s, 2 in 10 s, 2 in 60 s; 6 pushes, 10 moves, 15.7 CPU s")


def test_two_measurements_are_compared() -> None:
    old = {"levels": [_row(1, "solved", 1.0), _row(2, "solved", 2.0), _row(3, "time", 10.0)]}
    new = {"levels": [_row(1, "solved", 0.5), _row(2, "time", 10.0), _row(3, "solved", 1.0)]}
    lines = compared(old, new).splitlines()
    assert lines[:2] == ["level 2: solved -> time", "level 3: time -> solved"]
    assert lines[-1] == "CPU time new/old on the 1 levels that both solve: 0.50"


@pytest.mark.slow
def test_a_level_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "one.xsb", tmp_path / "out.json"
    file.write_text("; 1\n#####\n#@$.#\n#####\n")
    # The peak of a forked process is at least what the tests before have left in this one.
    assert main([str(file), "--seconds", "120", "--megabytes", "16384", "--out", str(out)]) == 0
    [row] = json.loads(out.read_text())["levels"]
    assert row["result"] == "solved"
    assert row["moves"] == 1
    assert row["seconds"] > 0
    assert "1 of 1 solved" in capsys.readouterr().out


def test_nothing_to_measure_is_a_fault() -> None:
    assert main([]) == 2
