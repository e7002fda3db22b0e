"""Moves as clicks: every legal move is one choice of squares and at most one line of a short list."""

from __future__ import annotations

import functools
import random
from pathlib import Path

import pytest

from bench.boards.recorded import read_recorded
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.boards.board import Grid, board_of
from ggp.boards.clicks import ClickFinder, ClickMap, ClickMove
from ggp.traces import find_traces
from tests.ggp.boards.found_boards import board_of_machine, machine_of


@functools.cache
def found(game: str, seed: int = 0) -> tuple[Machine, ClickFinder, Grid | None]:
    machine, board = machine_of(game, seed), board_of_machine(game, seed)
    return machine, ClickFinder(board, machine.rules), board


def legal_in(machine: Machine, state: State, role: int) -> list[Term]:
    return [machine.move(role, index) for index in machine.legal_moves(state, role)]


def begun(shown: ClickMap, clicked: list[str]) -> list[ClickMove]:
    """The moves whose first clicks these are."""
    return [
        m
        for m in shown.moves
        if len(clicked) <= len(m.clicks)
        and all(key in keys for key, keys in zip(clicked, m.clicks, strict=False))
    ]


def complete(shown: ClickMap, clicked: list[str]) -> list[ClickMove]:
    """The moves that need no further click, as the page lists them."""
    return [m for m in begun(shown, clicked) if len(m.clicks) == len(clicked)]


def further(shown: ClickMap, clicked: list[str]) -> list[str]:
    """The squares that may be clicked next."""
    n = len(clicked)
    return sorted({key for m in begun(shown, clicked) if len(m.clicks) > n for key in m.clicks[n]})


def one_each(shown: ClickMap) -> None:
    """Clicks and a list lead to every move, each by one way only."""
    for move in shown.moves:
        clicked: list[str] = []
        for keys in move.clicks:
            assert keys
            assert set(keys) <= set(further(shown, clicked))
            clicked.append(keys[0])
        offered = complete(shown, clicked)
        assert [m.move for m in offered].count(move.move) == 1
        assert len({m.label for m in offered}) == len(offered)
    assert len({m.move for m in shown.moves}) == len(shown.moves)


def squares(game: str, text: str, *others: str) -> list[list[str]]:
    """The names of the squares that one move names."""
    _, finder, board = found(game)
    assert board is not None
    shown = finder.clicks([parse_term(move) for move in (text, *others)]).moves[0]
    named: list[list[str]] = []
    for keys in shown.clicks:
        numbers = [list(map(int, key.split(","))) for key in keys]
        named.append([f"{board.columns[x]}{board.rows[y]}" for _, x, y in numbers])
    return named


@pytest.mark.parametrize(
    ("game", "move", "clicked"),
    [
        ("tictactoe", "(mark b 3)", [["b3"]]),
        ("breakthrough", "(move b 2 c 3)", [["b2"], ["c3"]]),
        ("hex", "(place c 7)", [["c7"]]),
        ("amazons", "(shoot g 4)", [["g4"]]),
        ("connectfour", "(drop c)", [[f"c{row}" for row in range(1, 7)]]),
        ("biddingtictactoe", "(mark b 2)", [["b2"]]),
        ("biddingtictactoe", "(bid 2)", []),
        ("sokoban", "(move up)", []),
        ("checkers", "(jump b 4 d 6)", [["b4"], ["d6"]]),
        ("chess", "(move f 2 f 3)", [["f2"], ["f3"]]),
        ("tictactoe", "noop", []),
    ],
)
def test_the_squares_of_moves(game: str, move: str, clicked: list[list[str]]) -> None:
    assert squares(game, move) == clicked


def test_a_promotion_is_chosen_from_a_list() -> None:
    _, finder, _ = found("chess")
    pieces = ["queen", "rook", "bishop", "knight"]
    shown = finder.clicks([parse_term(f"(promote b 7 b 8 {piece})") for piece in pieces])
    one_each(shown)
    assert [move.label for move in shown.moves] == pieces
    assert len(further(shown, [])) == 1
    assert len(complete(shown, [*further(shown, []), *further(shown, further(shown, []))])) == 4


