"""How many steps a second do our environments make, with uniformly random legal actions?

    python -m bench.adapters [GAME...] [--environments 512,4096] [--seconds 2]

One thread. A step is one joint move of one match, its legal actions and its observation included, and the
choice of the random action; resets come along. Ours are a `VectorMatch` (all matches step at once, and begin
anew within the step that ends them), and what stands on it: `make_vec`, one role against random ones, and
`GdlAEC`, one agent after the other. ``bench.single`` and ``bench.peers`` have others' beside ours.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from bench.scripts import command_line
from bench.single import by_agents
from ggp.game import Game
from propnet.environments.vector_match import VectorMatch


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


def wrapped(name: str, environments: int, seconds: float) -> Iterator[EnvironmentRate]:
    """Of our environments with the interfaces of Gymnasium and PettingZoo, where these are installed."""
    try:
        from ggp.adapters import make_vec
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
    choice = random.Random(1).choice
    one_by_one = by_agents(envs.adapted)
    yield _single_rate(envs.adapted.name, "GdlAEC", lambda: one_by_one(choice), seconds)


def main() -> None:
    """The command line."""
    parser = command_line(__doc__)
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
    table = Table("game", "environment", "matches at once", "steps/s", "of it choosing actions")
    for row in rows:
        share = f"{row.of_choice:.0%}" if row.of_choice >= 0 else ""
        table.add_row(row.game, row.what, f"{row.environments:,}", f"{row.rate:,.0f}", share)
    Console().print(table)


if __name__ == "__main__":
    main()
