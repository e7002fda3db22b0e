"""``ggp cover``: what it says, what it refuses, and what it keeps when it is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.cover.instances import dominoes, queens
from gdl.errors import GdlError
from ggp.commands.puzzles.cover import command
from ggp.cover.instance import load_instance
from tests.ggp.program import ggp
from tests.players.puzzles.cover.problems import as_json


def cover(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return ggp("cover", *words, cwd=cwd, timeout=120)


@pytest.mark.slow
def test_solutions_are_told(tmp_path: Path) -> None:
    (tmp_path / "small.dlx").write_text("a b c | x\na b x:red\nc x:red\nc x:blue\na\nb c\n")
    text = cover("small.dlx", "--all", cwd=tmp_path)
    assert text.returncode == 0, text.stderr
    assert all(f"\n{lines}\n" in text.stdout for lines in ("a b x:red\nc x:red", "a\nb c"))
    assert "solution 1\n" in text.stdout and "solution 2\n" in text.stdout
    line = json.loads(cover("small.dlx", "--all", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], sorted(line["found"])) == (2, True, [[0, 1], [3, 4]])
    assert set(line) >= {"nodes", "engine", "seconds_cpu", "seconds_wall"}


@pytest.mark.slow
def test_what_is_left_to_be_told_is_no_whole_search(tmp_path: Path) -> None:
    # The engine has searched all of it when the first solution is told.
    (tmp_path / "small.dlx").write_text("a b\na\nb\na b\n")
    told = cover("small.dlx", cwd=tmp_path).stdout
    assert (
        "1, there may be more: --all prints them" in told and "searched" not in told and "100.00%" not in told
    )
    line = json.loads(cover("small.dlx", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"]) == (1, False) and line["progress"] < 1
    line = json.loads(cover("small.dlx", "--all", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], line["progress"]) == (2, True, 1.0)


def test_pieces_are_named_below_their_picture(tmp_path: Path) -> None:
    text = "packing\npiece bar x2\n##\npiece corner\n##\n#.\nresult\n####\n###.\n"
    (tmp_path / "small.packing").write_text(text)
    told = cover("small.packing", cwd=tmp_path).stdout
    assert "B A bar, C corner\n" in told and told.count("C ") >= 3


def test_text_with_items_in_brackets_is_named_and_holes_without_effect_are_remarked_upon(
    tmp_path: Path,
) -> None:
    (tmp_path / "small.xcc").write_text("\n< a b c > [ x ]\na b x:red;\nc x:red;\n")
    with pytest.raises(GdlError, match=r"small.xcc:2:1: items in < > and \[ \] \(XCC text\) are not read"):
        command(str(tmp_path / "small.xcc"))
    plain = load_instance(_file(tmp_path, "plain.json", '{"items": ["a"], "options": [["a"]], "holes": 1}'))
    assert plain.remark == '`holes` changes nothing: no item has "hole": true'
    hole = '{"items": [{"name": "a", "min": 0, "hole": true}], "options": [["a"]], "holes": 1}'
    assert load_instance(_file(tmp_path, "hole.json", hole)).remark == ""


def _file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.slow
def test_counted_stopped_and_refused(tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text(as_json(dominoes(8, 8)))
    (tmp_path / "none.dlx").write_text("a b\na\n")
    (tmp_path / "wrong.dlx").write_text("a b\na c\n")
    line = json.loads(cover("board.json", "--count", "--json", cwd=tmp_path).stdout)
    assert (line["solutions"], line["complete"], line["found"]) == (12988816, True, None)
    assert cover("none.dlx", cwd=tmp_path).returncode == 1
    refused = cover("wrong.dlx", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("ggp: wrong.dlx:2:3: 'c' is not an item")
    assert refused.stderr.splitlines()[1:] == ["    2 | a c", "      |   ^"]
    for name, options, message in [
        ("absent.dlx", {}, "cannot read"),
        ("none.dlx", {"every": True, "count": True}, "exclude each other"),
    ]:
        with pytest.raises(GdlError, match=message):
            command(str(tmp_path / name), **options)


@pytest.mark.slow
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """Killed as soon as something was saved."""
    size = 8
    (tmp_path / "queens.json").write_text(as_json(queens(size)))
    words = ["queens.json", "--all", "--json", "--resume", "saved", "--workers", "2"]
    run = subprocess.Popen(
        [sys.executable, "-m", "ggp", "cover", *words], cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    while run.poll() is None and not (tmp_path / "saved").exists():
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    last = cover(*words, cwd=tmp_path)
    assert last.returncode == 0, last.stderr
    line = json.loads(last.stdout)
    assert line["complete"] and line["solutions"] == len(line["found"]) == 92
    assert len({tuple(one) for one in line["found"]}) == 92
    again = json.loads(cover(*words, cwd=tmp_path).stdout)
    assert again["found"] == line["found"]


@pytest.mark.slow
def test_stopped_by_the_clock_and_by_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "queens.json").write_text(as_json(queens(14)))
    words = ["queens.json", "--count", "--json", "--resume", "saved"]
    first = json.loads(cover(*words, "--seconds", "0.2", cwd=tmp_path).stdout)
    assert (first["complete"], first["stopped"]) == (False, "time is up")
    run = subprocess.Popen(
        [sys.executable, "-m", "ggp", "cover", *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    before = (tmp_path / "saved").stat().st_mtime_ns
    while run.poll() is None and (tmp_path / "saved").stat().st_mtime_ns == before:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    line = json.loads(run.communicate(timeout=60)[0])
    assert run.returncode == 130 and line["stopped"] == "interrupted"
    assert line["progress"] >= first["progress"] and line["nodes"] >= first["nodes"]


def test_what_was_saved_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "queens.json").write_text(as_json(queens(5)))
    (tmp_path / "other.json").write_text(as_json(queens(6)))
    saved = tmp_path / "saved"
    command(str(tmp_path / "queens.json"), every=True, resume=saved)
    whole = saved.read_text()
    with pytest.raises(GdlError, match="another problem"):
        command(str(tmp_path / "other.json"), every=True, resume=saved)
    with pytest.raises(GdlError, match="keeps solutions"):
        command(str(tmp_path / "queens.json"), count=True, resume=saved)
    changed = whole.replace('"bytes":', '"bytes":99')
    assert changed != whole
    bare = json.dumps(json.loads(changed)["body"])  # as earlier releases wrote it
    for text in ("", "{", "[]", '{"search": 1}', whole[:-2], changed, bare):
        saved.write_text(text)
        with pytest.raises(GdlError, match="has no saved search"):
            command(str(tmp_path / "queens.json"), every=True, resume=saved)
