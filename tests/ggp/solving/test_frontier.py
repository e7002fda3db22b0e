"""`ggp explore`, `tabulate` and `lookup`: what is told of all states of a game is true."""

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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.solving.frontier_search import FrontierView, progress_line, states_to_come
from players.puzzles.frontier.outcome import FrontierProgress
from players.solvers import Solution, replayed
from players.sorted_sets.files import LOCK, has_commit
from tests.ggp.program import invoke
from tests.players.puzzles.frontier.far_tiles import LAYERS, far_tiles

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

explored = partial(invoke, "explore")


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
    code, out = explored(switches, "--json", *more)
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
    code, out = explored(switches)
    assert code == 0
    assert "60 in 3 moves, proven" in out
    assert "60 in 3, 40 in 2, 20 in 2, 10 in 1 moves" in out
    assert "16 in 5 layers, all that there are" in out


def test_a_puzzle_without_an_end_has_no_line(tmp_path: Path) -> None:
    rules = tmp_path / "round.kif"
    rules.write_text(SWITCHES.replace("(<= terminal (true stopped))", "(<= terminal (true (left 2)))"))
    code, out = explored(str(rules))
    assert code == 1
    assert "no line found" in out and "no line comes to an end" in out


def test_a_start_that_is_the_end() -> None:
    rules = "(role you) (init (at 0)) (legal you go) (<= terminal (true (at 0))) (goal you 40)"
    code, out = explored(rules, "--json")
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
        explored(*arguments)


def test_the_same_command_goes_on_with_a_search(tmp_path: Path) -> None:
    game, scratch = tmp_path / "far.kif", tmp_path / "scratch"
    game.write_text(far_tiles().text)
    with pytest.raises(GdlError, match="of disk that it may use"):
        explored(str(game), "--json", f"--scratch={scratch}", "--disk=200K")
    assert has_commit(scratch)
    with pytest.raises(GdlError, match="of other rules"):
        explored("hanoi", "--scratch", str(scratch))
    code, out = explored(str(game), "--scratch", str(scratch), "--json", "--workers", "2")
    told = json.loads(out)
    assert (
        code == 0
        and told["game"] == "far"
        and told["layers"] == json.loads(explored(str(game), "--json")[1])["layers"]
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


# --- The estimate of what is to come is near the truth
TILES = [
    *(1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392, 2494, 4442, 7854, 13899, 24215, 41802, 71167, 119888),
    *(198363, 323206, 515778, 811000, 1248011, 1885279, 2782396, 4009722, 5621354, 7647872, 10065800),
    *(12760413, 15570786, 18171606, 20299876, 21587248, 21841159, 20906905, 18899357, 16058335, 12772603),
    *(9515217, 6583181, 4242753, 2503873, 1350268, 643245, 270303, 92311, 27116, 5390, 1115, 86, 18),
]
"""The layers of sliding tiles on a board of 3x4: 239,500,800 states."""


@pytest.mark.parametrize("layers", [LAYERS, TILES])
def test_the_estimate_is_near_the_truth_from_the_largest_layers_on(layers: list[int]) -> None:
    told = {depth: states_to_come(layers[:depth]) for depth in range(1, len(layers) - 1)}
    largest = layers.index(max(layers)) + 1
    assert all(told[depth] is None for depth in range(1, largest // 2))
    for depth in range(largest, len(layers) - 1):
        estimate = told[depth]
        assert estimate is not None
        last, truth = layers[depth - 1], sum(layers[depth:])
        assert (truth + last) / 2 < estimate + last < 3 * (truth + last)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 10**12), max_size=60))
def test_any_layers_have_an_estimate_or_none(layers: list[int]) -> None:
    estimate = states_to_come(layers)
    assert estimate is None or 0 <= estimate < float("inf")


def test_growth_without_a_bend_tells_nothing() -> None:
    assert states_to_come([2**depth for depth in range(40)]) is None


def progress(layer: int, done: int, seconds: float = 10.0) -> FrontierProgress:
    states = sum(LAYERS[: layer + 1])
    return FrontierProgress(layer, LAYERS[layer], done, states, 2 * states, 300 << 20, 5 << 20, seconds)


def test_progress_says_what_is_asked_for() -> None:
    line = progress_line(progress(24, 9099), LAYERS[:25], progress(24, 99, 1.0))
    assert line.startswith(
        "10 s, depth 24 with 18,197 states, 50% of it, 142,087 states, 1,000/s, 2.00 bytes each"
    )
    assert "300M of memory, 5M of disk, all may be seen in" in line
    assert "all may be seen" not in progress_line(progress(3, 0), LAYERS[:4], progress(2, 0, 1.0))


