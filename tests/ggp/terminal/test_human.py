"""A person at the terminal: moves by number and name, undo, completion, and ways to leave."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.game import Game
from ggp.terminal.human import HumanPlayer, LineEditor, listing, matching
from ggp.terminal.local_match import MatchView, play_match
from ggp.terminal.views import JsonView
from players.registry import make_player
from tests.ggp.program import ggp as program
from tests.places import ROOT

SLOW = ["--machine", "prover"]


def ggp(*words: str, text: str = "", timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return program("play", *words, text=text, timeout=timeout)


def test_a_person_plays_by_number_name_and_beginning_and_takes_back() -> None:
    said = "?\nzzz\nmark b\n(mark b 2)\nundo\nmark a 1\nmark a 2\n99\nma c 2\nmoves\n"
    said += "".join(f"{n}\n" for n in range(1, 10))
    done = ggp("tictactoe", "-p", "human,legal", "--seed", "3", *SLOW, text=said)
    assert "its beginning" in done.stdout
    assert "'zzz' is not one of the 9 legal moves" in done.stdout
    assert "'mark b' fits 3 moves: (mark b 1), (mark b 2), (mark b 3)" in done.stdout
    assert done.stdout.count("step 1: x (mark ") == 2
    assert "step 1: x (mark a 1), o noop" in done.stdout


def test_end_of_input_leaves_with_130() -> None:
    done = ggp("tictactoe", "-p", "human,legal", *SLOW, text="mark b 2\n")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_quit_leaves_with_130() -> None:
    done = ggp("tictactoe", "-p", "human,legal", *SLOW, text="quit\n")
    assert done.returncode == 130


@pytest.mark.slow
def test_control_c_leaves_with_130_and_no_traceback() -> None:
    match = subprocess.Popen(
        [sys.executable, "-u", "-m", "ggp", "play", "tictactoe", "--playclock", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert match.stdout is not None
    for line in match.stdout:
        if "control" in line:
            break
    match.send_signal(signal.SIGINT)
    _, errors = match.communicate(timeout=60)
    assert match.returncode == 130
    assert "Traceback" not in errors


@given(st.lists(st.text("abc12 ()", min_size=1, max_size=8), max_size=6), st.text(max_size=8))
def test_whatever_a_person_types_means_some_of_the_moves(names: list[str], text: str) -> None:
    matches = matching(text, names)
    assert all(0 <= i < len(names) for i in matches)
    assert matches == sorted(set(matches))


def test_full_names_and_numbers_go_before_beginnings() -> None:
    names = ["(move a 1)", "(move a 10)", "noop", "(drop 2)"]
    assert matching("move a 1", names) == [0]
    assert matching("MOVE A", names) == [0, 1]
    assert matching("n", names) == [2]
    assert matching("4", names) == [3]
    assert matching("5", names) == []
    assert matching("(move b", names) == []


def test_listing_numbers_every_move() -> None:
    names = [f"(mark {i} {j})" for i in range(5) for j in range(5)]
    text = listing(names, width=60)
    assert all(f"{i} {name}" in text for i, name in enumerate(names, 1))
    assert max(map(len, text.splitlines())) <= 60
    assert "300 more" in listing(["x"] * 500)


@given(st.sets(st.sampled_from([f"(m {i})" for i in range(30)]), min_size=1), st.data())
def test_numbers_are_those_that_are_shown(names: set[str], data: st.DataObject) -> None:
    shown = sorted(names)
    numbers = data.draw(st.lists(st.integers(1, 99), min_size=len(shown), max_size=len(shown), unique=True))
    text = listing(shown, numbers=numbers)
    for name, number in zip(shown, numbers, strict=True):
        assert f"{number:>3} {name}" in text
        assert [shown[i] for i in matching(str(number), shown, numbers)] == [name]
    assert matching("100", shown, numbers) == []


def test_a_move_keeps_its_number_for_the_whole_match() -> None:
    machine = Game.load("tictactoe").machine("prover")
    shown: list[str] = []
    said = iter([*"123456789", "moves", *"123456789"])
    for _ in range(2):
        player = HumanPlayer(show=shown.append, ask=lambda _: next(said))
        play_match(machine, [player, make_player("legal")], MatchView(machine, [player, player]), 0.0, 1.0)
    listings = [text for text in shown if "(mark" in text and "not one" not in text]
    assert len(listings) > 3
    for text in listings:
        for number, a, b in re.findall(r"(\d+) \(mark (.) (.)\)", text):
            assert int(number) == 3 * "abc".index(a) + int(b)


def test_tab_completes_moves_with_or_without_the_bracket() -> None:
    editor = LineEditor()
    editor.words = ["(mark a 1)", "(mark a 2)", "noop"]

    def all_of(text: str) -> list[str | None]:
        return [editor.complete(text, i) for i in range(4)]

    assert all_of("(mark") == ["(mark a 1)", "(mark a 2)", None, None]
    assert all_of("mark A 2") == ["(mark a 2)", None, None, None]
    assert all_of("") == ["(mark a 1)", "(mark a 2)", "noop", None]
    assert all_of("x") == [None] * 4


def test_at_the_prompt_a_line_is_edited_completed_and_brought_back() -> None:
    pytest.importorskip("readline")
    master, slave = pty.openpty()
    script = (
        "from ggp.terminal.human import LineEditor\n"
        "editor = LineEditor()\n"
        "editor.words = ['(mark a 1)', '(take b)']\n"
        "for _ in range(3): print('<' + editor('? ') + '>')\n"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "INPUTRC": "/dev/null", "PYTHONPATH": str(ROOT)},
    )
    os.close(slave)
    # A letter too many taken back by the left arrow and Ctrl-D; Tab; the line before.
    typed = {"noxop\x1b[D\x1b[D\x1b[D\x04\n": "<noop>", "mar\t\n": "<(mark a 1)>", "\x1b[A\n": "<(mark a 1)>"}
    seen = ""
    for keys, answer in typed.items():
        seen = read_until(master, "? ", seen)
        os.write(master, keys.encode())
        seen = read_until(master, ">", seen)
        assert answer in seen, seen
        seen = seen[seen.index(answer) + len(answer) :]
    assert asking.wait(timeout=60) == 0
    os.close(master)


def read_until(master: int, sign: str, seen: str) -> str:
    """What comes until a sign is there, after what was seen already."""
    until = time.monotonic() + 60
    while sign not in seen and time.monotonic() < until:
        if select.select([master], [], [], 0.5)[0]:
            seen += os.read(master, 1024).decode()
    return seen


def test_undo_without_anything_to_take_back_is_told() -> None:
    machine = Game.load("tictactoe").machine("prover")
    said = iter(["undo", *"123456789"])
    shown: list[str] = []
    players = [HumanPlayer(show=shown.append, ask=lambda _: next(said)), make_player("legal")]
    lines: list[bytes] = []
    view = JsonView(machine, players, "tictactoe", lines.append)
    play_match(machine, players, view, 0.0, 1.0)
    notes = [json.loads(line) for line in lines if b'"note"' in line and b'"text"' in line]
    assert [note["text"] for note in notes] == ["there is nothing to take back"]
