"""What ``ggp play`` tells of results, late players and doubtful rules."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.terminal.setup import JsonView, TextView, doubts
from players.match import MatchStep
from players.player import Candidate, Choice
from players.registry import make_player
from tests.ggp.program import ggp, play
from tests.places import ROOT

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
