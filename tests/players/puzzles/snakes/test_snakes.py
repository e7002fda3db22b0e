"""Levels of Snakes: their rules do what a plain simulator does; their lengths; what is wrong is told."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.traces import read_trace, verify_game
from players.puzzles.frontier.outcome import SearchLimits
from players.puzzles.snakes.level import ARROWS, SnakeLevel, find_level, read_levels
from players.puzzles.snakes.rules import level_to_rules
from propnet.analysis.cones import step_clocks
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.places import GAME_FILES, GAMES
from tests.players.puzzles.frontier.plain import breadth_first, searched
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
    assert level_to_rules(LEVELS[0]) == (GAME_FILES["snakes"]).read_text()
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


# --- Our six levels: how long they are, how many states it takes to find out, and that each rule is needed
PLAYTHROUGHS = GAMES / "playthroughs" / "levels"
KNOWN = {
    1: (65, 1_025),
    2: (95, 8_663),
    3: (65, 90_578),
    4: (68, 1_100_941),
    5: (47, 2_943_496),
    6: (54, 11_204_291),
}
"""Fewest moves, and positions within as many. The first three are counted here, the others by `ggp solve
--solver frontier --no-symmetry` and by a search of its own that shares no code with it."""


@cache
def game(number: int) -> Game:
    return Game.load(f"snakes.txt:{number}")


def network_machine(number: int) -> PropnetMachine:
    return network(game(number).rules)


def test_there_are_six_from_thousands_to_millions() -> None:
    assert len(LEVELS) == len(KNOWN) == 6
    assert all(above > 2 * below for (_, below), (_, above) in pairwise(KNOWN.values()))


@pytest.mark.parametrize("number", [1, 2])
def test_the_plain_simulator_counts_as_many_positions(number: int) -> None:
    assert Simulator(LEVELS[number - 1]).shortest() == KNOWN[number]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_the_frontier_solves_the_small_ones(number: int) -> None:
    result = searched(network_machine(number), SearchLimits(500 << 20, symmetry=False))
    assert result.value == 100
    assert (len(result.moves), result.states) == KNOWN[number]


@pytest.mark.slow
def test_plain_search_solves_the_third() -> None:
    machine = network_machine(3)
    steps = pack(step_clocks(machine.network)[None, :])[0]
    found = breadth_first(machine, ~steps, 100)
    assert (found.ends[100], sum(found.layers)) == KNOWN[3]


@pytest.mark.parametrize(
    ("number", "kind"), [*((n, "prover") for n in KNOWN), *((n, "propnet") for n in (1, 6))]
)
def test_a_shortest_solution_is_pinned(number: int, kind: str) -> None:
    """Every state of it, with its legal moves and its successor, is what the rules make of it."""
    trace = list(read_trace(PLAYTHROUGHS / f"snakes-{number}.jsonl"))
    fault, steps = verify_game(game(number).machine(kind), trace)
    assert fault is None
    assert steps == KNOWN[number][0] + 1
    last = trace[-2]
    assert last["terminal"] and last["goals"] == [100] and last["s"] == KNOWN[number][0]


@pytest.mark.parametrize("number", KNOWN)
def test_the_simulator_agrees_with_the_solution(number: int) -> None:
    plain = Simulator(LEVELS[number - 1])
    position = plain.start
    for line in read_trace(PLAYTHROUGHS / f"snakes-{number}.jsonl"):
        if line["type"] == "step" and line["joint"]:
            assert not plain.terminal(position)
            position = plain.moves(position)[line["joint"][0]]
    assert plain.solved(position)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("rule", ["growing", "pushing"])
def test_no_level_of_these_is_solved_without_growing_or_pushing(number: int, rule: str) -> None:
    assert Simulator(LEVELS[number - 1], without=rule).shortest() is None


@pytest.mark.parametrize("number", [1, 2])
def test_where_nothing_falls_they_are_other_levels(number: int) -> None:
    flying = Simulator(LEVELS[number - 1], without="falling").shortest()
    assert flying is None or flying[0] < KNOWN[number][0] / 2
    names = {line["joint"][0] for line in moves_of(number)}
    assert "fall" in names, "the shortest solution falls"


def moves_of(number: int) -> list[dict[str, list[str]]]:
    lines = read_trace(Path(PLAYTHROUGHS / f"snakes-{number}.jsonl"))
    return [line for line in lines if line["type"] == "step" and line["joint"]]
