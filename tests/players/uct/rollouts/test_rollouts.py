"""Stepwise policies see each state before a move is made in it; their playouts are those of the rules."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import Ends, NetworkBatch
from players.kaskade.make_machine import make_machine
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.policy import RolloutPolicy, Weighing
from players.uct.rollouts.registry import POLICIES, policy_names
from players.uct.rollouts.rollouts import Rollouts, roll_out, stepwise_playouts
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.players.random_games import random_game


def machine_of(text: str) -> PropnetMachine:
    machine = lane_machine(make_machine(parse_rules(text), "propnet"))
    assert machine is not None
    return machine


def game(name: str) -> PropnetMachine:
    return machine_of(Game.load(name).text)


def starts(machine: PropnetMachine, n: int) -> NDArray[np.uint64]:
    return np.repeat(machine.records([machine.initial_state()]), n, axis=0)


@examples(25)
@given(
    seed=st.integers(0, 10**6), roles=st.integers(1, 3), simultaneous=st.booleans(), steps=st.integers(0, 9)
)
def test_playouts_step_by_step_are_games_of_the_rules(
    seed: int, roles: int, simultaneous: bool, steps: int
) -> None:
    machine = machine_of(random_game(seed, roles, simultaneous))
    tallies = np.zeros((2, int(machine.role_moves[-1]), 2), np.int32)
    ends, traces = stepwise_playouts(
        machine, RolloutPolicy(), starts(machine, 6), seed, steps, math.inf, tallies
    )
    assert [len(trace) for trace in traces] == ends.lengths.tolist()
    assert (ends.lengths <= steps).all()
    assert (ends.finished | (ends.lengths == steps)).all()
    if roles == 1:
        for trace, goals, finished in zip(traces, ends.goals, ends.finished, strict=True):
            state = machine.initial_state()
            for move in trace:
                assert move in machine.legal_moves(state, 0)
                state = machine.next_state(state, [move])
            assert finished == (machine.is_terminal(state) or not machine.legal_moves(state, 0))
            if machine.is_terminal(state):
                assert goals[0] == (machine.result(state, 0) if machine.result(state, 0) is not None else -1)
    assert (tallies[:, :, 0] <= 3).all()
    assert (tallies[:, :, 1] <= 100 * tallies[:, :, 0]).all()


def test_they_are_as_likely_to_end_well_as_those_of_one_call() -> None:
    machine = game("tictactoe")
    ends, _ = stepwise_playouts(machine, RolloutPolicy(), starts(machine, 20_000), 1, 100, math.inf)
    whole = machine.playouts(20_000, seed=1)
    assert ends.goals.mean(axis=0) == pytest.approx(whole.goals.mean(axis=0), abs=1.0)
    assert ends.lengths.mean() == pytest.approx(whole.lengths.mean(), abs=0.05)


class Careful(RolloutPolicy):
    """Leaves out all moves but the first two of each role, prefers the first, and gives up after three
    steps."""

    name = "careful"
    stepwise = True

    def __init__(self, machine: PropnetMachine) -> None:
        self.machine = machine
        self.seen = 0

    def weigh(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Weighing:
        self.seen += len(records)
        states = self.machine.states(records)
        assert all(not state.terminal for state in states)
        left_out = np.zeros_like(legal)
        weights = np.ones(legal.shape)
        for role, low in enumerate(self.machine.role_moves[:-1].tolist()):
            for row, state in enumerate(states):
                moves = self.machine.legal_moves(state, role)
                assert legal[row, [low + move for move in moves]].all()
                left_out[row, [low + move for move in moves[2:]]] = True
                weights[row, low + moves[0]] = 3.0
        return Weighing(weights, left_out, np.full(len(records), step == 3))


def test_a_policy_that_looks_decides_what_is_played() -> None:
    machine = game("tictactoe")
    policy = Careful(machine)
    ends, traces = stepwise_playouts(machine, policy, starts(machine, 400), 1, 100, math.inf)
    assert set(ends.lengths.tolist()) == {3}
    assert ends.finished.all()
    assert policy.seen == 4 * 400
    first = machine.legal_moves(machine.initial_state(), 0)
    drawn = [trace[0] for trace in traces]
    assert set(drawn) == set(first[:2])
    assert drawn.count(first[0]) == pytest.approx(300, abs=45)


def test_a_lane_ends_where_all_moves_of_a_role_are_left_out() -> None:
    class Stubborn(RolloutPolicy):
        stepwise = True

        def weigh(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Weighing:
            return Weighing(left_out=np.ones_like(legal))

    machine = game("tictactoe")
    ends, traces = stepwise_playouts(machine, Stubborn(), starts(machine, 5), 1, 100, math.inf)
    assert ends.lengths.tolist() == [0] * 5
    assert ends.finished.all()
    assert traces == [[]] * 5


class OfStep(RolloutPolicy):
    """Weights by the step alone: float64, shape (steps, moves)."""

    stepwise = True

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self._weights = weights

    def weigh(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Weighing:
        return Weighing(np.tile(self._weights[step], (len(legal), 1)))


@examples(40)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 9), largest=st.integers(0, 2))
def test_moves_that_weigh_nothing_are_made_only_where_a_role_has_no_others(
    seed: int, steps: int, largest: int
) -> None:
    machine = machine_of(random_game(seed, 1, False))
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, largest, (steps, int(machine.role_moves[-1])), endpoint=True).astype(float)
    policy = OfStep(weights)
    _, traces = stepwise_playouts(machine, policy, starts(machine, 6), seed, steps, math.inf)
    for trace in traces:
        state = machine.initial_state()
        for step, move in enumerate(trace):
            moves = machine.legal_moves(state, 0)
            assert move in moves
            assert weights[step, move] or not weights[step, moves].any()
            state = machine.next_state(state, [move])


@pytest.mark.parametrize("name", ["tictactoe", "hanoi"])
@pytest.mark.parametrize("policy", POLICIES)
def test_each_row_gives_a_policy_for_any_game(policy: str, name: str) -> None:
    machine = game(name)
    batched = NetworkBatch(machine, machine)
    rollouts = Rollouts(batched, POLICIES[policy](batched))
    for seed in range(3):
        assert rollouts.playouts(starts(machine, 8), seed, 100, math.inf, 64).finished.all()


def test_a_search_plays_by_a_policy_that_one_row_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "careful", lambda batched: Careful(batched.machine))
    assert "careful" in policy_names()
    for name in ("tictactoe", "hanoi"):
        machine = game(name)
        search = Search(0, 3, Tuning(policy="careful", prove=False))
        search.set_machine(machine)
        search.set_root(machine.initial_state())
        while search.step(time.monotonic() + 60.0, 300):
            pass
        policy = search.rounds.chosen.rollouts.policy
        assert isinstance(policy, Careful)
        assert policy.seen


def test_playouts_of_a_machine_with_a_guide_run_on_its_gates() -> None:
    machine, guide = game("tictactoe"), game("tictactoe")

    class WithGuide(PropnetMachine):
        @property
        def playout_machine(self) -> PropnetMachine:
            return guide

    both = WithGuide(machine.rules, machine.network)
    asked = []

    class Batch(NetworkBatch):
        def playouts(self, *args: Any, on: PropnetMachine | None = None, **options: Any) -> Ends:
            asked.append(on)
            return super().playouts(*args, on=on, **options)

    policy, batched = AveragePolicy(both.role_moves), Batch(both, guide)
    for _ in range(2):
        roll_out(batched, policy, starts(both, 512), 1, 100, math.inf, 4)
    assert policy.weights is not None
    roll_out(Batch(machine, machine), policy, starts(both, 4), 1, 100, math.inf, 4)
    assert [on is guide for on in asked] == [True, True, False]
    rollouts = Rollouts(batched, policy)
    ends = rollouts.playouts(starts(both, 4), 1, 100, math.inf, 2)
    assert [len(rollouts.playout_moves(row)) for row in range(8)] == ends.lengths.tolist()
