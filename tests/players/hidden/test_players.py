"""Players that decide by a belief: what is known to be best, information that is paid for, equal answers."""

from __future__ import annotations

import random
import time
from functools import cache

import pytest

from gdl.machine import Machine
from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from players.player import Player
from players.registry import fitting, make_player

EVERY = ("expectimax", "pimc", "ismcts", "cfr", "uct", "montecarlo", "random", "legal", "greedy")


@cache
def machine_of(name: str, level: str = "propnet") -> Machine:
    return Game.load(name).machine(level)


def started(spec: str, machine: Machine, role: int = 0) -> Player:
    player = make_player(spec, 3)
    player.start(machine, role, machine.initial_state(), 0.0, time.monotonic() + 0.2)
    return player


def second_choice(machine: Machine, door: str, opened: str) -> Belief:
    belief = Belief(machine, 0)
    belief.update(Observed(Term("noop"), frozenset()))
    belief.update(Observed(Term("choose", Term(door)), frozenset()))
    belief.update(Observed(Term("noop"), frozenset([Term("opened", Term(opened))])))
    return belief


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("spec", ["expectimax", "pimc:playouts=200"])
def test_the_candidate_always_switches(spec: str, level: str) -> None:
    machine = machine_of("montyhall", level)
    player = started(spec, machine)
    for door, opened in (("1", "2"), ("1", "3"), ("2", "1"), ("3", "2")):
        choice = player.choose_from(second_choice(machine, door, opened), time.monotonic() + 2)
        assert str(machine.move(0, choice.move)) == "switch"
        value = choice.candidates[0].value
        assert value is not None and value == pytest.approx(200 / 3, abs=0.1)
    player.stop()


@pytest.mark.slow
@pytest.mark.parametrize("secret", [1, 6, 16])
def test_four_questions_always_find_one_of_sixteen_numbers(secret: int) -> None:
    machine = machine_of("numberguessing", "native")
    player = started("expectimax", machine)
    think = machine.move_id(1, Term("think", Term(str(secret))))
    state = machine.initial_state()
    belief = Belief(machine, 0)
    joint = [machine.legal_moves(state, 0)[0], think]
    asked = 0
    while True:
        seen = machine.percepts(state, joint)[0]
        state = machine.next_state(state, joint)
        if state.terminal:
            break
        belief.update(Observed(machine.move(0, joint[0]), seen))
        move = player.choose_from(belief, time.monotonic() + 15).move
        asked += machine.move(0, move).name == "ask"
        joint = [move, machine.legal_moves(state, 1)[0]]
    assert asked == 4
    assert state.goals["player"] == 100


@pytest.mark.parametrize("spec", EVERY)
@pytest.mark.parametrize("name", ["kuhn", "kriegtictactoe"])
def test_every_player_plays_games_of_hidden_information(name: str, spec: str) -> None:
    machine, rng = machine_of(name), random.Random(5)
    player = started(spec, machine)
    state, belief = machine.initial_state(), Belief(machine, 0)
    while True:
        joint = [rng.choice(machine.legal_moves(state, role)) for role in range(len(machine.roles))]
        options = machine.legal_moves(state, 0)
        if len(options) > 1:
            joint[0] = player.choose_from(belief, time.monotonic() + 0.05).move
            assert joint[0] in options
        seen = machine.percepts(state, joint)[0]
        state = machine.next_state(state, joint)
        if state.terminal:
            break
        assert belief.update(Observed(machine.move(0, joint[0]), seen))
    player.stop()


def test_the_fitting_player_follows_from_the_rules() -> None:
    wanted = {"tictactoe": "uct", "twentyfortyeight": "uct", "montyhall": "expectimax", "kuhn": "cfr"}
    for name, player in wanted.items():
        assert fitting("uct", machine_of(name, "prover")) == player
        assert fitting("montecarlo", machine_of(name, "prover")) == "montecarlo"
