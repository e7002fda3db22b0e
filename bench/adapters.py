"""How many steps a second do environments make, ours and others', with uniformly random legal actions?

    python -m bench.adapters [GAME...] [--environments 512,4096] [--seconds 2]

One thread. A step is one joint move of one match, its legal actions and its observation included, and the
choice of the random action; resets come along. Ours are a `VectorMatch` (all matches step at once, and begin
anew within the step that ends them), and what stands on it: `make_vec`, one role against random ones, and
`GdlAEC`, one agent after the other. Others are timed here where they are installed; what is *given* was timed
on another computer.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ggp.game import Game
from propnet.environments.vector_match import VectorMatch

GIVEN = {
    ("connectfour", "PettingZoo"): 5_500,
    ("connectfour", "OpenSpiel"): 378_000,
    ("connectfour", "pgx"): 1_170_000,
    ("chess", "pgx"): 949,
}
"""Steps/s on one CPU thread that were given with the task."""


@dataclass(frozen=True)
class EnvironmentRate:
    """Steps a second of one game; ``of_choice``: share of the time for choosing actions, -1 if unknown."""

    game: str
    what: str
    environments: int
    rate: float
    of_choice: float = -1.0


def vector_rate(game: Game, environments: int, seconds: float) -> EnvironmentRate:
    """Of a `VectorMatch` on the fastest machine. CPU time, in slices: the fastest of five."""
    matches = VectorMatch(game.machine("native"), environments, autoreset="same-step")
    actions = matches.random_actions()
    matches.step(actions)  # compiles
    rates = []
    for _ in range(5):
        steps, begun = 0, time.thread_time()
        while time.thread_time() - begun < seconds / 5:
            for _ in range(8):
                matches.random_actions(actions)
                matches.step(actions)
            steps += 8
        rates.append(steps * environments / (time.thread_time() - begun))
    begun = time.thread_time()
    for _ in range(20):
        matches.random_actions(actions)
    choice = (time.thread_time() - begun) / 20 / environments
    return EnvironmentRate(game.name, "VectorMatch", environments, max(rates), choice * max(rates))


def _single_rate(game: str, what: str, play: Callable[[], int], seconds: float) -> EnvironmentRate:
    """Of matches that ``play`` plays to the end one after the other; it says how many steps one had."""
    play()
    steps, begun = 0, time.thread_time()
    while time.thread_time() - begun < seconds:
        steps += play()
    return EnvironmentRate(game, what, 1, steps / (time.thread_time() - begun))


def _one_by_one(env: Any) -> Callable[[], int]:
    """What plays a match of a PettingZoo environment, and says how many steps it had."""
    numbers = np.random.default_rng(1)

    def play() -> int:
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

    return play


def wrapped(name: str, environments: int, seconds: float) -> Iterator[EnvironmentRate]:
    """Of our environments with the interfaces of Gymnasium and PettingZoo, where these are installed."""
    try:
        from ggp.adapters import GdlAEC, make_vec
    except ImportError:
        return
    envs = make_vec(name, environments, autoreset_mode="SameStep", machine="native")
    envs.reset(seed=1)

    def play() -> int:
        for _ in range(8):
            envs.step(envs.random_actions())
        return 8 * environments

    rate = _single_rate(envs.adapted.name, "make_vec, bits", play, seconds)
    yield replace(rate, environments=environments)
    yield _single_rate(envs.adapted.name, "GdlAEC", _one_by_one(GdlAEC(envs.adapted)), seconds)


def others(seconds: float) -> Iterator[EnvironmentRate]:
    """Connect four of PettingZoo and OpenSpiel, where they are installed."""
    try:
        from pettingzoo.classic import connect_four_v3
    except ImportError:
        pass
    else:
        yield _single_rate("connectfour", "PettingZoo", _one_by_one(connect_four_v3.env()), seconds)
    try:
        import pyspiel
    except ImportError:
        return
    spiel = pyspiel.load_game("connect_four")
    rng = random.Random(1)

    def state() -> int:
        now = spiel.new_initial_state()
        steps = 0
        while not now.is_terminal():
            now.apply_action(rng.choice(now.legal_actions()))
            steps += 1
        return steps

    yield _single_rate("connectfour", "OpenSpiel, from Python", state, seconds)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.adapters", description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", default=["connectfour", "chess"], help="names or .kif files")
    parser.add_argument("--environments", default="512,4096", help="how many matches at once, with commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each row")
    given = parser.parse_args()
    rows = [
        vector_rate(Game.load(name), int(number), given.seconds)
        for name in given.games
        for number in given.environments.split(",")
    ]
    for name in given.games:
        rows += wrapped(name, int(given.environments.split(",")[0]), given.seconds)
    rows += others(given.seconds)
    table = Table("game", "environment", "matches at once", "steps/s", "of it choosing actions")
    for row in rows:
        share = f"{row.of_choice:.0%}" if row.of_choice >= 0 else ""
        table.add_row(row.game, row.what, f"{row.environments:,}", f"{row.rate:,.0f}", share)
    for (game, what), rate in GIVEN.items():
        table.add_row(game, f"{what}, given", "", f"{rate:,}", "")
    Console().print(table)


if __name__ == "__main__":
    main()
