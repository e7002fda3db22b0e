"""Our six levels: how long they are, how many states it takes to find out, and that each rule is needed."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from ggp.game import Game
from ggp.traces import read_trace, verify_game
from players.puzzles.frontier.outcome import SearchLimits
from players.puzzles.snakes.level import read_levels
from propnet.analysis.cones import step_clocks
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from tests.places import GAMES
from tests.players.puzzles.frontier.plain import breadth_first, searched
from tests.players.puzzles.snakes.simulator import Simulator

LEVELS = read_levels((GAMES / "levels" / "snakes.txt").read_text())
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
    machine = game(number).machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


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
