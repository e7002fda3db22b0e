"""Games in which every move uses something up: solved and refuted by unrolling."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.puzzles.cover.recognition.tour_solver import TourSolver
from players.puzzles.solver import Task
from propnet.build import build
from propnet.machine import PropnetMachine
from tests.places import GAMES

pytest.importorskip("pysat")


def machine_of(text: str) -> PropnetMachine:
    rules = parse_rules(text)
    return PropnetMachine(rules, build(ground(rules)))


def walking_game(squares: int, edges: list[tuple[int, int]], counted: bool) -> str:
    """A walk over a graph from square 0: the longer without a repetition, the better."""
    steps = list(pairwise(range(squares + 1)))
    count = " ".join(f"(succ {a} {b})" for a, b in steps)
    ways = " ".join(f"(way {a} {b})" for a, b in edges)
    clock = "(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))" if counted else ""
    return f"""
    (role you) (init (at 0)) (init (step 0)) {count} {ways}
    (<= (legal you (go ?a ?b)) (true (at ?a)) (way ?a ?b))
    (<= (next (at ?b)) (does you (go ?a ?b)))
    (<= (next (left ?a)) (does you (go ?a ?b)))
    (<= (next (left ?a)) (true (left ?a)))
    {clock}
    (<= terminal (true (at ?a)) (true (left ?a)))
    (<= terminal (not moving))
    (<= moving (true (at ?a)) (way ?a ?b))
    (<= (goal you ?v) (true (step ?n)) (worth ?n ?v))
    {" ".join(f"(worth {n} {100 * n // squares})" for n in range(squares + 1))}
    """


def longest_walk(edges: list[tuple[int, int]], at: int, left: frozenset[int]) -> int:
    """How many moves the longest walk has that ends where it was, or where no way leads on."""
    ways = [b for a, b in edges if a == at]
    if at in left or not ways:
        return 0
    return max(1 + longest_walk(edges, b, left | {at}) for b in ways)


def solved(machine: PropnetMachine) -> tuple[int, int]:
    """The best value reported, -1 for none, and what is proven; each line is replayed."""
    best = -1

    def report(value: int, moves: Sequence[int]) -> None:
        nonlocal best
        state = machine.initial_state()
        for move in moves:
            assert not machine.is_terminal(state)
            assert move in machine.legal_moves(state, 0)
            state = machine.next_state(state, [move])
        assert machine.is_terminal(state)
        assert machine.result(state, 0) == value
        best = max(best, value)

    solver = TourSolver(Task(machine, machine.initial_state(), report, 1 << 24))
    while solver.step(time.monotonic() + 1.0):
        pass
    return best, solver.proven


def test_a_circle_is_walked_to_its_end() -> None:
    circle = [(a, (a + step) % 6) for a in range(6) for step in (1, 2)]
    machine = machine_of(walking_game(6, circle, counted=True))
    assert TourSolver.recognise(machine) is not None
    assert solved(machine) == (100, 100)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=12, unique=True))
def test_the_longest_walk_is_found_and_proven(edges: list[tuple[int, int]]) -> None:
    if not any(a == 0 for a, _ in edges):
        return
    machine = machine_of(walking_game(5, edges, counted=True))
    best, proven = solved(machine)
    truth = 100 * longest_walk(edges, 0, frozenset()) // 5
    assert best == proven
    assert proven in (-1, truth)


@pytest.mark.parametrize("name", ["pegsolitaire", "eightpuzzle", "lightsout", "hanoi"])
def test_other_games_are_declined(name: str) -> None:
    assert TourSolver.recognise(machine_of((GAMES / f"{name}.kif").read_text())) is None
