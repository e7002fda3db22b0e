"""Vector environments: a lane is a single environment."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from gdl.errors import GdlError
from ggp.adapters.adapted_game import OBSERVATIONS
from tests.ggp.adapters.matches import adapted

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import GdlEnv, make_vec

gymnasium = pytest.importorskip("gymnasium")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_what_a_step_of_lanes_returned_stays_as_it_was(observation: str, mode: str) -> None:
    from gymnasium.utils.env_checker import data_equivalence

    lanes = make_vec("tictactoe", 64, observation=observation, autoreset_mode=mode)
    lanes.reset(seed=1)
    kept, copies = [], []
    for _ in range(12):
        answer = lanes.step(lanes.random_actions())
        kept.append(answer)
        copies.append(deepcopy(answer))
    assert any(answer[2].any() for answer in kept)
    for answer, copied in zip(kept, copies, strict=True):
        assert data_equivalence(answer, copied)


def test_lanes_are_drawn_as_single_environments_are() -> None:
    lanes = make_vec("gdl/eightpuzzle-v0", 2, render_mode="ansi")
    single = GdlEnv(adapted("eightpuzzle"), render_mode="ansi")
    lanes.reset()
    seen, _ = single.reset()
    moves = np.flatnonzero(seen["action_mask"])[:2]
    lanes.step(moves)
    single.step(moves[1])
    drawn = lanes.render()
    assert drawn is not None and drawn[0] != drawn[1] == single.render()
    assert make_vec("eightpuzzle", 2).render() is None
    with pytest.raises(GdlError, match=r"no autoreset mode 'Sometimes' .choose NextStep, SameStep, Disabled"):
        make_vec("eightpuzzle", 2, autoreset_mode="Sometimes")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vector_environments_are_single_ones_side_by_side(mode: str) -> None:
    game = adapted("lightsout")
    many = make_vec("gdl/lightsout-v0", num_envs=3, autoreset_mode=mode, max_steps=7)
    singles = [GdlEnv(game, max_steps=7) for _ in range(3)]
    seen, _ = many.reset(seed=1)
    for single in singles:
        single.reset()
    over = np.zeros(3, np.bool_)
    for _ in range(30):
        if mode == "Disabled" and over.all():
            seen, _ = many.reset(options={"reset_mask": over})
            for single in singles:
                single.reset()
            over[:] = False
        actions = np.array([np.flatnonzero(mask)[0] for mask in seen["action_mask"]])
        actions[1] = np.flatnonzero(seen["action_mask"][1])[-1]
        seen, rewards, terminated, truncated, info = many.step(actions)
        for i, single in enumerate(singles):
            if over[i] and mode == "NextStep":
                expected, reward, ended, cut = single.reset()[0], 0.0, False, False
            else:
                expected, reward, ended, cut, _ = single.step(actions[i])
            if (ended or cut) and mode == "SameStep":
                assert (info["final_obs"]["observation"][i] == expected["observation"]).all()
                expected = single.reset()[0]
            assert all((seen[key][i] == expected[key]).all() for key in expected)
            assert (rewards[i], terminated[i], truncated[i]) == (np.float32(reward), ended, cut)
        over = terminated | truncated
    assert many.observation_space.contains(seen)
