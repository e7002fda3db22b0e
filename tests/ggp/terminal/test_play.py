"""``ggp play``: what is shown of a match, as text and as JSON, and who takes part."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from ggp.terminal.setup import check_names, seats
from tests.ggp.program import play
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
