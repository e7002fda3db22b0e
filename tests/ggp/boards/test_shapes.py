"""Boards of public games that people know: panels, strips, hexagons, rings, squares by their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from ggp.boards.board import Grid, board_of, find_board
from ggp.boards.layers import split_name
from ggp.boards.shapes import BoardShape, indents, ring_of
from ggp.boards.statics import Statics
from ggp.boards.text import Painter
from ggp.game import Game
from tests.ggp.boards.test_board import of_trace


def painter_of_trace(corpus: Path, game: str) -> tuple[Grid, Painter, list[frozenset[Term]]]:
    rules, roles, states = of_trace(corpus, game)
    board = board_of(rules, roles, states, set().union(*states))
    assert board is not None
    return board, Painter(board, rules, roles), states


@pytest.mark.parametrize(
    ("game", "columns", "rows", "panels"),
    [
        ("pentago", "1 2 3", "1 2 3", "1 2 3 4"),
        ("pentagoSuicide", "1 2 3", "1 2 3", "1 2 3 4"),
        ("bomberman2p", "1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8", ""),
        ("mummymaze2p", "0 1 2 3 4 5 6 7 8", "0 1 2 3 4 5 6 7 8", ""),
        ("zombieAttack1PL6", "1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9", ""),
        ("copolymer_4_pie", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7", ""),
        ("crissrace", "a b c d e", "1 2 3", "blane wlane"),
        ("coloredtrails", "a b c d", "1 2 3 4", ""),
    ],
)
def test_panels_and_sides(corpus: Path, game: str, columns: str, rows: str, panels: str) -> None:
    board, _, _ = painter_of_trace(corpus, game)
    assert " ".join(map(str, board.columns)) == columns
    assert " ".join(map(str, board.rows)) == rows
    assert " ".join(str(term) for panel in board.panels for term in panel) == panels


@pytest.mark.parametrize("game", ["nineBoardTicTacToe", "sudokuGrade1", "tictactoex9"])
def test_lines_of_the_rules_lie_within_panels(corpus: Path, game: str) -> None:
    board, _, _ = painter_of_trace(corpus, game)
    (layer,) = board.layers
    expected = ((1, 3), (0, 2)) if game.startswith("sudoku") else ((2, 3), (0, 1))
    assert ((layer.x, layer.y), layer.panel) == expected


@pytest.mark.parametrize(
    ("game", "first"),
    [
        ("kalaha5x2x3", "3 3 3 3 3 3 3 3 3 3 0 0"),
        ("nim2", "2 2 10 10"),
        ("coins", "O O O O O O O O"),
    ],
)
def test_counts_stand_in_a_strip_and_are_no_axis(corpus: Path, game: str, first: str) -> None:
    board, painter, states = painter_of_trace(corpus, game)
    assert len(board.rows) == 1
    assert painter.draw(states[0]).plain().split("\n")[0].split() == first.split()


def test_timers_stand_on_squares(corpus: Path) -> None:
    board, painter, _ = painter_of_trace(corpus, "lightsOn")
    floor = " ".join(f"(cell {x} {y} 0)" for x in (1, 2) for y in (1, 2))
    state = parse_terms(f"{floor} (cell 2 1 4) (cell 1 2 3) (step 2)")
    assert painter.draw(state).plain() == "2  3 .\n1  . 4\n   1 2"
    assert board.panels == ((),)


def test_panels_stand_where_the_rules_put_them(corpus: Path) -> None:
    _, painter, states = painter_of_trace(corpus, "pentago")
    titles = [line.split() for line in painter.draw(states[0]).plain().splitlines()]
    assert titles[0] == ["2", "1"]
    assert titles[6] == ["3", "4"]
    _, painter, states = painter_of_trace(corpus, "nineBoardTicTacToe")
    titles = [line.split() for line in painter.draw(states[0]).plain().splitlines()]
    assert titles[0] == ["1", "3", "2", "3", "3", "3"]
    assert titles[12] == ["1", "1", "2", "1", "3", "1"]


def test_a_table_with_one_row_is_no_board(corpus: Path) -> None:
    rules, roles, states = of_trace(corpus, "pancakes6")
    assert board_of(rules, roles, states, set().union(*states)) is None


@pytest.mark.parametrize("game", ["chineseCheckers1", "chineseCheckers2", "chineseCheckers6", "hidato19"])
def test_stars_and_hexagons_of_named_squares_stand_centred(corpus: Path, game: str) -> None:
    board, painter, states = painter_of_trace(corpus, game)
    assert board.shape is BoardShape.CENTRED
    lines = painter.draw(states[0]).plain().splitlines()
    lengths = [3, 4, 5, 4, 3] if game == "hidato19" else [1, 2, 7, 6, 5, 6, 7, 2, 1]
    assert [len(line.split()) - 2 for line in lines] == lengths
    middles = [line.index(line.split()[1], line.index(line.split()[0]) + 2) for line in lines]
    pitch = 4 if game == "hidato19" else 2
    halves = [(max(lengths) - n) * pitch // 2 for n in lengths]
    assert [middle - min(middles) for middle in middles] == halves, "each row begins half a square apart"
    assert lines[-1].split()[0] == "a1"


@pytest.mark.parametrize(
    ("game", "shape"),
    [
        ("hex", BoardShape.RIGHT),
        ("laikLee_hex", BoardShape.LEFT),
        ("copolymer_4", BoardShape.CENTRED),
        ("crossers3", BoardShape.LEFT),
        ("connectFour", BoardShape.STRAIGHT),
        ("checkers", BoardShape.STRAIGHT),
        ("pacman3p", BoardShape.STRAIGHT),
        ("amazons", BoardShape.STRAIGHT),
    ],
)
def test_boards_of_hexagons_are_told_by_what_touches(corpus: Path, game: str, shape: BoardShape) -> None:
    board, _, _ = painter_of_trace(corpus, game)
    assert board.shape is shape


@pytest.mark.parametrize("seed", [1, 2])
def test_a_scrambled_board_of_hexagons_slants_too(seed: int) -> None:
    rules = scramble(Game.load("hex").rules, seed=seed)[0]
    game = Game("hidden", str(rules))
    board = find_board(game.machine("prover"))
    assert board is not None
    assert board.shape in (BoardShape.RIGHT, BoardShape.LEFT)


MERRILLS = """\
        nw          n           ne
 outer  W-----------.-----------.
