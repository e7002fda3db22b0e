"""Our games as environments of Gymnasium, held against frameworks' checks and the machine."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import MoveError
from ggp.adapters.adapted_game import OBSERVATIONS
from tests.ggp.adapters.matches import adapted, check
from tests.places import ROOT

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import GdlAEC, GdlEnv, GdlParallel, make_vec, register_game

gymnasium = pytest.importorskip("gymnasium")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


FRAME = "(role r) (init a) (<= (next {}) (true a)) (<= terminal (true b)) (goal r 0) (<= (next b) (true b))\n"


STUCK = FRAME.format("c") + "(<= (legal r x) (true a))"


ENDLESS = FRAME.format("a") + "(legal r x) (legal r y)"


@pytest.mark.slow
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("name", ["tictactoe", "tron", "eightpuzzle", "othello"])
def test_the_checks_of_the_frameworks_pass(
    name: str, observation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    game = adapted(name, observation)
    check(game, 60)


def test_registered_environments_are_made_and_checked_with_every_way_to_draw(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="pip install 'kaskade-ggp[rl]'")
    from gymnasium.utils.env_checker import check_env

    rules = tmp_path / "mine.kif"
    rules.write_text((ROOT / "games" / "tictactoe.kif").read_text())
    for identifier in (register_game("eightpuzzle"), register_game(rules)):
        environment = gymnasium.make(identifier)
        check_env(environment.unwrapped)
        again = pickle.loads(pickle.dumps(environment.spec)).make()
        assert again.observation_space == environment.observation_space
    drawn = gymnasium.make("gdl/mine-v0", render_mode="svg")
    drawn.reset(seed=1)
    assert drawn.render().startswith("<svg")
    pixels = gymnasium.make("gdl/mine-v0", render_mode="rgb_array")
    pixels.reset(seed=1)
    assert len({color.tobytes() for row in pixels.render() for color in row}) > 2  # no blank picture


def test_illegal_actions_are_told_or_end_the_match() -> None:
    turns = GdlAEC("tictactoe")
    turns.reset()
    turns.step(0)
    with pytest.raises(MoveError, match=r"action 0 \(\(mark a 1\)\) is not legal for o"):
        turns.step(0)
    together = GdlParallel("tictactoe")
    together.reset()
    with pytest.raises(MoveError, match="x has 9 legal moves"):
        together.step({})
    together.step({"x": 3})
    single = GdlEnv("eightpuzzle")
    seen, _ = single.reset()
    wrong = int(np.flatnonzero(seen["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = single.step(wrong)
    assert (reward, terminated, truncated, info["illegal"]) == (0.0, True, False, True)
    strict = GdlEnv("eightpuzzle", illegal="error")
    strict.reset()
    with pytest.raises(MoveError, match="not legal"):
        strict.step(wrong)


def test_masks_are_where_each_framework_looks_for_them() -> None:
    single = gymnasium.make("gdl/tictactoe-v0")
    seen, info = single.reset(seed=1)
    many = gymnasium.vector.SyncVectorEnv([lambda: GdlEnv(adapted("tictactoe")) for _ in range(3)])
    lanes = make_vec("gdl/tictactoe-v0", 3)
    for environment in (many, lanes):
        environment.reset(seed=1)
    for _ in range(3):
        mask = single.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.bool_ and mask.any()
        assert (mask == seen["action_mask"]).all() and (mask == info["action_mask"]).all()
        assert single.observation_space.contains(seen)
        seen, _, _, _, info = single.step(single.action_space.sample(seen["action_mask"]))
    for environment in (many, lanes):
        masks = np.stack(environment.call("action_masks"))
        seen, _, _, _, info = environment.step(masks.argmax(axis=1))
        after = np.stack(environment.call("action_masks"))
        assert masks.dtype == np.bool_ and masks.shape == (3, 10) and (masks != after).any()
        assert (after == seen["action_mask"]).all() and (after == info["action_mask"]).all()
        assert info["_action_mask"].all()
        assert environment.call("role") == environment.get_attr("role") == ("x", "x", "x")
        assert environment.call("action_space")[2] == environment.single_action_space
        with pytest.raises(AttributeError):
            environment.call("deepthought")
    with pytest.raises(AttributeError, match="call action_masks or render"):
        lanes.call("step", 0)


def test_nothing_is_asked_before_the_first_reset() -> None:
    single = GdlEnv(adapted("tictactoe"), render_mode="ansi")
    for call in (lambda: single.step(0), single.render, single.action_masks):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before"):
            call()


def test_copies_of_an_environment_go_on_from_the_same_state() -> None:
    environment = GdlEnv(adapted("tictactoe"), opponents="uct:playouts=20,workers=1")
    environment.reset(seed=1)
    seen, *_ = environment.step(0)
    copied = deepcopy(environment)
    assert copied.adapted is environment.adapted and copied.gdl_state.machine is environment.adapted.machine
    for again in (pickle.loads(pickle.dumps(environment)), copied):
        assert again.gdl_state.propositions == environment.gdl_state.propositions
        assert (again.action_masks() == seen["action_mask"]).all()
        over = False
        while not over:
            _, _, over, _, _ = again.step(int(again.action_masks().argmax()))
        again.close()
    assert (environment.action_masks() == seen["action_mask"]).all()
    environment.close()


def test_matches_without_an_end_are_truncated() -> None:
    stuck = GdlAEC(STUCK)
    stuck.reset()
    stuck.step(0)
    assert all(stuck.truncations.values())
    endless = GdlEnv(ENDLESS, max_steps=3)
    endless.reset()
    assert [endless.step(0)[3] for _ in range(3)] == [False, False, True]


def test_opponents_are_our_players_and_a_seed_repeats_them() -> None:
    def match(opponent: str, seed: int) -> list[bytes]:
        environment = GdlEnv(adapted("tictactoe"), role="o", opponents={"x": opponent})
        seen, _ = environment.reset(seed=seed)
        states, over = [seen["observation"].tobytes()], False
        while not over:
            seen, _, over, _, _ = environment.step(np.flatnonzero(seen["action_mask"])[0])
            states.append(seen["observation"].tobytes())
        environment.close()
        return states

    assert match("random", 3) == match("random", 3)
    assert len({match("random", seed)[0] for seed in range(12)}) > 1
    assert match("greedy", 1)