def test_layers_before_those_it_saw_count_as_none() -> None:
    view = FrontierView("tiles")
    for layer in (5, 5, 6):
        view.watch(progress(layer, 0))
    assert view._layers == [0, 0, 0, 0, 0, LAYERS[5], LAYERS[6]]
    view.watch(progress(1, 0))
    assert view._layers == [0, LAYERS[1]]


# --- `ggp tabulate`, `ggp lookup` and the player `tables`: from the rules to perfect play


def said_by(command: str, *arguments: str) -> str:
    if command == "tabulate" and "--memory" not in arguments:
        # It counts what the process has already: that of the tests before this one.
        arguments = (*arguments, "--memory", "8G")
    status, said = invoke(command, *arguments)
    assert status == 0
    return said


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("tables") / "tictactoe")
    told = json.loads(said_by("tabulate", "tictactoe", folder, "--json"))
    assert (told["states"], told["symmetries"], sum(told["layers"])) == (765, 8, 765)
    assert told["values"] == {"x": 50, "o": 50}
    assert told["table_bytes"] == sum(path.stat().st_size for path in Path(folder).iterdir())
    assert {"seconds_cpu", "seconds_wall", "peak_rss", "bytes_per_state", "distance", "cycles"} <= set(told)
    return folder


def test_the_same_for_people() -> None:
    out = said_by("tabulate", "tictactoe")
    assert "x 50, o 50, 9 moves to the end" in out
    assert "765 in 10 layers" in out
    assert "table" not in out


@pytest.mark.parametrize("state", ["(cell b 2 x) (control o)", "(true (control O)) (true (CELL b 2 x))"])
def test_a_query_tells_every_move(tables: str, state: str) -> None:
    told = json.loads(said_by("lookup", "tictactoe", tables, state, "--json"))
    assert told["state"] == ["(cell b 2 x)", "(control o)"]
    assert (told["values"], told["distance"], told["terminal"]) == ({"x": 50, "o": 50}, 8, False)
    moves = {move["moves"][1]: move["values"]["o"] for move in told["moves"]}
    corners = {f"(mark {x} {y})" for x in "ac" for y in "13"}
    assert {move for move, value in moves.items() if value == 50} == corners
    assert {value for move, value in moves.items() if move not in corners} == {0}
    shown = said_by("lookup", "tictactoe", tables, state).splitlines()
    assert shown[0] == "x 50, o 50, 8 moves to the end"
    assert len(shown) == 9 and "50" in shown[1] and "x 100, o 0" in shown[8]


def test_the_start_and_an_end_can_be_asked_for(tables: str) -> None:
    told = json.loads(said_by("lookup", "tictactoe", tables, "--json"))
    assert len(told["moves"]) == 9
    end = "(cell a 1 x) (cell a 2 x) (cell a 3 x) (cell b 1 o) (cell b 2 o) (control o)"
    assert said_by("lookup", "tictactoe", tables, end) == "x 100, o 0, the end\n"


def test_what_cannot_be_asked_is_one_line(tables: str, tmp_path: Path) -> None:
    for arguments, why in (
        (["lookup", "tictactoe", tables, "(cell b 2 x)"], "no such state"),
        (["lookup", "tictactoe", tables, "(cell b 9 x)"], "no such state"),
        (["lookup", "tictactoe", tables, "(cell b 9"], "never closed"),
        (["lookup", "tictactoe", tables, ""], "no such state"),
        (["lookup", "nim", tables], "other rules"),
        (["lookup", "tictactoe", str(tmp_path / "none")], "there is no table"),
        (["tabulate", "connectfour", "--memory", "190M"], "needs more than the [0-9.]+[KM] of memory"),
        (["tabulate", "rockpaperscissors"], "no pair of moves is best"),
        (["tabulate", "nim", "--disk", "1G"], "--scratch DIR"),
    ):
        with pytest.raises(GdlError, match=why):
            said_by(*arguments)


def test_a_game_is_solved_with_files_as_without(tables: str, tmp_path: Path) -> None:
    folder, scratch = str(tmp_path / "table"), str(tmp_path / "scratch")
    told = json.loads(
        said_by("tabulate", "tictactoe", folder, "-w", "2", "--scratch", scratch, "--disk", "1G", "--json")
    )
    assert (told["states"], told["symmetries"], told["values"]) == (765, 8, {"x": 50, "o": 50})
    for state in ("init", "(cell c 3 x) (control o)", "(cell a 3 x) (cell b 3 o) (control x)"):
        answers = [json.loads(said_by("lookup", "tictactoe", of, state, "--json")) for of in (tables, folder)]
        assert answers[0] == answers[1]
