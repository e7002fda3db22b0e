"""Games without a grid: heaps, found by structure, and hands, signs, doors, numbers and notes, by hints."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from gdl.hints import read_hints
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules, parse_term
from gdl.syntax.preface import Preface
from ggp.boards.board import Grid, find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.role_view import SightView, new_belief
from ggp.boards.scene import Onlooker
from ggp.boards.shapes import BoardShape
from ggp.boards.svg.overlay import BoardOverlay
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from players.belief.belief import observed
from players.kaskade.make_machine import make_machine
from tests.games.rules_of_games import NAMES
from tests.ggp.boards.found_boards import board_of_machine, found, machine_of


def clicked(machine: Machine, board: Grid | None, state: State, role: int = 0) -> dict[str, list[str]]:
    """The keys of each legal move's clicks."""
    moves = [machine.move(role, move) for move in machine.legal_moves(state, role)]
    found_clicks = ClickFinder(board, machine.rules).clicks(moves, state.propositions)
    return {one.move: [key for keys in one.clicks for key in keys] for one in found_clicks}


def painter_of(text: str) -> tuple[Machine, SvgPainter]:
    machine = make_machine(parse_rules(text), "prover")
    return machine, SvgPainter.of_machine(machine)


# --- Heaps
@pytest.mark.parametrize("seed", range(3))
def test_heaps_are_found_whatever_they_are_called_and_a_stick_takes_all_behind_it(seed: int) -> None:
    machine, board = found("nim", seed)
    assert board.shape is BoardShape.HEAPS and sorted(board.heaps.sizes.values() if board.heaps else ()) == [
        3,
        4,
        5,
    ]
    clicks = clicked(machine, board, machine.initial_state())
    assert all(len(keys) == 1 for keys in clicks.values())
    assert {keys[0] for keys in clicks.values()} == {
        f"0,{i},{j}" for j, n in enumerate((5, 4, 3)) for i in range(n)
    } or seed
    assert len({keys[0] for keys in clicks.values()}) == 12


def test_the_stick_that_is_clicked_is_the_first_that_goes() -> None:
    machine, board = found("nim")
    start = machine.initial_state()
    clicks = clicked(machine, board, start)
    assert clicks["(take a 3)"] == ["0,0,2"] and clicks["(take c 2)"] == ["0,3,0"]
    drawn = SvgPainter(board, machine.rules, machine.roles).draw_state(
        start.play("(take c 2)", "noop"), start
    )
    assert drawn.count("gb-peg") == 10 and drawn.count("gb-gone gb-new") == 2
    assert "c, 3 from the end" in drawn


def test_a_move_that_names_what_is_left_is_found_too(corpus: Path) -> None:
    machine = Game.load(corpus / "games" / "nim2.kif").machine("prover")
    board = find_board(machine)
    assert board is not None and board.shape is BoardShape.HEAPS
    assert clicked(machine, board, machine.initial_state())["(reduce c 7)"] == ["0,7,1"]


def test_heaps_are_found_in_games_of_heaps_alone() -> None:
    boards = {game: board_of_machine(game) for game in NAMES if game not in ("sokoban", "snakes")}
    assert [game for game, board in boards.items() if board is not None and board.heaps] == [
        "nim",
        "threenim",
    ]


# --- Hands
def test_ones_own_card_lies_below_and_the_others_face_down_above() -> None:
    machine = machine_of("kuhn")
    painter = SvgPainter.of_machine(machine)
    view = SightView(machine, None, painter, Preface())
    start = machine.initial_state()
    move = next(m for m in machine.legal_moves(start, 2) if str(machine.move(2, m)) == "(deal king jack)")
    joint = (machine.legal_moves(start, 0)[0], machine.legal_moves(start, 1)[0], move)
    for role, own, other in ((0, "K", "J"), (1, "J", "K")):
        belief = new_belief(machine, role, 0)
        belief.update(observed(start, joint)[role])
        svg = view.sight(belief, None).shown["svg"]
        assert f">{own}<" in svg and f">{other}<" not in svg and svg.count("face down") == 1
        assert svg.index("gb-disc") < svg.index(f">{own}<")
        names = re.findall(r'class="gb-head"[^>]*>(\w+)<', svg)
        assert names == (["second", "first"] if role == 0 else ["first", "second"])


