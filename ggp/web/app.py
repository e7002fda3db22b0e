"""The application behind ``ggp web``: the access checks, the static files, the routes of every page, and the
worker processes of all pages: forked from a preloaded process, measured, and ended for lack of memory.

Untrusted rules never reach the process that forks (on Linux). A reservation is the usual need of a kind of
work, not a limit, so a few processes could use far more than was reserved. When all of them and the server
together use more memory than the budget has, the process furthest above its reservation is ended. Its caller
gets a one-line error.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from aiohttp import web

from ggp.log_lines import say
from ggp.printing import show
from ggp.processes.budget import WorkBudget
from ggp.protocol.listener import Listener, fit_limits, raise_limit
from ggp.server.fork_servers import KeptForkServer
from ggp.warm import warm_up_all
from ggp.web.cached_lists import KNOWN, Names
from ggp.web.gate import HEADERS, PAGES, SETTINGS, STREAMED, TOKENS, Tokens, WebSettings, gate
from ggp.web.play.routes import TABLES
from ggp.web.rooms import BUDGET, rooms
from ggp.web.shell import error_page
from ggp.web.visits import HELD, HeldBodies, Visit, visit_of
from players.processes import launch
from players.processes.lifeline import descendants, parent, proportional_bytes

_OWN_FILES = 64
"""Open files of the server itself: its fork servers and the files it reads."""
_FILES_PER_PROCESS = 4
STATIC = Path(__file__).parent / "static"


def make_app(settings: WebSettings) -> web.Application:
    """The whole application. Raises GdlError if the settings are invalid."""
    app = web.Application(middlewares=[gate(settings, error_page)])
    app[SETTINGS] = settings
    app[TOKENS] = Tokens()
    app[STREAMED] = set()
    app[HELD] = HeldBodies()
    app[BUDGET] = WorkBudget(settings.processes, settings.memory)
    app.on_response_prepare.append(_streams)
    app[PAGES] = set()
    app[KNOWN] = Names()
    app.router.add_static("/static/", STATIC)
    app.router.add_get("/favicon.ico", _icon)
    for room in rooms().values():
        room.add_routes(app)
    return app


async def _icon(request: web.Request) -> web.FileResponse:
    """The icon, for pages that name none, as a browser makes one of a file."""
    return web.FileResponse(STATIC / "icon.svg")


async def _streams(request: web.Request, reply: web.StreamResponse) -> None:
    """Mark the connection of an endless reply, which may be closed to make room for others."""
    visit = visit_of(request)
    if visit is not None and reply.content_length is None and not isinstance(reply, web.FileResponse):
        visit.waits = False


async def serve(settings: WebSettings, table: dict[str, Any] | None = None) -> None:
    """Print the address to open, and serve until SIGINT or SIGTERM.

    Args:
        table: a table to open, as for :meth:`ggp.web.play.routes.OpenTables.open`; it is the first page then.

    Raises:
        GdlError: the address cannot be used, too few files may be open, or the table cannot be opened.
    """
    await asyncio.to_thread(int)  # a system without threads is found out before anything begins
    own = _OWN_FILES + _FILES_PER_PROCESS * settings.processes
    limits = fit_limits(settings.limits, raise_limit(), own, "these pages")
    app = make_app(settings)
    app.cleanup_ctx.extend((keep_warm, oversee))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    listener = Listener(limits)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        except NotImplementedError:  # Windows: KeyboardInterrupt does it
            break
    try:
        server = runner.server
        assert server is not None
        await listener.open(settings.host, settings.port, lambda: Visit(server, listener, HEADERS))
        page = "/" if table is None else (await app[TABLES].open(table)).page
        host = "localhost" if settings.host in ("127.0.0.1", "::1", "0.0.0.0", "::") else settings.host
        show(f"ggp web: open http://{host}:{listener.port}{page} (Ctrl-C ends it)")
        await stop.wait()
    finally:
        listener.close()
        await runner.cleanup()


BEAT = 1.0
"""Seconds between looks at the processes."""
FORKS = web.AppKey("forks", KeptForkServer)


def warm_up() -> None:
    """Load the code of these processes, and compile it if necessary."""
    for room in rooms().values():
        for module in room.processes:
            import_module(module)
    warm_up_all("uct", "auto")


async def keep_warm(app: web.Application) -> AsyncIterator[None]:
    """Run the fork server while the application runs (on Linux)."""
    if sys.platform != "linux":
        yield
        return
    forks = KeptForkServer(
        "web", (f"{__name__}:warm_up",), say, lambda: launch.use(forks.connection), lambda: launch.use(None)
    )
    app[FORKS] = forks
    forks.open()
    looking = asyncio.create_task(_look_after(forks))
    yield
    looking.cancel()
    await forks.close()


async def _look_after(forks: KeptForkServer) -> None:
    while True:
        await asyncio.sleep(BEAT)
        forks.check()


LOOK_SECONDS = 2.0


async def oversee(app: web.Application) -> AsyncIterator[None]:
    """Measure the memory of all processes while the application runs."""
    looking = asyncio.create_task(_look(app))
    yield
    looking.cancel()


async def _look(app: web.Application) -> None:
    budget = app[BUDGET]
    while True:
        budget.own = proportional_bytes(os.getpid())
        pids = {holder.pid for holder in budget.holders if holder.pid}
        if pids:
            owners = app[FORKS].owners if FORKS in app else {}
            end_greediest(budget, await asyncio.to_thread(memory_of, pids, owners))
        await asyncio.sleep(LOOK_SECONDS)


def end_greediest(budget: WorkBudget, taken: Mapping[int, int]) -> int:
    """End the process that is furthest above its reservation if all processes, including the server's own,
    use more memory than the budget has.

    Args:
        taken: process id -> bytes in use.

    Returns:
        The id of the ended process; 0 if memory suffices or no process is above its reservation.
    """
    if budget.own + sum(taken.values()) <= budget.memory:
        return 0
    above = {
        holder.pid: more
        for holder in budget.holders
        if holder.pid and (more := taken.get(holder.pid, 0) - holder.need.memory) > 0
    }
    pid = max(above, key=above.__getitem__, default=0)
    if pid:
        say("warning", "process ends: too much memory is used", pid=pid, bytes=taken.get(pid, 0))
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return pid


def memory_of(pids: Iterable[int], owners: Mapping[int, int]) -> Counter[int]:
    """The memory in bytes of each process, including its descendants. Shared pages count proportionally.

    Args:
        pids: the processes.
        owners: id of a process that a fork server made -> id of the process it was made for.
    """
    heads, taken = set(pids), Counter[int]()
    for pid in descendants(os.getpid()):
        head, steps = pid, 0
        while head not in heads and head > 1 and steps < 16:
            head, steps = owners.get(head) or parent(head), steps + 1
        if head in heads:
            taken[head] += proportional_bytes(pid)
    return taken
