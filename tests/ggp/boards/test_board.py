"""The board is found in games of many kinds, whatever their symbols are called."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.boards.recorded import RecordedGame, read_recorded
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from ggp.boards.board import Grid, board_of, find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.layers import Layer, Thing, split_name
from ggp.boards.piece_behaviour import PieceBehaviour, behaviour_of
from ggp.boards.shapes import BoardShape, dots_of, indents, ring_of
from ggp.boards.statics import CoordinateOrder, Statics
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.traces import find_traces
from tests.ggp.boards.found_boards import found, machine_of


def picture(game: str) -> str:
    machine, board = found(game)
    painter = Painter(board, machine.rules, machine.roles)
    return painter.draw(machine.initial_state().propositions).plain()


@pytest.mark.parametrize(
    ("game", "columns", "rows", "level"),
    [
        ("tictactoe", "abc", "123", "prover"),
        ("tictactoe", "abc", "123", "propnet"),
        ("connectfour", "abcdefg", "123456", "prover"),
        ("connectfour", "abcdefg", "123456", "propnet"),
        ("chess", "abcdefgh", "12345678", "prover"),
        ("othello", "abcdefgh", "12345678", "prover"),
        ("small_sokoban", "abcdefg", "123456", "prover"),
        ("small_sokoban", "abcdefg", "123456", "propnet"),
        ("sokoban", "abcdefghijklmno", "1234567891011", "propnet"),
    ],
)
def test_sides_of_the_board_are_in_order(game: str, columns: str, rows: str, level: str) -> None:
    _, sides = found(game, level=level)
    assert "".join(map(str, sides.columns)) == columns
    assert "".join(map(str, sides.rows)) == rows


@pytest.mark.parametrize("game", ["prisonersdilemma", "rockpaperscissors"])
def test_games_without_a_board_have_none_and_are_shown_as_propositions(game: str) -> None:
    machine = machine_of(game, level="propnet")
    assert find_board(machine) is None
    drawing = Painter(None, machine.rules, machine.roles).draw(machine.initial_state().propositions)
    assert drawing.lines == ()
    assert set(drawing.beside) == {machine.rules.spell(p) for p in machine.initial_state().propositions}


def test_walls_and_goals_of_sokoban_are_drawn_from_facts() -> None:
    assert picture("small_sokoban").splitlines() == [
        "6  # # # # # # #",
        "5  # . . + . . #",
        "4  # . B # . . #",
        "3  # . . A B . #",
        "2  # + . . . . #",
        "1  # # # # # # #",
        "   a b c d e f g",
    ]


def test_a_piece_on_a_marked_square_shows_both() -> None:
    machine = machine_of("small_sokoban", level="propnet")
    painter = Painter(find_board(machine), machine.rules, machine.roles)
    state = [parse_term(t) for t in ("(at c 3)", "(box d 5)", "(box c 4)", "(step 3)")]
    drawing = painter.draw(state)
    assert "5  # . . B+. . #" in drawing.plain().splitlines()
    assert drawing.beside == ("(step 3)",)


def test_a_thing_to_which_a_hint_gives_a_look_is_not_an_empty_square() -> None:
    """Sixteen men on seventeen squares: the most frequent thing of a full board is usually its ground."""
    lines = picture("foreandaft").splitlines()
    assert sum(line.count("W") + line.count("B") for line in lines[:-1]) == 16


def test_chess_men_are_capitals_and_small_letters() -> None:
    lines = picture("chess").splitlines()
    assert lines[0].split()[1:] == list("rnbqkbnr")
    assert lines[7].split()[1:] == list("RNBQKBNR")
    assert lines[1].split()[1:] == ["p"] * 8


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "connectfour", "breakthrough", "chess", "sokoban"])
def test_scrambled_games_have_the_same_board(game: str) -> None:
    level = "prover" if game == "chess" else "propnet"
    (plain, one), (hidden, two) = (found(game, seed, level) for seed in (0, 3))
    assert (len(one.columns), len(one.rows)) == (len(two.columns), len(two.rows))
    assert len(one.squares) == len(two.squares)
    assert sorted(map(len, one.fixed.values())) == sorted(map(len, two.fixed.values()))
    counts = [
        [len(part) for part in view.place(machine.initial_state().propositions)]
        for view, machine in ((one, plain), (two, hidden))
    ]
    assert counts[0] == counts[1]


def of_trace(corpus: Path, game: str) -> RecordedGame:
    (trace,) = find_traces([corpus / "traces" / f"{game}.jsonl.gz"])
    return read_recorded(trace, 10**6)


def board_of_recorded(game: RecordedGame) -> Grid | None:
    return board_of(game.rules, game.roles, list(game.states), set().union(*game.states))


@pytest.mark.parametrize(
    ("game", "columns", "rows", "panels"),
    [
        ("ticTacToe", 3, 3, 1),
        ("reversi", 8, 8, 1),
        ("checkers", 8, 8, 1),
        ("eightPuzzle", 3, 3, 1),
        ("lightsOut", 5, 5, 1),
        ("nineBoardTicTacToe", 3, 3, 9),
        ("sudokuGrade1", 3, 3, 9),
        ("speedChess", 8, 8, 1),
        ("queens08lg", 8, 8, 1),
    ],
)
def test_boards_of_public_games(corpus: Path, game: str, columns: int, rows: int, panels: int) -> None:
    board, _, _ = painter_of_trace(corpus, game)
    assert (len(board.columns), len(board.rows), len(board.panels)) == (columns, rows, panels)


@pytest.mark.slow
def test_every_public_state_can_be_drawn(corpus: Path) -> None:
    for trace in find_traces([corpus])[::12]:
        game = read_recorded(trace, 40)
        board = board_of_recorded(game)
        painter = Painter(board, game.rules, game.roles)
        for state in game.states[::5]:
            drawing = painter.draw(state)
            assert drawing.lines or board is None
            if board is not None:
                on, beside = board.place(state)
                shown = sum(map(len, on.values())) + len(beside)
                blank = sum(la.fits(t) and la.thing(t) in board.blanks for t in state for la in board.layers)
                sticks = {t: len([*board.heaps.lying(t)]) for t in state if board.heaps and board.where(t)}
                assert shown + blank == len(state) - len(sticks) + sum(sticks.values())


def test_different_pieces_have_different_letters() -> None:
    for game in ("chess", "checkers", "chinesecheckers", "tron", "sokoban", "amazons"):
        machine, board = found(game)
        painter = Painter(board, machine.rules, machine.roles)
        glyphs = [glyph for glyph, _, _ in painter.legend]
        assert len(glyphs) == len(set(glyphs))


@pytest.mark.parametrize(
    ("seen", "whole"),
    [
        ("1 2 5 6", "1 2 3 4 5 6"),
        ("a c d f", "a b c d e f"),
        ("r1 r2 r4 r5", "r1 r2 r3 r4 r5"),
        ("1 2 3", "1 2 3"),
        ("1 2 3 90", "1 2 3 90"),
        ("red blue green pink", "red blue green pink"),
    ],
)
def test_coordinates_that_nobody_has_seen_stand_between_the_others(seen: str, whole: str) -> None:
    facts = " ".join(f"(after r{i} r{i + 1})" for i in range(8))
    order = CoordinateOrder(parse_rules(f"(role x) {facts}"))
    assert order.filled(tuple(map(Term, seen.split()))) == tuple(map(Term, whole.split()))


# --- Boards of public games that people know: panels, strips, hexagons, rings, squares by their names
def painter_of_trace(corpus: Path, game: str) -> tuple[Grid, Painter, Sequence[frozenset[Term]]]:
    recorded = of_trace(corpus, game)
    board = board_of_recorded(recorded)
    assert board is not None
    return board, Painter(board, recorded.rules, recorded.roles), recorded.states


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
    [("kalaha5x2x3", "3 3 3 3 3 3 3 3 3 3 0 0"), ("coins", "O O O O O O O O")],
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
    assert board_of_recorded(of_trace(corpus, "pancakes6")) is None


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


@pytest.mark.parametrize(("hint", "shape"), [("chequered", BoardShape.STRAIGHT), ("dark", BoardShape.RIGHT)])
def test_a_chequered_board_has_squares_even_if_steps_run_in_six_directions(
    hint: str, shape: BoardShape
) -> None:
    text = Game.load("einstein").text.replace("board as chequered", f"board as {hint}")
    board = find_board(Game("race", text).machine("prover"))
    assert board is not None and board.shape is shape


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


# --- Dots and boxes is drawn with its dots, lines and boxes, under any names
DOTS_AND_BOXES = """
(role xplayer) (role oplayer)
(index 1) (index 2) (index 3) (step 1 2) (step 2 3)
(init (control xplayer))
(<= (base (line ?x ?y ?x ?z)) (index ?x) (step ?y ?z))
(<= (base (line ?y ?x ?z ?x)) (index ?x) (step ?y ?z))
(<= (base (box ?x ?y ?m)) (step ?x ?a) (step ?y ?b) (mark ?m ?r))
(mark x xplayer) (mark o oplayer)
(<= (base (control ?r)) (role ?r))
(<= (input ?r (draw ?a ?b ?c ?d)) (role ?r) (base (line ?a ?b ?c ?d)))
(<= (input ?r noop) (role ?r))
(<= (open ?a ?b ?c ?d) (base (line ?a ?b ?c ?d)) (not (true (line ?a ?b ?c ?d))))
(<= (legal ?r (draw ?a ?b ?c ?d)) (true (control ?r)) (open ?a ?b ?c ?d))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (line ?a ?b ?c ?d)) (true (line ?a ?b ?c ?d)))
(<= (next (line ?a ?b ?c ?d)) (does ?r (draw ?a ?b ?c ?d)))
(<= (drawn ?a ?b ?c ?d) (true (line ?a ?b ?c ?d)))
(<= (drawn ?a ?b ?c ?d) (does ?r (draw ?a ?b ?c ?d)))
(<= (next (box ?x ?y ?m)) (true (box ?x ?y ?m)))
(<= (taken ?x ?y) (true (box ?x ?y ?m)))
(<= (next (box ?x ?y ?m)) (step ?x ?a) (step ?y ?b) (not (taken ?x ?y)) (true (control ?r)) (mark ?m ?r)
  (drawn ?x ?y ?a ?y) (drawn ?x ?y ?x ?b) (drawn ?a ?y ?a ?b) (drawn ?x ?b ?a ?b))
