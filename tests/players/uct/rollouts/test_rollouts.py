"""Every policy with a row plays any game, and a search plays by one that a row adds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from players.batch_machine import NetworkBatch, Weights
from players.uct.rollouts.policy import AveragePolicy, RolloutPolicy, roll_out
from players.uct.rollouts.rollouts import POLICIES, Rollouts
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.uct.searching import run, search_of


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
