"""``ggp play``: what is shown of a match, as text and as JSON, who takes part, and what is doubtful."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from gdl.errors import GdlError
from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.terminal.setup import JsonView, TextView, can_wait, check_names, doubts, seats
from players.match import MatchStep
from players.player import Candidate, Choice
from players.registry import make_player
from tests.ggp.program import ggp, play
from tests.places import ROOT

FAST = ["--clock", "0.1,0.1"]


@pytest.mark.slow
def test_piped_output_is_plain_text_with_board_and_result() -> None:
    done = play("tictactoe", *FAST)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "  3  . . .\n  2  . . .\n  1  . . .\n     a b c\n" in done.stdout
    assert "result: x (uct) " in done.stdout
    assert "visits" in done.stdout


@pytest.mark.slow
def test_sokoban_is_solved() -> None:
    done = play("tutorial.xsb:2", "--clock", "2", "--seed", "4")
    assert "result: keeper (uct) 100" in done.stdout, done.stdout[-500:]


@pytest.mark.slow
def test_json_is_one_object_per_line_and_nothing_else() -> None:
    done = play("tron", "--json", "--players", "random,legal", *FAST)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["game", *["step"] * (len(lines) - 2), "result"]
    assert lines[0]["roles"] == ["red", "blue"]
    assert lines[-1]["terminal"]
    assert lines[-1]["steps"] == len(lines) - 2
    assert sum(lines[-1]["goals"].values()) == 100
    assert lines[-1]["doubts"] == []
    state = Game.load("tron").machine("prover").initial_state()
    for line in lines[1:-1]:
        assert set(line["state"]) == {state.machine.rules.spell(p) for p in state.propositions}
        state = state.play(*line["joint"])
    assert state.terminal


def test_step_limit_stops_the_match() -> None:
    done = play("breakthrough", "--json", "-p", "legal,legal", "--max-steps", "3")
    last = json.loads(done.stdout.splitlines()[-1])
    why = "cut after 3 steps, the limit of steps: the match is not over"
    assert (last["steps"], last["terminal"], last["why"]) == (3, False, why)
    shown = play("breakthrough", "-p", "legal,legal", "--max-steps", "3").stdout
    assert why in shown
    assert "\nno result; goal values so far: " in shown
    assert "result: white" not in shown
    assert "total" not in shown


@pytest.mark.slow
def test_in_a_terminal_the_search_is_shown_and_the_screen_left_in_order() -> None:
    master, slave = pty.openpty()
    match = subprocess.Popen(
        [sys.executable, "-m", "ggp", "play", "tictactoe", "--clock", "0.5", "--max-steps", "2"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(slave)
    seen = b""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if select.select([master], [], [], 0.5)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
    assert match.wait(timeout=60) == 0
    os.close(master)
    text = seen.decode()
    assert "thinks" in text
    assert "\x1b[?25l" in text, "the cursor is hidden while the search is shown"
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "and comes back"
    assert "no result; goal values so far:" in text


def test_seats_left_out_are_filled() -> None:
    assert seats([], ["you"]) == ["uct"]
    assert seats([], ["x", "o"]) == ["uct", "random"]
    assert seats(["human"], ["x", "o"]) == ["human", "uct"]
    assert seats(["legal"], ["a", "b", "c"]) == ["legal", "random", "random"]
    with pytest.raises(GdlError, match="2 players for 1 role"):
        seats(["uct", "uct"], ["you"])
    with pytest.raises(GdlError, match="no player 'x'"):
        check_names(["uct", "x"], False)


def test_chance_needs_no_player() -> None:
    assert seats(["legal"], ["first", "second", "random"]) == ["legal", "random", "random"]
    assert seats(["human"], ["random", "you"], "expectimax") == ["random", "human"]
    with pytest.raises(GdlError, match="2 players for 1 role"):
        seats(["uct", "uct"], ["you", "random"])


# --- What ``ggp play`` tells of results, late players and doubtful rules
STUCK = """\
(role x) (init (step 1)) (<= (legal x a) (true (step 1))) (<= (next (step 2)) (true (step 1)))
(<= terminl (true (step 2))) (<= terminal (true (step 3))) (<= (goal x 100) (true (step 2)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    ("goals", "why"),
    [
        ("(<= (goal x 100) (true (step 9)))", "no goal rule of x holds in the state (step 2)"),
        ("(goal x 100) (goal x 50)", "the goal values 50 and 100 hold for x at once in the state (step 2)"),
    ],
)
def test_the_reason_of_a_result_that_is_undefined_is_told(
    goals: str, why: str, options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "doubtful.kif"
    path.write_text(
        "(role x) (init (step 1)) (legal x a) (<= (next (step 2)) (true (step 1)))"
        f"(<= terminal (true (step 2))) {goals}"
    )
    done = play(str(path), "-p", "legal", *options)
    assert why in done.stdout
    if not options:
        assert "\nresult: x (legal) undefined\n" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_players_that_are_late_are_told_of_as_in_tournaments(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "sleepy.py").write_text(
        "import time\nfrom ggp import Choice, Player\n"
        "class Sleepy(Player):\n"
        "    def decide(self, state, options, deadline):\n"
        "        time.sleep(max(0.0, deadline - time.monotonic()) + 0.4)\n"
        "        return Choice(options[0])\n"
    )
    words = "play", "tictactoe", "-p", "sleepy:Sleepy,legal", "--clock", "0.1", "--max-steps", "3", *options
    done = ggp(*words, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert "x (Sleepy) was late with 2 moves, by up to 0.4 s" in done.stdout, done.stderr
    assert "(legal) was late" not in done.stdout
    if options == ["--json"]:
        steps = [json.loads(line) for line in done.stdout.splitlines() if '"type":"step"' in line]
        assert [sorted(step["late"]) for step in steps] == [["x"], [], ["x"]]
    else:
        assert done.stdout.count("(0.4 s late)") == 2


def test_a_move_that_was_not_visited_does_not_look_like_a_loss() -> None:
    machine = Game.load("tictactoe").machine("prover")
    player = make_player("legal")
    shown, lines = io.StringIO(), list[bytes]()
    state = machine.initial_state()
    first, second, third = machine.legal_moves(state, 0)[:3]
    told = (Candidate(first, 3, 0.0), Candidate(second), Candidate(third, 0, 50.0))
    step = MatchStep(1, state, (first, 0), {0: Choice(first, told)}, seconds=0.1)
    console = Console(file=shown, width=100)
    painter = Painter(find_board(machine), machine.rules, machine.roles)
    TextView(console, machine, [player, player], painter).step(step)
    JsonView(machine, [player, player], "tictactoe", lines.append).step(step)
    lost, unknown, proven = shown.getvalue().splitlines()[:3]
    assert re.search(r"3 visits +expects +0\.0 of 100", lost)
    assert "not visited yet" in unknown
    assert "expects" not in unknown
    assert "visit" not in proven
    assert "expects  50.0 of 100" in proven
    [search] = json.loads(lines[-1])["search"]
    assert [one["value"] for one in search["candidates"]] == [0.0, None, 50.0]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_stuck_match_is_exit_status_1_and_doubtful_rules_are_told_of(
    options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "stuck.kif"
    path.write_text(STUCK)
    done = play(str(path), "-p", "random", "--clock", "0,0.1", *options)
    assert done.returncode == 1
    assert "x has no legal move in the state (step 2), which is not terminal" in done.stdout
    assert done.stderr.startswith(f"ggp: {path}:2:1: these rules are doubtful: 'terminl' is not a keyword")
    assert done.stderr.count("\n") == 1


def test_what_is_worst_in_rules_is_told_before_they_are_played(tmp_path: Path) -> None:
    path = tmp_path / "wide.kif"
    path.write_text("(role x) (legal x a)\n(goal x 1, 2)\n（init p）\n")
    told = doubts(Game.load(path))
    assert told.startswith(
        f"{path}:2:1: these rules are doubtful: 'goal' has 3 arguments, but takes 2 (4 warnings;"
    )
    path.write_text("(role x) (legal x a) // all\n(goal x 100) (<= terminal (true p)) (init p)\n(next p)\n")
    assert doubts(Game.load(path)).startswith(
        f"{path}:1:22: these rules are doubtful: comments do not begin with"
    )


# --- Which matches begin before their kernels are compiled


@pytest.mark.parametrize(
    ("names", "can"),
    [
        (["uct", "random"], True),
        (["human", "uct:workers=1"], True),
        (["uct", "uct"], True),
        (["human", "random"], False),  # nothing is to be compiled
        (["uct:playouts=1000", "random"], False),  # the same seed gives the same choices
        (["uct", "montecarlo"], False),  # which would be another one on another machine
        (["mine:Mine", "uct"], False),
    ],
)
def test_only_matches_between_searches_by_the_clock_begin_without_kernels(
    names: list[str], can: bool
) -> None:
    assert can_wait(names) is can
