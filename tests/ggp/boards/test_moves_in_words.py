"""Moves in words: each legal move of a state has a text of its own, and a short one."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.boards.recorded import read_recorded
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from ggp.boards.board import board_of
from ggp.boards.words import MoveWords
from ggp.traces import find_traces
from tests.ggp.boards.found_boards import board_of_machine, machine_of
from tests.places import GAMES

NAMES = sorted(path.stem for path in GAMES.glob("*.kif"))


@functools.cache
def worded(game: str) -> tuple[Machine, MoveWords]:
    machine = machine_of(game)
    return machine, MoveWords(machine.rules, machine.roles, board_of_machine(game))


def walk(machine: Machine, steps: int, seed: int = 1) -> Iterator[State]:
    rng = random.Random(seed)
    state = machine.initial_state()
    for _ in range(steps):
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        if machine.is_terminal(state) or not all(options):
            return
        yield state
        state = machine.next_state(state, [rng.choice(moves) for moves in options])


@pytest.mark.parametrize(
    ("game", "moves", "texts"),
    [
        ("chess", ["(move e 2 e 4)", "(move g 1 f 3)"], ["e2-e4", "g1-f3"]),
        ("chess", ["(promote g 7 g 8 queen)", "(promote g 7 g 8 rook)"], ["g7-g8 queen", "g7-g8 rook"]),
        ("chess", ["(castle kingside)"], ["castle kingside"]),
        ("connectfour", ["(drop a)", "(drop d)"], ["a", "d"]),
        ("tictactoe", ["(mark b 2)"], ["b2"]),
        ("amazons", ["(shoot g 4)", "(shoot g 5)"], ["g4", "g5"]),
        ("biddingtictactoe", ["(bid 1)", "(bid 3)"], ["bid 1", "bid 3"]),
        ("nim", ["(take a 2)"], ["take a 2"]),
        ("ninemensmorris", ["(take a 1)"], ["take a1"]),
        ("snakes", ["(move a right)", "(move a up)", "fall"], ["a right", "a up", "fall"]),
        ("sokoban", ["(move up)"], ["up"]),
        ("sudoku", ["(write i 7 6)"], ["i7 6"]),
        ("checkers", ["(jump a 5 c 3)", "(move a 5 b 4)"], ["a5-c3", "a5-b4"]),
        ("hanoi", ["(move 1 right)"], ["1 right"]),
    ],
)
def test_what_moves_are_called(game: str, moves: list[str], texts: list[str]) -> None:
    assert worded(game)[1].of_terms([parse_term(move) for move in moves]) == texts


@pytest.mark.parametrize("game", NAMES)
def test_every_legal_move_of_own_games_has_its_own_short_text(game: str) -> None:
    machine, words = worded(game)
    for state in walk(machine, 12):
        for role in range(len(machine.roles)):
            texts = words.texts(state, role)
            assert list(texts) == machine.legal_moves(state, role)
            assert len(set(texts.values())) == len(texts)
            assert not any(text.startswith("(") for text in texts.values())


@pytest.mark.slow
def test_every_legal_move_of_public_games_has_its_own_text(corpus: Path) -> None:
    looked_at = short = 0
    for trace in find_traces([corpus]):
        game = read_recorded(trace, 6)
        board = board_of(game.rules, game.roles, list(game.states), set().union(*game.states))
        words = MoveWords(game.rules, game.roles, board)
        for options in game.moves:
            for legal in options:
                texts = words.of_terms(legal)
                assert len(set(texts)) == len(legal), trace.name
                looked_at += len(texts)
                short += sum("(" not in text for text in texts)
    assert looked_at > 10_000 and short > 0.95 * looked_at


def test_moves_whose_short_texts_are_the_same_say_more() -> None:
    texts = worded("tictactoe")[1].of_terms(
        [parse_term(move) for move in ("(mark a 1)", "(erase a 1)", "a1", "(mark a 1 1)")]
    )
    assert len(set(texts)) == 4


@pytest.mark.parametrize("game", ["tictactoe", "chess", "biddingtictactoe", "connectfour", "amazons"])
def test_who_waits_has_no_move_in_words_whatever_the_rules_call_it(game: str) -> None:
    machine = machine_of(game, 3)
    words = MoveWords(machine.rules, machine.roles, None)
    for state in walk(machine, 8):
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        told = words.joint(state, [moves[0] for moves in options])
        free = [len(moves) > 1 for moves in options]
        assert [text is not None for text in told] == free


def test_a_forced_pass_is_no_waiting() -> None:
    machine, words = worded("othello")
    passing = next(
        state
        for seed in range(40)
        for state in walk(machine, 60, seed)
        for role in range(2)
        if str(machine.move(role, machine.legal_moves(state, role)[0])) == "pass"
    )
    joint = [machine.legal_moves(passing, role)[0] for role in range(2)]
    assert sorted(words.joint(passing, joint), key=str) == [None, "pass"]


def test_the_only_role_never_waits() -> None:
    machine, words = worded("snakes")
    fall = machine.move_id(0, parse_term("fall"))
    states = (state for seed in range(40) for state in walk(machine, 60, seed))
    falling = next(state for state in states if machine.legal_moves(state, 0) == [fall])
    assert words.joint(falling, [fall]) == ["fall"]
