"""The rules of games that others have written too: as many lines of every length as with OpenSpiel, and with
python-chess from 20 positions; all of python-chess's depth 4 where ``$GGP_CORPUS`` is set."""

from __future__ import annotations

import os
import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from bench.stockfish import to_uci
from gdl.machine import State
from gdl.syntax.parser import parse_term
from ggp.game import Game
from propnet.expander import Expander
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from tests.places import GAMES

REASON = "pip install 'kaskade-ggp[rl]'"
EVERYTHING = bool(os.environ.get("GGP_CORPUS"))
CHESS = GAMES / "chess.kif"
POSITIONS = 20
OURS_TO_THEIRS = {"amazons": (2, 3)}
"""Joint moves of a turn here, and OpenSpiel's actions: there an amazon is chosen before it moves."""
DEPTHS = {
    ("tictactoe", "tic_tac_toe"): 7,
    ("connectfour", "connect_four"): 6,
    ("breakthrough", "breakthrough"): 4,
    ("hex", "hex(board_size=9)"): 2,
    ("othello", "othello"): 6,
    ("nim", "nim(pile_sizes=3;4;5,is_misere=False)"): 8,
    ("amazons", "amazons(board_size=8)"): 1,
    ("checkers", "checkers"): 6,
}


@cache
def machine_of(name: str) -> PropnetMachine:
    machine = Game.load(name).machine("native")
    assert isinstance(machine, PropnetMachine)
    return machine


def perft(machine: PropnetMachine, state: State, depth: int) -> list[int]:
    """How many lines of each length from 1 to ``depth`` go on from a state; equal states are expanded
    once."""
    expander = Expander(machine)
    records, lines = machine.records([state]), np.ones(1, np.int64)
    counts = []
    for left in range(depth, 0, -1):
        if left == 1:
            evaluation = machine.evaluate(records)
            legal = unpack(evaluation.legal, machine.network.move_count)
            joints = np.ones(len(records), np.int64)
            for low, high in zip(machine.role_moves[:-1], machine.role_moves[1:], strict=True):
                joints *= legal[:, low:high].sum(axis=1)
            counts.append(int((lines * joints * ~evaluation.terminal).sum()))
            break
        after = expander.expand(records)
        records, which = np.unique(after.records, axis=0, return_inverse=True)
        lines = np.bincount(which.ravel(), lines[after.parents], len(records)).astype(np.int64)
        counts.append(int(lines.sum()))
    return counts


def spiel_perft(state: Any, depth: int) -> int:
    if depth == 1:
        return len(state.legal_actions())
    return sum(spiel_perft(state.child(action), depth - 1) for action in state.legal_actions())


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), DEPTHS, ids=lambda name: name.partition("(")[0])
def test_openspiel_counts_as_many_lines(ours: str, theirs: str) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason=REASON)
    depth = DEPTHS[ours, theirs]
    our_unit, their_unit = OURS_TO_THEIRS.get(ours, (1, 1))
    machine = machine_of(ours)
    counts = perft(machine, machine.initial_state(), depth * our_unit)[our_unit - 1 :: our_unit]
    start = pyspiel.load_game(theirs).new_initial_state()
    assert counts == [spiel_perft(start, n * their_unit) for n in range(1, depth + 1)]


def chess_perft(board: Any, depth: int) -> int:
    if depth == 1:
        return int(board.legal_moves.count())
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += chess_perft(board, depth - 1)
        board.pop()
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(POSITIONS))
def test_python_chess_counts_as_many_lines(seed: int) -> None:
    chess = pytest.importorskip("chess", reason="pip install chess")
    machine = machine_of("chess")
    rng = random.Random(seed)
    state, board = machine.initial_state(), chess.Board()
    for ply in range(4 * seed + 1):
        white = ply % 2 == 0
        name = machine.rules.spell(machine.roles[0 if white else 1])
        mover = machine.roles[0 if white else 1]
        moves = {to_uci(mover, parse_term(text)): text for text in state.legal[name]}
        assert set(moves) == {move.uci() for move in board.legal_moves}
        assert state.terminal == (board.is_game_over(claim_draw=False) or board.is_fifty_moves())
        uci = rng.choice(sorted(moves))
        after = state.play({name: moves[uci]})
        if after.terminal:
            break
        state = after
        board.push_uci(uci)
    depth = 4 if EVERYTHING else 2
    assert perft(machine, state, depth) == [chess_perft(board, n) for n in range(1, depth + 1)]
