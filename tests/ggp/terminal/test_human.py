"""A person at the terminal: moves by number and name, undo, completion, ways to leave, what is hidden."""

from __future__ import annotations

import functools
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from gdl.information import observations
from gdl.machine import Machine
from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.terminal.human import HumanPlayer, LineEditor, Quit, help_for, listing, matching, steps_of
from ggp.terminal.setup import BlindView, JsonView
from players.baselines import RandomPlayer
from players.belief.belief import Belief
from players.match import MatchStep, MatchView, play_match
from players.player import Player
from players.registry import make_player
from tests.ggp.program import play
from tests.places import ROOT


def test_a_person_plays_by_number_name_and_beginning_and_takes_back() -> None:
    said = "?\nzzz\nmark b\n(mark b 2)\nundo\nmark a 1\nmark a 2\n99\nma c 2\nmoves\n"
    said += "".join(f"{n}\n" for n in range(1, 10))
    done = play("tictactoe", "-p", "human,legal", "--seed", "3", text=said)
    assert "with or without brackets and blanks: (mark a 1), mark a 1, a 1, a1" in done.stdout
    assert "'zzz' is not one of the 9 legal moves" in done.stdout
    assert "'mark b' fits 3 moves: (mark b 1), (mark b 2), (mark b 3)" in done.stdout
    assert done.stdout.count("step 1: x (mark ") == 2
    assert "step 1: x (mark a 1), o noop" in done.stdout


