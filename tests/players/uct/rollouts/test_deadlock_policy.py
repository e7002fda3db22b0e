"""Playouts of a game that is Sokoban leave out only moves that lose, and lose less often."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.sokoban.state_space import explore
from gdl.syntax.parser import parse_rules
from players.batch_machine import batch_machine_of
from players.kaskade.make_machine import make_machine
from players.puzzles.sokoban.dead_moves import DeadMoves
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.recognition.recognise import recognise
from players.uct.rollouts.deadlocks import DeadlockPolicy
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.rollouts import Rollouts
from propnet.machine import PropnetMachine

LEVEL = Level(("########", "#  .   #", "# $#$  #", "# . @  #", "########"))


def _machine(pushes: bool) -> PropnetMachine:
    machine = make_machine(parse_rules(level_to_gdl(LEVEL, pushes=pushes, steps=90)), "propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@pytest.mark.parametrize("pushes", [False, True])
def test_moves_that_are_marked_lose_and_no_other_solution_is_cut_off(pushes: bool) -> None:
    machine = _machine(pushes)
    game = recognise(machine)
    assert game is not None
    start = machine.initial_state()
    space = explore(game.geometry, game.position(start), 10_000)
    alive = {
        (position.boxes, position.keeper): bool(space.alive[number])
        for number in range(space.size)
        for position in [space.position(number)]
    }
    dead_moves = DeadMoves(game)
    rng = np.random.default_rng(1)
    marked = dead = 0
    for _ in range(30):
        state = start
        for _ in range(30):
            if machine.is_terminal(state):
                break
            moves = machine.legal_moves(state, 0)
            legal = np.zeros((1, machine.network.move_count), np.bool_)
            legal[0, moves] = True
            lost = np.flatnonzero(dead_moves.lost(machine.records([state]), legal)[0]).tolist()
            for move in moves:
                after = machine.next_state(state, [move])
                position = game.anchored(game.position(after))
                can_be_solved = alive[position.boxes, position.keeper]
                if move in lost:
                    assert not can_be_solved
                    marked += 1
                before = game.anchored(game.position(state))
                dead += alive[before.boxes, before.keeper] and not can_be_solved
            state = machine.next_state(state, [int(rng.choice(moves))])
    assert marked >= dead > 0


@pytest.mark.parametrize("pushes", [False, True])
def test_playouts_with_the_policy_end_better(pushes: bool) -> None:
    machine = _machine(pushes)
    batched = batch_machine_of(machine)
    start = np.repeat(machine.records([machine.initial_state()]), 300, axis=0)
    means = []
    for policy in (RolloutPolicy(), DeadlockPolicy(machine)):
        ends = Rollouts(batched, policy).playouts(start, 1, 100, math.inf, 1)
        means.append(float((ends.goals[:, 0] == 100).mean()))
    assert means[1] > means[0]


def test_a_game_that_is_not_sokoban_is_played_as_ever() -> None:
    rules = "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (does you go)) (goal you 100)"
    machine = make_machine(parse_rules(rules + "(<= terminal (true (at 1)))"), "propnet")
    assert isinstance(machine, PropnetMachine)
    policy = DeadlockPolicy(machine)
    assert not policy.looks
    assert policy.network(machine) is machine
