"""What do messages between nodes cost, and how much faster is a tournament on several?

    python -m bench.cluster --address local-ray:3

First the time and the rate of messages of several sizes to one worker, there and back, and the sizes of what
a search sends. Then the same matches of sleeping players here, one after the other, and on all nodes:
sleeping, they show what the cluster itself takes, also where all nodes are one computer.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.scripts import command_line
from ggp.game import Game
from ggp.tournament.cluster import ClusterSites
from ggp.tournament.runner import Runner
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings
from ggp.tournament.sites import OwnSite, Sites
from ggp.tournament.store import Store
from players.fleet.fleet import Fleet, FleetWorker, pack
from players.fleet.open_fleet import open_fleet
from players.fleet.survey import PROBE

SIZES = 0, 1 << 10, 1 << 16, 1 << 20, 1 << 24
MOVES = 10, 30, 200
"""Of all roles together, in the states whose statistics are sent."""
PLAYERS = "bench.cluster.sleeper:Sleeper", "legal"


async def wire(fleet: Fleet, rounds: int) -> None:
    """Print what messages to one worker cost."""
    node = (await fleet.nodes())[0]
    worker = await fleet.start(node, PROBE, 1)
    print("bytes each way | ms there and back | calls/s, 8 at once | MB/s each way")
    for size in SIZES:
        array = np.zeros(size, np.uint8)
        times = [await _once(fleet, worker, array) for _ in range(max(5, rounds // (1 + size // (1 << 16))))]
        began = time.perf_counter()
        await asyncio.gather(*(_several(fleet, worker, array, len(times)) for _ in range(8)))
        rate = 8 * len(times) / (time.perf_counter() - began)
        median = statistics.median(times)
        print(f"{size:14,} | {1e3 * median:17.2f} | {rate:18,.0f} | {rate * size / 1e6:13,.0f}")
    await fleet.stop(worker)
    for moves in MOVES:
        told = {"number": 1, "lines": [], "counts": [moves - 1, 1], "playouts": 10**6, "nodes": 10**6}
        arrays = np.zeros(moves, np.int64), np.zeros(moves), np.zeros(moves, np.int16)
        print(f"statistics of {moves} moves: {len(pack(told, arrays)):,} bytes")


async def _once(fleet: Fleet, worker: FleetWorker, array: np.ndarray) -> float:  # type: ignore[type-arg]
    began = time.perf_counter()
    await fleet.call(worker, {}, [array])
    return time.perf_counter() - began


async def _several(fleet: Fleet, worker: FleetWorker, array: np.ndarray, n: int) -> None:  # type: ignore
    for _ in range(n):
        await fleet.call(worker, {}, [array])


def tournament(rounds: int, sites: Sites) -> float:
    """Seconds that the matches take, the start of hosts on the nodes included."""

    class Watcher:
        def began(self, *told: object) -> None:
            pass

        def step(self, *told: object) -> None:
            pass

        waits = step

        def ended(self, fixture: object, result: object, error: str) -> None:
            assert not error, error

    game = GameSpec("tictactoe", Game.load("tictactoe").text, 2)
    entrants = tuple(Entrant(name, name) for name in PLAYERS)
    settings = TournamentSettings("t", (game,), entrants, rounds, 5.0, 5.0, take_turns=True, level="prover")
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store") as store:
        began = time.perf_counter()
        asyncio.run(Runner(settings, store, sites=sites).run(Watcher()))
        return time.perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print."""
    parser = command_line(__doc__)
    parser.add_argument("--address", default="local-ray:3", help="as of ggp tournament --cluster")
    parser.add_argument("--rounds", type=int, default=60, help="of the tournament: two matches each")
    parser.add_argument("--calls", type=int, default=400)
    options = parser.parse_args(arguments)

    async def _wire() -> None:
        fleet = open_fleet(options.address)
        try:
            await wire(fleet, options.calls)
        finally:
            await fleet.close()

    asyncio.run(_wire())
    here = tournament(options.rounds, OwnSite([0]))
    there = tournament(options.rounds, ClusterSites(open_fleet(options.address)))
    matches = 2 * options.rounds
    print(f"{matches} matches: {here:.1f} s here, {there:.1f} s there: {there / here:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