def test_a_tile_is_clicked_where_the_move_names_it() -> None:
    machine, finder, _ = found("eightpuzzle")
    state = machine.initial_state()
    shown = finder.clicks(legal_in(machine, state, 0), state.propositions)
    assert all(len(move.clicks) == 1 for move in shown.moves)
    one_each(shown)


@pytest.mark.parametrize(
    "game", ["tictactoe", "breakthrough", "amazons", "biddingtictactoe", "checkers", "connectfour", "hex"]
)
def test_every_legal_move_is_reached_by_clicks(game: str) -> None:
    machine, finder, _ = found(game)
    rng = random.Random(1)
    state = machine.initial_state()
    for _ in range(25):
        if machine.is_terminal(state):
            break
        joint = []
        for role in range(len(machine.roles)):
            ids = machine.legal_moves(state, role)
            shown = finder.clicks([machine.move(role, index) for index in ids], state.propositions)
            one_each(shown)
            joint.append(rng.choice(ids))
        state = machine.next_state(state, joint)


@pytest.mark.parametrize("game", ["tictactoe", "breakthrough", "hex", "amazons"])
def test_scrambled_rules_have_the_same_clicks(game: str) -> None:
    machine, finder, _ = found(game)
    _, names = scramble(machine.rules, seed=5)
    _, theirs, _ = found(game, 5)
    legal = legal_in(machine, machine.initial_state(), 0)
    ours = finder.clicks(legal)
    told = theirs.clicks([renamed(move, names) for move in legal])
    assert [len(move.clicks) for move in ours.moves] == [len(move.clicks) for move in told.moves]
    assert all(len(keys) == 1 for move in told.moves for keys in move.clicks)
    one_each(told)


def renamed(term: Term, names: dict[str, str]) -> Term:
    return Term(names.get(term.name, term.name).lower(), *(renamed(arg, names) for arg in term.args))


def test_rules_without_variables_have_clicks() -> None:
    cells = [(x, y) for x in "12" for y in "12"]
    lines = ["(role a)"]
    for x, y in cells:
        lines += [f"(init (c {x} {y} b))", f"(<= (legal a (m {x} {y})) (true (c {x} {y} b)))"]
        lines += [f"(<= (next (c {x} {y} f)) (does a (m {x} {y})))"]
    lines += ["(<= terminal (true (c 1 1 f)))", "(<= (goal a 100) terminal)"]
    rules: Rules = parse_rules("\n".join(lines), "ground")
    bases = {parse_term(f"(c {x} {y} {v})") for x, y in cells for v in "bf"}
    states = [frozenset(parse_term(f"(c {x} {y} b)") for x, y in cells)]
    board = board_of(rules, (Term("a"),), states, bases)
    shown = ClickFinder(board, rules).clicks([parse_term(f"(m {x} {y})") for x, y in cells])
    assert all(len(move.clicks) == 1 for move in shown.moves)
    one_each(shown)


@pytest.mark.slow
def test_public_games(corpus: Path) -> None:
    """In every state that is looked at each legal move has one way; most boards are played by clicks. Every
    third game."""
    with_board = clicked = 0
    for trace in find_traces([corpus])[::3]:
        game = read_recorded(trace, 6)
        board = board_of(game.rules, game.roles, list(game.states), set().union(*game.states))
        finder = ClickFinder(board, game.rules, (m for s in game.moves for legal in s for m in legal))
        some = False
        for state, options in zip(game.states[:3], game.moves[:3], strict=True):
            for legal in options:
                shown = finder.clicks(legal[:200], state)
                one_each(shown)
                some |= any(move.clicks for move in shown.moves)
        with_board += board is not None
        clicked += some
    assert clicked > 0.7 * with_board
