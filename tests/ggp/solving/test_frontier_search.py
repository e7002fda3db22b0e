"""`ggp explore`: what is told is true, faults are one line, Ctrl-C loses a layer at most."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from players.solvers import Solution, replayed
from players.sorted_sets.files import LOCK, has_commit
from tests.ggp.program import invoke
from tests.players.puzzles.frontier.far_tiles import far_tiles

SWITCHES = """(role you) (<= (base (up ?s)) (switch ?s)) (switch 1) (switch 2) (switch 3)
(init (left 1)) (<= (legal you (press ?s)) (switch ?s)) (legal you stop)
(<= (next (up ?s)) (does you (press ?s)) (not (true (up ?s))))
(<= (next (up ?s)) (true (up ?s)) (not (does you (press ?s))))
(<= (next stopped) (does you stop)) (<= terminal (true stopped))
(<= some (true (up ?s)))
(<= (goal you 10) (not some)) (<= (goal you 60) (true (up 1)) (true (up 2)))
(<= (goal you 40) (true (up 1)) (not (true (up 2)))) (<= (goal you 20) some (not (true (up 1))))
(init (down 1)) (<= (next (down 1)) (true (up 1)) (does you (press 1)))
(<= (next (down 1)) (true (down 1)) (not (does you (press 1))))
(<= (goal you 100) (true (up 1)) (true (down 1)))
(<= (next (left 1)) (true (left 1)))"""
"""Eight settings, stopping in each. A switch is never both up and down: the best is 60, by three moves."""


run = partial(invoke, "explore")


@pytest.fixture
def switches(tmp_path: Path) -> str:
    file = tmp_path / "switches.kif"
    file.write_text(SWITCHES)
    return str(file)


@pytest.mark.parametrize("more", [[], ["--workers", "2"], ["--scratch"]])
def test_every_goal_value_has_its_shortest_line(switches: str, tmp_path: Path, more: list[str]) -> None:
    scratch = tmp_path / "scratch"
    if more == ["--scratch"]:
        more = ["--scratch", str(scratch), "--disk", "10M"]
    code, out = run(switches, "--json", *more)
    assert code == 0
    told = json.loads(out)
    assert told["game"] == "switches" and told["solver"] == "frontier"
    assert told["value"] == 60 and told["proven"] and told["complete"] and told["stopped"] is None
    assert {value: len(line) for value, line in told["lines"].items()} == {"60": 3, "40": 2, "20": 2, "10": 1}
    assert told["moves"] == told["lines"]["60"]
    assert told["states"] == 16 and told["layers"] == [1, 4, 6, 4, 1]
    assert told["seconds_cpu"] > 0 < told["seconds_wall"]
    assert told["peak_rss"] > 10_000_000 and told["bytes_per_state"] > 0 and told["key_bits"] >= 4
    assert set(told["seconds_by_stage"]) >= {"expand", "sort", "merge"}
    rules = Game.load(switches).rules
    for value, line in told["lines"].items():
        assert replayed(rules, Solution(int(value), tuple(line), True, "frontier", 0, 0.0)).terminal
    assert not scratch.exists() or [path.name for path in scratch.iterdir()] == [LOCK]


def test_people_see_lines_numbers_and_layers(switches: str) -> None:
    code, out = run(switches)
    assert code == 0
    assert "60 in 3 moves, proven" in out
    assert "60 in 3, 40 in 2, 20 in 2, 10 in 1 moves" in out
    assert "16 in 5 layers, all that there are" in out


def test_a_puzzle_without_an_end_has_no_line(tmp_path: Path) -> None:
    rules = tmp_path / "round.kif"
    rules.write_text(SWITCHES.replace("(<= terminal (true stopped))", "(<= terminal (true (left 2)))"))
    code, out = run(str(rules))
    assert code == 1
    assert "no line found" in out and "no line comes to an end" in out


def test_a_start_that_is_the_end() -> None:
    rules = "(role you) (init (at 0)) (legal you go) (<= terminal (true (at 0))) (goal you 40)"
    code, out = run(rules, "--json")
    told = json.loads(out)
    assert code == 0 and told["value"] == 40 and told["moves"] == [] and told["proven"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hanoi", "--disk", "1G"], "--scratch DIR"),
        (["hanoi", "--scratch", "/proc/1/x", "--disk", "1"], "cannot use /proc/1/x"),
        (["hanoi", "--memory", "1x"], "not an amount of memory"),
        (["tictactoe"], "2 roles.*ggp tabulate tictactoe"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(GdlError, match=message):
        run(*arguments)


def test_the_same_command_goes_on_with_a_search(tmp_path: Path) -> None:
    game, scratch = tmp_path / "far.kif", tmp_path / "scratch"
    game.write_text(far_tiles().text)
    with pytest.raises(GdlError, match="of disk that it may use"):
        run(str(game), "--json", f"--scratch={scratch}", "--disk=200K")
    assert has_commit(scratch)
    with pytest.raises(GdlError, match="of other rules"):
        run("hanoi", "--scratch", str(scratch))
    code, out = run(str(game), "--scratch", str(scratch), "--json", "--workers", "2")
    told = json.loads(out)
    assert (
        code == 0
        and told["game"] == "far"
        and told["layers"] == json.loads(run(str(game), "--json")[1])["layers"]
    )
    assert len(told["moves"]) == 31
    assert [path.name for path in scratch.iterdir()] == [LOCK]


@pytest.mark.slow
def test_ctrl_c_shows_what_is_known_and_how_to_go_on(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    arguments = ["explore", "pegsolitaire", f"--scratch={scratch}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ggp", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        end = time.monotonic() + 120
        while not has_commit(scratch) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "not all that there are" in out
    assert err == f"ggp: the same command, with --scratch {scratch}, goes on from the last whole layer\n"
