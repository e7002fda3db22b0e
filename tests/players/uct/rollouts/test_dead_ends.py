"""Rollouts on gates that know dead sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp.game import Game
from players.batch_machine import NetworkBatch
from players.puzzles.dead_sets.search import shared_search
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