def test_cards_chips_and_dice_lie_at_their_roles_seat_or_in_the_middle() -> None:
    text = """; draw: card_of * as card\n; draw: common * as card called the flop\n; draw: pot * as chips
        ; draw: bid * as dice called last bid\n; draw: out * as note called is out
        (role red) (role blue) (init (card_of red ace spades))
        (init (common king hearts)) (init (pot blue 12))
        (init (bid 3 5)) (init (out blue)) (init (unnamed 7))"""
    machine, painter = painter_of(text)
    svg = painter.draw_state(machine.initial_state())
    assert svg.count('class="gb-pip"') == 15 and svg.count("♠") == svg.count("♥") == 1
    assert "the flop" in svg and "last bid" in svg and "is out" in svg and ">12<" in svg
    assert "unnamed 7" in svg and "(pot" not in svg
    assert "red ace spades" in svg and "blue is out" in svg
    beside = painter.describe(machine.initial_state().propositions)["beside"]
    assert "blue: is out" in [block["name"] for block in beside]


# --- Signs
def test_signs_are_clicked_and_face_each_other_afterwards() -> None:
    machine = machine_of("rockpaperscissors")
    painter = SvgPainter.of_machine(machine)
    start = machine.initial_state()
    clicks = clicked(machine, None, start)
    assert clicks == {"rock": ["sign,0"], "paper": ["sign,1"], "scissors": ["sign,2"]}
    svg = painter.draw_state(start, facts=False)
    assert all(f'data-square="sign,{i}"' in svg for i in range(3)) and "<title>paper</title>" in svg
    after = start.play("rock", "paper")
    moves = [parse_term("rock"), parse_term("paper")]
    faced = painter.draw_state(after, start, by=Onlooker(1, moves=moves), facts=False)
    assert faced.count("scale(1.9)") == 2 and "scale(-1 1)" in faced
    assert painter.draw_over(BoardOverlay(hints=("sign,1", "0,0,0"))).count("gb-hint") == 1


def test_what_was_chosen_last_is_drawn_from_facts_too() -> None:
    machine = machine_of("prisonersdilemma")
    painter = SvgPainter.of_machine(machine)
    after = machine.initial_state().play("cooperate", "defect")
    for moves in ((), (parse_term("cooperate"), parse_term("defect"))):
        svg = painter.draw_state(after, by=Onlooker(moves=moves), facts=False)
        assert svg.count("scale(1.9)") == 2
        assert "1 of 10 rounds played" in svg and ">10<" in svg


# --- Rows
def test_a_door_opens_for_what_is_known_to_stand_there() -> None:
    machine, board = found("montyhall")
    painter = SvgPainter(board, machine.rules, machine.roles)
    state = [parse_term(text) for text in ("(chosen 1)", "(opened 3)")]
    svg = painter.draw(state)
    assert svg.count("gb-knob") == 2 and svg.count("gb-dusk") == 1 and ">chosen<" in svg
    assert painter.draw([*state, parse_term("(car 2)")]).count("gb-dusk") == 2
    start = machine.initial_state().play("noop", "(hide 2)")
    assert clicked(machine, board, start) == {f"(choose {n})": [f"0,{n - 1},0"] for n in (1, 2, 3)}


def test_numbers_are_struck_out_as_the_answers_rule_them_out() -> None:
    machine, board = found("numberguessing")
    painter = SvgPainter(board, machine.rules, machine.roles)
    view, belief = SightView(machine, board, painter, Preface()), new_belief(machine, 0, 0)
    state = machine.initial_state()
    for move in ("noop", "(ask 8)", "(ask 4)"):
        other = next(iter(machine.legal_moves(state, 1))) if move != "noop" else None
        secret = [m for m in machine.legal_moves(state, 1) if str(machine.move(1, m)) == "(think 3)"]
        own = next(m for m in machine.legal_moves(state, 0) if str(machine.move(0, m)) == move)
        joint = (own, secret[0] if other is None else other)
        belief.update(observed(state, joint)[0])
        state = machine.next_state(state, joint)
    svg = view.sight(belief, None).shown["svg"]
    assert svg.count("gb-out") == 12 and "<title>5: ruled out</title>" in svg
    assert svg.count("gb-arrowhead") == 1 and svg.count('class="gb-point"') == 1
    assert "gb-out" not in painter.draw_state(state), "who sees all rules nothing out"


