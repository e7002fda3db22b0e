"""In games of hidden information agents see their own moves and percepts; the environment draws chance."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest

from gdl.information import hides
from ggp.game import Game
from ggp.rule_files import installed_games
from tests.ggp.adapters.matches import adapted, check, random_match
from tests.ggp.told import Told

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import GdlAEC, GdlEnv, GdlParallel

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
HIDDEN = [path.stem for path in installed_games() if hides(Game.load(path).rules)]
STEPS = 60


def likely_first(rng: random.Random, mask: Any) -> int:
    """A legal action, mostly one of the first, so that histories come again."""
    actions = np.flatnonzero(mask).tolist()
    return int(actions[min(rng.randrange(len(actions)), rng.randrange(len(actions)))])


def note(told: Told, env: Any, agent: str, seen: dict[str, Any]) -> None:
    """Note what an agent sees, by what its role has done and perceived."""
    inner = getattr(env, "env", env)
    role = inner.adapted.role(agent)
    history = inner.histories[role] if inner.histories else b""
    waiting = bool(seen["action_mask"].any())
    bits = seen["observation"].tobytes() + seen["action_mask"].tobytes()
    told.note(type(env).__name__, role, (history, waiting), bits, inner.gdl_state.key)


@pytest.mark.parametrize("name", HIDDEN)
def test_two_histories_that_are_the_same_to_a_role_are_the_same_observation(name: str) -> None:
    game, told, rng = adapted(name), Told(), random.Random(1)
    one, all_ = GdlAEC(game, max_steps=STEPS), GdlParallel(game, max_steps=STEPS)
    for seed in range(12):
        one.reset(seed=seed)
        for agent in one.agent_iter():
            seen, _, terminated, truncated, info = one.last()
            over = terminated or truncated
            if not over:
                note(told, one, agent, seen)
                assert (info["action_mask"] == seen["action_mask"]).all()
            one.step(None if over else likely_first(rng, seen["action_mask"]))
        observations, _ = all_.reset(seed=seed)
        while all_.agents:
            for agent, seen in observations.items():
                note(told, all_, agent, seen)
            actions = {agent: likely_first(rng, seen["action_mask"]) for agent, seen in observations.items()}
            observations = all_.step(actions)[0]
    assert told.compared > 0
    assert told.differences == []


def test_an_observation_has_the_last_turns_the_newest_first() -> None:
    game = adapted("kuhn")
    senses = game.senses[0]
    env = GdlAEC(game)
    env.reset(seed=3)
    seen = env.last()[0]["observation"].reshape(game.turns_seen, senses.width)
    moves = [str(move) for move in senses.moves]
    assert seen[0][0] == 1 and seen[0][1 + moves.index("noop")] == 1 and not seen[1:].any()
    percepts = [str(senses.percepts[i]) for i in np.flatnonzero(seen[0][1 + len(moves) :])]
    assert len(percepts) == 1 and percepts[0].startswith("(card ")
    env.step(moves.index("bet"))
    after = env.observe("first")["observation"].reshape(game.turns_seen, senses.width)
    assert (after[1] == seen[0]).all() and after[0][1 + moves.index("bet")] == 1


@pytest.mark.parametrize("name", ["kuhn", "montyhall", "twentyfortyeight"])
def test_frameworks_find_nothing_wrong_with_games_of_chance(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    game = adapted(name)
    assert "random" not in game.agents
    check(game, 20, max_steps=STEPS)


def test_a_seed_decides_what_chance_draws() -> None:
    env = GdlAEC(adapted("twentyfortyeight"), max_steps=STEPS)
    first = random_match(env, 5)
    end = env.env.gdl_state
    assert random_match(env, 5) == first and env.env.gdl_state == end
    ends = set()
    for seed in range(5):
        random_match(env, seed)
        ends.add(env.env.gdl_state.key)
    assert len(ends) > 1


def test_opponents_know_no_more_than_their_roles_and_copies_of_an_environment_go_on() -> None:
    env = GdlEnv(adapted("kuhn"), role="first", opponents="cfr", seconds=0.2)
    rewards = []
    for seed in range(6):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            copied = copy.deepcopy(env)
            action = int(np.flatnonzero(seen["action_mask"])[0])
            assert copied.step(action)[0]["observation"].shape == seen["observation"].shape
            copied.close()
            seen, reward, over, _, _ = env.step(action)
        rewards.append(reward)
    env.close()
    assert set(rewards) <= {0.0, 0.25, 0.5, 0.75, 1.0}
