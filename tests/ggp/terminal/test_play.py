"""``ggp play``: what is shown of a match, who takes part, and how a person plays at the terminal."""

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
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from gdl.errors import GdlError
from gdl.information import observations
from gdl.machine import Machine
from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.terminal.human import HumanPlayer, LineEditor, Quit, help_for, listing, matching, steps_of
from ggp.terminal.setup import BlindView, JsonView, TextView, can_wait, check_names, doubts, seats
from players.baselines import RandomPlayer
from players.belief.belief import Belief
from players.match import MatchStep, MatchView, play_match
from players.player import Candidate, Choice, Player
from players.registry import make_player
from tests.ggp.program import ggp, play, started
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
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    terminal = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    words = "play", "tictactoe", "--clock", "0.5", "--max-steps", "2"
    match = started(*words, env=terminal, **streams)
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


# --- A person at the terminal: moves by number and name, undo, completion, ways to leave, what is hidden
def test_a_person_plays_by_number_name_and_beginning_and_takes_back() -> None:
    said = "?\nzzz\nmark b\n(mark b 2)\nundo\nmark a 1\nmark a 2\n99\nma c 2\nmoves\n"
    said += "".join(f"{n}\n" for n in range(1, 10))
    done = play("tictactoe", "-p", "human,legal", "--seed", "3", text=said)
    assert "with or without brackets and blanks: (mark a 1), mark a 1, a 1, a1" in done.stdout
    assert "'zzz' is not one of the 9 legal moves" in done.stdout
    assert "'mark b' fits 3 moves: b1, b2, b3" in done.stdout
    assert "step 1: x b2\n" in done.stdout
    assert "step 1: x a1\n" in done.stdout


@pytest.mark.parametrize("text", ["mark b 2\n", "quit\n"])
def test_end_of_input_leaves_with_130(text: str) -> None:
    done = play("tictactoe", "-p", "human,legal", text=text)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_control_c_leaves_with_130_and_no_traceback() -> None:
    match = started("play", "tictactoe", "--clock", "60", env={**os.environ, "PYTHONUNBUFFERED": "1"})
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
    text = help_for(legal("chess"), False, dict.fromkeys(legal("chess"), "e4"))
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
    listings = [text for text in shown if re.match(r" *\d+ [abc][123]", text)]
    assert len(listings) > 3
    for text in listings:
        for number, a, b in re.findall(r"(\d+) ([abc])([123])", text):
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
    _, _, before = view.pages[-1][1].partition("at first")
    _, _, after = shown.partition("at first")
    assert "C" not in before, "the car is drawn"
    assert "C" in after and "result: " in after
