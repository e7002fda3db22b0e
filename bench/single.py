"""How many steps a second does one state after the other make from Python, ours and OpenSpiel's?

    python -m bench.single [GAME...] [--seconds 2] [--search]

One thread, uniformly random games, the same loop for all: whether the match is over, the legal moves of who
has to move, a random one, the next state. In slices that take turns, so that what else the computer does
meets all of them; the fastest slice of each counts. Columns:

* ``OpenSpiel``: its own game (C++), its states from Python;
* ``machine``: our rules in GDL, ``propnet``, moves as ids;
* ``API``: ``state.legal`` and ``state.play``, moves as texts;
* ``GdlAEC`` and ``load_gdl``: our rules behind the interfaces of PettingZoo and OpenSpiel.

With ``--search`` it is playouts a second of searches in Python: UCT as docs/tutorials/first-search.md has it,
on one state at a time and on 512 lanes, beside OpenSpiel's own.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.scripts import command_line, processor
from ggp.game import Game

if TYPE_CHECKING:
    from ggp.adapters.adapted_game import AdaptedGame

GAMES = {
    "connectfour": "connect_four",
    "tictactoe": "tic_tac_toe",
    "othello": "othello",
    "hex": "hex(board_size=9)",
    "breakthrough": "breakthrough",
    "chess": "chess",
}
"""Our names, and OpenSpiel's of the same games."""
SLICES = 5

Play = Callable[[Callable[[list[object]], object]], int]
"""Plays a match to its end with moves that the function chooses; how many steps it had."""


def by_machine(game: Game) -> Play:
    """On the machine of the network, moves as ids."""
    machine = game.machine("propnet")
    over, options, following = machine.is_terminal, machine.options, machine.next_state

    def play(choice: Callable[[list[object]], object]) -> int:
        state, steps = machine.initial_state(), 0
        while not over(state):
            state = following(state, [m[0] if len(m) == 1 else choice(m) for m in options(state)])  # type: ignore[arg-type, misc]
            steps += 1
        return steps

    return play


def by_api(game: Game) -> Play:
    """By the states of ``ggp.load``, moves as texts."""
    first = game.initial

    def play(choice: Callable[[list[object]], object]) -> int:
        state, steps = first, 0
        while not state.terminal:
            moves = [m[0] if len(m) == 1 else choice(m) for m in state.legal.values()]  # type: ignore[arg-type]
            state = state.play(*moves)  # type: ignore[arg-type]
            steps += 1
        return steps

    return play


def by_spiel(spiel: object) -> Play:
    """By OpenSpiel's states; chance does not come."""

    def play(choice: Callable[[list[object]], object]) -> int:
        now, steps = spiel.new_initial_state(), 0  # type: ignore[attr-defined]
        while not now.is_terminal():
            now.apply_action(choice(now.legal_actions()))
            steps += 1
        return int(steps)

    return play


def by_agents(game: Game | AdaptedGame) -> Play:
    """By PettingZoo's loop: observation, mask, action; one agent after the other."""
    import numpy as np

    from ggp.adapters import GdlAEC

    env = GdlAEC(game)

    def play(choice: Callable[[list[object]], object]) -> int:
        env.reset()
        steps = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(choice(np.flatnonzero(observation["action_mask"])))  # type: ignore[arg-type]
                steps += 1
        return steps

    return play


def ways(name: str) -> Iterator[tuple[str, Play]]:
    """What is timed for one of our games; OpenSpiel and PettingZoo where they are installed."""
    game = Game.load(name)
    yield "machine", by_machine(game)
    yield "API", by_api(game)
    try:
        import pyspiel
    except ImportError:
        return
    if name in GAMES:
        yield "OpenSpiel", by_spiel(pyspiel.load_game(GAMES[name]))
    from ggp.adapters.openspiel import load_gdl

    yield "load_gdl", by_spiel(load_gdl(game))
    try:
        yield "GdlAEC", by_agents(game)
    except ImportError:
        return


def rates(name: str, seconds: float) -> dict[str, float]:
    """Steps per CPU second of each way."""
    choice = random.Random(1).choice
    plays = dict(ways(name))
    for play in plays.values():
        play(choice)
    best = dict.fromkeys(plays, 0.0)
    for _ in range(SLICES):
        for what, play in plays.items():
            steps, begun = 0, time.thread_time()
            while time.thread_time() - begun < seconds / SLICES:
                steps += play(choice)
            best[what] = max(best[what], steps / (time.thread_time() - begun))
    return best


def tutorial() -> dict[str, Any]:
    """What the tutorial's files and its function of many lanes define."""
    page = Path(__file__).parent.parent / "docs" / "tutorials" / "first-search.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"__name__": "sixty"}
    exec(blocks[0], names)
    exec(blocks[2].partition("\n\n\n")[0], names)
    return names


def searches(name: str, seconds: float) -> dict[str, float]:
    """Playouts a second of each search, from the first state; the best of some turns."""
    names = tutorial()
    first = Game.load(name).machine("propnet").initial_state()
    ways: dict[str, Callable[[float], int]] = {
        "sixty lines": lambda s: int(names["search"](first, s)[1]),
        "on 512 lanes": lambda s: 512 * int(names["search"](first, s, names["many"])[1]),
    }
    try:
        import pyspiel
        from open_spiel.python.algorithms import mcts
    except ImportError:
        pass
    else:
        spiel = pyspiel.load_game(GAMES[name])

        def theirs(budget: float) -> int:
            bot = mcts.MCTSBot(spiel, 2.0, 100, mcts.RandomRolloutEvaluator(), solve=False)
            done, end = 0, time.monotonic() + budget
            while time.monotonic() < end:
                bot.mcts_search(spiel.new_initial_state())
                done += 100
            return done

        ways["OpenSpiel's mcts.py"] = theirs
    for search in ways.values():
        search(0.1)
    best = dict.fromkeys(ways, 0.0)
    for _ in range(SLICES):
        for what, search in ways.items():
            begun, spent = time.monotonic(), time.thread_time()
            done = search(seconds / SLICES)
            spent = time.thread_time() - spent
            assert time.monotonic() > begun
            best[what] = max(best[what], done / spent)
    return best


def main() -> None:
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("games", nargs="*", default=list(GAMES), help="names or .kif files")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each figure")
    parser.add_argument("--search", action="store_true", help="playouts of searches in Python")
    given = parser.parse_args()
    what = "playouts/s of searches in Python" if given.search else "steps/s, one state at a time"
    table = Table("game", title=f"{what}, one thread ({processor()})")
    found = {name: (searches if given.search else rates)(name, given.seconds) for name in given.games}
    columns = list(dict.fromkeys(what for row in found.values() for what in row))
    for what in columns:
        table.add_column(what, justify="right")
    ours, theirs = ("sixty lines", "OpenSpiel's mcts.py") if given.search else ("machine", "OpenSpiel")
    table.add_column(f"{ours} / {theirs}", justify="right")
    for name, row in found.items():
        ratio = f"{row[ours] / row[theirs]:.2f}" if theirs in row else ""
        table.add_row(name, *(f"{row[what]:,.0f}" if what in row else "" for what in columns), ratio)
    Console().print(table)


if __name__ == "__main__":
    main()
