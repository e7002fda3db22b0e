"""How many connections a server takes, by how many files a process may have open (``ulimit -n``)."""

from __future__ import annotations

import asyncio
import errno
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gdl.errors import GdlError
from ggp.protocol.listener import ListenLimits
from ggp.server.settings import ServerConfig
from ggp.server.turn import MOST_WAITING

OWN = 36
"""For the server itself: its fork servers, spare processes, and those that are just being started."""
PER_MATCH = 8 + 2 * MOST_WAITING
"""For the processes of a match, and for the clients that wait for its answers."""
LEAST_CONNECTIONS = 8
QUIET_SECONDS = 60.0
"""How long nothing is said of the same trouble once more."""
Log = Callable[..., None]


def raise_limit() -> int | None:
    """Let this process and those that it starts open as many files as it may; how many these are, None where
    there is no limit."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # not on every system up to the hard limit
            pass
    return None if soft == resource.RLIM_INFINITY else soft


def fit(config: ServerConfig, limit: int | None) -> ServerConfig:
    """The same with as many connections as a process that may open so many files can take. Raises GdlError if
    these are too few for its matches."""
    if limit is None:
        return config
    what, fewer = "a match", ""
    if config.matches > 1:
        what, fewer = f"{config.matches} matches at once", ", or use a smaller --matches"
    limits = fit_limits(config.limits, limit, OWN + PER_MATCH * config.matches, what, fewer)
    return replace(
        config,
        max_connections=limits.most,
        max_per_address=limits.most_per_address,
        backlog=limits.backlog,
    )


def fit_limits(limits: ListenLimits, limit: int, own: int, what: str, fewer: str = "") -> ListenLimits:
    """The limits of a listener whose process may open so many files, of which it needs ``own`` for itself.
    Raises GdlError if what is left is too little: for ``what``, and how it could do with ``fewer``."""
    left = limit - own
    if left < LEAST_CONNECTIONS:
        needed = own + LEAST_CONNECTIONS
        raise GdlError(
            f"a process may have only {limit} files and connections open, too few for {what}",
            remedy=f"ulimit -n {needed} or more (in containers --ulimit nofile={needed}){fewer}",
        )
    most = min(limits.most, max(LEAST_CONNECTIONS // 2, left // 2))
    # So many as the backlog the event loop takes at a time, before it looks at any of them.
    return ListenLimits(most, min(limits.most_per_address, most), min(limits.backlog, left - most))


def quiet_about_files(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for an event loop: that no more files can be opened is worth one line now and
    then, and no traceback."""
    said = -QUIET_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
            loop.default_exception_handler(context)
        elif time.monotonic() - said > QUIET_SECONDS:
            said = time.monotonic()
            log("error", "too many open files", remedy="a larger ulimit -n")

    return handle
