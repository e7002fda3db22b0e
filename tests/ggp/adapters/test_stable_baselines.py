"""MaskablePPO of sb3-contrib learns our games, alone and in lanes; and lanes are what Stable-Baselines3
expects."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="pip install 'kaskade-ggp[sb3]' (it brings PyTorch)")
pytest.importorskip("torch")

from ggp.adapters import GdlEnv, make_sb3_vec, make_vec

torch = pytest.importorskip("torch")

GAMES = 200


@pytest.fixture(autouse=True)
def one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small net is faster on one thread, many times where other tests run beside. Logs go with the test."""
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _won(model: Any) -> float:
    """The share of matches of tic-tac-toe as x, against random moves, that a model wins; None is random."""
    envs = make_vec("tictactoe", num_envs=GAMES, autoreset_mode="Disabled")
    seen, _ = envs.reset(seed=7)
    won, over = np.zeros(GAMES, np.bool_), np.zeros(GAMES, np.bool_)
    while not over.all():
        actions = envs.random_actions()
        if model is not None:
            actions, _ = model.predict(seen, action_masks=envs.action_masks(), deterministic=True)
        seen, rewards, terminated, _, _ = envs.step(actions)
        won |= rewards == 1
        over |= terminated
    return float(won.mean())


def test_maskable_ppo_in_lanes_learns_to_win() -> None:
    from sb3_contrib import MaskablePPO

    envs = make_sb3_vec("gdl/tictactoe-v0", num_envs=64)
    model = MaskablePPO(
        "MultiInputPolicy", envs, n_steps=64, batch_size=512, n_epochs=4, learning_rate=2e-3, seed=1
    )
    untrained = _won(model)
    model.learn(45_000)
    assert _won(None) < 0.6
    assert _won(model) > max(0.85, untrained)


@pytest.mark.parametrize("observation", ["packed", "planes"])
def test_maskable_ppo_never_takes_an_illegal_action(observation: str) -> None:
    import gymnasium
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    import ggp.adapters.gymnasium  # noqa: F401  (registers the games)

    environment = gymnasium.make("gdl/tictactoe-v0", illegal="error", observation=observation)
    model = MaskablePPO("MultiInputPolicy", environment, n_steps=64, batch_size=64, n_epochs=1, seed=1)
    model.learn(128)
    rewards, lengths = evaluate_policy(model, environment, 5, return_episode_rewards=True, warn=False)
    assert set(rewards) <= {0.0, 0.5, 1.0} and all(3 <= length <= 5 for length in lengths)


@pytest.mark.parametrize("name", ["tictactoe", "tron", "eightpuzzle"])
def test_single_environments_pass_the_check_of_stable_baselines(name: str) -> None:
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(GdlEnv(name))


def test_lanes_tell_the_last_observation_and_whether_a_match_was_cut() -> None:
    from stable_baselines3.common.vec_env import VecMonitor

    lanes = make_sb3_vec("lightsout", num_envs=3, max_steps=5, observation="packed")
    envs = VecMonitor(lanes)
    single = GdlEnv("lightsout", max_steps=5, observation="packed")
    envs.seed(3)
    first = envs.reset()
    single.reset()
    assert envs.has_attr("action_masks") and not envs.has_attr("deepthought")
    for step in range(5):
        masks = np.stack(envs.env_method("action_masks"))
        actions = masks.argmax(axis=1)
        before = first["observation"].copy()
        seen, rewards, over, infos = envs.step(actions)
        assert (first["observation"] == before).all()  # no view that the step has overwritten
        expected, _, _, cut, _ = single.step(actions[0])
        assert over.all() == cut == (step == 4)
    assert (seen["observation"] == first["observation"]).all() and not rewards.any()
    for info in infos:
        assert (info["terminal_observation"]["observation"] == expected["observation"]).all()
        assert info["TimeLimit.truncated"] and info["episode"]["l"] == 5
    assert len(envs.env_method("action_masks", indices=[0, 2])) == 2
    assert envs.get_attr("role", 1) == ["player"]
    assert pickle.loads(pickle.dumps(lanes)).num_envs == 3


def test_lanes_begin_with_the_seed_that_was_set() -> None:
    def states(seed: int) -> bytes:
        envs = make_sb3_vec("tictactoe", num_envs=8, role="o")
        envs.seed(seed)
        envs.reset()
        waiting = np.stack(envs.env_method("action_masks")).argmax(axis=1)
        return envs.step(waiting)[0]["observation"].tobytes()

    assert states(1) == states(1) != states(2)
