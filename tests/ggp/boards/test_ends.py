"""Why a match is over: lines, chains, full boards, sides that cannot move, step limits, and hints."""

from __future__ import annotations

import functools
import random

import pytest

from gdl.machine import Machine, State
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_terms
from ggp.boards.board import find_board
from ggp.boards.spoken.ends import EndFinder, Ending
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.games.rules_of_games import NAMES
from tests.ggp.boards.found_boards import board_of_machine, machine_of
from tests.places import in_turn


@functools.cache
def ends_of(game: str) -> tuple[Machine, EndFinder]:
    machine = machine_of(game)
    return machine, EndFinder(machine, board_of_machine(game))


def ends(machine: Machine, matches: int) -> list[tuple[State, State]]:
    """The last two states of random matches."""
    both: list[tuple[State, State]] = []
    for seed in range(matches):
        rng = random.Random(seed)
        before = state = machine.initial_state()
        while not machine.is_terminal(state):
            before = state
            roles = range(len(machine.roles))
            state = machine.next_state(state, [rng.choice(machine.legal_moves(state, r)) for r in roles])
        both.append((before, state))
    return both


def things(finder: EndFinder, state: State, ending: Ending) -> list[object]:
    """What stands on the ringed squares."""
    board = finder._board
    assert board is not None
    on, _ = board.place(state.propositions)
    keys = [tuple(map(int, key.split(","))) for key in ending.squares]
    return [on.get((board.panels[p], board.columns[x], board.rows[y])) for p, x, y in keys]


@pytest.mark.parametrize(("game", "number", "word"), [("connectfour", 4, "four"), ("tictactoe", 3, "three")])
def test_a_won_line_is_the_winners_and_as_long_as_it_has_to_be(game: str, number: int, word: str) -> None:
    machine, finder = ends_of(game)
    won = 0
    for before, state in ends(machine, 12):
        ending = finder.ending(state, before)
        if 100 not in [machine.goal(state, role) for role in range(2)]:
            assert "in a row" not in ending.text
            continue
        won += 1
        assert ending.text == f"{word} in a row"
        line = things(finder, state, ending)
        winner = machine.roles[[machine.goal(state, role) for role in range(2)].index(100)]
        assert len(line) == number and line == [[(winner,)]] * number
    assert won > 3


def test_a_drawn_board_is_full() -> None:
    machine, finder = ends_of("tictactoe")
    drawn = [pair for pair in ends(machine, 40) if machine.goal(pair[1], 0) == 50]
    assert drawn
    assert {finder.ending(state, before).text for before, state in drawn} == {"the board is full"}


def test_the_chain_of_hex_joins_both_sides_and_no_stone_of_it_is_idle() -> None:
    machine, finder = ends_of("hex")
    for before, state in ends(machine, 3):
        ending = finder.ending(state, before)
        assert ending.text == f"{'red' if machine.goal(state, 0) == 100 else 'blue'} has connected both sides"
        spots = [tuple(map(int, key.split(",")[1:])) for key in ending.squares]
        axis = 0 if machine.goal(state, 0) == 100 else 1
        assert {spot[axis] for spot in spots} == set(range(9))
        board = finder._board
        assert board is not None
        names = {(board.columns[x], board.rows[y]) for x, y in spots}
        chain = frozenset(p for p in state.propositions if p.args[:2] in names)
        rest = frozenset(p for p in state.propositions if p.name != "cell")
        assert len(chain) == len(ending.squares)
        assert machine.is_terminal(machine.state_of(rest | chain))
        for stone in chain:
            assert not machine.is_terminal(machine.state_of(rest | chain - {stone}))


@pytest.mark.parametrize(
    ("game", "texts"),
    [
        ("amazons", {"white cannot move", "black cannot move"}),
        ("atarigo", {"white has captured stones", "black has captured stones"}),
        (
            "checkers",
            {"all pieces of white are taken", "all pieces of black are taken", "the limit of 100 moves"},
        ),
        ("chomp", {"first has eaten the poison", "second has eaten the poison"}),
        ("kalah", {"south has no seeds left to sow", "north has no seeds left to sow"}),
        ("queens", {"no moves left", "all eight queens stand"}),
        ("rockpaperscissors", {"all five rounds are played"}),
        ("tron", {"red has crashed", "blue has crashed", "both have crashed"}),
    ],
)
def test_hints_of_our_games_say_why_and_otherwise_the_state_does(game: str, texts: set[str]) -> None:
    machine, finder = ends_of(game)
    said = {finder.ending(state, before).text for before, state in ends(machine, 8)}
    assert said and said <= texts


@pytest.mark.parametrize("game", in_turn(NAMES))
def test_every_game_of_ours_says_why_it_is_over(game: str) -> None:
    machine, finder = ends_of(game)
    assert all(finder.ending(state, before).text for before, state in ends(machine, 2))