@pytest.mark.parametrize("text", ["mark b 2\n", "quit\n"])
def test_end_of_input_leaves_with_130(text: str) -> None:
    done = play("tictactoe", "-p", "human,legal", text=text)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_control_c_leaves_with_130_and_no_traceback() -> None:
    match = subprocess.Popen(
        [sys.executable, "-u", "-m", "ggp", "play", "tictactoe", "--clock", "60"],
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


@functools.cache
def legal(game: str) -> tuple[str, ...]:
    """The first role's legal moves in the first state, as they are listed."""
    return tuple(next(iter(Game.load(game).machine("prover").initial_state().legal.values())))


@pytest.mark.parametrize(
    ("game", "typed", "move"),
    [
        ("chess", "e2e4", "(move e 2 e 4)"),
        ("chess", "e 2 e 4", "(move e 2 e 4)"),
        ("chess", "E2-E4", "(move e 2 e 4)"),
        ("chess", "e4", "(move e 2 e 4)"),
        ("chess", "move e2 e4", "(move e 2 e 4)"),
        ("tictactoe", "b 2", "(mark b 2)"),
        ("tictactoe", "b2", "(mark b 2)"),
        ("tictactoe", "mark(b,2)", "(mark b 2)"),
        ("connectfour", "d", "(drop d)"),
        ("sokoban", "up", "(move up)"),
        ("sokoban", "u", "(move up)"),
        ("hanoi", "1 right", "(move 1 right)"),
        ("hanoi", "right", "(move 1 right)"),
        ("kalah", "c", "(sow c)"),
        ("nim", "a2", "(take a 2)"),
    ],
)
def test_whatever_arguments_fit_one_move_are_that_move(game: str, typed: str, move: str) -> None:
    names = legal(game)
    assert [names[i] for i in matching(typed, names)] == [move]


@settings(deadline=None)
@given(st.data())
def test_every_move_may_be_typed_with_and_without_blanks(data: st.DataObject) -> None:
    game = data.draw(st.sampled_from(["chess", "amazons", "connectfour", "hanoi", "sudoku", "breakthrough"]))
    names = legal(game)
    move = data.draw(st.sampled_from(names))
    words = move.strip("()").split()
    sign = data.draw(st.sampled_from(["", " ", "-", ", "]))
    typed = sign.join(words[data.draw(st.integers(0, 1)) :])
    assert [names[i] for i in matching(typed, names, [0] * len(names))] == [move]


def test_a_square_is_what_lists_of_moves_call_it_too() -> None:
    assert matching("i5-h5", ["(move 5 i 5 h)", "(move 5 i 4 i)"]) == [0]
    assert matching("h5", ["(move wp 5 i 5 h)", "(move wp 5 i 4 i)"]) == [0]


def test_what_fits_several_moves_is_none() -> None:
    names = legal("chess")
    assert {names[i] for i in matching("g1", names)} == {"(move g 1 f 3)", "(move g 1 h 3)"}


def test_several_steps() -> None:
    ways = ["(move up)", "(move left)"]
    known = [*ways, "(move down)", "(move right)"]
    assert steps_of("uul", ways, known) == ["u", "u", "l"]
    assert steps_of("up up left", ways, known) == ["up", "up", "left"]
    assert steps_of("dul", ways, known) == []
    assert steps_of("undo", ways, known) == []
    assert steps_of("u", ways, known) == []


def test_steps_are_made_until_one_cannot_be() -> None:
    machine = Game.load("sokoban").machine("prover")
    shown: list[str] = []
    said = iter(["?", "rrll", "uuuu", "quit"])
    player = HumanPlayer(show=shown.append, ask=lambda _: next(said))
    moves: list[str] = []

    class Watching(MatchView):
        def step(self, step: MatchStep) -> None:
            moves.append(self.move_name(0, step.joint[0]))

    with pytest.raises(Quit):
        play_match(machine, [player], Watching(machine, [player]), 0.0, 1.0)
    assert moves == [f"(move {way})" for way in ("right", "right", "left", "left", "up", "up", "up")]
    assert any("stopped before 'u', which fits 0 moves here" in text for text in shown)
    assert any("several steps" in text and "(move " in text for text in shown)


def test_help_shows_a_move_of_the_game() -> None:
    text = help_for(legal("chess"), False)
    sample = re.search(r"\((move . . . .)\), move . . . ., . . . ., \w{4}\n", text)
    assert sample is not None and f"({sample[1]})" in legal("chess")
    assert "several steps" not in text


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


# --- A person at a terminal sees what the person's role sees, and nothing that depends on anything else


@cache
def machine_of(name: str) -> Machine:
    return Game.load(name).machine("prover")


class Recorder(BlindView):
    """Notes what was on the screen whenever the person was asked, and what the role had learnt by then."""

    def __init__(self, machine: Machine, players: list[Player], screen: io.StringIO) -> None:
        console = Console(file=screen, width=100, force_terminal=False)
        painter = Painter(find_board(machine), machine.rules, machine.roles)
        super().__init__(console, machine, players, painter)
        self.screen = screen
        self.pages: list[tuple[tuple[object, ...], str]] = []
        self.learnt: list[object] = []

    def step(self, step: MatchStep) -> None:
        super().step(step)
        self.learnt.append(observations(self.machine, step.state, step.joint)[0])

    def perceived(self, role: int, belief: Belief) -> None:
        super().perceived(role, belief)
        if role == 0:
            self.pages.append((tuple(self.learnt), self.screen.getvalue()))


def watched(name: str, seed: int) -> Recorder:
    """A match whose first role is a person who takes moves at random."""
    machine = machine_of(name)
    screen = io.StringIO()
    shown: list[str] = []
    asked = iter(range(100))

    def show(text: str) -> None:
        shown.append(text)
        print(text, file=screen)

    def ask(prompt: str) -> str:
        screen.write(prompt)
        numbers = re.findall(r"(\d+) \(?[a-z]", shown[-1])
        return str(numbers[(seed + next(asked)) % len(numbers)])

    person = HumanPlayer(show=show, ask=ask, width=100)
    players: list[Player] = [person, *[RandomPlayer(seed=seed * 7 + r) for r in range(1, len(machine.roles))]]
    view = Recorder(machine, players, screen)
    play_match(machine, players, view, time.monotonic(), 5.0)
    return view


@pytest.mark.parametrize("name", ["montyhall", "kuhn"])
def test_equal_observations_give_equal_screens_until_the_end(name: str) -> None:
    screens: dict[tuple[object, ...], set[str]] = defaultdict(set)
    times: dict[tuple[object, ...], int] = defaultdict(int)
    for seed in range(60):
        for learnt, text in watched(name, seed).pages:
            screens[learnt].add(text)
            times[learnt] += 1
    assert max(times.values()) > 3
    assert {key: len(texts) for key, texts in screens.items() if len(texts) > 1} == {}


def test_the_truth_is_shown_after_the_end() -> None:
    view = watched("montyhall", 4)
    shown = view.screen.getvalue()
    assert "(car" not in view.pages[-1][1]
    assert "(car" in shown and "result: " in shown
