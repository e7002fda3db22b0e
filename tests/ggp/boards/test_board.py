"""The board is found in games of many kinds, whatever their symbols are called."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import pytest

from gdl.machine import Machine
from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.boards.board import Grid, board_of, find_board
from ggp.boards.statics import CoordinateOrder
from ggp.boards.text import Painter
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.games.small_sokoban import small_sokoban
from tests.ggp.boards import found_boards


@functools.cache
def machine_of(game: str, level: str) -> Machine:
    if game == "small_sokoban":
        return small_sokoban().machine(level)
    return found_boards.machine_of(game) if level == "prover" else Game.load(game).machine(level)


@functools.cache
def board_of_game(game: str, level: str) -> Grid:
    if level == "prover" and game != "small_sokoban":
        return found_boards.found(game)[1]
    board = find_board(machine_of(game, level))
    assert board is not None
    return board


def picture(game: str) -> str:
    machine = machine_of(game, "prover")
    painter = Painter(board_of_game(game, "prover"), machine.rules, machine.roles)
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
    sides = board_of_game(game, level)
    assert "".join(map(str, sides.columns)) == columns
    assert "".join(map(str, sides.rows)) == rows


@pytest.mark.parametrize("game", ["prisonersdilemma", "rockpaperscissors"])
def test_games_without_a_board_have_none_and_are_shown_as_propositions(game: str) -> None:
    machine = machine_of(game, "propnet")
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
    machine = machine_of("small_sokoban", "propnet")
    painter = Painter(find_board(machine), machine.rules, machine.roles)
    state = [parse_term(t) for t in ("(at c 3)", "(box d 5)", "(box c 4)", "(step 3)")]
    drawing = painter.draw(state)
    assert "5  # . . B+. . #" in drawing.plain().splitlines()
    assert drawing.beside == ("(step 3)",)


def test_chess_men_are_capitals_and_small_letters() -> None:
    lines = picture("chess").splitlines()
    assert lines[0].split()[1:] == list("rnbqkbnr")
    assert lines[7].split()[1:] == list("RNBQKBNR")
    assert lines[1].split()[1:] == ["p"] * 8


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "connectfour", "breakthrough", "chess", "sokoban"])
def test_scrambled_games_have_the_same_board(game: str) -> None:
    rules = Game.load(game).rules
    level = "prover" if game == "chess" else "propnet"
    plain = make_machine(rules, level)
    hidden = make_machine(scramble(rules, seed=3)[0], level)
    one, two = find_board(plain), find_board(hidden)
    assert one is not None
    assert two is not None
    assert (len(one.columns), len(one.rows)) == (len(two.columns), len(two.rows))
    assert len(one.squares) == len(two.squares)
    assert sorted(map(len, one.fixed.values())) == sorted(map(len, two.fixed.values()))
    counts = [
        [len(part) for part in view.place(machine.initial_state().propositions)]
        for view, machine in ((one, plain), (two, hidden))
    ]
    assert counts[0] == counts[1]


def of_trace(corpus: Path, game: str) -> tuple[Rules, tuple[Term, ...], list[frozenset[Term]]]:
    rules = parse_rules((corpus / "games" / f"{game}.kif").read_text(), game)
    roles: tuple[Term, ...] = ()
    states: list[frozenset[Term]] = []
    with gzip.open(corpus / "traces" / f"{game}.jsonl.gz", "rt") as lines:
        for line in lines:
            fields = json.loads(line)
            if fields["type"] == "game":
                roles = tuple(map(parse_term, fields["roles"]))
            elif fields["type"] == "step":
                states.append(frozenset(map(parse_term, fields["state"])))
    return rules, roles, states


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
    rules, roles, states = of_trace(corpus, game)
    board = board_of(rules, roles, states, set().union(*states))
    assert board is not None
    assert (len(board.columns), len(board.rows), len(board.panels)) == (columns, rows, panels)


@pytest.mark.slow
def test_every_public_state_can_be_drawn(corpus: Path) -> None:
    for path in sorted((corpus / "traces").glob("*.jsonl.gz"))[::12]:
        game = path.name.removesuffix(".jsonl.gz")
        rules, roles, states = of_trace(corpus, game)
        if not states:
            continue
        board = board_of(rules, roles, states[:40], set().union(*states[:40]))
        painter = Painter(board, rules, roles)
        for state in states[:60:5]:
            drawing = painter.draw(state)
            assert drawing.lines or board is None
            if board is not None:
                on, beside = board.place(state)
                shown = sum(map(len, on.values())) + len(beside)
                blank = sum(la.fits(t) and la.thing(t) in board.blanks for t in state for la in board.layers)
                assert shown + blank == len(state)


def test_different_pieces_have_different_letters() -> None:
    for game in ("chess", "checkers", "chinesecheckers", "tron", "sokoban", "amazons"):
        machine = machine_of(game, "prover")
        painter = Painter(board_of_game(game, "prover"), machine.rules, machine.roles)
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
