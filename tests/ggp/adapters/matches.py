"""Games as environments, loaded once, and random matches in them: what the tests of adapters share."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np

from ggp.adapters.adapted_game import AdaptedGame


@cache
def adapted(name: str, observation: str = "bits") -> AdaptedGame:
    return AdaptedGame(name, observation=observation)


def random_match(environment: Any, seed: int) -> list[tuple[str, int, dict[str, float]]]:
    """Every agent, action and the rewards after it."""
    rng = random.Random(seed)
    environment.reset(seed=seed)
    log = []
    for agent in environment.agent_iter():
        seen, _, terminated, truncated, _ = environment.last()
        if terminated or truncated:
            environment.step(None)
            continue
        action = rng.choice(np.flatnonzero(seen["action_mask"]).tolist())
        environment.step(action)
        log.append((agent, action, dict(environment.rewards)))
    return log


def check(game: AdaptedGame, cycles: int, **options: Any) -> None:
    """All checks of the frameworks."""
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import api_test, parallel_api_test, seed_test

    from ggp.adapters import GdlAEC, GdlEnv, GdlParallel

    api_test(GdlAEC(game, **options), num_cycles=cycles)
    parallel_api_test(GdlParallel(game, **options), num_cycles=cycles)
    seed_test(lambda: GdlAEC(game, **options), num_cycles=min(cycles, 30))
    check_env(GdlEnv(game, **options))
