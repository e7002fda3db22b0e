"""How many steps a second does another system make? By the Python that has it, without our packages.

    PYTHON bench/peers/peer_script.py PEER GAME SECONDS

Uniformly random legal moves, games begin anew as they end. `pgx` and `ludax` (JAX) step 512 games at once, as
one compiled loop; `open_spiel` and `pettingzoo` one game from Python. Prints a JSON object: `rate`, steps a
second of CPU time, and `lanes`, the games at once.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LANES, STEPS = 512, 64


def measured(run: Callable[[], int], seconds: float) -> float:
    """Steps a second of CPU time; what the first run compiles does not count."""
    run()
    steps, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        steps += run()
    return steps / (time.process_time() - began)


def by_jax(init: Any, step: Any) -> Callable[[], int]:
    """A compiled loop over lanes of an environment whose states have `legal_action_mask` and `terminated`."""
    import jax
    import jax.numpy as jnp

    def once(states: Any, key: Any) -> tuple[Any, None]:
        choose, again = jax.random.split(key)
        logits = jnp.where(states.legal_action_mask, 0.0, -jnp.inf)
        after = jax.vmap(step)(states, jax.random.categorical(choose, logits, axis=-1))
        fresh = jax.vmap(init)(jax.random.split(again, LANES))
        over = after.terminated | after.truncated

        def either(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape((LANES,) + (1,) * (old.ndim - 1)), new, old)

        return jax.tree_util.tree_map(either, fresh, after), None

    @jax.jit
    def loop(states: Any, key: Any) -> Any:
        return jax.lax.scan(once, states, jax.random.split(key, STEPS))[0]

    held = [jax.jit(jax.vmap(init))(jax.random.split(jax.random.PRNGKey(0), LANES)), 0]

    def run() -> int:
        held[1] += 1
        held[0] = jax.block_until_ready(loop(held[0], jax.random.PRNGKey(held[1])))
        return LANES * STEPS

    return run


def pgx(game: str) -> Callable[[], int]:
    """A game of pgx."""
    import pgx as package

    env = package.make(game)
    return by_jax(env.init, env.step)


def ludax(game: str) -> Callable[[], int]:
    """A game of Ludax."""
    import ludax as package
    from ludax.environment import LudaxEnvironment

    folder = Path(str(package.__file__)).parent / "games"
    env = LudaxEnvironment(game_path=str(folder / f"{game}.ldx"))
    return by_jax(env.init, env.step)


def open_spiel(game: str) -> Callable[[], int]:
    """A game of OpenSpiel, played from Python."""
    import pyspiel

    spiel, numbers = pyspiel.load_game(game), random.Random(1)

    def run() -> int:
        state, steps = spiel.new_initial_state(), 0
        while not state.is_terminal():
            state.apply_action(numbers.choice(state.legal_actions()))
            steps += 1
        return steps

    return run


def pettingzoo(game: str) -> Callable[[], int]:
    """A game of PettingZoo, played from Python."""
    from importlib import import_module

    import numpy as np

    env, numbers = import_module(f"pettingzoo.classic.{game}").env(), np.random.default_rng(1)

    def run() -> int:
        env.reset()
        steps = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(numbers.choice(np.flatnonzero(observation["action_mask"]))))
            steps += 1
        return steps

    return run


def main() -> None:
    """Answer."""
    peer, game, seconds = sys.argv[1:]
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    start = {"pgx": pgx, "ludax": ludax, "open_spiel": open_spiel, "pettingzoo": pettingzoo}[peer]
    rate = measured(start(game), float(seconds))
    print(json.dumps({"rate": rate, "lanes": LANES if peer in ("pgx", "ludax") else 1}))


main()
