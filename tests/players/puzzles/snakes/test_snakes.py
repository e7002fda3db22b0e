"""Levels of Snakes: their rules do what a plain simulator does; their lengths; what is wrong is said."""

from __future__ import annotations

import random

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from players.puzzles.snakes.level import find_level, read_levels
from players.puzzles.snakes.rules import level_to_rules
from tests.games.rules_of_games import FOLDER
from tests.players.puzzles.snakes.simulator import Simulator

LEVELS = read_levels((FOLDER / "levels" / "snakes.txt").read_text())
DENSE = """
..*...$..E
......$...
>>A.$..*..
###.B.....
..#.^.#.$.
#!.##.####
"""
SMALL: dict[int, tuple[int, int]] = {
    1: (32, 476),
    2: (13, 4595),
    3: (20, 882),
    4: (18, 20669),
    6: (46, 27241),
}
"""Fewest moves, and positions within as many, of the levels that are searched here."""


def test_the_first_level_is_the_game() -> None:
    assert level_to_rules(LEVELS[0]) == (FOLDER / "snakes.kif").read_text()
    assert len(LEVELS) == 6


@pytest.mark.parametrize("kind", ["prover", "propnet"])
@pytest.mark.parametrize("number", range(7))
def test_playouts_agree_with_a_plain_simulator(number: int, kind: str) -> None:
    level = LEVELS[number] if number < 6 else read_levels(DENSE.strip("\n"))[0]
    plain, rules = Simulator(level), level_to_rules(level, steps=60)
    machine = Game("level", rules).machine(kind)
    chance = random.Random(number)
    for _ in range(4 if kind == "prover" else 12):
        state, position = machine.initial_state(), plain.start
        for step in range(61):
            there = {str(term) for term in state.propositions} - {f"(step {step})"}
            assert there == plain.propositions(position)
            assert state.terminal == (plain.terminal(position) or step == 60)
            assert list(state.goals.values()) == [100 if plain.solved(position) else 0]
            if state.terminal:
                break
            moves = plain.moves(position)
            assert sorted(state.legal["player"]) == sorted(moves)
            move = chance.choice(sorted(moves))
            position = moves[move]
            index = next(i for i in machine.legal_moves(state, 0) if str(machine.move(0, i)) == move)
            state = machine.next_state(state, (index,))


@pytest.mark.parametrize("number", SMALL)
def test_small_levels_are_as_long_as_we_say(number: int) -> None:
    assert Simulator(LEVELS[number - 1]).shortest() == SMALL[number]


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        ("", "1:1.*no level"),
        (">A.\n..?E", "2:3.*no cell is drawn as"),
        (">A.", "0 exits"),
        (">AEE", "1:4.*2 exits"),
        ("A.E", "1:1.*no body"),
        ("..E", "no snake"),
        (">A<E", "1:3.*two segments"),
        (">.AE", "1:1.*points to no segment"),
        (">AE>v\n...^<", "leads to no head"),
        (">AE>A", "1:5.*second head"),
        (">AE\n; x", "2:1.*title"),
        ("." * 27, "too large"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(drawn: str, message: str) -> None:
    with pytest.raises(GdlError, match=message):
        read_levels(drawn, "x.txt")


def test_levels_that_are_not_there() -> None:
    with pytest.raises(GdlError, match="cannot read"):
        find_level("nowhere.txt")
    with pytest.raises(GdlError, match="no level 7"):
        find_level(f"{FOLDER / 'levels' / 'snakes.txt'}:7")