middle  |   .-------b-------.   |
 inner  |   |   .---.---.   |   |
     w  .---.---.       .---.---.  e
 inner  |   |   .---.---.   |   |
middle  |   .-------.-------.   |
 outer  .-----------.-----------.
        sw          s           se"""


def test_merrills_is_a_ring(corpus: Path) -> None:
    board, painter, states = painter_of_trace(corpus, "merrills")
    assert board.shape is BoardShape.RINGS
    empty = {str(term): term for term in states[0]}
    one, two = "(pit outer nw empty)", "(pit middle n empty)"
    placed = {term for name, term in empty.items() if name not in (one, two)}
    state = placed | {parse_term("(pit outer nw white)"), parse_term("(pit middle n black)")}
    assert painter.draw(state).plain() == MERRILLS
    marked = painter.draw(state, before=states[0]).plain()
    assert " outer [W]----" in marked
    assert "-[b]-" in marked


def test_a_ring_whose_names_say_nothing_goes_round_by_its_facts() -> None:
    names = ["k", "q", "a", "z", "f", "b", "m", "x"]
    facts = " ".join(f"(after {a} {b})" for a, b in zip(names, names[1:] + names[:1], strict=True))
    corners = " ".join(f"(edge {name})" for name in names[1::2])
    used = "(<= (legal r ?x) (after ?x ?y) (edge ?y) (loose ?x))"
    statics = Statics(parse_rules(f"(role r) {facts} {corners} (loose k) (loose q) {used}", "ring"))
    ring = [str(place) for place in ring_of(map(Term, names), statics)]
    assert names.index(ring[0]) % 2 == 0, "corners come second"
    twice = names + names
    assert ring == twice[names.index(ring[0]) :][:8]
    assert ring_of(map(Term, names[:7]), statics) == ()
    broken = Statics(parse_rules(f"(role r) {used}" + facts.replace("(after x k)", "(after x q)"), "ring"))
    assert ring_of(map(Term, names), broken) == ()


def test_statics_follow_from_facts() -> None:
    text = """
    (role r) (succ 1 2) (succ 2 3) (succ 3 4) (init (cell 1 1))
    (<= (lt ?x ?y) (succ ?x ?y))
    (<= (lt ?x ?z) (lt ?x ?y) (succ ?y ?z))
    (<= (near ?x ?y) (or (succ ?x ?y) (succ ?y ?x)))
    (<= (apart ?x ?y) (lt ?x ?y) (distinct ?x 1))
    (<= (now ?x ?x) (true (cell ?x ?x)))
    (<= (far ?x ?y) (lt ?x ?y) (not (near ?x ?y)))
    (<= (also ?x ?y) (far ?x ?y))
    (<= (legal r ?x) (lt ?x ?y) (near ?x ?y) (apart ?x ?y) (now ?x ?y) (far ?x ?y) (also ?x ?y))
    """
    statics = Statics(parse_rules(text, "numbers"))

    def rows(name: str, most: int = 99) -> set[str]:
        return {"".join(map(str, row)) for row in statics.rows((name, 2), most)}

    assert rows("lt") == {"12", "13", "14", "23", "24", "34"}
    assert rows("near") == {"12", "21", "23", "32", "34", "43"}
    assert rows("apart") == {"23", "24", "34"}
    assert rows("far") == rows("also") == {"13", "14", "24"}
    assert rows("now") == set(), "it depends on the state"
    assert Statics(parse_rules(text, "numbers")).rows(("lt", 2), 3) == set(), "too many rows"


def test_statics_give_up_in_time() -> None:
    growing = "(n z) (<= (n (s ?x)) (n ?x)) (<= (pair ?x ?y) (n ?x) (n ?y))"
    many = " ".join(f"(d {i})" for i in range(60)) + "(<= (all ?x ?y ?z) (d ?x) (d ?y) (d ?z))"
    statics = Statics(
        parse_rules(f"(role r) {growing} {many} (<= (legal r ?x) (pair ?x ?x) (all ?x ?x ?x))", "deep")
    )
    assert statics.rows(("pair", 2), 10**9) == set()
    assert statics.rows(("all", 3), 10**9) == set()


@given(st.sampled_from(BoardShape), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_rows_begin_nowhere_left_of_the_margin(shape: BoardShape, lengths: list[int]) -> None:
    offsets = indents(shape, lengths)
    assert len(offsets) == len(lengths)
    assert min(offsets) == 0


@given(st.from_regex(r"[a-z][1-9][0-9]?", fullmatch=True))
def test_names_of_squares_split_in_two(name: str) -> None:
    letter, number = split_name(Term(name))
    assert letter.name + number.name == name


def test_squares_between_others_are_there_where_walls_stand_beside_squares() -> None:
    """Squares with a wall or a thing are named, no others: one in the middle is floor too."""
    walls = [f"(wall {x} {y} north)" for x in "1234" for y in "14"]
    walls += [f"(wall {x} {y} east)" for x in "14" for y in "23"]
    states = [frozenset(parse_terms(" ".join([*walls, f"(at r {x} 1)"]))) for x in "1234"]
    board = board_of(parse_rules("(role r)"), (Term("r"),), states, set().union(*states), complete=True)
    assert board is not None
    assert len(board.squares) == 16