(<= (next (control xplayer)) (true (control oplayer)))
(<= (next (control oplayer)) (true (control xplayer)))
(<= terminal (not anyopen))
(<= anyopen (open ?a ?b ?c ?d))
(goal xplayer 50) (goal oplayer 50)
"""


def painter_of_game(text: str) -> tuple[Game, Painter]:
    game = Game("dots", text)
    machine = game.machine("propnet")
    board = find_board(machine)
    assert board is not None
    assert board.dotted
    return game, Painter(board, machine.rules, machine.roles)


def test_lines_join_dots_and_boxes_have_their_owners() -> None:
    _, painter = painter_of_game(DOTS_AND_BOXES)
    before = parse_terms("(line 1 1 2 1) (line 1 1 1 2) (line 1 2 2 2) (line 2 2 3 2) (control xplayer)")
    after = [*before[:-1], *parse_terms("(line 2 1 2 2) (box 1 1 x) (control oplayer)")]
    drawing = painter.draw(after, before=before)
    assert drawing.plain().splitlines() == [
        " 3  +  .  +  .  +",
        "2+  .  .  .  .  .",
        " 2  +  -  +  -  +",
        "1+  | [x || ].  .",
        " 1  +  -  +  .  +",
        "    1  1+ 2  2+ 3",
    ]
    assert drawing.beside == ("(control oplayer)",)


def test_a_line_is_one_click_whichever_dot_its_move_names_first() -> None:
    _, painter = painter_of_game(DOTS_AND_BOXES)
    moves = parse_terms("(draw 1 1 1 2) (draw 2 3 1 3) (draw 3 3 1 1) noop")
    found = [one.clicks for one in ClickFinder(painter.board, painter.rules).clicks(moves)]
    assert found == [(("0,0,1",),), (("0,1,4",),), (), ()]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_line_of_a_match_is_drawn_whatever_it_is_called(seed: int) -> None:
    rules = scramble(Game("dots", DOTS_AND_BOXES).rules, seed=seed)[0]
    game, painter = painter_of_game(str(rules))
    state = game.machine("prover").initial_state()
    rng = random.Random(seed)
    for drawn in range(1, 13):
        assert not state.terminal
        machine = state.machine
        options = [machine.legal_moves(state, role) for role in range(2)]
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
        grid = painter.draw(state.propositions).plain()
        assert grid.count("-") + grid.count("|") == drawn
    assert state.terminal


def test_other_functors_of_four_arguments_are_no_lines() -> None:
    order = CoordinateOrder(Game("dots", DOTS_AND_BOXES).rules)

    def is_found(text: str) -> bool:
        return dots_of([term.args for term in parse_terms(text)], order) is not None

    assert is_found("(l 1 1 1 2) (l 1 1 2 1) (l 2 1 2 2)")
    assert not is_found("(l 1 1 1 2) (l 1 1 2 2)"), "a diagonal"
    assert not is_found("(l 1 1 1 2) (l 1 2 1 3)"), "one way alone"
    assert not is_found("(l 1 1 1 3) (l 1 1 3 1) (l 2 2 2 1)"), "too long"
    assert not is_found("(l 1 1 1 2 x) (l 1 1 2 1 x)")
    assert not is_found("(l red p q r) (l p red q p)")
    wide = " ".join(f"(l {x} 1 {x + 1} 1)" for x in range(1, 50))
    assert not is_found(f"{wide} (l 1 1 1 2)"), "more columns than a board may have"


# --- What things were seen to do: moves, pushes, trails, towers
COLUMNS = tuple(map(Term, "abcd"))
ROWS = tuple(map(Term, "123"))
CELL = Layer("cell", 3, 0, 1)


def seen(*states: str) -> PieceBehaviour:
    """The behaviour of things in states, each the arguments of ``cell`` in a row."""
    terms = [
        frozenset(parse_terms(" ".join(f"(cell {' '.join(cell)})" for cell in state.split())))
        for state in states
    ]
    return behaviour_of([CELL], terms, COLUMNS, ROWS, frozenset())


def things(names: str) -> frozenset[Thing]:
    return frozenset((Term(name),) for name in names)


def test_what_moves_and_what_it_pushes() -> None:
    behaviour = seen("a1k b1c d3w", "b1k c1c d3w", "b2k c1c d3w")
    assert behaviour.moves == things("kc")
    assert behaviour.pushed == things("c") and behaviour.pushers == things("k")
    assert behaviour.stays == things("w")
    assert behaviour.comes == things("kc")


def test_a_piece_that_is_taken_was_not_pushed() -> None:
    behaviour = seen("a1k b1c d3c", "b1k d3c", "c1k d3c")
    assert not behaviour.pushed
    assert behaviour.least == {(Term("k"),): 1, (Term("c"),): 1}


def test_a_trail_comes_where_a_single_piece_went() -> None:
    assert seen("a1k", "a2k a1v", "a3k a1v a2v").trails == things("v")
    assert not seen("a1k", "a2k d1v", "a3k d1v a2v").trails


def test_a_new_match_is_no_step() -> None:
    behaviour = seen("a1k b1p", "a2k b1p", "a1k b1p", "a2k b1p")
    assert behaviour.stays == things("p") and behaviour.comes == things("k")


def test_nothing_is_known_of_one_state() -> None:
    behaviour = seen("a1k")
    assert not (behaviour.stays or behaviour.moves or behaviour.comes)
    assert behaviour.first == {(Term("k"),): 1}


def test_only_what_lies_above_leaves_a_peg() -> None:
    strip = Layer("on", 2, 0, -1)
    disks = tuple(map(Term, "123"))

    def towers(*states: str) -> int:
        terms = [
            frozenset(
                parse_terms(" ".join(f"(on {disk} {peg})" for disk, peg in zip("123", state, strict=True)))
            )
            for state in states
        ]
        return behaviour_of([strip], terms, disks, (Term(""),), frozenset()).towers

    assert towers("xxx", "yxx", "yzx", "zzx", "zzy", "xzy", "xyy", "yyy") == 1
    assert towers("xxx", "xxy", "xzy", "xzz", "yzz", "yzx", "yyx", "yyy") == -1
    assert towers("xxx", "xyx", "xyy", "zyy", "zzy", "zzz", "xzz", "xxz") == 0
    assert towers("xxx", "yxx", "zxx") == 0


def test_of_very_many_kinds_only_counts_are_taken() -> None:
    columns, rows = (tuple(Term(f"{side}{n}") for n in range(20)) for side in "xy")
    states = [
        frozenset(
            Term("cell", x, y, Term(f"t{20 * i + j + shift}"))
            for i, x in enumerate(columns)
            for j, y in enumerate(rows)
        )
        for shift in (0, 1)
    ]
    behaviour = behaviour_of([CELL], states, columns, rows, frozenset())
    assert len(behaviour.most) == 401
    assert not (behaviour.moves or behaviour.stays or behaviour.comes)
