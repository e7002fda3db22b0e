"""The number of connections that a server takes, by the number of files a process may have open (``ulimit
-n``)."""

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
"""Files of the server itself: its fork servers, spare processes, and those that are just being started."""
PER_MATCH = 8 + 2 * MOST_WAITING
"""Files of a match: its processes, and the clients that wait for its answers."""
_LEAST_CONNECTIONS = 8
QUIET_SECONDS = 60.0
"""Seconds in which the same error is logged only once."""
Log = Callable[..., None]


def raise_limit() -> int | None:
    """Let this process and those that it starts open as many files as the system allows. Returns that number;
    None if there is no limit."""
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
    """The settings with as many connections as a process with this ``limit`` of open files can take. Raises
    GdlError if these are too few for its matches."""
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
    """The limits of a listener whose process may open ``limit`` files, of which it needs ``own`` for itself.
    Raises GdlError if the rest is too little. The error names ``what`` needs them, and how to need
    ``fewer``."""
    left = limit - own
    if left < _LEAST_CONNECTIONS:
        needed = own + _LEAST_CONNECTIONS
        raise GdlError(
            f"a process may have only {limit} files and connections open, too few for {what}",
            remedy=f"ulimit -n {needed} or more (in containers --ulimit nofile={needed}){fewer}",
        )
    most = min(limits.most, max(_LEAST_CONNECTIONS // 2, left // 2))
    # As many as the backlog: the event loop accepts that many at once before it looks at any of them.
    return ListenLimits(most, min(limits.most_per_address, most), min(limits.backlog, left - most))


def quiet_about_files(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for an event loop: if no more files can be opened, it logs one line from time to
    time, without a traceback."""
    logged_at = -QUIET_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal logged_at
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
            loop.default_exception_handler(context)
        elif time.monotonic() - logged_at > QUIET_SECONDS:
            logged_at = time.monotonic()
            log("error", "too many open files", remedy="a larger ulimit -n")

    return handle
