"""Policies of playouts: better moves weigh more; every row plays any game; trials choose who is ahead."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players import companions
from players.batch_machine import NetworkBatch, Weights, batch_machine_of
from players.companions import TimeShare
from players.kaskade.guided_machine import guided
from players.kaskade.make_machine import make_machine
from players.uct.player import UctPlayer
from players.uct.rollouts import rollouts as rollouts_module
from players.uct.rollouts.policy import AveragePolicy, RolloutPolicy, roll_out
from players.uct.rollouts.rollouts import POLICIES, TEMPERATURES, ByPlayouts, PolicyTrials, Rollouts, Trial
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.kernels.scratch import HEAVIEST
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeMachine
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import random_game
from tests.players.uct.searching import lanes_of, run, search_of


@examples(100)
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
    tallies = np.zeros((int(columns[-1]), 2), np.int32)
    tallies[:, 0] = 5000
    tallies[:, 1] = 5000 * rng.integers(0, 50, columns[-1])
    policy = AveragePolicy(columns, 1.0)
    assert policy.weights is None
    policy.learn(tallies)
    weights = policy.weights
    assert weights is not None
    assert policy.weights is weights
    for low, high in pairwise(columns.tolist()):
        order = np.argsort(tallies[low:high, 1], kind="stable")
        assert (np.diff(weights[low:high][order].astype(int)) >= 0).all()
    other = AveragePolicy(columns, 1.0)
    other.learn(tallies * np.array([1, 1 + doubled], np.int32))
    assert other.weights is not None
    assert np.abs(other.weights.astype(int) - weights).max() <= 1
    assert weights.max() <= HEAVIEST


def test_without_differences_there_is_nothing_to_prefer() -> None:
    policy = AveragePolicy(np.array([0, 3, 3, 5], np.int32), 1.0)
    tallies = policy.new_tallies()
    tallies[:] = 1000, 50_000
    policy.learn(tallies)
    assert policy.weights is not None
    assert len(set(policy.weights[:3].tolist())) == len(set(policy.weights[3:].tolist())) == 1


def test_what_is_forgotten_counts_for_less() -> None:
    columns = np.array([0, 2], np.int32)
    policy = AveragePolicy(columns, 1.0)
    for good in (0, 1):
        tallies = policy.new_tallies()
        tallies[:, 0] = 2000
        tallies[good, 1] = 2000 * 100
        policy.learn(tallies)
        weights = policy.weights
        assert weights is not None
        assert weights[good] > weights[1 - good]
        policy.forget(0.1)


def tried(batched: NetworkBatch) -> tuple[PolicyTrials, Rollouts]:
    rollouts = Rollouts(batched, "auto", 1, needed=True)
    trials = rollouts.trials
    assert trials is not None
    while trials.active:
        trials.step(math.inf)
    return trials, rollouts


@pytest.mark.slow
def test_a_policy_is_chosen_where_it_is_far_ahead_and_not_where_it_misleads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollouts_module, "_SIZES", ((12, 48),))
    monkeypatch.setattr(rollouts_module, "_MOST_SECONDS", math.inf)
    (race, by_race), (lines, by_lines) = tried(lanes_of("othello")), tried(lanes_of("connectfour"))
    assert race.temperature in TEMPERATURES
    assert "in use" in str(race)
    assert isinstance(by_race.policy, AveragePolicy) and by_race.policy.temperature == race.temperature
    assert lines.temperature == 0.0
    assert "in use" not in str(lines)
    assert type(by_lines.policy) is RolloutPolicy


@pytest.mark.parametrize("unguided", [True, False])
def test_blunders_are_not_left_out_where_whoever_makes_a_line_has_lost(
    unguided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = str(Game.load("connectfour").text)
    if unguided:
        text = text.replace("(goal ?r 100)", "(goal ?r 0)").replace("(goal ?o 0)", "(goal ?o 100)")
    machine = make_machine(parse_rules(text), "native")
    assert isinstance(machine, NativeMachine)
    batched = batch_machine_of(guided(machine), decisive=True)
    assert isinstance(batched, NetworkBatch) and batched.guided
    monkeypatch.setattr(rollouts_module, "_SIZES", ((12, 64),))
    monkeypatch.setattr(rollouts_module, "TEMPERATURES", ())
    trials, rollouts = tried(batched)
    assert trials.unguided == unguided and rollouts.batched.guided != unguided
    assert ("left out" in str(trials)) == unguided

    search = search_of(guided(machine), Tuning(), root=machine.initial_state())
    assert search.tree.trimmed
    while search.rounds.rollouts.trials is not None and search.rounds.rollouts.trials.active:
        search.step(time.monotonic() + 60.0)
    search.step(time.monotonic() + 60.0)
    assert search.tree.trimmed != unguided and search.rounds.rollouts.batched.guided != unguided
    search.set_machine(guided(machine))
    assert search.tree.trimmed != unguided and search.rounds.rollouts.batched.guided != unguided


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
    monkeypatch.setattr(rollouts_module, "time", clock)
    monkeypatch.setattr(companions, "time", clock)
    monkeypatch.setattr(PolicyTrials, "_try_all", lambda _: clock.pieces())
    batched = lanes_of("connectfour")
    trials = PolicyTrials(batched, 1, lambda *_: None)
    share = TimeShare(trials)

    def used_by(deadline: float) -> float:
        before = clock.used
        while share.turn(deadline):
            pass
        return clock.used - before

    def after(seconds: float) -> None:
        tree = Search(0, 1, Tuning())
        tree.set_machine(batched.machine)
        share.earn(seconds)

    slack = 0.021  # a step, and what floats lose
    assert used_by(1002.0) == pytest.approx(0.15 * 2.0, abs=slack)
    assert used_by(1100.0) == 0.0
    after(4.0)
    assert used_by(1100.0) == pytest.approx(0.1 * 4.0, abs=2 * slack)
    assert not trials.done
    while trials.active:
        after(10.0)
        assert used_by(1100.0) <= 1.0 + slack
    assert clock.used == pytest.approx(rollouts_module._MOST_SECONDS, abs=2 * slack)
    assert used_by(1100.0) == 0.0


def test_where_playouts_are_too_slow_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts_module, "_MOST_SECONDS", 0.02)
    trials, _ = tried(lanes_of("connectfour"))
    assert trials.done
    assert trials.temperature == 0.0
    assert "take too long" in str(trials)


def test_a_search_plays_by_averages_if_told_to_and_its_playouts_can_be_told_again() -> None:
    machine = Game.load("connectfour").machine("propnet")
    state = machine.initial_state()
    found = []
    for policy in ("averages", "averages", "equal"):
        search = run(search_of(machine, Tuning(policy=policy), seed=3, root=state), 6_000)
        found.append(search.statistics().visits.tolist())
    assert found[0] == found[1] != found[2]


def test_machines_without_lanes_and_single_roles_play_with_equal_chances() -> None:
    prover = ProverMachine(Game.load("tictactoe").rules)
    for machine, policy in ((prover, "averages"), (Game.load("hanoi").machine("propnet"), "auto")):
        search = Search(0, 3, Tuning(policy=policy))
        search.set_machine(machine)
        assert type(search.rounds.rollouts.policy) is RolloutPolicy
        assert search.rounds.rollouts.trials is None


def test_a_player_tells_what_it_has_found_out() -> None:
    machine = Game.load("tictactoe").machine("propnet")
    player = UctPlayer(seed=1)
    told: list[str] = []
    player.found_out = told.append
    state = machine.initial_state()
    player.start(machine, 0, state, 20.0, time.monotonic() + 20.0)
    player.stop()
    assert len(told) == 1
    assert "against uniform choice in" in told[0]


def test_it_is_tried_anew_when_playouts_tell_moves_apart_and_goes_on_as_before_until_then() -> None:
    native = Game.load("tictactoe").machine("native")
    search = Search(0, 3, Tuning())
    search.set_machine(native)
    first = search.rounds.rollouts.trials
    assert first is not None
    while first.active:
        first.step(math.inf)
    before = search.rounds.rollouts.policy = AveragePolicy(batch_machine_of(native).role_moves)
    search.set_machine(native)
    assert search.rounds.rollouts.trials is first
    search.set_machine(guided(native))
    assert search._batched.guided
    assert search.rounds.rollouts.trials is not first is not None
    assert not search.news
    assert search.rounds.rollouts.policy is before
    while search.rounds.rollouts.trials is not None and search.rounds.rollouts.trials.active:
        search.rounds.rollouts.trials.step(math.inf)
    assert search.news
    assert type(search.rounds.rollouts.policy) is RolloutPolicy


# --- Games of one judge against another: they are games of the rules, and the better judge is told
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


# --- Every policy with a row plays any game, and a search plays by one that a row adds
def starts(machine: PropnetMachine, n: int) -> NDArray[np.uint64]:
    return np.repeat(machine.records([machine.initial_state()]), n, axis=0)


@pytest.mark.parametrize("name", ["tictactoe", "hanoi"])
@pytest.mark.parametrize("policy", POLICIES)
def test_each_row_gives_a_policy_for_any_game(policy: str, name: str) -> None:
    machine = network(name)
    batched = NetworkBatch(machine, machine)
    rollouts = Rollouts(batched, policy, 1, needed=True)
    for seed in range(3):
        assert rollouts.playouts(starts(machine, 8), seed, 100, math.inf, 64).finished.all()
    assert rollouts.trials is None


class FirstMoves(RolloutPolicy):
    """Prefers the first half of all moves."""

    name = "first-moves"

    def __init__(self, moves: int) -> None:
        self.asked = 0
        self._weights = np.repeat([7, 0], [moves // 2, moves - moves // 2]).astype(np.uint8)

    @property
    def weights(self) -> Weights:
        self.asked += 1
        return self._weights


def test_a_search_plays_by_a_policy_that_one_row_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "first-moves", lambda batched: FirstMoves(int(batched.role_moves[-1])))
    for name in ("tictactoe", "hanoi"):
        machine = network(name)
        search = run(search_of(machine, Tuning(policy="first-moves"), seed=3), 300)
        policy = search.rounds.rollouts.policy
        assert isinstance(policy, FirstMoves)
        assert policy.asked


def test_playouts_of_a_machine_with_a_guide_run_on_its_gates() -> None:
    machine, guide = network("tictactoe"), network("tictactoe")
    batched = NetworkBatch(machine, guide)
    asked = []

    def noted(*args, **options):
        asked.append(guide)
        return PropnetMachine.playouts_from(guide, *args, **options)

    guide.playouts_from = noted  # type: ignore[method-assign]
    policy = AveragePolicy(machine.role_moves)
    for _ in range(2):
        roll_out(batched, policy, starts(machine, 512), 1, 100, math.inf, 4)
    assert policy.weights is not None
    roll_out(batched.without_guide, policy, starts(machine, 4), 1, 100, math.inf, 4)
    assert len(asked) == 2
    ends = roll_out(batched, policy, starts(machine, 4), 1, 100, math.inf, 2)
    assert [len(batched.playout_moves(row)) for row in range(8)] == ends.lengths.tolist()
