"""Moves as clicks and in words, and whose turn it is."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.boards.recorded import read_recorded
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from ggp.boards.board import Grid, board_of
from ggp.boards.clicks import ClickFinder, ClickMove
from ggp.boards.scene import TurnFinder, digit_chains, joined_digits
from ggp.boards.spoken.words import MoveWords
from ggp.game import Game
from ggp.traces import find_traces
from players.kaskade.make_machine import make_machine
from tests.games.rules_of_games import NAMES
from tests.ggp.boards.found_boards import board_of_machine, machine_of
from tests.places import in_turn


@functools.cache
def finder_of(game: str, seed: int = 0) -> tuple[Machine, ClickFinder, Grid | None]:
    machine, board = machine_of(game, seed), board_of_machine(game, seed)
    return machine, ClickFinder(board, machine.rules), board


def legal_in(machine: Machine, state: State, role: int) -> list[Term]:
    return [machine.move(role, index) for index in machine.legal_moves(state, role)]


def begun(shown: list[ClickMove], clicked: list[str]) -> list[ClickMove]:
    """The moves whose first clicks these are."""
    return [
        m
        for m in shown
        if len(clicked) <= len(m.clicks)
        and all(key in keys for key, keys in zip(clicked, m.clicks, strict=False))
    ]


def complete(shown: list[ClickMove], clicked: list[str]) -> list[ClickMove]:
    """The moves that need no further click, as the page lists them."""
    return [m for m in begun(shown, clicked) if len(m.clicks) == len(clicked)]


def further(shown: list[ClickMove], clicked: list[str]) -> list[str]:
    """The squares that may be clicked next."""
    n = len(clicked)
    return sorted({key for m in begun(shown, clicked) if len(m.clicks) > n for key in m.clicks[n]})


def one_each(shown: list[ClickMove]) -> None:
    """Clicks and a list lead to every move, each by one way only."""
    for move in shown:
        clicked: list[str] = []
        for keys in move.clicks:
            assert keys
            assert set(keys) <= set(further(shown, clicked))
            clicked.append(keys[0])
        offered = complete(shown, clicked)
        assert [m.move for m in offered].count(move.move) == 1
    assert len({m.move for m in shown}) == len(shown)


def squares(game: str, text: str, *others: str) -> list[list[str]]:
    """The names of the squares that one move names."""
    _, finder, board = finder_of(game)
    assert board is not None
    shown = finder.clicks([parse_term(move) for move in (text, *others)])[0]
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
    _, finder, _ = finder_of("chess")
    pieces = ["queen", "rook", "bishop", "knight"]
    shown = finder.clicks([parse_term(f"(promote b 7 b 8 {piece})") for piece in pieces])
    one_each(shown)
    assert len(further(shown, [])) == 1
    assert len(complete(shown, [*further(shown, []), *further(shown, further(shown, []))])) == 4


def test_a_tile_is_clicked_where_the_move_names_it() -> None:
    machine, finder, _ = finder_of("eightpuzzle")
    state = machine.initial_state()
    shown = finder.clicks(legal_in(machine, state, 0), state.propositions)
    assert all(len(move.clicks) == 1 for move in shown)
    one_each(shown)


@pytest.mark.parametrize(
    "game", ["tictactoe", "breakthrough", "amazons", "biddingtictactoe", "checkers", "connectfour", "hex"]
)
def test_every_legal_move_is_reached_by_clicks(game: str) -> None:
    machine, finder, _ = finder_of(game)
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
    machine, finder, _ = finder_of(game)
    _, names = scramble(machine.rules, seed=5)
    _, theirs, _ = finder_of(game, 5)
    legal = legal_in(machine, machine.initial_state(), 0)
    ours = finder.clicks(legal)
    told = theirs.clicks([renamed(move, names) for move in legal])
    assert [len(move.clicks) for move in ours] == [len(move.clicks) for move in told]
    assert all(len(keys) == 1 for move in told for keys in move.clicks)
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
    assert all(len(move.clicks) == 1 for move in shown)
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
                some |= any(move.clicks for move in shown)
        with_board += board is not None
        clicked += some
    assert clicked > 0.7 * with_board


# --- Moves in words: each legal move of a state has a text of its own, and a short one


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
        ("breakthrough", ["(move e 2 e 3)", "(move e 2 f 3)"], ["e2-e3", "e2-f3"]),
        ("chess", ["(promote g 7 g 8 queen)", "(promote g 7 g 8 rook)"], ["g7-g8 queen", "g7-g8 rook"]),
        ("connectfour", ["(drop a)", "(drop d)"], ["a", "d"]),
        ("tictactoe", ["(mark b 2)"], ["b2"]),
        ("amazons", ["(shoot g 4)", "(shoot g 5)"], ["arrow to g4", "arrow to g5"]),
        ("biddingtictactoe", ["(bid 1)", "(bid 3)"], ["bid one", "bid three"]),
        ("nim", ["(take a 2)"], ["take two from heap a"]),
        ("ninemensmorris", ["(take a 1)"], ["take a1"]),
        ("snakes", ["(move a right)", "(move a up)", "fall"], ["snake A right", "snake A up", "fall"]),
        ("sokoban", ["(move up)"], ["up"]),
        ("sudoku", ["(write i 7 6)"], ["6 at i7"]),
        ("checkers", ["(jump a 5 c 3)", "(move a 5 b 4)"], ["a5-c3", "a5-b4"]),
        ("hanoi", ["(move 1 right)"], ["disk 1 to the right peg"]),
    ],
)
def test_what_moves_are_called(game: str, moves: list[str], texts: list[str]) -> None:
    assert worded(game)[1].of_terms([parse_term(move) for move in moves]) == texts


@pytest.mark.parametrize("game", in_turn(NAMES))
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


# --- Whose turn it is, by the rules alone; and digits that are one number
@pytest.mark.parametrize("game", ["tictactoe", "chess", "hex", "chinesecheckers", "kalah", "nim"])
def test_the_turn_is_the_role_with_a_choice_in_scrambled_rules_too(game: str) -> None:
    hidden, names = scramble(Game.load(game).rules, seed=7)
    machine = make_machine(hidden, "prover")
    turns = TurnFinder(hidden, machine.roles)
    assert turns.relation == names["control"].lower()
    for state in walk(machine, 12):
        role = turns.role(state.propositions)
        assert role is not None
        others = [other for other in range(len(machine.roles)) if other != role]
        assert all(len(machine.legal_moves(state, other)) == 1 for other in others)
        assert sum(map(turns.tells, state.propositions)) == 1


@pytest.mark.parametrize("game", ["tron", "rockpaperscissors", "prisonersdilemma", "sokoban", "queens"])
def test_games_without_turns_have_none(game: str) -> None:
    machine = Game.load(game).machine("prover")
    turns = TurnFinder(machine.rules, machine.roles)
    assert turns.relation is None
    assert turns.role(machine.initial_state().propositions) is None


def test_nobody_has_the_turn_while_all_bid() -> None:
    machine = Game.load("biddingtictactoe").machine("prover")
    turns = TurnFinder(machine.rules, machine.roles)
    state = machine.initial_state()
    assert turns.role(state.propositions) is None
    assert turns.role(state.play("(bid 2)", "(bid 1)").propositions) == 0


SOKOBAN = ("ones", "tens", "hundreds")


@pytest.mark.parametrize(
    ("game", "chains"),
    [("sokoban", (SOKOBAN,)), ("chess", (("units", "tens"),)), ("checkers", ()), ("kalah", ())],
)
def test_the_digits_of_counters_from_the_lowest_up(game: str, chains: tuple[tuple[str, ...], ...]) -> None:
    assert digit_chains(Game.load(game).rules) == chains


@given(st.integers(0, 999))
def test_a_number_is_read_from_its_digits(number: int) -> None:
    digits = [Term(name, Term(digit)) for name, digit in zip(SOKOBAN, f"{number:03}"[::-1], strict=True)]
    assert joined_digits([SOKOBAN], digits) == [(number, tuple(digits))]


@pytest.mark.parametrize(
    "facts", ["(ones 1)", "(ones 1) (tens 2) (hundreds x)", "(ones 1) (ones 2) (tens 0) (hundreds 0)"]
)
def test_what_is_not_said_once_is_no_number(facts: str) -> None:
    assert joined_digits([SOKOBAN], parse_terms(facts)) == []


def test_counts_can_be_made_of_many_digits() -> None:
    rules = "(role r)" + "".join(
        f"(<= (next (d{i} ?n)) (true (d{i - 1} 9)) (true (d{i} ?m)) (s ?m ?n))" for i in range(1, 40)
    )
    chains = digit_chains(parse_rules(rules))
    assert all(len(chain) <= 12 for chain in chains)