# --- Hints
def test_names_in_hints_are_read_and_faults_have_their_place() -> None:
    text = "; draw: called * as note called AS loud * as can\n; draw: x as chips 5 in red called coins"
    hints, faults = read_hints(text)
    assert not faults
    assert [(hint.words, hint.look, hint.sign, hint.name) for hint in hints] == [
        (("called",), "note", "", "AS loud * as can"),
        (("x",), "chips", "5", "coins"),
    ]
    _, faults = read_hints(f"\n; draw: x as note called {'y' * 41}\n; draw: x as score 5")
    assert [str(fault)[:3] for fault in faults] == ["2:3", "3:3"]


def test_hostile_names_and_numbers_stay_text_and_short() -> None:
    text = """; draw: a * as note called <script>*</script>&"'\n; draw: b * as chips\n; draw: d * as dice
        ; draw: s * as score\n; draw: go as fist called <b>\n; draw: board as doors
        (role <i>) (role x)\n(init (a <i> <img>)) (init (b <i> 99999999999999999999))
        (init (d 999999999 9999999))
        (init (s x -5)) (init (b x <u>)) (init (d 99 ²)) (init (b))"""
    machine, painter = painter_of(text)
    svg = painter.draw_state(
        machine.initial_state(), by=Onlooker(7, moves=[parse_term("go"), None, parse_term("go")])
    )
    assert not re.search("<(script|img|i|b|u)[ >]", svg)
    assert len(svg) < 30_000 and svg.count("gb-chip") < 20


@pytest.mark.parametrize("added", ["(<= base (true (step ?n)))", "(column)", "(exit 1 2 3)"])
def test_rules_that_are_almost_those_of_snakes_are_drawn_as_others(added: str) -> None:
    machine, painter = painter_of(f"{Game.load('snakes').text}\n{added}")
    assert painter.draw_state(machine.initial_state()).startswith("<svg")


def test_a_number_of_thousands_of_digits_is_a_step_of_its_chain() -> None:
    machine, painter = painter_of(re.sub(r"\b5\b", "9" * 5000, Game.load("nim").text))
    assert "gb-heap" in painter.draw_state(machine.initial_state())


@pytest.mark.parametrize(
    "hint", ["board as doors", "board as numbers", "board as doors\n; draw: cell * as car"]
)
def test_a_row_without_relations_of_one_argument_is_an_ordinary_board(hint: str) -> None:
    rules = parse_rules(f"; draw: {hint}\n{Game.load('tictactoe').text}")
    board = find_board(make_machine(rules, "prover"))
    assert board is not None and board.shape is BoardShape.STRAIGHT


def test_random_matches_of_tables_have_a_click_for_every_move_of_signs_and_heaps() -> None:
    rng = random.Random(1)
    for game in ("nim", "rockpaperscissors", "prisonersdilemma"):
        machine, board = machine_of(game), board_of_machine(game)
        state = machine.initial_state()
        while not machine.is_terminal(state):
            for role in range(len(machine.roles)):
                clicks = clicked(machine, board, state, role)
                assert all(keys for move, keys in clicks.items() if move != "noop")
            state = machine.next_state(state, [rng.choice(machine.legal_moves(state, r)) for r in range(2)])


def test_what_a_hint_puts_on_the_table_is_not_the_board() -> None:
    """The hands of dobutsu shogi name as many pairs of a role and an animal as the board has squares."""
    board = board_of_machine("dobutsu")
    assert board is not None
    assert (len(board.columns), len(board.rows)) == (3, 4)
