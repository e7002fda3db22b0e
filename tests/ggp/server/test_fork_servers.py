"""Processes whose fork server does not take note of their end are not ended again and again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import pytest

from ggp.processes.child import fork
from ggp.server.fork_servers import WANTED, ForkServers
from players.processes.launch import is_stopped
from players.processes.lifeline import PATIENCE, children, is_zombie, parent
from tests.ggp.server.live import alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")


async def until(done: Callable[[], bool], do: Callable[[], object] = lambda: None) -> None:
    async with asyncio.timeout(30):
        while not done():
            do()
            await asyncio.sleep(0.02)


async def known(forks: ForkServers, pid: int, yes: bool) -> None:
    """Wait for a fork server's message on a process, which may come after its answer."""
    await until(lambda: (pid in forks._owners) == yes)


@pytest.mark.parametrize("lost", [False, True], ids=["known", "lost"])
async def test_a_fork_server_that_leaves_zombies_is_ended_and_they_are_told_of_once(lost: bool) -> None:
    warm_up = ("tests.players.processes.fork_jobs:warm_up",)
    forks = ForkServers("test", warm_up, lambda *_, **__: None, lambda: None)
    forks.open()
    try:
        await until(lambda: len(forks._servers) == WANTED, forks.check)
        await until(lambda: len(forks._serving) == WANTED - 1)
        while True:
            job = await fork("tests.players.processes.fork_jobs", ["sleep"], {}, forks.connection)
            assert job is not None
            maker = parent(job.pid)
            assert maker in forks.pids
            if maker in forks._serving or not lost:  # the first one is this process's own child
                break
            await known(forks, job.pid, True)
            job.kill()
            await known(forks, job.pid, False)
        await known(forks, job.pid, True)
        os.kill(maker, signal.SIGSTOP)
        await until(lambda: is_stopped(maker))
        if lost:  # as if the answer to the request for it had never come
            forks._servers = [server for server in forks._servers if server.pid != maker]
        job.kill()
        await until(lambda: is_zombie(job.pid))
        assert job.pid in children(maker)
        told = []
        for _ in range(PATIENCE + 5):  # the server looks every few seconds
            told += forks.end_left_over()
            await asyncio.sleep(0.2)
        assert told == [maker], "not who has made it, too"
        await until(lambda: not alive(maker) and not is_zombie(job.pid))
        await until(lambda: len(forks._servers) == WANTED, forks.check)
    finally:
        await forks.close()
