"""`ggp solve`, `explore`, `tabulate` and `lookup`: lines replay, what is told is so, faults are one line."""

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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ggp.solving.solve_puzzle as module
from gdl.errors import GdlError
from ggp.game import Game
from ggp.solving import levels
from ggp.solving.frontier_search import FrontierView, progress_line, states_to_come
from ggp.solving.solve_puzzle import SolveRequest, solve_puzzle
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.puzzles.frontier.outcome import FrontierProgress
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.read import find_level
from players.puzzles.sokoban.lines import after_steps, is_solved
from players.puzzles.sokoban.search.portfolio import ENTRIES, entries_named
from players.puzzles.sokoban.search.solve_level import solve_level
from players.puzzles.sokoban.solution import replay
from players.solvers import Solution, replayed
from players.sorted_sets.files import LOCK, has_commit
from propnet.jit.parts import Part
from tests.ggp.program import invoke, python, started
from tests.places import GAMES
from tests.players.puzzles.frontier.far_tiles import LAYERS, far_tiles
from tests.waiting import until

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
    level = find_level(str(GAMES / "levels" / "tutorial.xsb:5"))
    first = solve_level(level, 60.0, entries=entries_named("backward"))
    words = "tutorial.xsb:5", "-s", "60", "--json", "--solver", "backward", "--shorter", metric
    status, text = solved_levels(*words)
    better = json.loads(text)
    assert status == 0
    geometry, start = from_level(level)
    assert is_solved(geometry, after_steps(geometry, start, better["steps"]))
    assert sum(letter.isupper() for letter in better["steps"]) == better["pushes"]
    if metric == "pushes":
        assert better["proven"]
        assert better["pushes"] <= len(first.pushes)
    else:
        assert len(better["steps"]) < len(first.steps)


@pytest.mark.slow
def test_a_level_and_rules_that_are_one_are_shortened_without_being_asked() -> None:
    level = find_level(str(GAMES / "levels" / "yards.xsb:4"))
    first = solve_level(level, 60.0, entries=entries_named("backward"))
    status, text = solved_levels("yards.xsb:4", "-s", "60", "--json", "--solver", "backward")
    assert status == 0
    assert json.loads(text)["pushes"] < len(first.pushes)
    machine = make_machine(Game.load("sokoban").rules, "propnet")
    raw, short = (solve(machine, 60.0, only="sokoban", shorten=shorten) for shorten in (False, True))
    assert raw.value == short.value == 100
    assert len(short.moves) < len(raw.moves)


def test_shorter_is_pushes_or_moves_of_levels() -> None:
    with pytest.raises(GdlError, match="--shorter is 'boxes'"):
        solved_levels("yards.xsb:4", "--shorter", "boxes")
    with pytest.raises(GdlError, match="files of Sokoban levels"):
        solved_levels("hanoi", "--shorter", "moves")


# --- `ggp explore`, `tabulate` and `lookup`: what is told of all states of a game is true
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
    process = started("explore", "pegsolitaire", f"--scratch={scratch}")
    try:
        until(lambda: has_commit(scratch) or process.poll() is not None)
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