@pytest.mark.parametrize(
    ("game", "texts"),
    [
        ("amazons", {"has no moves left"}),
        ("checkers", {"all pieces of", "the step limit", "has no moves left"}),
        ("connectfour", {"four in a row", "the board is full"}),
        ("hanoi", {"the step limit"}),
        ("kalah", {"has no moves left"}),
        ("othello", {"the board is full", "has no moves left"}),
        ("rockpaperscissors", {"the step limit"}),
        ("tron", set()),
    ],
)
def test_scrambled_rules_have_reasons_from_structure_and_no_name_of_theirs(
    game: str, texts: set[str]
) -> None:
    rules, names = scramble(Game.load(game).rules, seed=4)
    machine = make_machine(rules, "prover")
    finder = EndFinder(machine, find_board(machine))
    roles = {role.name for role in machine.roles}
    for before, state in ends(machine, 6):
        text = finder.ending(state, before).text
        assert not text or any(known in text for known in texts)
        assert not set(text.split()) & ({name.lower() for name in names.values()} - roles)


def test_checkmate_and_stalemate_are_told_apart() -> None:
    machine, finder = ends_of("chess")
    state = machine.initial_state()
    for move in ("(move f 2 f 3)", "(move e 7 e 5)", "(move g 2 g 4)", "(move d 8 h 4)"):
        state = state.play(move)
    assert finder.ending(state).text == "checkmate"
    facts = "(cell a 8 bk) (cell b 6 wq) (cell c 7 wk) (control black) (tens 0) (units 3)"
    stuck = machine.state_of(parse_terms(facts.replace("c 7", "d 7")))
    assert machine.is_terminal(stuck) and finder.ending(stuck).text == "stalemate"


HINTED = """(role r) (init (p 1)) (<= (legal r (go ?n)) (true (p ?m)) (after ?m ?n)) (after 1 2) (after 2 3)
    (<= (next (p ?n)) (does r (go ?n))) (<= terminal (true (p 3))) (<= (goal r 100) (true (p 3))) (goal r 0)
    """


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        ("; ends: (p ?n) as ?n of three, <b>", "3 of three, <b>"),
        ("; ends: (p 2) as two\n; ends: (p 3) as #three", "no moves left"),
        ("; ends: (after ?n 3) (not (p ?n)) as not at ?n", "not at 2"),
        ("; ends: (not (p ?n)) as unsafe", "no moves left"),
        ("; ends: (nothing) as unknown", "no moves left"),
        ("; ends: (p 3) as " + "long " * 20, "no moves left"),
        ("; ends: (or (p 3) (p 2)) as or", "no moves left"),
        ("; ends: (p 3 as half", "no moves left"),
        ("% ends: (p 3) as percent", "percent"),
    ],
)
def test_hints_for_ends_and_wrong_ones_which_are_left_out(hint: str, text: str) -> None:
    machine = make_machine(parse_rules(f"{HINTED}\n{hint}\n"), "prover")
    assert finder_text(machine, machine.initial_state().play("(go 2)").play("(go 3)")) == text


def test_the_last_move_is_ringed_where_a_side_cannot_move() -> None:
    machine, finder = ends_of("amazons")
    before, state = ends(machine, 1)[0]
    ending = finder.ending(state, before)
    assert 1 <= len(ending.squares) <= 3
    assert finder.ending(state).squares == ()


def test_the_last_move_is_ringed_where_the_rules_have_words_for_the_end() -> None:
    machine, finder = ends_of("atarigo")
    board = finder._board
    assert board is not None
    ringed = 0
    for before, state in ends(machine, 8):
        ending = finder.ending(state, before)
        old, on = board.place(before.propositions)[0], board.place(state.propositions)[0]
        changed = {
            board.key(square) for square in old.keys() | on.keys() if old.get(square) != on.get(square)
        }
        assert ending.text and set(ending.squares) <= changed
        ringed += bool(ending.squares)
    assert ringed


def test_nothing_is_ringed_where_a_puzzle_ends_for_a_reason_in_words() -> None:
    machine, finder = ends_of("tutorial.xsb:1")
    before = machine.initial_state().play("(move up)").play("(move right)")
    assert finder.ending(before.play("(move right)"), before) == Ending("every goal has a box")


@pytest.mark.parametrize("name", ["because0", "because_0"])
def test_no_name_of_the_rules_is_mistaken_for_an_answer(name: str) -> None:
    text = f"""(role r) (init ({name} 1)) (<= (legal r ({name} 2)) (true ({name} 1))) (<= (next ({name} 2))
        (does r ({name} 2))) (<= terminal (true ({name} 2)))
        (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))
        ; ends: ({name} ?n) as {name} is ?n
        """
    machine = make_machine(parse_rules(text, "odd"), "prover")
    assert finder_text(machine, machine.initial_state().play(f"({name} 2)")) == f"{name} is 2"


def finder_text(machine: Machine, state: State) -> str:
    return EndFinder(machine, None).ending(state).text


def test_hostile_rules_get_no_reason_and_no_traceback() -> None:
    digits = " ".join(f"(d {i})" for i in range(10))
    body = " ".join(f"(d ?{c})" for c in "abcdefghij")
    variables = " ".join(f"?{c}" for c in "abcdefghij")
    text = f"""(role r) {digits} (init (p 1)) (<= (legal r m) (true (p 1))) (<= (next (p 2)) (does r m))
        (<= terminal (true (p 2))) (<= terminal (large {variables}))
        (<= (large {variables}) {body} (true (p 3))) (<= (goal r 100) (true (p 2)))"""
    machine = make_machine(parse_rules(text, "large"), "prover")
    assert finder_text(machine, machine.initial_state().play("m")) in ("", "no moves left")
