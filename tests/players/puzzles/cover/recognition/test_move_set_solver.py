"""One-player games whose states are sets of moves: solved, refuted, or declined."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import State
from gdl.scramble import scramble
from ggp.game import Game
from players.puzzles.cover.recognition.latch_game import latch_game_of
from players.puzzles.cover.recognition.move_set_solver import MoveSetSolver
from players.solvers import Task
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network as machine_of
from tests.players.test_portfolio import Told


def solved(machine: PropnetMachine) -> tuple[int, int]:
    """The best value reported, -1 for none, and what is proven; each line is replayed."""
    told = Told(machine)
    solver = MoveSetSolver(Task(machine, machine.initial_state(), told, 1 << 24))
    while not solver.step(time.monotonic() + 1.0):
        pass
    return max((value for value, _ in told.lines), default=-1), solver.proven


def best_of_all(machine: PropnetMachine) -> int:
    """The best value of any line, by looking at all states."""
    best, seen = -1, set()
    waiting: list[State] = [machine.initial_state()]
    while waiting:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        if machine.is_terminal(state):
            best = max(best, machine.result(state, 0) or 0)
            continue
        waiting += [machine.next_state(state, [m]) for m in machine.legal_moves(state, 0)]
    return best


@pytest.mark.parametrize("name", ["sudoku", "queens"])
def test_games_of_ours_are_solved(name: str) -> None:
    machine = machine_of(name)
    assert MoveSetSolver.recognise(machine) is not None
    assert solved(machine) == (100, 100)


@pytest.mark.parametrize("name", ["knightstour", "pegsolitaire", "eightpuzzle", "tictactoe", "lightsout"])
def test_other_games_are_declined(name: str) -> None:
    assert latch_game_of(machine_of(name).network) is None


NONOGRAM = """
(role you) (index 1) (index 2) (index 3) (succ 1 2) (succ 2 3)
(<= (legal you (mark ?x ?y)) (index ?x) (index ?y) (not (true (marked ?x ?y))))
(legal you stop)
(<= (next (marked ?x ?y)) (does you (mark ?x ?y)))
(<= (next (marked ?x ?y)) (true (marked ?x ?y)))
(<= (next stopped) (does you stop))
(<= terminal (true stopped))
(<= (begins row ?y ?x) (true (marked ?x ?y)) (not (marked_before row ?y ?x)))
(<= (begins column ?x ?y) (true (marked ?x ?y)) (not (marked_before column ?x ?y)))
(<= (marked_before row ?y ?x) (succ ?w ?x) (true (marked ?w ?y)))
(<= (marked_before column ?x ?y) (succ ?w ?y) (true (marked ?x ?w)))
(<= (runs ?k ?i one) (begins ?k ?i ?a) (not (runs ?k ?i two)))
(<= (runs ?k ?i two) (begins ?k ?i 1) (begins ?k ?i 3))
(<= wrong (asked ?k ?i ?n) (not (runs ?k ?i ?n)))
(asked row 1 two) (asked row 2 one) (asked row 3 two)
(asked column 1 two) (asked column 2 {middle}) (asked column 3 two)
(<= wrong (true (marked 1 2)))
(<= (goal you 100) (not wrong))
(<= (goal you 0) wrong)
"""
"""A nonogram that asks for the number of runs in each row and column."""


@pytest.mark.parametrize(("middle", "value"), [("one", 100), ("two", 0)])
def test_a_nonogram_is_solved_or_refuted(middle: str, value: int) -> None:
    machine = machine_of(NONOGRAM.format(middle=middle))
    assert best_of_all(machine) == value
    assert solved(machine) == (value, value)


def test_a_scrambled_game_is_solved() -> None:
    rules, _ = scramble(Game.load("sudoku").rules, 7)
    assert solved(machine_of(rules)) == (100, 100)


CELLS = range(5)
Condition = list[tuple[int, bool]]
"""Which cells are marked, and which are not."""
conditions = st.lists(st.tuples(st.sampled_from(CELLS), st.booleans()), min_size=1, max_size=3)


def written(condition: Condition) -> str:
    return " ".join(f"(true (marked {c}))" if yes else f"(not (true (marked {c})))" for c, yes in condition)


def marking_game(
    legal: list[Condition], ends: list[Condition], goals: list[Condition], steps: int | None, again: list[int]
) -> str:
    """A game of marking cells: each under a condition, some more than once; what ends it, what is worth 100;
    after so many steps it ends anyway, or cells that are consumed by marks are gone."""
    text = ["(role you)", *(f"(init (free {c}))" for c in CELLS), "(init (step 0))", "(legal you stop)"]
    for cell, condition in enumerate(legal):
        free = "" if cell in again else f"(true (free {cell}))"
        text += [
            f"(<= (legal you (mark {cell})) {free} {written(condition)})",
            f"(<= (next (marked {cell})) (does you (mark {cell})))",
            f"(<= (next (marked {cell})) (true (marked {cell})))",
            f"(<= (next (free {cell})) (true (free {cell})) (not (does you (mark {cell}))))",
        ]
    text += [f"(<= terminal {written(condition)})" for condition in ends]
    text += [f"(<= solved {written(condition)})" for condition in goals]
    if steps is not None:
        text += [f"(<= (next (step {i + 1})) (true (step {i})))" for i in range(steps)]
        text += [f"(<= terminal (true (step {steps})))"]
    text += ["(<= (next stopped) (does you stop))", "(<= terminal (true stopped))"]
    text += ["(<= (goal you 100) solved (not (true stopped)))", "(<= (goal you 10) (true stopped))"]
    text += ["(<= (goal you 0) (not solved) (not (true stopped)))"]
    return "\n".join(text)


@examples(30)
@given(
    st.lists(conditions, min_size=len(CELLS), max_size=len(CELLS)),
    st.lists(conditions, max_size=2),
    st.lists(conditions, min_size=1, max_size=2),
    st.none() | st.integers(1, 6),
    st.lists(st.sampled_from(CELLS), unique=True, max_size=2),
)
def test_what_is_proven_is_the_best_of_all_lines(
    legal: list[Condition], ends: list[Condition], goals: list[Condition], steps: int | None, again: list[int]
) -> None:
    machine = machine_of(marking_game(legal, ends, goals, steps, again))
    if latch_game_of(machine.network) is None or machine.is_terminal(machine.initial_state()):
        return
    best, proven = solved(machine)
    truth = best_of_all(machine)
    assert best <= truth
    assert proven in (-1, truth)
    if proven >= 0:
        assert best == truth


PLACES, VALUES = range(4), range(2)
Entries = list[tuple[int, int, bool]]
"""Which places hold which value, and which do not."""
entries = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(VALUES), st.booleans()), min_size=1, max_size=2
)


def filling_game(legal: list[Entries], goals: list[Entries], given: int, in_turn: bool) -> str:
    """A game of writing a value into each place, under conditions and perhaps in a fixed order, until nothing
    can be written; then what is written has its worth. The first places are given."""

    def text_of(condition: Entries) -> str:
        atoms = [(f"(true (at {place} {value}))", yes) for place, value, yes in condition]
        return " ".join(atom if yes else f"(not {atom})" for atom, yes in atoms)

    text = ["(role you)", "(init (turn 0))", *(f"(succ {p} {p + 1})" for p in PLACES)]
    text += [f"(init (at {p} {'0' if p < given else 'blank'}))" for p in PLACES]
    for number, condition in enumerate(legal):
        place, value = divmod(number, len(VALUES))
        turn = f"(true (turn {place}))" if in_turn else ""
        text += [f"(<= (can {place} {value}) (true (at {place} blank)) {turn} {text_of(condition)})"]
    text += [
        "(<= (legal you (write ?p ?v)) (can ?p ?v))",
        "(<= (next (at ?p ?v)) (does you (write ?p ?v)))",
        "(<= (next (at ?p ?v)) (true (at ?p ?v)) (does you (write ?q ?w)) (distinct ?p ?q))",
        "(<= (next (turn ?n)) (true (turn ?m)) (succ ?m ?n))",
        "(<= terminal (not open))",
        "(<= open (can ?p ?v))",
        *(f"(<= (solved {i}) {text_of(condition)})" for i, condition in enumerate(goals)),
        "(<= (goal you 100) (solved 0))",
        "(<= (goal you 50) (not (solved 0)) (solved 1))",
        "(<= (goal you 0) (not (solved 0)) (not (solved 1)))",
    ]
    return "\n".join(text)


@examples(30)
@given(
    st.lists(entries, min_size=8, max_size=8),
    st.lists(entries, min_size=2, max_size=2),
    st.integers(0, 2),
    st.booleans(),
)
def test_fillings_are_proven_right(
    legal: list[Entries], goals: list[Entries], given: int, in_turn: bool
) -> None:
    machine = machine_of(filling_game(legal, goals, given, in_turn))
    if machine.is_terminal(machine.initial_state()):
        return
    if MoveSetSolver.recognise(machine) is None:
        return
    best, proven = solved(machine)
    truth = best_of_all(machine)
    assert best <= truth
    assert proven in (-1, truth)
