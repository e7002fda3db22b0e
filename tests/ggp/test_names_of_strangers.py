"""Names of files, titles and symbols may hold what drives a terminal: no command passes it on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ggp.game import Game
from players.puzzles.sokoban.levels.read import read_levels
from tests.places import ROOT

EVIL = "e\x1b[31m\x9b31m\u202etxt\udc9b"
"""Escape, C1, a mark that turns the text around, and a byte that is no UTF-8."""
RULES = (
    "(role a) ; {}\n(init (p 1)) (<= (legal a go) (true (p ?x))) (<= terminal (true (p 1))) (gaol a 100)\n"
)
LEVEL = "Title: {}\n#####\n#@$.#\n#####\n"
PACKING = "name {}\ngrid cubes\npiece {}\n##\nresult\n##\n"


def printed(*arguments: str | Path) -> str:
    """What the command prints; fails where that is no text or nobody can read it."""
    done = subprocess.run(
        [sys.executable, "-m", "ggp", *(os.fspath(a) for a in arguments)],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "COLUMNS": "200"},
    )
    text = (done.stdout + done.stderr).decode("utf-8")
    assert "Traceback" not in text
    assert text.replace("\n", "").isprintable(), repr(text)
    return text


def file_of(tmp_path: Path, kind: str, text: str) -> Path:
    path = tmp_path / f"{EVIL}.{kind}"
    try:
        path.write_text(text.replace("{}", EVIL), encoding="utf-8", errors="surrogateescape")
    except OSError:
        pytest.skip("files cannot have such names here")
    return path


@pytest.mark.slow
def test_rules_in_a_file_of_such_a_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, "kif", RULES.replace("{}", ""))
    assert r"\x1b[31m\x9b31m\u202etxt\udc9b" in printed("validate", path)
    printed("format", "--check", path)
    printed("ground", path)
    printed("play", path, "--players", "random", "--playclock", "1")
    assert Game.load(path).name.isprintable()


def test_symbols_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.kif"
    path.write_text("(role a\x9b31m)\n", encoding="utf-8")
    assert ":1:8: " in printed("validate", path)
    assert "1:8: " in printed("ground", path)


def test_what_there_is_not(tmp_path: Path) -> None:
    missing = tmp_path / f"{EVIL}.kif"
    for command in ("validate", "format", "ground", "play"):
        printed(command, missing)


def test_titles_of_levels_and_names_of_pieces(tmp_path: Path) -> None:
    (level,) = read_levels(LEVEL.replace("{}", EVIL))
    assert level.title.startswith(r"e\x1b[31m\x9b31m\u202etxt")
    printed("cover", file_of(tmp_path, "packing", PACKING))
