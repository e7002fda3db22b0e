"""One-player games that fall apart are solved part by part."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.puzzles.factored import Factored
from players.solvers import Task
from propnet.analysis import factors
from propnet.build import build
from propnet.machine import PropnetMachine

COUNTERS = """
(role robot) (init (first 0)) (init (second 0)) (init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(<= (legal robot up) (true (first ?n)) (succ ?n ?m))
(<= (legal robot (up second)) (true (second ?n)) (succ ?n ?m))
(legal robot wait)
(<= (next (first ?m)) (does robot up) (true (first ?n)) (succ ?n ?m))
(<= (next (first ?n)) (not (does robot up)) (true (first ?n)))
(<= (next (second ?m)) (does robot (up second)) (true (second ?n)) (succ ?n ?m))
(<= (next (second ?n)) (not (does robot (up second))) (true (second ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= solved (true (first 3)) (true (second 2)))
(<= terminal (true (step 8)))
(<= (goal robot 100) solved) (<= (goal robot 0) (not solved))
"""
"""Two counters to bring to 3 and 2 in 8 steps; the rest is waiting."""

EITHER = COUNTERS.replace(
    "(<= solved (true (first 3)) (true (second 2)))",
    "(<= solved (true (first 3))) (<= solved (true (second 8)))",
)

BOTH = """
(role robot) (init (first 0)) (init (second 0)) (init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (way up) (way stay)
(<= (legal robot (go ?a ?b)) (way ?a) (way ?b))
(<= (next (first ?m)) (does robot (go up ?b)) (true (first ?n)) (succ ?n ?m))
(<= (next (first ?n)) (does robot (go stay ?b)) (true (first ?n)))
(<= (next (second ?m)) (does robot (go ?a up)) (true (second ?n)) (succ ?n ?m))
(<= (next (second ?n)) (does robot (go ?a stay)) (true (second ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= solved (true (first 2)) (true (second 1)))
(<= terminal (true (step 3))) (<= terminal solved)
(<= (goal robot 100) solved) (<= (goal robot 0) (not solved))
"""


def solved(rules: str) -> tuple[Factored, list[tuple[int, list[int]]]]:
    parsed = parse_rules(rules)
    machine = PropnetMachine(parsed, build(ground(parsed)))
    lines: list[tuple[int, list[int]]] = []

    def keep(value: int, moves: Sequence[int]) -> None:
        lines.append((value, list(moves)))

    solver = Factored(Task(machine, machine.initial_state(), keep, 1 << 26))
    while not solver.step(time.monotonic()):
        pass
    for value, line in lines:
        state = machine.initial_state()
        for move in line:
            assert move in machine.legal_moves(state, 0)
            state = machine.next_state(state, [move])
        assert machine.is_terminal(state)
        assert machine.goal(state, 0) == value
    return solver, lines


@pytest.mark.parametrize(("rules", "length"), [(COUNTERS, 8), (EITHER, 8), (BOTH, 2)])
def test_parts_are_solved_one_by_one_and_side_by_side(rules: str, length: int) -> None:
    solver, lines = solved(rules)
    assert [(value, len(line)) for value, line in lines if value == 100] == [(100, length)] * (
        2 if rules is EITHER else 1
    )
    assert solver.states < 40
    assert solver.proven == -1


def test_a_game_that_does_not_fall_apart_is_left_alone() -> None:
    solver, lines = solved(COUNTERS.replace("(true (second ?n)) (succ ?n ?m))", "(true (first 0)))"))
    assert lines == []
    assert solver.states == 0


def test_a_large_network_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "QUICK_INPUTS", 1)
    assert solved(COUNTERS)[1] == []


@pytest.mark.parametrize(("game", "most"), [("incredible", 5000), ("blocksWorldParallel", 50)])
def test_public_games_that_fall_apart_are_solved(corpus: Path, game: str, most: int) -> None:
    solver, lines = solved((corpus / "games" / f"{game}.kif").read_text())
    assert max(value for value, _ in lines) == 100
    assert solver.states < most
