"""`ggp solve` with Sokoban levels: what is told replays, the exit status is honest, faults are one line."""

from __future__ import annotations

import json
import os
import signal
import threading
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from ggp.solving import levels
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.read import find_level
from players.puzzles.sokoban.lines import after_steps, is_solved
from players.puzzles.sokoban.search.portfolio import ENTRIES
from players.puzzles.sokoban.solution import replay
from tests.ggp.program import invoke
from tests.places import GAMES

LEVELS = """\
; 1
######
#@ $.#
#    #
######

; 2
#######
#  .  #
# $@$ #
#  .  #
#     #
#######

; 3
#####
#@  #
# $ #
#  .#
#$ .#
#####
"""


run = partial(invoke, "solve")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("levels") / "three.xsb"
    file.write_text(LEVELS)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_levels_are_told_one_a_line(path: Path, workers: str) -> None:
    code, out = run(str(path), "--all", "--json", "--seconds", "60", "--workers", workers)
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 1  # the third has a box in a corner
    assert [one["level"] for one in told] == [1, 2, 3]
    assert [one["outcome"] for one in told] == ["solved", "solved", "unsolvable"]
    for one in told[:2]:
        geometry, start = from_level(find_level(f"{path}:{one['level']}"))
        assert is_solved(geometry, after_steps(geometry, start, one["steps"]))
        assert one["pushes"] == sum(letter.isupper() for letter in one["steps"])
        state = Game.load(f"{path}:{one['level']}").machine("prover").initial_state()
        for move in one["moves"]:
            state = state.play(move)
        assert state.terminal
        assert state.goals == {"keeper": 100}
    assert told[2]["value"] is None
    assert told[2]["moves"] == []


def test_processes_that_are_killed_while_they_have_nothing_to_do_hold_nobody_up() -> None:
    over = threading.Event()

    def lose() -> None:
        with levels._processes(2) as pool:
            pid = pool.submit(os.getpid).result(60)
            os.kill(pid, signal.SIGKILL)
            with suppress(BrokenExecutor):
                while True:
                    pool.submit(os.getpid).result(60)
        over.set()

    threading.Thread(target=lose, daemon=True).start()
    assert over.wait(60)


def test_one_level_is_shown(path: Path) -> None:
    code, out = run(f"{path}:2", "--seconds", "60")
    assert code == 0
    assert "pushes" in out
    assert "replayed" in out


def test_fewest_pushes_are_proven(path: Path) -> None:
    code, out = run(f"{path}:2", "--solver", "backward", "--shorter", "pushes", "--seconds", "60", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["proven"]
    assert told["pushes"] == 4


@pytest.mark.parametrize("name", [entry.search.name for entry in ENTRIES])
def test_each_search_can_be_asked_for(path: Path, name: str) -> None:
    code, out = run(f"{path}:2", "--solver", name, "--seconds", "60", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["pushes"] >= 4
    assert not told["proven"] or told["pushes"] == 4


def test_a_table_has_all_levels_and_totals(path: Path) -> None:
    code, out = run(str(path), "--all", "--seconds", "60")
    assert code == 1
    assert "2 of 3 levels solved" in out
    assert "proven unsolvable" in out


def test_faults_are_told(path: Path) -> None:
    with pytest.raises(GdlError, match="there is no search 'nothing'"):
        run(str(path), "--solver", "nothing")
    with pytest.raises(GdlError, match="not a level file"):
        run("hanoi", "--all")
    with pytest.raises(GdlError, match="there is no level 4"):
        run(f"{path}:4")


def test_a_wrong_solution_is_an_error(path: Path) -> None:
    level = find_level(f"{path}:1")
    replay(level, "rR")
    with pytest.raises(GdlError, match="does not solve the level"):
        replay(level, "rd")
    with pytest.raises(GdlError, match="is not legal"):
        replay(level, "u")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["pushes", "moves"])
def test_a_solution_is_made_shorter_in_the_time_that_is_left(metric: str) -> None:
    # The optimizer ends by itself, long before the time does: it proves that there is no shorter one.
    words = "tutorial.xsb:5", "-s", "60", "--json", "--solver", "backward"
    status, text = run(*words)
    first = json.loads(text)
    assert status == 0
    status, text = run(*words, "--shorter", metric)
    better = json.loads(text)
    assert status == 0
    geometry, start = from_level(find_level(str(GAMES / "levels" / "tutorial.xsb:5")))
    assert is_solved(geometry, after_steps(geometry, start, better["steps"]))
    assert sum(letter.isupper() for letter in better["steps"]) == better["pushes"]
    if metric == "pushes":
        assert better["proven"]
        assert better["pushes"] <= first["pushes"]
    else:
        assert len(better["steps"]) < len(first["steps"])


def test_shorter_is_pushes_or_moves_of_levels() -> None:
    with pytest.raises(GdlError, match="--shorter is 'boxes'"):
        run("yards.xsb:4", "--shorter", "boxes")
    with pytest.raises(GdlError, match="files of Sokoban levels"):
        run("hanoi", "--shorter", "moves")
