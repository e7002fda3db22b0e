"""`ggp solve --strong`, `--query` and `ggp play --tables`: from the rules to perfect play."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gdl.errors import GdlError
from ggp.cli import build


def run(command: str, *arguments: str) -> str:
    if "--strong" in arguments and "--memory" not in arguments:
        # It counts what the process has already: that of the tests before this one.
        arguments = (*arguments, "--memory", "8G")
    done = CliRunner().invoke(build(command), [command, *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0
    return done.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("tables") / "tictactoe")
    told = json.loads(run("solve", "tictactoe", "--strong", "--no-symmetry", "--tables", folder, "--json"))
    assert told["states"] == 5478
    assert told["layers"] == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    assert told["values"] == {"x": 50, "o": 50}
    assert told["table_bytes"] == sum(path.stat().st_size for path in Path(folder).iterdir())
    assert {"seconds_cpu", "seconds_wall", "peak_rss", "bytes_per_state", "distance", "cycles"} <= set(told)
    return folder


def test_the_same_for_people() -> None:
    out = run("solve", "tictactoe", "--strong", "--no-symmetry")
    assert "x 50, o 50, 9 moves to the end" in out
    assert "5,478 in 10 layers" in out
    assert "table" not in out


@pytest.mark.parametrize("state", ["(cell b 2 x) (control o)", "(true (control O)) (true (CELL b 2 x))"])
def test_a_query_tells_every_move(tables: str, state: str) -> None:
    told = json.loads(run("solve", "tictactoe", "--tables", tables, "--query", state, "--json"))
    assert told["state"] == ["(cell b 2 x)", "(control o)"]
    assert (told["values"], told["distance"], told["terminal"]) == ({"x": 50, "o": 50}, 8, False)
    moves = {move["moves"][1]: move["values"]["o"] for move in told["moves"]}
    corners = {f"(mark {x} {y})" for x in "ac" for y in "13"}
    assert {move for move, value in moves.items() if value == 50} == corners
    assert {value for move, value in moves.items() if move not in corners} == {0}
    shown = run("solve", "tictactoe", "--tables", tables, "--query", state).splitlines()
    assert shown[0] == "x 50, o 50, 8 moves to the end"
    assert len(shown) == 9 and "50" in shown[1] and "x 100, o 0" in shown[8]


def test_the_start_and_an_end_can_be_asked_for(tables: str) -> None:
    told = json.loads(run("solve", "tictactoe", "--tables", tables, "--query", "init", "--json"))
    assert len(told["moves"]) == 9
    end = "(cell a 1 x) (cell a 2 x) (cell a 3 x) (cell b 1 o) (cell b 2 o) (control o)"
    assert run("solve", "tictactoe", "--tables", tables, "--query", end) == "x 100, o 0, the end\n"


def test_what_cannot_be_asked_is_one_line(tables: str, tmp_path: Path) -> None:
    for arguments, why in (
        (["tictactoe", "--tables", tables, "--query", "(cell b 2 x)"], "no such state"),
        (["tictactoe", "--tables", tables, "--query", "(cell b 9 x)"], "no such state"),
        (["tictactoe", "--tables", tables, "--query", "(cell b 9"], "never closed"),
        (["tictactoe", "--tables", tables, "--query", ""], "no such state"),
        (["tictactoe", "--query", "init"], "needs --tables"),
        (["nim", "--tables", tables, "--query", "init"], "other rules"),
        (["tictactoe", "--tables", str(tmp_path / "none"), "--query", "init"], "there is no table"),
        (["tictactoe", "--tables", tables], "goes with --strong"),
        (["connectfour", "--strong", "--memory", "190M"], "memory is full"),
        (["rockpaperscissors", "--strong"], "no pair of moves is best"),
    ):
        with pytest.raises(GdlError, match=why):
            run("solve", *arguments)


def test_a_match_between_two_tables_is_drawn(tables: str) -> None:
    lines = run("play", "tictactoe", "--tables", tables, "--players", "tables,tables", "--json").splitlines()
    assert json.loads(lines[-1])["goals"] == [50, 50] or '"x":50' in lines[-1].replace(" ", "")


def test_one_state_of_each_orbit_answers_for_all(tables: str, tmp_path: Path) -> None:
    folder, scratch = str(tmp_path / "table"), str(tmp_path / "scratch")
    arguments = [
        "tictactoe",
        "--strong",
        "--tables",
        folder,
        "--workers",
        "2",
        "--scratch",
        scratch,
        "--json",
    ]
    told = json.loads(run("solve", *arguments, "--disk", "1G"))
    assert (told["states"], told["symmetries"], told["values"]) == (765, 8, {"x": 50, "o": 50})
    for state in ("init", "(cell c 3 x) (control o)", "(cell a 3 x) (cell b 3 o) (control x)"):
        answers = [
            json.loads(run("solve", "tictactoe", "--tables", of, "--query", state, "--json"))
            for of in (tables, folder)
        ]
        assert answers[0] == answers[1]
    with pytest.raises(GdlError, match="resume"):
        run("solve", "tictactoe", "--strong", "--resume", scratch)
