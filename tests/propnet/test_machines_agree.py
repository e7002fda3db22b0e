"""The propnet machine and the prover say the same about the games that come along."""

from __future__ import annotations

import random

import pytest

from gdl.grounding.pipeline import ground
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from propnet.build import build
from propnet.expander import Expander
from propnet.machine import PropnetMachine
from tests.places import GAMES

NAMES = [
    "tictactoe",
    "connectfour",
    "biddingtictactoe",
    "breakthrough",
    "atarigo",
    "hex",
    "sokoban",
    "chinesecheckers",
]


def machines(name: str) -> tuple[PropnetMachine, ProverMachine]:
    path = GAMES / f"{name}.kif"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    rules = parse_rules(path.read_text())
    return PropnetMachine(rules, build(ground(rules))), ProverMachine(rules)


@pytest.mark.parametrize("name", NAMES)
def test_along_random_matches_states_moves_ends_and_goals_are_those_of_the_prover(name):
    network, prover = machines(name)
    rng = random.Random(name)
    roles = range(len(prover.roles))
    for _ in range(2):
        ours, theirs = network.initial_state(), prover.initial_state()
        for _ in range(25):
            assert ours.propositions == theirs.propositions
            assert ours.terminal == theirs.terminal
            assert ours.goals == theirs.goals
            assert {r: sorted(m) for r, m in ours.legal.items()} == {
                r: sorted(m) for r, m in theirs.legal.items()
            }
            if theirs.terminal:
                break
            joint = [prover.move(r, rng.choice(prover.legal_moves(theirs, r))) for r in roles]
            ours, theirs = ours.play(*joint), theirs.play(*joint)


@pytest.mark.parametrize("name", ["tictactoe", "biddingtictactoe"])
def test_random_playouts_end_alike(name):
    network, prover = machines(name)
    many = network.playouts(20_000, seed=1)
    few = prover.playouts(150, seed=1)
    assert many.cut == few.cut == 0
    spread = many.lengths.std()
    assert abs(many.lengths.mean() - few.lengths.mean()) <= 5 * spread / 150**0.5 + 1e-9
    for role in range(len(prover.roles)):
        spread = many.goals[:, role].std()
        assert abs(many.goals[:, role].mean() - few.goals[:, role].mean()) <= 5 * spread / 150**0.5 + 1e-9


BOTH = """(role a) (role b) (init (n 0)) (init (turn a))
(succ 0 1) (succ 1 2)
(<= (legal ?r up) (true (turn ?r))) (<= (legal ?r down) (true (turn ?r)))
(<= (legal a noop) (true (turn b))) (<= (legal b noop) (true (turn a)))
(<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
(<= (next (n ?k)) (true (n ?j)) (succ ?j ?k))
(<= (next won) (does a up)) (<= (next won) (true won))
(<= terminal (true (n 2)))
(<= (goal a 100) (true won)) (<= (goal a 0) (true (n ?k))) (<= (goal b 0) (true won))
(<= (goal b 100) (not (true won)))"""
"""Whoever wins as ``a`` is given 0 as well, as in some public games."""


def test_of_several_goals_the_highest_counts_in_play_on_every_machine():
    rules = parse_rules(BOTH)
    network = PropnetMachine(rules, build(ground(rules)))
    for machine in (network, ProverMachine(rules)):
        won = machine.initial_state().play("up", "noop").play("noop", "up")
        lost = machine.initial_state().play("down", "noop").play("noop", "up")
        assert won.terminal and lost.terminal
        assert [machine.goal(won, role) for role in range(2)] == [None, 0]
        assert [machine.result(won, role) for role in range(2)] == [100, 0]
        assert [machine.result(lost, role) for role in range(2)] == [0, 100]
        many = machine.playouts(64, seed=1)
        assert set(map(tuple, many.goals.tolist())) == {(100, 0), (0, 100)}
    record = network.records([network.initial_state().play("up", "noop")])
    assert set(map(tuple, Expander(network).expand(record, judged=True).goals.tolist())) == {(100, 0)}
