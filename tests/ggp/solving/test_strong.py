"""`ggp tabulate`, `ggp lookup` and the player `tables`: from the rules to perfect play."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gdl.errors import GdlError
from tests.ggp.program import invoke


def run(command: str, *arguments: str) -> str:
    if command == "tabulate" and "--memory" not in arguments:
        # It counts what the process has already: that of the tests before this one.
        arguments = (*arguments, "--memory", "8G")
    status, said = invoke(command, *arguments)
    assert status == 0
    return said


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("tables") / "tictactoe")
    told = json.loads(run("tabulate", "tictactoe", folder, "--json"))
    assert (told["states"], told["symmetries"], sum(told["layers"])) == (765, 8, 765)
    assert told["values"] == {"x": 50, "o": 50}
    assert told["table_bytes"] == sum(path.stat().st_size for path in Path(folder).iterdir())
    assert {"seconds_cpu", "seconds_wall", "peak_rss", "bytes_per_state", "distance", "cycles"} <= set(told)
    return folder


def test_the_same_for_people() -> None:
    out = run("tabulate", "tictactoe")
    assert "x 50, o 50, 9 moves to the end" in out
    assert "765 in 10 layers" in out
    assert "table" not in out


@pytest.mark.parametrize("state", ["(cell b 2 x) (control o)", "(true (control O)) (true (CELL b 2 x))"])
def test_a_query_tells_every_move(tables: str, state: str) -> None:
    told = json.loads(run("lookup", "tictactoe", tables, state, "--json"))
    assert told["state"] == ["(cell b 2 x)", "(control o)"]
    assert (told["values"], told["distance"], told["terminal"]) == ({"x": 50, "o": 50}, 8, False)
    moves = {move["moves"][1]: move["values"]["o"] for move in told["moves"]}
    corners = {f"(mark {x} {y})" for x in "ac" for y in "13"}
    assert {move for move, value in moves.items() if value == 50} == corners
    assert {value for move, value in moves.items() if move not in corners} == {0}
    shown = run("lookup", "tictactoe", tables, state).splitlines()
    assert shown[0] == "x 50, o 50, 8 moves to the end"
    assert len(shown) == 9 and "50" in shown[1] and "x 100, o 0" in shown[8]


def test_the_start_and_an_end_can_be_asked_for(tables: str) -> None:
    told = json.loads(run("lookup", "tictactoe", tables, "--json"))
    assert len(told["moves"]) == 9
    end = "(cell a 1 x) (cell a 2 x) (cell a 3 x) (cell b 1 o) (cell b 2 o) (control o)"
    assert run("lookup", "tictactoe", tables, end) == "x 100, o 0, the end\n"


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
            run(*arguments)


def test_a_game_is_solved_with_files_as_without(tables: str, tmp_path: Path) -> None:
    folder, scratch = str(tmp_path / "table"), str(tmp_path / "scratch")
    told = json.loads(
        run("tabulate", "tictactoe", folder, "-w", "2", "--scratch", scratch, "--disk", "1G", "--json")
    )
    assert (told["states"], told["symmetries"], told["values"]) == (765, 8, {"x": 50, "o": 50})
    for state in ("init", "(cell c 3 x) (control o)", "(cell a 3 x) (cell b 3 o) (control x)"):
        answers = [json.loads(run("lookup", "tictactoe", of, state, "--json")) for of in (tables, folder)]
        assert answers[0] == answers[1]
