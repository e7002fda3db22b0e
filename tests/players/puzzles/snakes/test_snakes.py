"""Levels of Snakes: their rules do what a plain simulator does; their lengths; what is wrong is said."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from players.puzzles.snakes.level import ARROWS, SnakeLevel, find_level, read_levels
from players.puzzles.snakes.rules import level_to_rules
from tests.examples import examples
from tests.places import GAMES
from tests.players.puzzles.snakes.simulator import Simulator

LEVELS = read_levels((GAMES / "levels" / "snakes.txt").read_text())
CROWDED = (
    """\
..*...$..E
......$...
>>A.$..*..
###.B.....
..#.^.#.$.
#!.##.####
""",
    """\
.....*..E.
..11..22..
>A.1..2.B.
##.3.$..^.
.#.3...4^4
#!.##.####
""",
    """\
..1.2.*.E
>A1.22..$
#.1..2$..
#..3..333
#!3333.4.
#..!!.#..
""",
)
"""Levels in which there is much to push, and much that falls."""


def test_the_first_level_is_the_game() -> None:
    assert level_to_rules(LEVELS[0]) == (GAMES / "snakes.kif").read_text()
    assert len(LEVELS) == 6


def agree(level: SnakeLevel, kind: str, seed: int, playouts: int, steps: int = 60) -> None:
    """Random playouts of the rules and of the simulator are the same."""
    plain, rules = Simulator(level), level_to_rules(level, steps)
    machine = Game("level", rules).machine(kind)
    chance = random.Random(seed)
    for _ in range(playouts):
        state, position = machine.initial_state(), plain.start
        for step in range(steps + 1):
            there = {str(term) for term in state.propositions} - {f"(step {step})"}
            assert there == plain.propositions(position)
            assert state.terminal == (plain.terminal(position) or step == steps)
            assert list(state.goals.values()) == [100 if plain.solved(position) else 0]
            if state.terminal:
                break
            moves = plain.moves(position)
            assert sorted(state.legal["player"]) == sorted(moves)
            move = chance.choice(sorted(moves))
            position = moves[move]
            index = next(i for i in machine.legal_moves(state, 0) if str(machine.move(0, i)) == move)
            state = machine.next_state(state, (index,))


BOARDS = [*LEVELS, *(read_levels(drawn)[0] for drawn in CROWDED)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kind"),
    [*((n, "prover") for n in range(len(BOARDS))), *((n, "propnet") for n in (0, 2, 6, 7, 8))],
)
def test_playouts_agree_with_a_plain_simulator(number: int, kind: str) -> None:
    level = BOARDS[number]
    agree(level, kind, number, 3 if kind == "prover" else 12)


@given(st.integers(0, 2**32), st.integers(3, 7), st.integers(3, 6))
@examples(50)
def test_small_random_levels_agree_with_a_plain_simulator(seed: int, width: int, height: int) -> None:
    agree(random_level(random.Random(seed), width, height), "prover", seed, 3, 25)


def random_level(chance: random.Random, width: int, height: int) -> SnakeLevel:
    """A level of at least nine cells with a snake or two, an exit, and much of everything around them."""
    kinds = "...##*$!111222"
    drawn = {(x, y): chance.choice(kinds) for x in range(width) for y in range(height)}
    drawn[chance.randrange(width), chance.randrange(height)] = "E"
    for head in "AB":
        cell = chance.randrange(width), chance.randrange(height)
        line, free = [cell], {cell for cell, kind in drawn.items() if kind not in "EA<>^v"}
        for _ in range(chance.randint(1, 3)):
            x, y = line[-1]
            around = [(x + i, y + j, arrow) for arrow, (_, i, j) in ARROWS.items()]
            behind = [(x, y, a) for x, y, a in around if (x, y) in free and (x, y) not in line]
            if line[0] in free and behind:
                x, y, arrow = chance.choice(behind)
                line.append((x, y))
                drawn[x, y] = {"<": ">", ">": "<", "^": "v", "v": "^"}[arrow]
        if len(line) > 1:
            drawn[line[0]] = head
    if "A" not in drawn.values() and "B" not in drawn.values():
        return random_level(chance, width, height)
    rows = ("".join(drawn[x, y] for x in range(width)) for y in range(height))
    return read_levels("\n".join(rows))[0]


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
        find_level(f"{GAMES / 'levels' / 'snakes.txt'}:7")
