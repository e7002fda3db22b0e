"""Chess: published counts of positions that exercise every rule, and the rules one by one."""

from __future__ import annotations

import pytest

from gdl.machine import State
from tests.games.known import OPENINGS
from tests.games.rules_of_games import has, legal, perft, play, prover, state_of


def position(fen: str) -> State:
    """A state from a position in Forsyth-Edwards notation."""
    board, side, castling, passing, *_ = fen.split()
    true = [f"(control {'white' if side == 'w' else 'black'})", "(tens 0)", "(units 0)"]
    for y, row in zip(range(8, 0, -1), board.split("/"), strict=True):
        column = iter("abcdefgh")
        for letter in row:
            if letter.isdigit():
                for _ in range(int(letter)):
                    next(column)
            else:
                colour = "w" if letter.isupper() else "b"
                true.append(f"(cell {next(column)} {y} {colour}{letter.lower()})")
    for letter in castling.replace("-", ""):
        role = "white" if letter.isupper() else "black"
        true.append(f"(right {role} {'kingside' if letter in 'Kk' else 'queenside'})")
    if passing != "-":
        true.append(f"(passing {passing[0]})")
    return state_of(prover("chess"), true)


@pytest.mark.parametrize(
    ("fen", "known"),
    [
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -", [48, 2039]),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", [14, 191, 2812]),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -", [6, 264, 9467]),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", [44, 1486]),
        ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -", [46, 2079]),
    ],
)
def test_published_positions_have_their_published_counts(fen: str, known: list[int]) -> None:
    state = position(fen)
    assert [perft(state, turns) for turns in range(1, len(known) + 1)] == known


def test_initial_state_is_the_usual_one() -> None:
    assert prover("chess").initial_state() == position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -")


def test_en_passant_castling_and_promotion_move_what_they_should() -> None:
    state = play(prover("chess").initial_state(), OPENINGS["chess"])
    assert state == position("rnbr2k1/1p2ppb1/p4npp/8/8/5N2/PPPPBPPP/RNBQ1RK1 w - -")
    early = play(
        prover("chess").initial_state(), "(move e 2 e 4) (move a 7 a 6) (move e 4 e 5) (move d 7 d 5)"
    )
    assert has(early, "(passing d)")
    taken = play(early, "(move e 5 d 6)")
    assert has(taken, "(cell d 6 wp)")
    assert not any(has(taken, f"(cell d {y} bp)") for y in (5, 6, 7))


def test_fools_mate_wins_for_black() -> None:
    state = play(
        prover("chess").initial_state(),
        "(move f 2 f 3) (move e 7 e 5) (move g 2 g 4) (move d 8 h 4)",
    )
    assert state.terminal
    assert state.goals == {"white": 0, "black": 100}


@pytest.mark.parametrize(
    "fen",
    [
        "7k/5Q2/6K1/8/8/8/8/8 b - -",  # stalemate
        "8/8/4k3/8/8/4K3/8/8 w - -",  # only the kings are left
    ],
)
def test_stalemate_and_bare_kings_are_drawn(fen: str) -> None:
    state = position(fen)
    assert state.terminal
    assert state.goals == {"white": 50, "black": 50}


def test_a_hundred_moves_without_progress_are_drawn_and_a_pawn_move_starts_anew() -> None:
    state = position("4k3/8/8/8/8/8/P7/R3K3 w - -")
    shuffle = ["(move e 1 e 2)", "(move e 8 e 7)", "(move e 2 e 1)", "(move e 7 e 8)"]
    for i in range(99):
        state = state.play(shuffle[i % 4])
        assert not state.terminal
    assert has(state, "(tens 9)") and has(state, "(units 9)")
    drawn = state.play(shuffle[3])
    assert drawn.terminal and drawn.goals == {"white": 50, "black": 50}
    fresh = position("4k3/8/8/8/8/8/P7/R3K3 w - -")
    for i in range(12):
        fresh = fresh.play(shuffle[i % 4])
    fresh = fresh.play("(move a 2 a 4)")
    assert has(fresh, "(tens 0)") and has(fresh, "(units 0)")


def test_en_passant_that_bares_the_king_along_the_row_is_illegal() -> None:
    bared = position("8/8/8/KPp4r/8/8/8/7k w - c6")
    assert "(move b 5 c 6)" not in legal(bared, "white")
    sheltered = position("8/8/8/KPp1P2r/8/8/8/7k w - c6")
    assert "(move b 5 c 6)" in legal(sheltered, "white")


@pytest.mark.parametrize(
    ("fen", "sides"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ -", {"kingside", "queenside"}),
        ("4k3/8/8/8/8/8/8/R3K2R w Q -", {"queenside"}),
        ("4kr2/8/8/8/8/8/8/R3K2R w KQ -", {"queenside"}),  # the king would pass an attacked square
        ("1r2k3/8/8/8/8/8/8/R3K2R w KQ -", {"kingside", "queenside"}),  # the rook may
        ("4k3/8/8/8/4r3/8/8/R3K2R w KQ -", set()),  # in check
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ -", set()),  # knights in the way
    ],
)
def test_castling_needs_a_clear_and_safe_way(fen: str, sides: set[str]) -> None:
    moves = legal(position(fen), "white")
    assert {side for side in ("kingside", "queenside") if f"(castle {side})" in moves} == sides


def test_capturing_a_rook_in_its_corner_forfeits_castling() -> None:
    state = position("r3k2r/8/8/8/8/8/8/4K2R b Kkq -").play("(move h 8 h 1)")
    assert not has(state, "(right white kingside)")
    assert not has(state, "(right black kingside)")
    assert has(state, "(right black queenside)")
