"""`ggp solve`: lines replay; faults are one line."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import ggp.solving.solve_puzzle as module
from gdl.errors import GdlError
from ggp.game import Game
from ggp.solving.solve_puzzle import SolveRequest, solve_puzzle
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.solvers import Solution, replayed
from propnet.jit.parts import Part
from tests.ggp.program import invoke, python

NEVER = """(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (true (at 0)))
(<= (next (at 0)) (true (at 1))) (<= terminal (true (at 2))) (goal you 100)"""


def run(*arguments: str, command: str = "solve") -> tuple[int, str]:
    return invoke(command, *arguments)


def test_a_puzzle_is_solved_and_told_as_one_object() -> None:
    code, out = run("hanoi", "--json", "--seconds", "60")
    assert code == 0
    told = json.loads(out)
    assert set(told) == {
        "game",
        "value",
        "moves",
        "proven",
        "solver",
        "seconds_cpu",
        "seconds_wall",
        "states",
        "doubt",
    }
    assert told["doubt"] == ""
    assert told["game"] == "hanoi"
    assert told["value"] == 100
    assert told["proven"]
    assert told["seconds_cpu"] > 0 < told["seconds_wall"]
    assert told["states"] > 0
    line = Solution(told["value"], tuple(told["moves"]), True, told["solver"], 0, 0.0)
    assert replayed(Game.load("hanoi").rules, line).terminal


def test_people_see_the_line_and_how_it_was_found() -> None:
    code, out = run("hanoi", "--seconds", "60")
    assert code == 0
    assert " 1 (move 1 right)" in out
    assert "100 in 31 moves, proven" in out


def test_no_line_is_told_as_none(tmp_path: Path) -> None:
    rules = tmp_path / "never.kif"
    rules.write_text(NEVER)
    code, out = run(str(rules), "--json", "--seconds", "0.5")
    assert code == 1
    told = json.loads(out)
    assert told["value"] is None
    assert told["moves"] == []
    code, out = run(str(rules), "--seconds", "0")
    assert code == 1
    assert "no line found" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tictactoe"], "2 roles"),
        (["hanoi", "--solver", "magic"], "no solver 'magic'.*frontier"),
        (["hanoi", "--solver", "move-sets"], "'move-sets' does not recognise this game"),
        (["hanoi", "--memory", "much"], "not an amount of memory.*600M"),
        (["hanoi", "--workers", "2"], "--workers is for --all"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(GdlError, match=message):
        run(*arguments)


def test_a_start_that_is_the_end_has_an_empty_line() -> None:
    machine = make_machine(Game.load("(role you) (legal you go) terminal (goal you 40)").rules, "propnet")
    assert solve(machine, 1.0) == Solution(40, (), True, "", 0, 0.0)


@pytest.mark.parametrize(
    ("moves", "value", "message"),
    [
        (("(move 1 right)",), 100, "ends with goal"),
        (("(move 1 right)", "(move 2 right)"), 100, "move 2 of its line.* not legal"),
    ],
)
def test_a_line_that_does_not_replay_is_an_error_of_its_solver(
    moves: tuple[str, ...], value: int, message: str
) -> None:
    with pytest.raises(GdlError, match=f"odd: .*{message}"):
        replayed(Game.load("hanoi").rules, Solution(value, moves, True, "odd", 0, 0.0))


def test_what_is_compiled_first_takes_nothing_from_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    hour, monotonic = [0.0], time.monotonic

    def compile_for_an_hour(parts: Sequence[Part]) -> None:
        compiled.extend(name for name, _ in parts)
        hour[0] = 3600.0

    monkeypatch.setattr(module, "missing", lambda parts: parts)
    monkeypatch.setattr(module, "compile_together", compile_for_an_hour)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + hour[0])
    order = SolveRequest(Game.load("hanoi").text, 600.0, 1 << 26, "frontier")
    assert solve_puzzle(order, lambda solution, at_work: None).value == 100
    assert compiled == ["frontier"]


def test_it_ends_when_time_is_up() -> None:
    began = time.monotonic()
    order = SolveRequest(NEVER, 1.0, 1 << 26)
    best = solve_puzzle(order, lambda solution, at_work: None)
    assert best.value == -1
    assert time.monotonic() - began < 60.0


LEVEL = "#######\n#@ $ .#\n# $  .#\n#######\n"
HEAVY = ("numba", "scipy", "aiohttp", "matplotlib", "pyparsing", "asyncio")


@pytest.mark.parametrize("what", ["puzzle", "level"])
def test_few_states_take_no_kernels_and_no_network(what: str, tmp_path: Path) -> None:
    """What is not imported costs nothing: the time itself is in docs/measurements.md."""
    path = tmp_path / ("level.xsb" if what == "level" else "puzzle.kif")
    path.write_text(LEVEL if what == "level" else NO_GOAL + "(<= terminal (true (at 1))) (goal you 40)")
    code = (
        "import sys\nfrom ggp.cli import main\ntry: main()\nexcept SystemExit as end: assert not end.code\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    )
    done = python("-c", code, "solve", path)
    assert done.stderr.strip() == "[]"
    assert "few-states" in done.stdout or "few-positions" in done.stdout


STUCK = "(role you) (init (at 0)) (<= (legal you go) (true (at 9))) (<= (next (at 1)) (true (at 0)))"
NO_GOAL = "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (true (at 0)))"


@pytest.mark.parametrize("command", ["solve", "explore"])
@pytest.mark.parametrize(
    ("rules", "doubt"),
    [
        (
            STUCK + "(<= terminal (true (at 1))) (goal you 100)",
            "you has no legal move in the state (at 0), which is not terminal",
        ),
        (
            NO_GOAL + "(<= terminal (true (at 1))) (<= (goal you 100) (true (at 9)))",
            "no goal rule of you holds in the state (at 1); it counts as 0",
        ),
        (
            NO_GOAL + "(<= terminal (true (at 1))) (goal you 100) (goal you 40)",
            "the goal values 40 and 100 hold for you at once in the state (at 1); the highest counts",
        ),
    ],
)
def test_what_is_odd_about_a_result_is_told(rules: str, doubt: str, command: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.kif"
    path.write_text(rules)
    assert json.loads(run(str(path), "--json", command=command)[1])["doubt"] == doubt
    assert doubt in " ".join(run(str(path), command=command)[1].split())
