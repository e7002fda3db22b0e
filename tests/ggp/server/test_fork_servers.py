"""A fork server that is killed or stopped is replaced, and meanwhile its owner knows that there is none."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from ggp.server.fork_servers import KeptForkServer
from players.processes import launch
from players.processes.launch import Forked
from tests.players.processes import fork_jobs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")
JOBS = fork_jobs.__name__


async def test_one_that_is_killed_or_stopped_is_replaced() -> None:
    seen: list[str] = []
    kept = KeptForkServer(
        "test",
        (f"{JOBS}:warm_up", "a"),
        lambda level, event, **fields: seen.append(event),
        lambda: seen.append("ready"),
        lambda: seen.append("lost"),
    )
    kept.open()
    try:
        for number, end in enumerate((signal.SIGKILL, signal.SIGSTOP, None)):
            async with asyncio.timeout(60):
                while not kept.ready:
                    kept.check()
                    await asyncio.sleep(0.05)
            assert seen.count("ready") == number + 1
            job = await asyncio.to_thread(launch.fork, JOBS, ["exit", "7"], {}, server=kept.connection)
            assert isinstance(job, Forked) and await asyncio.to_thread(job.wait, 20) == 7
            if end is not None:
                assert kept._process is not None
                os.kill(kept._process.pid, end)
                async with asyncio.timeout(20):
                    while seen.count("fork server ended") == number:
                        await asyncio.sleep(0.05)
                        kept.check()
                assert kept.connection is None and seen[-1] == "lost"
    finally:
        await kept.close()
    assert "fork server is stopped" in seen and seen.count("fork server ended") == 2
