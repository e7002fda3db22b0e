"""Policies of playouts: better moves weigh more, and one is used only where it is clearly ahead."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.prover.machine import ProverMachine
from ggp.game import Game
from players.batch_machine import NetworkBatch, batch_machine_of
from players.kaskade.guided_machine import guided
from players.uct.player import UctPlayer
from players.uct.rollouts import choose_policy as playout_choice
from players.uct.rollouts.choose_policy import TEMPERATURES, PlayoutChoice
from players.uct.rollouts.move_averages import PlayoutPolicy
from players.uct.rollouts.rollouts import Playing
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.kernels.move_weights import HEAVIEST
from propnet.machine import PropnetMachine


def lanes_of_game(name: str) -> NetworkBatch:
    machine = Game.load(name).machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return NetworkBatch(machine, machine)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    doubled=st.booleans(),
)
def test_better_moves_of_a_role_weigh_no_less_and_the_scale_of_goals_does_not_matter(
    seed: int, moves: list[int], doubled: bool
) -> None:
    rng = np.random.default_rng(seed)
    columns = np.concatenate([[0], np.cumsum(moves)]).astype(np.int32)
    tallies = np.zeros((1, int(columns[-1]), 2), np.int32)
    tallies[0, :, 0] = 5000
    tallies[0, :, 1] = 5000 * rng.integers(0, 50, columns[-1])
    policy = PlayoutPolicy(columns, 1.0)
    assert policy.weights is None
    policy.learn(tallies)
    weights = policy.weights
    assert weights is not None
    assert policy.weights is weights
    for low, high in pairwise(columns.tolist()):
        order = np.argsort(tallies[0, low:high, 1], kind="stable")
        assert (np.diff(weights[low:high][order].astype(int)) >= 0).all()
    other = PlayoutPolicy(columns, 1.0)
    other.learn(tallies * np.array([1, 1 + doubled], np.int32))
    assert other.weights is not None
    assert np.abs(other.weights.astype(int) - weights).max() <= 1
    assert weights.max() <= HEAVIEST


def test_without_differences_there_is_nothing_to_prefer() -> None:
    policy = PlayoutPolicy(np.array([0, 3, 3, 5], np.int32), 1.0)
    tallies = policy.new_tallies()
    tallies[0] = 1000, 50_000
    policy.learn(tallies)
    assert policy.weights is not None
    assert len(set(policy.weights[:3].tolist())) == len(set(policy.weights[3:].tolist())) == 1


def test_what_is_forgotten_counts_for_less() -> None:
    columns = np.array([0, 2], np.int32)
    policy = PlayoutPolicy(columns, 1.0)
    for good in (0, 1):
        tallies = policy.new_tallies()
        tallies[0, :, 0] = 2000
        tallies[0, good, 1] = 2000 * 100
        policy.learn(tallies)
        weights = policy.weights
        assert weights is not None
        assert weights[good] > weights[1 - good]
        policy.forget(0.1)


def chosen(name: str) -> PlayoutChoice:
    choice = PlayoutChoice(lanes_of_game(name), 1)
    while choice.learn(math.inf):
        pass
    return choice


def test_a_policy_is_chosen_where_it_is_far_ahead_and_not_where_it_misleads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(playout_choice, "_SIZES", ((12, 48),))
    monkeypatch.setattr(playout_choice, "_MOST_SECONDS", math.inf)
    race, lines = chosen("othello"), chosen("connectfour")
    assert race.temperature in TEMPERATURES
    assert "in use" in str(race)
    assert lines.temperature == 0.0
    assert "in use" not in str(lines)


class Clock:
    """Time as the trials see it: the clock stands still, and each piece of a trial takes 5 ms of CPU time."""

    def __init__(self) -> None:
        self.used = 0.0

    def monotonic(self) -> float:
        return 1000.0

    def thread_time(self) -> float:
        return self.used

    def pieces(self) -> Iterator[None]:
        while True:
            self.used += 0.005
            yield


def test_trials_take_a_share_of_the_time_before_the_first_deadline_and_then_of_what_the_search_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(playout_choice, "time", clock)
    monkeypatch.setattr(PlayoutChoice, "_try_all", lambda _: clock.pieces())
    choice = PlayoutChoice(lanes_of_game("connectfour"), 1)

    def used_by(deadline: float) -> float:
        before = clock.used
        while choice.learn(deadline):
            pass
        return clock.used - before

    slack = 0.021  # a slice, and what floats lose
    assert used_by(1002.0) == pytest.approx(0.15 * 2.0, abs=slack)
    assert used_by(1100.0) == 0.0
    choice.grant(4.0)
    assert used_by(1100.0) == pytest.approx(0.1 * 4.0, abs=2 * slack)
    assert not choice.done
    choice.grant(1000.0)
    assert clock.used + used_by(1100.0) == pytest.approx(playout_choice._MOST_SECONDS, abs=slack)
    assert choice.done
    assert not choice.learn(1100.0)


def test_where_playouts_are_too_slow_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playout_choice, "_MOST_SECONDS", 0.02)
    choice = chosen("connectfour")
    assert choice.done
    assert choice.temperature == 0.0
    assert "take too long" in str(choice)


def test_a_search_plays_by_averages_if_told_to_and_its_playouts_can_be_told_again() -> None:
    machine = Game.load("connectfour").machine("propnet")
    state = machine.initial_state()
    found = []
    for policy in ("averages", "averages", "equal"):
        search = Search(0, 3, Tuning(policy=policy, prove=False))
        search.set_machine(machine)
        search.set_root(state)
        while search.step(time.monotonic() + 60.0, 6_000):
            pass
        found.append(search.statistics().visits.tolist())
    assert found[0] == found[1] != found[2]


def test_machines_without_lanes_and_single_roles_play_with_equal_chances() -> None:
    prover = ProverMachine(Game.load("tictactoe").rules)
    for lanes in (batch_machine_of(prover), lanes_of_game("hanoi")):
        playing = Playing(lanes, "averages", 1)
        assert playing.policy is None
        assert not Playing(lanes, "auto", 1).learn(math.inf)


def test_a_player_tells_what_it_has_found_out() -> None:
    machine = Game.load("tictactoe").machine("propnet")
    player = UctPlayer(seed=1)
    told: list[str] = []
    player.found_out = told.append
    state = machine.initial_state()
    player.start(machine, 0, state, 20.0, time.monotonic() + 20.0)
    player.stop()
    assert len(told) == 1
    assert "against equal chances in" in told[0]


def test_it_is_tried_anew_when_playouts_tell_moves_apart_and_goes_on_as_before_until_then() -> None:
    machine = guided(Game.load("tictactoe").machine("native"))
    plain, with_guide = batch_machine_of(machine), batch_machine_of(machine, decisive=True)
    assert with_guide.guided and not plain.guided
    playing = Playing(plain, "auto", 1)
    while playing.learn(math.inf):
        pass
    first = str(playing)
    assert first
    playing.policy = PlayoutPolicy(plain.first_column, 1.0)
    before = playing.policy
    playing.set_lanes(plain)
    assert str(playing) == first
    playing.set_lanes(with_guide)
    assert not str(playing)
    assert playing.policy is before
    while playing.learn(math.inf):
        pass
    assert str(playing)
    assert playing.policy is None
