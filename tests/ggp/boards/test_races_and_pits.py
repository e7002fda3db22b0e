"""Races with points, bar, trays and dice, rows of pits, and boards that turn for who sits at their top."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from bench.boards.recorded import own_games
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from ggp.boards.board import find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.race import Race
from ggp.boards.svg.layout import BoardLayout
from ggp.boards.svg.markup import stylesheet
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.web.play.view import TableView
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.found_boards import board_of_machine, found, machine_of
from tests.places import CORPUS

BACKGAMMON = Game.load("backgammon").rules


def position(text: str) -> State:
    """A state of backgammon."""
    return machine_of("backgammon").state_of(parse_terms(text))


def race_of(game: str, seed: int = 0) -> Race:
    machine, board = found(game, seed)
    race = Race.of_board(board, machine.rules if seed else Game.load(game).rules)
    assert race is not None
    return race


def held(race: Race, state: State) -> dict[tuple[str, int], int]:
    return dict(race.held(*race.board.place(state.propositions)))


def painted(state: State, before: State | None = None) -> str:
    machine, board = found("backgammon")
    return SvgPainter(board, BACKGAMMON, machine.roles).draw_state(state, before)


def clicks_in(game: str, state: State, role: int) -> dict[str, tuple[tuple[str, ...], ...]]:
    machine = state.machine
    view = TableView(Game.load(game), machine, like=None)
    legal = [machine.move(role, move) for move in machine.legal_moves(state, role)]
    shown = view._clicks.clicks(legal, state.propositions, role, view._after(state, role))
    return {move.move: move.clicks for move in shown}


# --- Races
@pytest.mark.parametrize("seed", [0, 3, 8])
def test_backgammon_is_a_race_whatever_its_names_are(seed: int) -> None:
    race = race_of("backgammon", seed)
    first = held(race, race_machine(seed).initial_state())
    ours = Counter({int(key.split(",")[1]): n for (key, owner), n in first.items() if owner == 0})
    assert ours == {23: 2, 12: 5, 7: 3, 5: 5}
    assert race.points == race.board.columns


def race_machine(seed: int) -> Machine:
    return machine_of("backgammon", seed)


def test_no_other_game_is_a_race_and_only_games_of_sowing_have_pits() -> None:
    for game in own_games():
        board = board_of_machine(game) if ":" not in game else find_board(Game.load(game).machine("prover"))
        assert (Race.of_board(board, Game.load(game).rules) is not None) == (game == "backgammon"), game
        assert (board is not None and board.pits is not None) == (game in ("kalah", "oware")), game


MIDDLE = (
    "(control white) (turn white) (pair 6 3) (cell 8 1 white) (cell 8 2 white) (cell 5 1 black) (off black 4)"
)


def test_a_move_is_clicked_where_it_starts_and_ends_or_on_its_die() -> None:
    shown = clicks_in("backgammon", position(MIDDLE), 0)
    assert shown["(move 8 6)"] == (("0,7,0",), ("0,1,0", "die,6"))
    assert shown["(move 8 3)"] == (("0,7,0",), ("0,4,0", "die,3")), "the hit piece is another role's"
    barred = position("(control white) (turn white) (left 3 1) (cell 8 1 white) (bar white 1)")
    assert clicks_in("backgammon", barred, 0)["(move bar 3)"] == (("bar,0",), ("0,21,0", "die,3"))
    home = position("(control white) (turn white) (pair 6 5) (cell 3 1 white) (cell 3 2 white)")
    shown = clicks_in("backgammon", home, 0)
    assert shown["(move 3 6)"] == (("0,2,0",), ("tray,0", "die,6"))
    assert shown["(move 3 5)"] == (("0,2,0",), ("tray,0", "die,5"))


def test_dice_still_to_be_played_and_those_just_played() -> None:
    before = position(MIDDLE)
    drawn = painted(before)
    assert drawn.count("to be played<") == 2 and "gb-played" not in drawn
    after = before.play("(move 8 6)", "noop", "noop")
    drawn = painted(after, before)
    assert drawn.count("to be played<") == 1 and drawn.count("gb-played") == 1
    assert "<title>die 3, to be played</title>" in drawn and "<title>die 6, played</title>" in drawn
    assert painted(position("(control black) (left 4 3)")).count('data-square="die,') == 1
    assert painted(position("(control black) (left 4 3)")).count("to be played<") == 3


def test_a_stack_of_more_than_five_has_its_number() -> None:
    seven = " ".join(f"(cell 6 {n} white)" for n in range(1, 8))
    drawn = painted(position(f"(control white) {seven} (off black 15) (bar black 1)"))
    place = re.search(r"<title>6: 7 white</title>.*?(?=<title>)", drawn)
    assert place is not None and place[0].count("gb-disc") == 5 and ">7<" in place[0]
    assert "<title>tray, black: 15 black</title>" in drawn and "<title>bar, black: 1 black</title>" in drawn
    assert "off black" not in drawn and "bar black 1<" not in drawn, "what is drawn is not listed"


def test_pieces_counted_by_their_row_are_a_race_with_the_hint() -> None:
    columns = " ".join(f"(init (at {x} 0 none))" for x in range(1, 5))
    numbers = " ".join(f"(number {n}) (next_one {n} {n + 1})" for n in range(10))
    text = f"""; draw: board as race
        (role left) (role right) {columns}
        (init (at 5 4 left)) (init (at 6 2 right)) (init (at 7 1 left)) (init (at 8 9 right))
        (<= (legal ?r noop) (role ?r)) (<= (next ?f) (true ?f))
        (<= terminal (true (at 1 1 left)))
        (<= (goal ?r 50) (role ?r)) (<= (base (at ?x ?n ?r)) (number ?x) (number ?n) (who ?r))
        (who left) (who right) (who none) {numbers}"""
    machine = make_machine(parse_rules(text), "prover")
    board = find_board(machine)
    race = Race.of_board(board, machine.rules)
    assert race is not None
    counts = sorted(held(race, machine.initial_state()).values())
    assert counts == [1, 2, 4, 9]


@pytest.mark.parametrize(
    "hint", ["cell * as bar", "left * as dice", "left * as tray", "board as pits", "pair as doubles"]
)
def test_wrong_hints_of_a_race_are_no_error(hint: str) -> None:
    text = f"{Game.load('backgammon').text}\n; draw: {hint}\n; draw: hundreds * as doubles\n"
    machine = make_machine(parse_rules(text), "prover")
    painter = SvgPainter.of_machine(machine)
    for state in (
        machine.initial_state(),
        machine.state_of(parse_terms(f"{MIDDLE} (left 6 4) (hundreds 6)")),
    ):
        assert painter.draw_state(state).startswith("<svg")
        assert painter.describe(state.propositions)["squares"]


def test_numbers_of_strangers_are_drawn_a_few_times_only() -> None:
    hints = "; draw: left * as doubles\n; draw: off * as tray\n; draw: board as race\n"
    machine = make_machine(parse_rules(f"{hints}{BACKGAMMON}"), "prover")
    painter = SvgPainter.of_machine(machine)
    facts = [parse_term(text) for text in ("(left 6 999)", "(off white 99999999)", "(control white)")]
    assert (
        painter.draw([*facts, *(Term("left", Term(str(n)), Term("900")) for n in range(50))]).count("gb-die")
        <= 20
    )


def test_what_is_drawn_has_a_style() -> None:
    drawn = painted(position(MIDDLE)) + SvgPainter.of_machine(machine_of("kalah")).draw_state(
        machine_of("kalah").initial_state()
    )
    used = {cls for said in re.findall(r'class="([^"]*)"', drawn) for cls in said.split()}
    assert used - {"gb-square", "gb"} <= set(re.findall(r"\.(gb-[a-z0-9]+)", stylesheet()))


# --- Pits
@pytest.mark.parametrize("seed", [0, 3, 7])
def test_rows_of_pits_face_each_other_whatever_their_names_are(seed: int) -> None:
    machine, board = found("kalah", seed)
    _, plain = found("kalah")
    assert board.pits is not None and plain.pits is not None
    assert len(board.pits.below) == len(board.pits.above) == 4 and len(board.pits.stores) == 2
    assert [x for _, x, _ in board.pits.below] == [x for _, x, _ in board.pits.above]
    assert board.pits.count([thing for _, thing in on(machine, board.pits.below)]) == 12
    if not seed:
        assert [f"{x}{y}" for _, x, y in board.pits.below] == ["b1", "c1", "d1", "e1"]
        assert [f"{x}{y}" for _, x, y in board.pits.stores] == ["a2", "f1"], "south's store is at its right"


def on(machine: Machine, squares: tuple[object, ...]) -> list[tuple[object, tuple[Term, ...]]]:
    board = find_board(machine)
    assert board is not None
    placed, _ = board.place(machine.initial_state().propositions)
    return [(square, thing) for square, things in placed.items() if square in squares for thing in things]


def test_a_pit_has_as_many_seeds_as_its_number_up_to_ten() -> None:
    machine = machine_of("kalah")
    state = machine.state_of(parse_terms("(cell b 1 4) (cell c 1 12) (cell f 1 0) (control south)"))
    drawn = SvgPainter.of_machine(machine).draw_state(state)
    assert drawn.count("gb-seed") == 14
    assert ">12</text>" in drawn and "<title>c 1: 12</title>" in drawn


def test_a_pit_is_clicked_on_ones_own_side() -> None:
    machine = machine_of("kalah")
    state = machine.initial_state()
    assert clicks_in("kalah", state, 0)["(sow b)"] == (("0,1,0",),)
    north = state.play("(sow b)", "noop")
    assert clicks_in("kalah", north, 1)["(sow c)"] == (("0,2,1",),)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no public games here")
@pytest.mark.parametrize("name", ["kalaha5x2x3", "kalaha6x2x4"])
def test_pits_that_only_a_list_names_are_laid_out_by_their_order_of_sowing(name: str) -> None:
    machine = Game.load(CORPUS / "games" / f"{name}.kif").machine("prover")
    board = find_board(machine)
    assert board is not None and board.pits is not None
    many = 5 if name == "kalaha5x2x3" else 6
    assert [x.name for _, x, _ in board.pits.above] == [f"p{n}" for n in range(many, 0, -1)]
    assert [x.name for _, x, _ in board.pits.stores] == ["pwinsouth", "pwinnorth"]


def test_numbers_in_two_rows_are_pits_with_the_hint() -> None:
    cells = " ".join(f"(init (cell {x} {y} 2))" for x in "abc" for y in (1, 2))
    text = f"""(role left) (role right) {cells} (init (cell d 1 0)) (init (cell z 2 0)) (succ 0 1) (succ 1 2)
        (<= (legal ?r (take ?x ?y)) (role ?r) (true (cell ?x ?y ?n)) (succ ?m ?n))
        (<= (next (cell ?x ?y ?n)) (true (cell ?x ?y ?n)) (not (taken ?x ?y)))
        (<= (next (cell ?x ?y ?m)) (true (cell ?x ?y ?n)) (taken ?x ?y) (succ ?m ?n))
        (<= (taken ?x ?y) (does ?r (take ?x ?y))) (<= terminal (true (cell a 1 0)))
        (<= (goal ?r 50) (role ?r))"""
    plain, hinted = (find_board(make_machine(parse_rules(rules), "prover")) for rules in (text, HINT + text))
    assert plain is not None and plain.pits is None, "seeds that are taken away are not sown"
    assert hinted is not None and hinted.pits is not None
    assert [x.name for _, x, _ in hinted.pits.below] == ["a", "b", "c"]
    assert [x.name for _, x, _ in hinted.pits.stores] == ["d", "z"]


HINT = "; draw: board as pits\n"


# --- The board turns
@pytest.mark.parametrize(
    ("game", "turned"),
    [
        ("chess", [False, True]),
        ("breakthrough", [False, True]),
        ("backgammon", [False, True, False]),
        ("kalah", [False, True]),
        ("chinesecheckers", [False, True, True]),
        ("hex", [False, False]),
        ("othello", [False, False]),
        ("connectfour", [False, False]),
        ("sokoban", [False]),
    ],
)
def test_the_board_turns_for_roles_that_begin_at_its_top(game: str, turned: list[bool]) -> None:
    assert TableView(Game.load(game), machine_of(game)).turned == turned


def test_whether_a_board_turns_is_found_in_time_that_grows_with_its_squares_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, board = found("chess")
    painter, asked = SvgPainter(board, machine.rules, machine.roles), list[int]()
    middle = BoardLayout.middle.fget
    assert middle is not None
    monkeypatch.setattr(BoardLayout, "middle", property(lambda layout: [asked.append(1), middle(layout)][1]))
    assert painter.turned(machine.initial_state().propositions) == [False, True]
    assert len(asked) == 1


@pytest.mark.parametrize("game", ["chess", "hex", "ninemensmorris", "chinesecheckers", "kalah"])
def test_a_turned_board_has_its_squares_where_squares_were(game: str) -> None:
    machine, board = found(game)
    layout = SvgPainter(board, machine.rules, machine.roles)._layout
    assert layout is not None
    x, y = map(float, layout.turn.removeprefix("rotate(180 ").rstrip(")").split())
    places = [(spot.x, spot.y) for spot in layout.spots.values()]
    assert from_corner(places) == from_corner([(2 * x - a, 2 * y - b) for a, b in places])


def from_corner(places: list[tuple[float, float]]) -> list[tuple[int, int]]:
    left, top = min(x for x, _ in places), min(y for _, y in places)
    return sorted((round(x - left), round(y - top)) for x, y in places)


@pytest.mark.parametrize("game", ["sokoban", "battleships", "hanoi", "sudoku"])
def test_puzzles_and_boards_side_by_side_do_not_turn(game: str) -> None:
    drawn = SvgPainter.of_machine(machine_of(game)).draw_state(machine_of(game).initial_state())
    assert "<g transform" in drawn and not re.search(r'<g [^>]*data-turn="', drawn)


def test_all_moves_of_a_race_are_clicks() -> None:
    """Each move but passing has two clicks; moves with the same clicks differ in words."""
    machine, state, rng = machine_of("backgammon"), machine_of("backgammon").initial_state(), random.Random(2)
    game = Game.load("backgammon")
    view = TableView(game, machine)
    for _ in range(60):
        options = machine.options(state)
        for role in (0, 1):
            shown = view.offered(role, options[role], state.propositions, view._after(state, role))
            moves = [one for one in shown if one["move"].startswith("(move")]
            assert all(len(one["clicks"]) == 2 for one in moves)
            assert len({(str(one["clicks"]), one["text"]) for one in moves}) == len(moves)
        state = machine.next_state(state, [rng.choice(moves) for moves in options])


def test_clicks_are_found_without_what_comes_after() -> None:
    _, board = found("backgammon")
    shown = ClickFinder(board, BACKGAMMON).clicks([parse_term("(move 8 6)"), parse_term("(move 6 1)")])
    assert [move.clicks[0][0] for move in shown] == ["0,7,0", "0,5,0"]
