"""Nested policy, and rollouts, on gates that know dead sets."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from ggp.game import Game
from players.batch_machine import NetworkBatch
from players.puzzles.dead_ends import DeadEndPolicy
from players.puzzles.dead_sets.search import shared_search
from players.puzzles.solver import Task
from players.uct.rollouts.dead_ends import DeadEndFinder, DeadEndRollouts
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.rollouts import Rollouts

PICK = """
(role you) (init (left 1)) (init (left 2)) (init (left 3)) (init (left 4)) (init (left 5)) (init (left 6))
(<= (legal you (pick ?n)) (true (left ?n)))
(<= (next (left ?n)) (true (left ?n)) (not (does you (pick ?n))))
(<= (next (got ?n)) (does you (pick ?n)))
(<= (next (got ?n)) (true (got ?n)))
(odd 1) (odd 3) (odd 5)
(<= bad (true (got ?n)) (not (odd ?n)))
(<= good (true (got 1)) (true (got 3)) (true (got 5)))
(<= terminal good)
(<= terminal (not (true (left 1))) (not (true (left 2))) (not (true (left 3))))
(<= (goal you 100) good (not bad))
(<= (goal you 0) bad)
(<= (goal you 0) (not good))
"""
"""Who picks an even number has lost."""


@pytest.fixture(scope="module")
def machine():
    return Game.load(PICK).machine("propnet")


def test_no_playout_picks_what_is_fatal(machine):
    lines = []
    task = Task(machine, machine.initial_state(), lambda value, moves: lines.append((value, moves)), 1 << 24)
    solver = DeadEndPolicy(task)
    while solver.playing is machine:
        assert solver.step(time.monotonic() + 0.01)
    goals, lengths = solver._play()
    assert (goals == 100).all()
    assert (lengths == 3).all()
    assert (machine.playouts(512).goals != 100).any()
    assert solver.step(time.monotonic() + 0.1)
    assert lines[-1][0] == 100
    state = machine.initial_state()
    for move in lines[-1][1]:
        assert move in machine.legal_moves(state, 0)
        state = machine.next_state(state, [move])
    assert machine.is_terminal(state) and machine.goal(state, 0) == 100


def test_the_solver_gives_up_where_there_are_no_dead_sets():
    machine = Game.load("hanoi").machine("propnet")
    solver = DeadEndPolicy(Task(machine, machine.initial_state(), lambda value, moves: None, 1 << 24))
    for _ in range(100_000):
        if not solver.step(time.monotonic() + 0.01):
            break
    else:
        pytest.fail("it goes on for ever")
    assert solver.playing is machine


def test_rollouts_of_a_search_leave_out_fatal_moves_as_soon_as_they_are_known(machine):
    rollouts = Rollouts(NetworkBatch(machine, machine), DeadEndRollouts(machine))
    start = machine.records([machine.initial_state()])
    for seed in range(1000):
        ends = rollouts.playouts(np.repeat(start, 64, axis=0), seed, 50, math.inf, 1)
        if (ends.goals == 100).all() and seed > 2:
            break
    else:
        pytest.fail("rollouts go on to make fatal moves")
    moves = rollouts.playout_moves(5)
    assert len(moves) == ends.lengths[5] == 3
    assert {str(machine.move(0, move)) for move in moves} == {"(pick 1)", "(pick 3)", "(pick 5)"}


def test_games_of_several_roles_are_rolled_out_as_ever():
    machine = Game.load("tictactoe").machine("propnet")
    assert DeadEndRollouts(machine).network(machine) is machine


def test_the_search_for_dead_sets_is_shared_by_those_who_play_the_same_game(machine):
    again = Game.load(PICK).machine("propnet")
    assert shared_search(machine) is shared_search(again)
    other = Game.load(PICK.replace("(odd 5)", "(odd 6)")).machine("propnet")
    assert shared_search(other) is not shared_search(machine)


def test_a_tree_gets_a_policy_that_leaves_out_fatal_moves_once_the_search_beside_it_is_over(machine):
    batched = NetworkBatch(machine, machine)
    rollouts = Rollouts(batched, RolloutPolicy())
    finder = DeadEndFinder(machine, rollouts)
    while finder.active:
        finder.step(0.05, math.inf)
    assert isinstance(rollouts.policy, DeadEndRollouts)
    start = machine.records([machine.initial_state()])
    assert (rollouts.playouts(np.repeat(start, 64, axis=0), 1, 50, math.inf, 1).goals == 100).all()
    hanoi = Game.load("hanoi").machine("propnet")
    rollouts = Rollouts(NetworkBatch(hanoi, hanoi), RolloutPolicy())
    finder = DeadEndFinder(hanoi, rollouts)
    while finder.active:
        finder.step(0.05, math.inf)
    assert type(rollouts.policy) is RolloutPolicy
