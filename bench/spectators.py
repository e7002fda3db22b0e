"""What spectators of one match cost the server of pages: ``python -m bench.spectators``.

A match of breakthrough is told, a step every two seconds and four reports of its search a second, to ``ggp
web``; so many readers look on. Measured is the CPU time of that server alone, from /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import time

import aiohttp

from ggp.events.feed import Feed, MatchStory
from ggp.game import Game
from ggp.server.clients.events_port import told_on


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def play(story: MatchStory, seconds: float) -> None:
    """Tell of random moves, and of a search."""
    machine = Game.load("breakthrough").machine("prover")
    rng = random.Random(1)
    state = machine.initial_state()
    number = 0
    while not machine.is_terminal(state):
        joint = [rng.choice(machine.legal_moves(state, role)) for role in range(2)]
        texts = [machine.rules.spell(machine.move(role, move)) for role, move in enumerate(joint)]
        candidates = [{"move": texts[0], "visits": 1000 * n, "value": 50.0} for n in range(6)]
        for _ in range(int(seconds / 0.25)):
            story.think(role="white", machine="native", move=texts[0], value=50.0, candidates=candidates)
            await asyncio.sleep(0.25)
        number += 1
        story.step(number, texts)
        state = machine.next_state(state, joint)


async def look_on(session: aiohttp.ClientSession, address: str, counts: list[int]) -> None:
    """One spectator: reads all that comes."""
    async with session.get(address) as reply:
        async for part in reply.content.iter_any():
            counts[0] += part.count(b"event: ")
            counts[1] += len(part)


async def run(readers: int, seconds: float) -> None:
    """Measure, and print a line."""
    feed = Feed("bench")
    async with told_on(feed, 0) as port:
        story = feed.begin("m", Game.load("breakthrough").text, game="breakthrough")
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ggp", "web", "--port", "0", "--watch", f"127.0.0.1:{port}"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        found = re.search(r"http://\S+?:\d+", (await server.stdout.readline()).decode())
        assert found is not None
        address = found[0]
        counts = [0, 0]
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(None)) as session:
            key = None
            while key is None:
                async with session.get(f"{address}/watch/events") as reply:
                    key = re.search(rb'"key":"(\w+)"', await reply.content.readuntil(b"\n\n"))
            watched = f"{address}/watch/{key[1].decode()}/events"
            tasks = [asyncio.create_task(look_on(session, watched, counts)) for _ in range(readers)]
            playing = asyncio.create_task(play(story, 2.0))
            await asyncio.sleep(5.0)
            before, began, events, size = cpu_seconds(server.pid), time.monotonic(), *counts
            await asyncio.sleep(seconds)
            used = cpu_seconds(server.pid) - before
            elapsed = time.monotonic() - began
            for task in (*tasks, playing):
                task.cancel()
            await asyncio.wait([*tasks, playing])
        server.terminate()
        await server.wait()
    print(
        f"{readers} spectators: {100 * used / elapsed:.1f} % of a core, "
        f"{(counts[0] - events) / elapsed:.0f} events/s, {(counts[1] - size) / elapsed / 1e6:.2f} MB/s"
    )


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.readers, arguments.seconds))


if __name__ == "__main__":
    main()
