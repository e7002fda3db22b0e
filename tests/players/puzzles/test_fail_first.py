"""Fail first finishes knight's tours, and gives up where it finds nothing better."""

from __future__ import annotations

import time

import pytest

from ggp.game import Game
from players.puzzles import fail_first
from players.puzzles.fail_first import FailFirst
from players.solvers import Task


def tour(size: int) -> str:
    """A knight's tour of a square board from a corner; the goal is the share of it that was visited."""
    squares = [(x, y) for x in range(size) for y in range(size)]
    jumps = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
    facts = "".join(
        f"(jump s{x}{y} s{x + a}{y + b})" for x, y in squares for a, b in jumps if (x + a, y + b) in squares
    )
    free = "".join(f"(init (free s{x}{y}))" for x, y in squares[1:])
    return f"""(role you) (init (at s00)) {free} {facts}
        (<= (legal you (go ?t)) (true (at ?s)) (jump ?s ?t) (true (free ?t)))
        (<= (next (at ?t)) (does you (go ?t)))
        (<= (next (free ?t)) (true (free ?t)) (not (does you (go ?t))))
        (<= open (legal you (go ?t))) (<= left (true (free ?s)))
        (<= terminal (not open)) (<= (goal you 100) (not left)) (<= (goal you 0) left)"""


def played(text: str, seed: int, seconds: float = 20.0) -> tuple[list[tuple[int, list[int]]], bool]:
    """The lines that were reported, each replayed, and whether the solver still goes on."""
    machine = Game.load(text).machine("propnet")
    lines: list[tuple[int, list[int]]] = []
    start = machine.initial_state()
    solver = FailFirst(Task(machine, start, lambda value, moves: lines.append((value, list(moves))), 0, seed))
    end = time.monotonic() + seconds
    going = True
    while going and time.monotonic() < end and not (lines and lines[-1][0] == 100):
        going = not solver.step(time.monotonic() + 0.05)
    for value, moves in lines:
        state = start
        for move in moves:
            assert not machine.is_terminal(state) and move in machine.legal_moves(state, 0)
            state = machine.next_state(state, [move])
        assert machine.is_terminal(state) and machine.goal(state, 0) == value
    return lines, going


@pytest.mark.parametrize("size", [5, 6, 8])
def test_it_finds_a_knights_tour(size: int) -> None:
    lines, _ = played(tour(size), seed=size)
    assert lines[-1][0] == 100 and len(lines[-1][1]) == size * size - 1


def test_what_it_reports_gets_better_and_the_seed_decides() -> None:
    first, second = (played(tour(6), seed=1)[0] for _ in range(2))
    assert first == second
    assert [(value, -len(moves)) for value, moves in first] == sorted((v, -len(m)) for v, m in first)


def test_it_gives_up_where_there_is_no_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fail_first, "_FRUITLESS_SECONDS", 0.3)
    lines, going = played(tour(4), seed=0)
    assert not going and [value for value, _ in lines] == [0] * len(lines)
