"""Chance draws all its legal moves alike, whoever plays out, by any policy or guide: chi-square tests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from math import sqrt

import numpy as np
import pytest

from gdl.grounding.pipeline import ground
from gdl.information import chance_role
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import NetworkBatch
from propnet.analysis.random_play import forced_moves
from propnet.build import build
from propnet.guides import decisive, sure_ends
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from tests.machines import network as network_machine

SIDES = (2, 3, 5, 7, 11, 24)


def wheel(sides: int) -> Rules:
    """A wheel with so many numbers is spun; its number is what ``p`` gets."""
    lines = [
        "(role p)",
        "(role random)",
        "(init ready)",
        "(legal p noop)",
        "(<= terminal (not (true ready)))",
    ]
    lines += [f"(legal random (spin {side}))" for side in range(sides)]
    lines += ["(<= (next (shows ?n)) (does random (spin ?n)))"]
    lines += [f"(<= (goal p {side}) (true (shows {side})))" for side in range(sides)]
    return parse_rules("\n".join(lines))


RACE = """
(role x) (role o) (role random) (init (control x)) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal ?r go) (true (control ?r)) (distinct ?r random)) (<= (legal ?r wait) (true (control ?r))
 (distinct ?r random)) (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (legal random (toss ?s)) (side ?s) (true (control random))) (side x) (side o) (side none) (side both)
(<= (next (control random)) (true (control x))) (<= (next (control o)) (true (control random)))
(<= (next (control x)) (true (control o)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= (next (won ?s)) (does random (toss ?s)) (player ?s))
(player x) (player o) (<= terminal (true (won ?s))) (<= terminal (true (step 4)))
(<= (goal ?r 100) (true (won ?r))) (<= (goal ?r 0) (player ?r) (player ?o) (distinct ?r ?o) (true (won ?o)))
(<= (goal ?r 50) (player ?r) (not decided)) (<= decided (true (won ?s)))
"""
"""A coin with four sides ends the match on two of them: a blunder, if chance was a player."""


def spread(counts: Iterable[int]) -> float:
    """How far these counts of outcomes that are alike are apart: Pearson's chi-square, as standard deviations
    of a normal variable (Wilson and Hilferty, 1931)."""
    array = np.array(list(counts), float)
    usual, free = array.mean(), len(array) - 1
    square = ((array - usual) ** 2).sum() / usual
    return float(((square / free) ** (1 / 3) - (1 - 2 / (9 * free))) / sqrt(2 / (9 * free)))


def test_the_spread_of_loaded_dice_is_seen() -> None:
    assert spread([100, 100, 101, 99]) < 0
    assert spread([1000, 1000, 1200]) > 4


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("level", ["prover", "propnet", "native"])
def test_each_number_of_a_wheel_comes_as_often(level: str, sides: int) -> None:
    rules = wheel(sides)
    network = build(ground(rules))
    machine: Machine = ProverMachine(rules)
    if level != "prover":
        machine = PropnetMachine(rules, network) if level == "propnet" else native_machine(rules, network)
    n = 600 * sides if level == "prover" else 40_000 * sides
    goals = machine.playouts(n, seed=sides).goals[:, 0]
    assert spread(np.bincount(goals, minlength=sides)) < 4


def draws(machine: PropnetMachine, playouts: int, steps: int) -> dict[int, Counter[int]]:
    """Of how many legal moves chance has drawn which one, how often, in the first steps of playouts."""
    chance = chance_role(machine.roles)
    assert chance is not None
    records, found = machine.records([machine.initial_state()]), dict[int, Counter[int]]()
    for row in range(playouts):
        moves = machine.playout_moves(records, row, steps, seed=9, max_steps=steps, each=playouts)
        state = machine.initial_state()
        for joint in moves.tolist():
            legal = machine.legal_moves(state, chance)
            if len(legal) > 1:
                found.setdefault(len(legal), Counter(dict.fromkeys(range(len(legal)), 0)))[
                    legal.index(joint[chance])
                ] += 1
            state = machine.next_state(state, joint)
            if machine.is_terminal(state):
                break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("level", ["propnet", "native"])
@pytest.mark.parametrize("name", ["montyhall", "twentyfortyeight", "kuhn"])
def test_chance_is_fair_in_playouts_of_our_own_games(name: str, level: str) -> None:
    machine = Game.load(name).machine(level)
    assert isinstance(machine, PropnetMachine)
    found = draws(machine, 1_500, 3)
    told = [spread(counts.values()) for counts in found.values() if sum(counts.values()) >= 5 * len(counts)]
    assert told and max(told) < 4


def test_guides_leave_chance_all_its_moves() -> None:
    """Where chance would be a player, it would not end the match: it gets nothing by that."""
    machine = network_machine(RACE)
    network = machine.network
    forced = forced_moves(machine)
    assert forced is not None
    guides = [decisive(network, forced, most_inputs=10**6), sure_ends(network, most_inputs=10**6)]
    rng, states = random.Random(1), []
    for _ in range(60):
        state = machine.initial_state()
        while not machine.is_terminal(state):
            states.append(state)
            state = machine.next_state(state, [rng.choice(moves) for moves in machine.options(state)])
    records = machine.records(states)
    own = slice(*machine.role_moves[2:4].tolist())
    wanted = unpack(machine.evaluate(records).legal, network.move_count)[:, own]
    plain = machine.playouts(40_000, seed=2).goals
    for guide in guides:
        if guide is not None:
            guided = PropnetMachine(machine.rules, guide)
            told = guided.evaluate(records).legal
            assert np.array_equal(unpack(told, network.move_count)[:, own], wanted)
            ends = guided.playouts(40_000, seed=2).goals
            for value in (0, 50, 100):
                assert abs((ends[:, 0] == value).mean() - (plain[:, 0] == value).mean()) < 0.015


def test_weights_of_playouts_do_not_load_the_dice() -> None:
    """However a policy weighs the moves of chance."""
    machine = network_machine(wheel(7))
    loaded = np.zeros(8, np.uint8)
    loaded[2:5] = 7
    records = np.repeat(machine.records([machine.initial_state()]), 7_000, axis=0)
    ends = NetworkBatch(machine, machine).playouts(records, 3, 10, float("inf"), weights=loaded)
    assert spread(np.bincount(ends.goals[:, 0], minlength=7)) < 4
