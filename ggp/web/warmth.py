"""Has the processes of tables and drawings forked from one that has everything loaded, so that they open at
once; on Linux.

Strangers' rules never reach that process: it only forks.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from importlib import import_module

from aiohttp import web

from ggp.server.fork_servers import ForkServers
from ggp.server.log_lines import say
from ggp.warm.compile import warm_up_all
from players.processes import launch

PROCESSES = (
    "ggp.answers.answer_process",
    "ggp.web.play.table_process",
    "ggp.web.boards.drawing_process",
    "ggp.web.dashboard.tables_process",
    "ggp.web.puzzles.solve_process",
    "ggp.web.replay.replay_process",
    "ggp.web.rules.rules_process",
    "ggp.web.styles.style_process",
)
BEAT = 1.0
"""Seconds between looks at the processes."""
FORKS = web.AppKey("forks", ForkServers)


def warm_up() -> None:
    """Load, and where need be compile, what these processes run."""
    for module in PROCESSES:
        import_module(module)
    warm_up_all("uct", "auto")


async def keep_warm(app: web.Application) -> AsyncIterator[None]:
    """Start when the application does, end with it."""
    if sys.platform != "linux":
        yield
        return
    forks = ForkServers(
        "web", (f"{__name__}:warm_up",), say, lambda: launch.use(forks.connection), lambda: launch.use(None)
    )
    app[FORKS] = forks
    forks.open()
    looking = asyncio.create_task(_look_after(forks))
    yield
    looking.cancel()
    await forks.close()


async def _look_after(forks: ForkServers) -> None:
    while True:
        await asyncio.sleep(BEAT)
        forks.check()
        for pid in forks.end_left_over():
            say("warning", "left-over process ends", pid=pid)
