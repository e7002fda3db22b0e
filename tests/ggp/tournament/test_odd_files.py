"""``ggp tournament -d FILE`` on a file with odd settings or matches is one line, and says so to scripts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bench.hostile_tournaments import ROW_KINDS, SETTING_KINDS, TABLE_KINDS, write_hostile, write_special
from ggp.cli import main


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile(folder)
    write_special(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--no-play"], ["--no-play", "--json", "out.json"]])
@pytest.mark.parametrize(
    "kind",
    [*SETTING_KINDS, *ROW_KINDS, *TABLE_KINDS, "text", "junk", "cut", "loop", "pipe", "device", "folder"],
)
def test_an_odd_file_is_one_line(
    kind: str,
    more: list[str],
    hostile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ggp", "tournament", "-d", str(hostile / f"{kind}.sqlite"), *more])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert not told.out
    assert len(told.err.splitlines()) == 1
    assert told.err.startswith("ggp: ")
    assert len(told.err) < 500
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["--rounds", "--plies", "--seed", "--clock"])
def test_the_command_line_has_the_same_bounds(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["ggp", "tournament", "tictactoe", "-p", "random,legal", option, str(10**30)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert f"ggp: {option} must be a " in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
