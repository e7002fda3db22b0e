"""The solver of connect four is right, our chess moves are UCI's, and what is not installed is skipped."""

from __future__ import annotations

import random
from functools import cache

import pytest

from bench.anchors import match, stockfish
from bench.anchors.connect_four import CELLS, COLUMNS, ConnectFourBoard, ConnectFourSolver
from bench.anchors.stockfish import StockfishAnchor, missing, to_uci
from gdl.errors import GdlError
from gdl.terms import Term
from ggp.game import Game


@cache
def _by_trying(board: ConnectFourBoard) -> int:
    """The value of a board, by trying all moves."""
    if board.lost:
        return -1
    if board.discs == CELLS:
        return 0
    return max(-_by_trying(board.after(c)) for c in range(COLUMNS) if board.may(c))


def _random_board(rng: random.Random, discs: int) -> ConnectFourBoard:
    while True:
        board = ConnectFourBoard()
        while board.discs < discs and not board.lost:
            board = board.after(rng.choice([c for c in range(COLUMNS) if board.may(c)]))
        if board.discs == discs and not board.lost:
            return board


@pytest.mark.slow
@pytest.mark.parametrize("discs", [41, 40, 37, 34, 31, 29])
def test_the_solver_finds_what_trying_all_moves_finds(discs: int) -> None:
    rng, solver = random.Random(discs), ConnectFourSolver()
    for _ in range(20):
        board = _random_board(rng, discs)
        assert solver.value(board) == _by_trying(board)
        assert solver.values(board) == {
            c: -_by_trying(board.after(c)) for c in range(COLUMNS) if board.may(c)
        }


@pytest.mark.slow
def test_a_board_and_its_mirror_image_have_the_same_value() -> None:
    first = second = ConnectFourBoard()
    for column in [3, 2, 3, 3, 1, 6, 5, 5, 0, 1, 1, 4]:
        first, second = first.after(column), second.after(COLUMNS - 1 - column)
    assert ConnectFourSolver().values(first) == {
        COLUMNS - 1 - c: value for c, value in ConnectFourSolver().values(second).items()
    }


def test_the_solver_gives_the_same_values_with_a_table_that_knows_much() -> None:
    rng, old = random.Random(3), ConnectFourSolver()
    boards = [_random_board(rng, 22) for _ in range(30)]
    assert [old.value(board) for board in boards] == [ConnectFourSolver().value(board) for board in boards]
    assert [old.value(board) for board in boards] == [old.value(board) for board in boards]


def test_lines_of_four_lose_for_the_one_to_move() -> None:
    for drops in ([0, 1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3]):
        board = ConnectFourBoard()
        for number, column in enumerate(drops):
            assert not board.lost, number
            board = board.after(column)
        assert board.lost and ConnectFourSolver().value(board) == -1


def test_positions_have_moves_of_different_values() -> None:
    found = match.positions(3, range(20, 24), 1)
    assert len(found) == 3 and all(len(set(values.values())) > 1 for _, values in found)


def test_a_player_that_searches_keeps_what_is_sure() -> None:
    machine = Game.load("connectfour").machine("propnet")
    kept = match.keep_values(machine, "uct:playouts=2000", 5.0, 3, range(32, 36), 2)
    assert kept.asked == 3 and kept.kept == 3 and not kept.lost


def test_chess_moves_are_told_in_uci() -> None:
    def term(text: str) -> Term:
        name, *arguments = text.split()
        return Term(name, *map(Term, arguments))

    assert to_uci(Term("white"), term("move e 2 e 4")) == "e2e4"
    assert to_uci(Term("black"), term("castle queenside")) == "e8c8"
    assert to_uci(Term("white"), term("promote b 7 a 8 knight")) == "b7a8n"


def test_without_the_engine_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stockfish, "_program", lambda: None)
    assert "apt-get install stockfish" in missing() or "pip install chess" in missing()
    with pytest.raises(GdlError, match="not installed"):
        StockfishAnchor(nodes=1)


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is installed")
def test_a_match_against_the_engine_is_played_by_the_same_rules() -> None:
    machine = Game.load("chess").machine("propnet")
    with StockfishAnchor(nodes=1) as engine:
        score = match.play_chess(machine, "random", 0.1, engine, 2)
    assert score.games == 2
