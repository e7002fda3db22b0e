"""What do many spectators of one match cost `ggp web`?

    python -m bench.soak.spectators --count 200 --seconds 20

A server plays chess at a playclock of 1 s against random moves, `ggp web` follows it, and so many readers of
the match's events take all that comes. What counts is the processor time of `ggp web`; drawing happens in a
process of its own.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

import aiohttp

from bench.processes import cpu_seconds
from bench.scripts import arguments
from bench.serving import ROOT
from bench.soak.connections import serving


async def watch(web: str, count: int, seconds: float) -> tuple[int, int]:
    """Boards and bytes that all readers together get in this time."""
    boards = taken = 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get(f"{web}/watch/events") as reply:
            told = json.loads((await reply.content.readuntil(b"\n\n")).partition(b"data: ")[2])
        key = told["matches"][0]["key"]

        async def look_on() -> None:
            nonlocal boards, taken
            unbound = aiohttp.ClientTimeout(total=None)
            async with session.get(f"{web}/watch/{key}/events", timeout=unbound, read_bufsize=2**22) as reply:
                async for line in reply.content:
                    taken += len(line)
                    boards += line.startswith(b"event: board")

        readers = [asyncio.create_task(look_on()) for _ in range(count)]
        await asyncio.sleep(seconds)
        for reader in readers:
            reader.cancel()
    return boards, taken


def main() -> int:
    """Run as a script."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    ggp = [sys.executable, "-m", "ggp"]
    with serving() as server:
        player = f"http://127.0.0.1:{server.port}"
        web = subprocess.Popen(
            [*ggp, "web", "--port", "0", "--watch", player], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert web.stdout is not None
        address = web.stdout.readline().partition("open ")[2].partition(" ")[0].rstrip("/")
        time.sleep(8)  # it warms up
        clocks = ["--clock", "2,1"]
        host = subprocess.Popen(
            [*ggp, "host", "chess", "-p", f"{player},random", *clocks], stdout=subprocess.DEVNULL, cwd=ROOT
        )
        try:
            time.sleep(4)
            before, began = cpu_seconds(web.pid), time.monotonic()
            boards, taken = asyncio.run(watch(address, options.count, options.seconds))
            share = (cpu_seconds(web.pid) - before) / (time.monotonic() - began)
        finally:
            for process in (host, web):
                process.terminate()
                process.wait(30)
    each = boards / options.count / options.seconds
    rate = taken / options.seconds / 1e6
    print(f"{options.count} spectators, {each:.1f} boards a second each, {rate:.1f} MB/s")
    print(f"{100 * share:.1f} % of a processor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
