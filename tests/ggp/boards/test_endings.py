"""Why matches are over: lines, chains, full boards, sides that cannot move, and the rules' own words."""

from __future__ import annotations

import functools
import random

import pytest

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.boards.words import EndFinder, Ending
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.found_boards import board_of_machine, machine_of


@functools.cache
def found(game: str) -> tuple[Machine, EndFinder]:
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
    machine, finder = found(game)
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
    machine, finder = found("tictactoe")
    drawn = [pair for pair in ends(machine, 40) if machine.goal(pair[1], 0) == 50]
    assert drawn
    assert {finder.ending(state, before).text for before, state in drawn} == {"the board is full"}


def test_the_chain_of_hex_joins_both_sides_and_no_stone_of_it_is_idle() -> None:
    machine, finder = found("hex")
    for before, state in ends(machine, 3):
        ending = finder.ending(state, before)
        assert ending.text == "connected from side to side"
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
        ("amazons", {"white has no moves left", "black has no moves left"}),
        ("atarigo", {"white: captured", "black: captured"}),
        ("chomp", {"poisoned"}),
        ("queens", {"no moves left"}),
        ("tron", {"red: crashed", "blue: crashed"}),
        ("rockpaperscissors", {"round 5, the last one"}),
        ("kalah", {"south: bare", "north: bare"}),
    ],
)
def test_reasons_in_the_words_of_the_rules(game: str, texts: set[str]) -> None:
    machine, finder = found(game)
    told = {finder.ending(state, before).text for before, state in ends(machine, 8)}
    assert told and all(any(text.startswith(known) or known in text for known in texts) for text in told)


def test_the_last_move_is_ringed_where_a_side_cannot_move() -> None:
    machine, finder = found("amazons")
    before, state = ends(machine, 1)[0]
    ending = finder.ending(state, before)
    assert 1 <= len(ending.squares) <= 3
    assert finder.ending(state).squares == ()


def test_the_last_move_is_ringed_where_the_rules_have_words_for_the_end() -> None:
    machine, finder = found("atarigo")
    board = finder._board
    assert board is not None
    ringed = 0
    for before, state in ends(machine, 8):
        ending = finder.ending(state, before)
        old, on = board.place(before.propositions)[0], board.place(state.propositions)[0]
        changed = {
            board.key(square) for square in old.keys() | on.keys() if old.get(square) != on.get(square)
        }
        assert "captured" in ending.text and set(ending.squares) <= changed
        ringed += bool(ending.squares)
    assert ringed


def test_nothing_is_ringed_where_a_puzzle_ends_for_a_reason_in_words() -> None:
    machine, finder = found("tutorial.xsb:1")
    before = machine.initial_state().play("(move up)").play("(move right)")
    assert finder.ending(before.play("(move right)"), before) == Ending("solved")


@pytest.mark.parametrize("name", ["because0", "because_0"])
def test_no_name_of_the_rules_is_mistaken_for_a_reason(name: str) -> None:
    text = f"""(role r) (init ({name} 1)) (<= (legal r ({name} 2)) (true ({name} 1))) (<= (next ({name} 2))
        (does r ({name} 2))) (<= terminal (true ({name} 2)))
        (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))"""
    machine = make_machine(parse_rules(text, "odd"), "prover")
    last = machine.initial_state().play(f"({name} 2)")
    assert finder_text(machine, last) == f"{name.replace('_', ' ')} 2, the last one"


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
    assert finder_text(machine, machine.state_of(machine.initial_state().play("m").propositions)) in (
        "p 2, the last one",
        "",
        "no moves left",
    )
