"""Boards have the ground that their rules show: lines, green, dark, blocks, bars, seas, a code of pegs."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gdl.hints import read_hints
from gdl.machine import Machine, State
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from gdl.syntax.preface import Preface
from ggp.boards.board import find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.role_view import SightView, new_belief
from ggp.boards.scene import Onlooker
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from players.belief.belief import observed
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.found_boards import found


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("game", "ground"),
    [
        ("atarigo", "lines"),
        ("othello", "green"),
        ("tron", "dark"),
        ("connectfour", ""),
        ("hex", ""),
        ("tictactoe", ""),
        ("breakthrough", ""),
        ("pentominoes", ""),
    ],
)
def test_a_ground_is_found_without_names(game: str, ground: str, seed: int) -> None:
    assert found(game, seed)[1].ground == ground


def test_crosses_and_rings_stand_in_squares() -> None:
    rules = parse_rules(re.sub(r"\bblack\b", "x", re.sub(r"\bwhite\b", "o", Game.load("atarigo").text)), "x")
    machine = make_machine(rules, "prover")
    drawn = SvgPainter.of_machine(machine).draw_state(machine.initial_state())
    assert "gb-lines" not in drawn and drawn.count('class="gb-cell') == 49


@pytest.mark.parametrize(("size", "stars"), [(7, 0), (9, 5), (10, 0), (13, 5), (19, 9)])
def test_lines_have_the_stars_of_boards_of_go(size: int, stars: int) -> None:
    cells = " ".join(f"(init (cell {x} {y} b))" for x in range(size) for y in range(size))
    text = f"; draw: board as lines\n(role r) {cells} (<= (legal r noop) (true (cell 0 0 b)))"
    machine = make_machine(
        parse_rules(f"{text} (<= (next ?f) (true ?f)) (<= terminal (true (cell 0 1 w)))"), "prover"
    )
    drawn = SvgPainter.of_machine(machine).draw_state(machine.initial_state())
    assert (drawn.count("gb-star"), drawn.count("gb-square")) == (stars, size * size)


@pytest.mark.parametrize("seed", [0, 3])
def test_blocks_of_sudoku_are_found_in_its_constraints(seed: int) -> None:
    machine, board = found("sudoku", seed)
    assert Counter(map(len, board.blocks)) == {9: 9} and frozenset().union(*board.blocks) == board.squares
    for block in board.blocks:
        assert sorted(len({square[side] for square in block}) for side in (1, 2)) == [3, 3]
    state = machine.initial_state()
    assert len(board.given) == len(state.propositions) == 34
    painter = SvgPainter(board, machine.rules, machine.roles)
    assert "gb-pen" not in painter.draw_state(state) and "gb-border" in painter.draw_state(state)
    after = machine.next_state(state, [machine.legal_moves(state, 0)[0]])
    assert painter.draw_state(after).count("gb-pen") == 1


def test_a_bar_is_bitten_and_a_hint_marks_its_poisoned_square() -> None:
    machine, board = found("chomp")
    painter = SvgPainter(board, machine.rules, machine.roles)
    state = machine.initial_state()
    whole, bitten = painter.draw_state(state), painter.draw_state(state.play("(eat b 2)"))
    assert whole.count('"gb-chocolate"') == 20 and "gb-bite" not in whole
    assert bitten.count('"gb-chocolate"') == 8 and bitten.count('"gb-bite"') == 1
    (square,) = re.findall(r'data-square="([0-9,]*)"><title>[^<]*</title>(?:(?!</title>).)*gb-skull', bitten)
    assert square == "0,0,0"


def battle(seed: int = 0) -> tuple[Machine, SvgPainter, list[State]]:
    """Two ships each, laid side by side, then two shots: one hits, one misses."""
    rules = Game.load("battleships").rules
    names = {}
    if seed:
        rules, names = scramble(rules, seed=seed)
    machine = make_machine(rules, "prover")
    painter = SvgPainter.of_machine(machine)
    states = [machine.initial_state()]
    for moves in (
        ("place a 1 up", "place a 1 across"),
        ("place a 4 across", "place a 2 across"),
        ("shoot a 1", "shoot d 4"),
    ):
        joint = []
        for role, move in enumerate(moves):
            text = "(" + " ".join(names.get(word, word) for word in move.split()) + ")"
            spelled = [
                machine.rules.spell(machine.move(role, one)) for one in machine.legal_moves(states[-1], role)
            ]
            joint.append(machine.legal_moves(states[-1], role)[spelled.index(text)])
        states.append(machine.next_state(states[-1], joint))
    return machine, painter, states


@pytest.mark.parametrize("seed", [0, 3])
def test_seas_are_found_without_names(seed: int) -> None:
    machine, painter, states = battle(seed)
    board = painter.board
    assert (
        board is not None and board.seas and board.panels == tuple(sorted((role,) for role in machine.roles))
    )
    past = [(state.propositions, None, ()) for state in states[:-1]]
    drawn = painter.draw(states[-1].propositions, states[-2].propositions, by=Onlooker(1, past=past))
    assert (drawn.count('"gb-hit"'), drawn.count('"gb-miss"')) == (1, 1)
    # Two ships that touch are two bars, since they came one after the other.
    assert sorted(re.findall(r'gb-ship" [^>]*width="([0-9.]+)" height="([0-9.]+)"', drawn)) == sorted(
        [("26.4", "106.4"), ("66.4", "26.4"), ("106.4", "26.4"), ("66.4", "26.4")]
    )
    assert re.findall('gb-title"[^>]*>([^<]*)', drawn) == ["theirs", "mine"]


def test_ships_are_laid_in_the_own_sea_and_shots_fall_in_the_other() -> None:
    machine, painter, states = battle()
    clicks = ClickFinder(painter.board, machine.rules)
    for state, sea in ((states[0], "1"), (states[2], "0")):
        legal = [machine.move(1, move) for move in machine.legal_moves(state, 1)]
        found_clicks = clicks.clicks(legal, state.propositions, 1)
        assert {key[0] for move in found_clicks for keys in move.clicks for key in keys} == {sea}


def guessed() -> tuple[SvgPainter, list[dict[str, object]], str]:
    """What the breaker is shown step by step; in the end it knows the code. Then all that is true."""
    machine = Game.load("mastermind").machine("prover")
    painter = SvgPainter.of_machine(machine)
    view, belief, state = (
        SightView(machine, painter.board, painter, Preface()),
        new_belief(machine, 0, 0),
        machine.initial_state(),
    )
    sight = view.sight(belief, None)
    shown, past = [sight.shown], []
    hides = [f"(hide {n} {colour})" for n, colour in enumerate(("red", "blue", "blue", "violet"), 1)]
    guesses = ["red red orange orange", "red yellow blue green", "blue blue blue violet"]
    for joint in [*(["noop", hide] for hide in hides), *([f"(guess {guess})", "noop"] for guess in guesses)]:
        moves = [
            next(
                m
                for m in machine.legal_moves(state, role)
                if machine.rules.spell(machine.move(role, m)) == text
            )
            for role, text in enumerate(joint)
        ]
        seen = observed(state, moves)
        past.append((state.propositions, seen[0].move, seen[0].percepts))
        belief.update(seen[0])
        state = machine.next_state(state, moves)
        sight = view.sight(belief, sight)
        shown.append(sight.shown)
    return painter, shown, painter.draw(state.propositions, by=Onlooker(past=past))


def test_guesses_are_rows_of_pegs_with_pins_and_what_follows_waits_to_be_asked_for() -> None:
    painter, shown, truth = guessed()
    first, last = str(shown[0]["svg"]), str(shown[-1]["svg"])
    assert painter.quiet and shown[-1]["quiet"] and shown[-1]["count"] == 1
    assert (first.count("gb-slot"), first.count('gb-sign" x')) == (4, 4 + 6)
    rows = re.findall("<title>([0-9]+: [^<]*)</title>", last)
    assert rows == [
        "1: red, red, orange, orange; black 1",
        "2: red, yellow, blue, green; black 2",
        "3: blue, blue, blue, violet; black 3",
    ]
    assert "code: ?, ?, ?, ?" in last and "code: red, blue, blue, violet" in truth
    assert ["peg 2 blue", 100] in list(shown[-1]["guesses"])  # type: ignore[call-overload]
    heights = {re.findall(r'height="([0-9.]+)"', str(one["svg"]))[0] for one in shown}
    assert len(heights) == 1, "nothing jumps"


@pytest.mark.parametrize(
    "hint",
    ["guess * as pegs", "hide * as pegs", "noop as pegs", "peg * as pegs", "black * as pin", "x as ship"],
)
def test_hints_that_fit_no_such_board_change_nothing(hint: str) -> None:
    assert not read_hints(f"; draw: {hint}")[1]
    text = f"; draw: {hint}\n" + Game.load("tictactoe").text
    machine = make_machine(parse_rules(text, "x"), "prover")
    painter = SvgPainter.of_machine(machine)
    assert not painter.quiet and painter.draw_state(machine.initial_state()).count("gb-square") == 9


def test_a_percept_may_say_any_number_of_pins() -> None:
    text = Game.load("mastermind").text.replace(
        "(sees breaker (black ?n))", "(sees breaker (black 99999999999999))"
    )
    machine = make_machine(parse_rules(text, "x"), "prover")
    board = find_board(machine)
    painter = SvgPainter(board, machine.rules, machine.roles)
    move = next(rule for rule in machine.rules if rule.head.name == "sees").head.args[1]
    guess = machine.move(0, 5)
    drawn = painter.draw((), by=Onlooker(past=[((), guess, [move])]))
    assert drawn.count("gb-black") <= 4
