"""What the search tree costs: playouts of a search beside raw ones, and where its time goes.

    python -m bench.tree connectfour breakthrough.kif - per_leaf=16 --seconds 3 --rounds 3

Arguments are games (names of ours, or files) and tunings as in :mod:`bench.duel`, by default the usual one.
In every round each tuning has its turn, so that what else the computer does meets all
of them. A search first grows for a while; then its CPU time is measured, and beside it that of playouts
from the first state on the same machine: what ``ggp bench`` counts, with the guide that searches use. At last
the search goes on under a profiler, which tells the shares of its parts and makes small batches look dearer.
"""

from __future__ import annotations

import cProfile
import math
import pstats
import statistics
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.duel import tuning_of
from bench.scripts import command_line
from gdl.errors import GdlError
from ggp.game import Game
from players import batch_machine
from players.batch_machine import NetworkBatch, batch_machine_of
from players.kaskade.guided_machine import guided
from players.uct.search import Search
from players.uct.tree import tree
from players.uct.tuning import Tuning
from propnet.native.machine import NativeMachine

_ROWS = 1 << 14
_LONGEST = 1000
_PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "down": (("select",), ("successors", "_open")),
    "states": (("successors",), ()),
    "moves": (("_open",), ()),
    "playouts": (("playouts", "playouts_while"), ()),
    "up": (("back_up",), ()),
}
"""Of each part the functions whose time counts, and those called by it whose time does not."""
_OURS = tree.__file__, batch_machine.__file__
"""The files that these functions are in."""


@dataclass(frozen=True)
class Cost:
    """What a search did in some CPU time.

    Attributes:
        seconds: the CPU time.
        playouts: made in it.
        visits: paths from the root in it.
        raw: playouts a CPU second without a tree.
        parts: share of the time by part of the search, under a profiler; the rest is what lies between.
    """

    seconds: float
    playouts: int
    visits: int
    raw: float
    parts: dict[str, float]

    @property
    def share(self) -> float:
        """Playouts of the search for each raw one, in equal time."""
        return self.playouts / self.seconds / self.raw


def raw_rate(batched: NetworkBatch, seconds: float, seed: int) -> float:
    """Playouts a CPU second from the first state."""
    starts = np.repeat(batched.record(batched.machine.initial_state())[None, :], _ROWS, axis=0)
    playouts, began = 0, time.thread_time()
    while time.thread_time() < began + seconds:
        batched.playouts(starts, seed + playouts, _LONGEST, math.inf)
        playouts += _ROWS
    return playouts / (time.thread_time() - began)


def measure(machine: NativeMachine, tuning: Tuning, seconds: float, seed: int) -> Cost:
    """Let a search grow for so many CPU seconds, see what it does in as many, and by what parts in half of
    them. Trials of playouts are left out: they come before the first turn."""
    tuning = replace(tuning, policy="equal") if tuning.policy == "auto" else tuning
    batched = batch_machine_of(machine, decisive=tuning.decisive)
    assert isinstance(batched, NetworkBatch)
    search = Search(0, seed, tuning)
    search.set_machine(machine)
    search.set_root(machine.initial_state())
    grow(search, seconds)
    playouts, visits = search.playouts, search.tree.visits
    # CPU time: what others do meanwhile does not count.
    began = time.thread_time()
    grow(search, seconds)
    spent = time.thread_time() - began
    playouts, visits = search.playouts - playouts, search.tree.visits - visits
    raw = raw_rate(batched, seconds / 4, seed)
    # The profile itself takes up to half a millisecond for each batch.
    profile = cProfile.Profile(time.thread_time)
    began = time.thread_time()
    profile.runcall(grow, search, seconds / 2)
    parts = _by_part(pstats.Stats(profile), time.thread_time() - began)
    return Cost(spent, playouts, visits, raw, parts)


def grow(search: Search, seconds: float) -> None:
    """Let a search go on for so many CPU seconds."""
    end = time.thread_time() + seconds
    while time.thread_time() < end and not search.finished:
        search.step(time.monotonic() + 10.0)


def _by_part(stats: pstats.Stats, seconds: float) -> dict[str, float]:
    spent: dict[str, float] = {}
    for (file, _, name), (_, _, _, cumulative, _) in stats.stats.items():  # type: ignore[attr-defined]
        if file in _OURS:
            spent[name] = spent.get(name, 0.0) + cumulative

    def of(names: tuple[str, ...]) -> float:
        return sum(spent.get(name, 0.0) for name in names)

    return {part: (of(names) - of(inside)) / seconds for part, (names, inside) in _PARTS.items()}


def summary(options: str, costs: list[Cost], first: list[Cost]) -> str:
    """A line about the rounds of a tuning; ``first`` are those of the first one."""
    middle = statistics.median
    visits = middle([cost.visits / cost.seconds for cost in costs])
    ratio = middle([a.visits * b.seconds / (a.seconds * b.visits) for a, b in zip(costs, first, strict=True)])
    parts = ", ".join(f"{part} {middle([cost.parts[part] for cost in costs]):.0%}" for part in _PARTS)
    return (
        f"{options}: {visits:,.0f} visits/s (x{ratio:.2f}), playouts {middle([c.share for c in costs]):.0%}"
        f" of {middle([c.raw for c in costs]):,.0f}/s; {parts}"
    )


def main() -> int:
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("what", nargs="+", help="games, and tunings (- for the usual one)")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds to grow, and to measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    options = [part for part in given.what if part == "-" or "=" in part] or ["-"]
    for name in (part for part in given.what if part != "-" and "=" not in part):
        try:
            native = Game.load(Path(name) if name.endswith(".kif") else name).machine("native")
            tunings = [tuning_of(text) for text in options]
        except (GdlError, OSError) as error:
            print(f"bench.tree: {error}", file=sys.stderr)
            return 1
        assert isinstance(native, NativeMachine)
        machine = guided(native)
        costs: list[list[Cost]] = [[] for _ in options]
        for number in range(given.rounds):
            for rounds, tuning in zip(costs, tunings, strict=True):
                rounds.append(measure(machine, tuning, given.seconds, given.seed + number))
        for text, rounds in zip(options, costs, strict=True):
            print(f"{name} {summary(text, rounds, costs[0])}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
