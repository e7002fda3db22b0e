"""Games of one judge against another: they are games of the rules, and the better judge is told."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from players.batch_machine import NetworkBatch
from players.uct.rollouts.policy import AveragePolicy, RolloutPolicy
from players.uct.rollouts.rollouts import ByPlayouts, Trial
from tests.examples import examples
from tests.players.random_games import random_game
from tests.players.uct.searching import lanes_of


class Liking(ByPlayouts):
    """A judge that likes states by a sum of weights of their propositions, for the first role."""

    def __init__(self, lanes: NetworkBatch, weights: dict[str, float]) -> None:
        self._machine = lanes.machine
        self._weights = weights

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        states = self._machine.states(records)
        sums = [sum(self._weights.get(str(p), 0.0) for p in state.propositions) for state in states]
        return np.column_stack([sums, -np.array(sums)])


@examples(40)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 3), simultaneous=st.booleans())
def test_the_moves_of_a_trial_are_the_legal_joint_moves(seed: int, roles: int, simultaneous: bool) -> None:
    lanes = lanes_of(random_game(seed, roles, simultaneous))
    machine = lanes.machine
    trial = Trial(
        lanes, ByPlayouts(lanes, 1, 1, 9, RolloutPolicy()), ByPlayouts(lanes, 2, 1, 9, RolloutPolicy()), seed
    )
    states = [machine.initial_state()]
    options = [machine.legal_moves(states[0], role) for role in range(roles)]
    states += [machine.next_state(states[0], joint) for joint in product(*options)]
    parents, movers, joints = trial._moves(machine.records(states))
    for number, state in enumerate(states):
        options = [sorted(machine.legal_moves(state, role)) for role in range(roles)]
        found = sorted(tuple(joint) for joint in joints[parents == number].tolist())
        choosing = [role for role in range(roles) if len(options[role]) > 1]
        if len(choosing) > 1:
            assert movers[number] == -1
            assert len(found) == 1
            assert set(found) <= set(product(*options))
        else:
            assert found == sorted(product(*options))
            assert not choosing or movers[number] == choosing[0]


def test_who_knows_what_counts_is_ahead_and_who_knows_the_opposite_is_behind() -> None:
    """A race: each of two roles has ten moves of one or two steps; who has come further wins."""
    text = """
        (role white) (role black) (init (turn white 0)) (init (at white 0)) (init (at black 0))
        (<= (legal ?r (step 1)) (true (turn ?r ?n))) (<= (legal ?r (step 2)) (true (turn ?r ?n)))
        (other white black) (other black white)
        (<= (legal ?r wait) (other ?r ?s) (true (turn ?s ?n)))
        (<= (next (turn ?s ?m)) (true (turn ?r ?n)) (other ?r ?s) (next_ ?n ?m))
        (<= (next (at ?r ?y)) (true (at ?r ?x)) (does ?r (step ?k)) (plus ?x ?k ?y))
        (<= (next (at ?r ?x)) (true (at ?r ?x)) (does ?r wait))
        (<= terminal (true (turn ?r 12)))
        (<= (goal ?r 100) (true (at ?r ?x)) (other ?r ?s) (true (at ?s ?y)) (more ?x ?y))
        (<= (goal ?r 0) (true (at ?r ?x)) (other ?r ?s) (true (at ?s ?y)) (more ?y ?x))
        (<= (goal ?r 50) (true (at ?r ?x)) (other ?r ?s) (true (at ?s ?x)))
        (<= (more ?x ?y) (plus ?y 1 ?x)) (<= (more ?x ?y) (more ?x ?z) (plus ?y 1 ?z))
    """
    text += " ".join(f"(next_ {i} {i + 1})" for i in range(12))
    text += " ".join(f"(plus {i} {k} {i + k})" for i in range(13) for k in (1, 2) if i + k < 14)
    lanes = lanes_of(text)
    weights = {f"(at white {n})": 0.1 * n for n in range(14)} | {
        f"(at black {n})": -0.1 * n for n in range(14)
    }
    wise, foolish = Liking(lanes, weights), Liking(lanes, {p: -w for p, w in weights.items()})
    found = []
    for tried, usual in ((wise, foolish), (foolish, wise)):
        trial = Trial(lanes, tried, usual, 1)
        for _ in trial.play():
            pass
        assert trial.games == 48
        found.append(trial.ahead)
    assert found[0] > 0.9
    assert found[1] < -0.9


def test_a_trial_can_go_on() -> None:
    lanes = lanes_of("connectfour")
    judges = [ByPlayouts(lanes, seed, 4, 99, RolloutPolicy()) for seed in (1, 2)]
    trial = Trial(lanes, *judges, 1, games=8)
    assert trial.ahead == trial.spread == 0.0
    for wave in (1, 2):
        for _ in trial.play():
            pass
        assert trial.games == 16 * wave
    assert trial.spread > 0.0


@pytest.mark.parametrize("policy", [False, True])
def test_playouts_judge_for_all_roles(policy: bool) -> None:
    lanes = lanes_of("connectfour")
    learnt = AveragePolicy(lanes.role_moves) if policy else RolloutPolicy()
    judge = ByPlayouts(lanes, 1, 64, 99, learnt)
    records = lanes.machine.records([lanes.machine.initial_state()] * 20)
    for _ in range(3):
        values = judge.values(records)
        assert values.shape == (20, 2)
        assert values.sum(axis=1) == pytest.approx(1.0)
    assert (learnt.weights is not None) == policy
