"""Facts that hints put on boards: numbers, sums, signs and lines between squares; lines between dots; goal
squares; regions."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gdl.machine import Machine
from gdl.syntax.parser import parse_rules
from ggp.boards.board import Grid, find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.looks import PieceShape, looks_of
from ggp.boards.svg.picture import SvgPainter
from ggp.boards.text import Painter
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.found_boards import found

WRITTEN = """
(role p)
(<= (base (cell ?x ?y ?d)) (square ?x ?y) (digit ?d))
(<= (input p (write ?x ?y ?d)) (square ?x ?y) (digit ?d))
(<= (legal p (write ?x ?y ?d)) (square ?x ?y) (digit ?d) (not (filled ?x ?y)))
(<= (filled ?x ?y) (true (cell ?x ?y ?d)))
(<= (next (cell ?x ?y ?d)) (does p (write ?x ?y ?d)))
(<= (next (cell ?x ?y ?d)) (true (cell ?x ?y ?d)))
(<= terminal (not unfilled))
(<= unfilled (square ?x ?y) (not (filled ?x ?y)))
(goal p 100)
(digit 1) (digit 2) (digit 3)
"""
SQUARES = "(<= (square ?x ?y) (column ?x) (row ?y)) (column a) (column b) (column c) (row 1) (row 2) (row 3)"
SIGNS = """
; draw: less * as less called is less
; draw: sum * as dot in white
; draw: five * as letter V
; draw: blocked * as wall
(less a 1 b 1) (less b 3 b 2) (sum a 1 a 2) (five b 3 c 3) (blocked c 2 c 1)
"""


def drawn_of(text: str) -> tuple[Machine, Grid, str]:
    """The machine of some rules, the board, and the drawing of the first state."""
    machine = make_machine(parse_rules(text), "prover")
    board = find_board(machine)
    assert board is not None
    return machine, board, SvgPainter(board, machine.rules, machine.roles).draw_state(machine.initial_state())


def test_signs_stand_between_squares_in_a_browser_and_in_a_terminal() -> None:
    machine, board, drawn = drawn_of(SIGNS + WRITTEN + SQUARES)
    assert len(board.links) == 5 and not board.fixed and len(board.squares) == 9
    assert drawn.count("gb-link") == 5 and drawn.count("gb-less") == 2 and drawn.count("gb-side") == 1
    assert "is less: a 1, b 1" in drawn and ">V<" in drawn
    text = Painter(board, machine.rules, machine.roles).draw_state(machine.initial_state()).plain()
    assert text.splitlines() == ["3  . .V.", "     ^", "2  . . .", "   o   -", "1  .<. .", "   a b c"]


def test_a_sum_stands_in_a_wall_and_says_which_way_it_goes() -> None:
    rules = """; draw: across * as across\n; draw: down * as down\n; draw: black * as wall
        (black a 3) (down b 3 4) (across a 2 3) (down c 3 3) (across a 1 16) (down a 1 7)
        (square b 2) (square c 2) (square b 1) (square c 1)"""
    machine, board, drawn = drawn_of(rules + WRITTEN)
    assert len(board.squares) == 9 and len(board.fixed) == 5
    assert drawn.count("gb-sum") == 5 and drawn.count("gb-slope") == 4
    text = Painter(board, machine.rules, machine.roles).draw_state(machine.initial_state()).plain()
    assert "→16↓7" in text and "→3" in text and "↓4" in text


BRIDGES = """
; draw: island * as token in white
; draw: bridge * as line
(role p)
(<= (base (bridge ?x ?y ?u ?v ?n)) (span ?x ?y ?u ?v) (many ?n ?m))
(<= (input p (build ?x ?y ?u ?v)) (span ?x ?y ?u ?v))
(<= (legal p (build ?x ?y ?u ?v)) (span ?x ?y ?u ?v) (not (true (bridge ?x ?y ?u ?v 2))))
(<= (next (bridge ?x ?y ?u ?v 1)) (does p (build ?x ?y ?u ?v)) (not (true (bridge ?x ?y ?u ?v 1))))
(<= (next (bridge ?x ?y ?u ?v 2)) (does p (build ?x ?y ?u ?v)) (true (bridge ?x ?y ?u ?v 1)))
(<= (next (bridge ?x ?y ?u ?v ?n)) (true (bridge ?x ?y ?u ?v ?n)) (not (same ?x ?y ?u ?v)))
(<= (same ?x ?y ?u ?v) (does p (build ?x ?y ?u ?v)))
(<= terminal (island ?x ?y 3) (true (bridge ?x ?y ?u ?v 2)))
(goal p 0)
(many 1 2) (many 2 1)
(island a 1 3) (island c 1 2) (island a 4 4) (island e 4 2) (island c 3 1)
(span a 1 c 1) (span a 1 a 4) (span a 4 e 4) (span c 1 c 3)
"""


def test_bridges_join_islands_that_the_rules_alone_know() -> None:
    machine, board, drawn = drawn_of(BRIDGES)
    assert len(board.squares) == 5 and drawn.count("gb-disc") == 5 and "gb-join" not in drawn
    state = machine.initial_state()
    clicks = ClickFinder(board, machine.rules).clicks(
        [machine.move(0, m) for m in machine.legal_moves(state, 0)]
    )
    assert all(len(each.clicks) == 2 for each in clicks)
    painter = SvgPainter(board, machine.rules, machine.roles)
    twice = state.play("(build a 4 e 4)").play("(build a 4 e 4)")
    drawn = painter.draw_state(twice, state)
    assert drawn.count("gb-join gb-new") == 2 and painter.lines_beside(twice.propositions) == []


@pytest.mark.parametrize("seed", [0, 2])
def test_lines_lie_between_dots_if_columns_and_rows_are_dots_and_boxes_in_turn(seed: int) -> None:
    machine, board = found("dotsandboxes", seed)
    state = machine.initial_state()
    assert len(board.dotted) == 1
    drawn = SvgPainter(board, machine.rules, machine.roles).draw_state(state)
    assert drawn.count("gb-point") == 16 and "gb-cell" not in drawn
    moves = [machine.move(0, move) for move in machine.legal_moves(state, 0)]
    clicks = [each.clicks for each in ClickFinder(board, machine.rules, moves).clicks(moves)]
    assert len({one for (one,) in clicks}) == 24
    after = machine.next_state(state, [machine.legal_moves(state, role)[0] for role in (0, 1)])
    assert SvgPainter(board, machine.rules, machine.roles).draw_state(after, state).count("gb-join") == 1


@pytest.mark.parametrize(
    ("game", "slanting", "loops"),
    [("alquerque", 16, 0), ("fanorona", 32, 0), ("baghchal", 16, 0), ("xiangqi", 8, 0), ("surakarta", 0, 8)],
)
def test_lines_of_a_board_are_those_of_a_relation_with_a_hint(game: str, slanting: int, loops: int) -> None:
    machine, board = found(game)
    _, columns, rows = board.numbers
    slants = [(a, b) for a, b in board.lines if a[1] != b[1] and a[2] != b[2]]
    assert len(slants) == slanting == len(set(map(frozenset, slants))) and len(board.loops) == loops
    assert all(abs(columns[a[1]] - columns[b[1]]) == abs(rows[a[2]] - rows[b[2]]) == 1 for a, b in slants)
    drawn = SvgPainter(board, machine.rules, machine.roles).draw_state(machine.initial_state())
    (path,) = re.findall(r'class="gb-lines" d="([^"]*)"', drawn)
    assert (path.count("L"), path.count("A")) == (len(board.lines), loops)
    assert "gb-link" not in drawn and "gb-point" not in drawn


def test_lines_are_turned_with_a_board_whose_rows_come_first() -> None:
    text = (
        Game.load("surakarta").text.replace("column", "line").replace("row", "column").replace("line", "row")
    )
    _, board, drawn = drawn_of(text.replace("as rows", "as lines"))
    assert board.layers[0].turned and len(board.loops) == 8 and re.search(r"gb-lines[^>]*A40 40 0 1", drawn)


def test_areas_on_hexagons_are_hexagons() -> None:
    machine = make_machine(
        parse_rules("; draw: red as area\n; draw: blue as block\n" + Game.load("hex:5").text), "prover"
    )
    drawn = SvgPainter.of_machine(machine).draw_state(machine.initial_state().play("(place a 1)"))
    assert drawn.count('<polygon class="gb-area"') == 1 and '<rect class="gb-area"' not in drawn


def test_a_hint_draws_dots_where_the_rules_name_their_squares() -> None:
    dots = "(<= (base (cell ?x ?y red)) (column ?x odd) (row ?y odd))"
    text = Game.load("dotsandboxes").text + dots
    assert "gb-point" not in drawn_of(text)[2]
    drawn = drawn_of("; draw: board as dots\n" + text)[2]
    assert "gb-point" in drawn and "gb-cell" not in drawn


@pytest.mark.parametrize(("game", "many"), [("nonogram", 14), ("tents", 12), ("crosssums", 8), ("hidato", 0)])
def test_numbers_beside_lines_stand_outside_the_board(game: str, many: int) -> None:
    assert len(found(game)[1].clues) == many


GOALS = [
    ("kingofthehill", 4),
    ("brandubh", 4),
    ("einstein", 2),
    ("pegsolitaire", 1),
    ("waterjugs", 0),
    ("havannah", 0),
    ("konane", 0),
    ("isolation", 0),
    ("y", 0),
]


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize(("game", "many"), GOALS)
def test_only_goal_squares_are_marked(game: str, many: int, seed: int) -> None:
    machine, board = found(game, seed)
    looks = looks_of(board, machine.rules, machine.roles)
    marks = [looks[thing].shape for things in board.fixed.values() for thing in things]
    assert len(marks) == many and set(marks) <= {PieceShape.CORNER, PieceShape.GOAL}


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize(
    ("game", "sizes"), [("pentago", {9: 4}), ("ultimatetictactoe", {9: 9}), ("chess", {})]
)
def test_blocks_are_found_in_games_of_several_roles(game: str, sizes: dict[int, int], seed: int) -> None:
    assert Counter(map(len, found(game, seed)[1].blocks)) == sizes


REGIONS = """(<= (square ?x ?y) (in ?r ?x ?y)) (in 1 a 1) (in 1 b 1) (in 1 b 2) (in 2 a 2) (in 2 a 3)
(in 2 b 3) (in 2 c 3) (in 3 c 1) (in 3 c 2)"""


def test_regions_of_a_puzzle_may_differ_in_size_if_their_squares_touch() -> None:
    assert Counter(map(len, drawn_of(WRITTEN + REGIONS)[1].blocks)) == {2: 1, 3: 1, 4: 1}
    apart = REGIONS.replace("(in 3 c 1)", "(in 3 a 2)").replace("(in 2 a 2)", "(in 2 c 1)")
    assert drawn_of(WRITTEN + apart)[1].blocks == ()
    columns = "(<= (square ?x ?y) (in ?x ?x ?y)) (<= (in ?x ?x ?y) (column ?x) (row ?y))"
    assert drawn_of(WRITTEN + columns + SQUARES.partition("y))")[2])[1].blocks == ()


def test_a_block_has_the_colour_of_its_hint() -> None:
    def look(hint: str) -> str:
        machine, board, _ = drawn_of(f"; draw: 1 as block{hint}" + WRITTEN + SQUARES)
        return next(
            one.colour for one in looks_of(board, machine.rules, machine.roles).values() if one.meaning == "1"
        )

    assert (look(" in red"), look("")) == ("gb-red", "gb-number")


def test_a_fact_on_no_square_stays_a_fact() -> None:
    _, board, _ = drawn_of("; draw: less * as less\n(less z 9 y 8) (less a 1 q 9)" + WRITTEN + SQUARES)
    assert not board.links and len(board.squares) == 9
