"""Self-play draws the moves of chance, all alike; values learn what comes of them on average, and who chooses
while chance does never knows them before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from players.knowledge.canonical_rules import canonical_names
from players.knowledge.self_play import OPENING, SelfPlay
from players.knowledge.state_values import StateValues
from players.knowledge.training import Training
from propnet.machine import PropnetMachine
from tests.machines import network

GAMBLE = """
(role white) (role black) (role random)
(init (step white))
(<= (legal white safe) (true (step white)))
(<= (legal white risky) (true (step white)))
(<= (legal white noop) (not (true (step white))))
(legal black noop)
(<= (legal random (throw ?n)) (true (step random)) (number ?n))
(<= (legal random noop) (not (true (step random))))
(number 1) (number 2) (number 3)
(<= (next (share 50)) (does white safe))
(<= (next (step random)) (does white risky))
(<= (next (share 90)) (does random (throw 1)))
(<= (next (share 90)) (does random (throw 2)))
(<= (next (share 10)) (does random (throw 3)))
(<= terminal (true (share ?n)))
(<= (goal white ?n) (true (share ?n)))
(<= (goal black 50) (true (share 50)))
(<= (goal black 10) (true (share 90)))
(<= (goal black 90) (true (share 10)))
"""
"""White is sure of half, or has 90 in two cases of three."""
GUESS = """
(role random) (role white) (role black)
(init first)
(<= (legal random ?side) (true first) (side ?side))
(<= (legal white ?side) (true first) (side ?side))
(<= (legal black noop) (true first))
(side head) (side tail)
(<= (next right) (does random ?side) (does white ?side))
(<= (next over) (true first))
(<= terminal (true over))
(<= (goal white 100) (true right))
(<= (goal white 0) (not (true right)))
(<= (goal black 0) (true right))
(<= (goal black 100) (not (true right)))
"""
"""White guesses how a coin falls that is thrown at the same time. Chance is the first role."""
THREE = """
(role a) (role b) (role c) (role random)
(init (step random))
(<= (legal random ?r) (true (step random)) (player ?r))
(<= (legal ?r noop) (player ?r))
(player a) (player b) (player c)
(<= (next (won ?r)) (does random ?r))
(<= terminal (true (won ?r)))
(<= (goal ?r 100) (true (won ?r)))
(<= (goal ?r 0) (player ?r) (not (true (won ?r))))
"""
"""Three roles without a choice, one of which is drawn."""


def _trained(machine: PropnetMachine, model: str = "linear", rounds: int = 60) -> Training:
    training = Training(machine, canonical_names(machine.rules), None, 1)
    if model == "net":
        training.add_net()
    for number in range(rounds):
        training.round(number / rounds)
    return training


@pytest.mark.parametrize("model", ["linear", "net"])
def test_a_state_before_a_throw_is_worth_what_comes_of_it_on_average(model: str) -> None:
    machine = network(GAMBLE)
    training = _trained(machine, model, 100)
    assert training.columns == (0,)
    first = machine.initial_state()
    risky = next(m for m in machine.legal_moves(first, 0) if str(machine.move(0, m)) == "risky")
    thrown = machine.next_state(first, [risky, *(machine.legal_moves(first, r)[0] for r in (1, 2))])
    white, black, _ = training.values.of(machine.records([thrown]))[0]
    assert white == pytest.approx((90 + 90 + 10) / 300, abs=0.04)
    assert white + black == pytest.approx(1.0)
    # Whoever knows that takes the risk.
    assert training.values.of(machine.records([first]))[0, 0] == pytest.approx(0.633, abs=0.04)


def test_who_chooses_while_chance_throws_does_not_know_the_throw() -> None:
    machine = network(GUESS)
    training = _trained(machine)
    assert training.columns == (1,)
    assert training.values.of(machine.records([machine.initial_state()]))[0, 1] == pytest.approx(
        0.5, abs=0.05
    )
    assert training.progress.share == pytest.approx(0.5, abs=0.1)


def test_each_role_but_chance_has_values_where_more_than_two_play() -> None:
    machine = network(THREE)
    training = _trained(machine, rounds=30)
    assert training.columns == (0, 1, 2)
    known = training.knowledge("three")
    values = StateValues.of_game(known, canonical_names(machine.rules), machine)
    worth = values.of(machine.records([machine.initial_state()]))[0]
    assert worth[:3] == pytest.approx([1 / 3] * 3, abs=0.08) and worth[3] == 0.0


def test_throws_are_all_alike_and_tell_of_the_state_before_them() -> None:
    machine = network(GAMBLE)
    training = _trained(machine, rounds=1)
    play = SelfPlay(machine, (0,), 256, np.random.default_rng(3))
    steps = play.play(training.values, 60)
    throwing = machine.records([machine.initial_state()])[0]
    at_throw = (steps.records != throwing).any(axis=2)
    assert not steps.random[at_throw].any()
    assert steps.random[~at_throw].any() and OPENING > 0
    shares = Counter(np.rint(100 * steps.after[at_throw][:, 0]).astype(int).tolist())
    assert set(shares) == {10, 90}
    n, high = shares.total(), shares[90]
    assert n > 1000 and abs(high / n - 2 / 3) < 4 * (2 / 9 / n) ** 0.5
