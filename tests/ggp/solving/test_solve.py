"""`ggp solve`: lines replay, the exit status is honest, faults are one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import ggp.solving.solve_puzzle as module
from gdl.errors import GdlError
from ggp.game import Game
from ggp.solving import levels
from ggp.solving.solve_puzzle import SolveRequest, solve_puzzle
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.read import find_level
from players.puzzles.sokoban.lines import after_steps, is_solved
from players.puzzles.sokoban.search.portfolio import ENTRIES
from players.puzzles.sokoban.solution import replay
from players.solvers import Solution, replayed
from propnet.jit.parts import Part
from tests.ggp.program import invoke, python
from tests.places import GAMES

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


# --- ``ggp solve --solver module:Class``: a solver of the user's own; no page may name one
GAME = """(role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (legal you go) (legal you stay)
(<= (next (at ?y)) (does you go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does you stay) (true (at ?x)))
(<= terminal (true (at 3))) (goal you 100)"""
WALK = """
import random
from players.solvers import Certainty, LineSolver, Promise

class Walk(LineSolver):
    name = "walk"

    @classmethod
    def recognise(cls, machine):
        return Promise(Certainty.MAY_FIND, memory=0)

    def step(self, deadline):
        state, line = self.start, []
        while not self.machine.is_terminal(state):
            line.append(random.choice(self.machine.legal_moves(state, 0)))
            state = self.machine.next_state(state, line[-1:])
        self.report(100, line)
        return True

class Nameless(Walk):
    name = "frontier"

class Broken(Walk):
    name = "broken"

    def step(self, deadline):
        return 1 / 0

class Nothing:
    pass
"""


def solved(folder: Path, solver: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "walk.py").write_text(WALK)
    (folder / "steps.kif").write_text(GAME)
    words = "solve", "steps.kif", "--solver", solver, "-s", "300", *options
    return python("-P", "-m", "ggp", *words, cwd=folder)


@pytest.mark.slow
def test_a_class_of_the_current_folder_solves_a_puzzle(tmp_path: Path) -> None:
    done = solved(tmp_path, "walk:Walk", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["solver"], told["value"]) == ("walk", 100)
    assert told["moves"].count("go") == 3


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("walk:Broken", "the solver walk:Broken failed: ZeroDivisionError: division by zero at walk.py:"),
        ("walk:Nameless", "walk:Nameless is called 'frontier'"),
        ("walk:Nothing", "walk:Nothing is no solver"),
        ("walk:Other", "there is no solver walk:Other"),
        ("absent:Walk", "no module absent"),
    ],
)
def test_what_is_no_solver_or_fails_is_one_line(solver: str, message: str, tmp_path: Path) -> None:
    done = solved(tmp_path, solver)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_a_solver_that_a_page_names_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    # As the process behind the page does, which passes on the name that the page gives.
    with pytest.raises(GdlError, match="there is no solver 'own_trap:Walk'"):
        solve_puzzle(SolveRequest(GAME, 5.0, 1 << 20, "own_trap:Walk"), lambda *_: None)
    assert "own_trap" not in sys.modules


# --- `ggp solve` with Sokoban levels: what is told replays, the exit status is honest, faults are one line
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

solved_levels = partial(invoke, "solve")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("levels") / "three.xsb"
    file.write_text(LEVELS)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_levels_are_told_one_a_line(path: Path, workers: str) -> None:
    code, out = solved_levels(str(path), "--all", "--json", "--seconds", "60", "--workers", workers)
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
    code, out = solved_levels(f"{path}:2", "--seconds", "60")
    assert code == 0
    assert "pushes" in out
    assert "replayed" in out


def test_fewest_pushes_are_proven(path: Path) -> None:
    code, out = solved_levels(
        f"{path}:2", "--solver", "backward", "--shorter", "pushes", "--seconds", "60", "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert told["proven"]
    assert told["pushes"] == 4


@pytest.mark.parametrize("name", [entry.search.name for entry in ENTRIES])
def test_each_search_can_be_asked_for(path: Path, name: str) -> None:
    code, out = solved_levels(f"{path}:2", "--solver", name, "--seconds", "60", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["pushes"] >= 4
    assert not told["proven"] or told["pushes"] == 4


def test_a_table_has_all_levels_and_totals(path: Path) -> None:
    code, out = solved_levels(str(path), "--all", "--seconds", "60")
    assert code == 1
    assert "2 of 3 levels solved" in out
    assert "proven unsolvable" in out


def test_faults_are_told(path: Path) -> None:
    with pytest.raises(GdlError, match="there is no search 'nothing'"):
        solved_levels(str(path), "--solver", "nothing")
    with pytest.raises(GdlError, match="not a level file"):
        solved_levels("hanoi", "--all")
    with pytest.raises(GdlError, match="there is no level 4"):
        solved_levels(f"{path}:4")


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
    status, text = solved_levels(*words)
    first = json.loads(text)
    assert status == 0
    status, text = solved_levels(*words, "--shorter", metric)
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
        solved_levels("yards.xsb:4", "--shorter", "boxes")
    with pytest.raises(GdlError, match="files of Sokoban levels"):
        solved_levels("hanoi", "--shorter", "moves")
