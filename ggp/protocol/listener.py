"""Listens for connections and limits them: their number in all and per address, and which ones are closed.

A *guest* is one connection as the listener sees it. Guests that wait for an answer are never closed to make
room. If there are too many of the others, the one that has been silent longest is closed. Guests that do not
read their answers are closed, too, because their answers fill the memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from aiohttp import web_response

from gdl.errors import GdlError

# The Server header of every reply of ours, of refusals too: versions would say what to attack.
web_response.SERVER_SOFTWARE = "kaskade"  # type: ignore[attr-defined]

MOMENT = 0.02
"""Seconds after which a new connection makes others close."""
_TICK = 0.1
"""Seconds between two checks of the connections' deadlines."""
STUCK_SECONDS = 30.0
"""Seconds after which a guest that reads nothing of its answer is closed."""


@dataclass(frozen=True, slots=True)
class ListenLimits:
    """Attributes:
    most: the most connections at once.
    most_per_address: the most connections from one address.
    backlog: the most connections that may wait to be accepted.
    unsent: the most bytes that may be written to all guests and not yet read; beyond that the guest with
        most of them is closed.
    """

    most: int = 256
    most_per_address: int = 128
    backlog: int = 1024
    unsent: int = 128 * 1024**2


def raise_limit() -> int | None:
    """Let this process and those that it starts open as many files as the system allows. Returns that number;
    None if there is no limit."""
    if sys.platform == "win32":
        return None
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # not on every system up to the hard limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


_LEAST_CONNECTIONS = 8


def fit_limits(limits: ListenLimits, limit: int | None, own: int, what: str, fewer: str = "") -> ListenLimits:
    """The limits of a listener whose process may open ``limit`` files, of which it needs ``own`` for itself.
    Raises GdlError if the rest is too little. The error names ``what`` needs them, and how to need
    ``fewer``."""
    if limit is None:
        return limits
    left = limit - own
    if left < _LEAST_CONNECTIONS:
        needed = own + _LEAST_CONNECTIONS
        raise GdlError(
            f"a process may have only {limit} files and connections open, too few for {what}",
            remedy=f"ulimit -n {needed} or more (in containers --ulimit nofile={needed}){fewer}",
        )
    most = min(limits.most, max(_LEAST_CONNECTIONS // 2, left // 2))
    # As many as the backlog: the event loop accepts that many at once before it looks at any of them.
    return replace(
        limits,
        most=most,
        most_per_address=min(limits.most_per_address, most),
        backlog=min(limits.backlog, left - most),
    )


class Guest(Protocol):
    """One connection.

    Attributes:
        address: the address of the client.
        since: time of its last activity (time.monotonic).
        waits: whether it waits for an answer.
    """

    address: str
    since: float
    waits: bool

    @property
    def unsent(self) -> int:
        """Bytes that were written to it, and that it has not read."""

    def put_off(self) -> None:
        """Close at once to make room for others, with an answer that says so."""

    def check(self, now: float) -> None:
        """Do the work that is due at ``now`` (time.monotonic)."""

    def close(self) -> None:
        """End the connection at once."""


def cannot_listen(host: str, port: int, error: OSError | UnicodeError, option: str = "--port") -> GdlError:
    """The error for an address on which it is impossible to listen, with reason and remedy. ``option`` is the
    option for the port."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        why, remedy = "another program listens there", f"choose another {option}; 0 takes a free one"
    elif number in (errno.EACCES, errno.EPERM):
        why, remedy = "this port takes rights that you lack", f"choose a {option} above 1023"
    elif number == errno.EADDRNOTAVAIL:
        why, remedy = (
            "this is not an address of this computer",
            "choose 127.0.0.1, or 0.0.0.0 for all of its addresses",
        )
    elif isinstance(error, socket.gaierror | UnicodeError):
        why, remedy = "there is no such address", "choose 127.0.0.1, or 0.0.0.0 for all of this computer"
    else:
        why, remedy = error.strerror or str(error) if isinstance(error, OSError) else str(error), ""
    return GdlError(f"cannot listen on {host}:{port}: {why}", remedy=remedy)


class Listener:
    """Keeps the guests of one port within ``limits``. Each guest reports when it begins (:meth:`took`) and
    when it ends (:meth:`forget`)."""

    def __init__(self, limits: ListenLimits) -> None:
        self.guests: set[Guest] = set()
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._ticks: asyncio.Task[None] | None = None
        self._unsent: dict[Guest, tuple[int, float]] = {}
        """Unsent bytes of each guest, and the time since when this number has not changed."""

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def serving(self) -> bool:
        """Whether new guests are accepted."""
        return self._server is not None and self._server.is_serving()

    async def open(self, host: str, port: int, make: Callable[[], asyncio.Protocol]) -> None:
        """Listen on an address, for ``::`` with both versions of IP; ``make`` creates the guest of a new
        connection. Raises GdlError if the address cannot be listened on."""
        loop, backlog = asyncio.get_running_loop(), self._limits.backlog
        try:
            if host == "::" and socket.has_dualstack_ipv6():
                both = socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=True)
                self._server = await loop.create_server(make, sock=both, backlog=backlog)
            else:
                self._server = await loop.create_server(make, host, port, backlog=backlog)
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that cannot be a computer's
            raise cannot_listen(host, port, error) from None
        self._ticks = asyncio.create_task(self._check())

    def stop(self) -> None:
        """Accept no more guests."""
        if self._server is not None:
            self._server.close()

    def close(self) -> None:
        """End all connections."""
        self.stop()
        if self._ticks is not None:
            self._ticks.cancel()
        for guest in list(self.guests):
            guest.close()

    def took(self, guest: Guest) -> None:
        """Add a new connection; if there are too many, others are closed."""
        self.guests.add(guest)
        if len(self.guests) > self._limits.most + self._limits.backlog:
            self._make_room(guest.address)
        elif len(self.guests) > min(self._limits.most, self._limits.most_per_address):
            # If many arrive at once, those that have sent their message are served first: one round of the
            # event loop reads it, then others are closed.
            loop = asyncio.get_running_loop()
            loop.call_later(MOMENT, loop.call_soon, loop.call_soon, self._make_room, guest.address)

    def forget(self, guest: Guest) -> None:
        """Remove a connection that has ended."""
        self.guests.discard(guest)

    async def _check(self) -> None:
        """Let all guests check their deadlines: a timer for each would cost more."""
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            for guest in list(self.guests):
                guest.check(now)
            self.end_stuck(now)

    def end_stuck(self, now: float) -> None:
        """Close guests that read nothing, or have too much of the unsent bytes at ``now``
        (time.monotonic)."""
        sizes = {guest: size for guest in self.guests if not guest.waits and (size := guest.unsent)}
        before = self._unsent
        self._unsent = {
            guest: before[guest] if guest in before and before[guest][0] == size else (size, now)
            for guest, size in sizes.items()
        }
        total = sum(sizes.values())
        for guest in sorted(sizes, key=sizes.__getitem__, reverse=True):
            too_much = total > self._limits.unsent
            if too_much or now - self._unsent[guest][1] > STUCK_SECONDS:
                total -= sizes[guest]
                guest.put_off()

    def _make_room(self, address: str) -> None:
        """Close the guest that has been silent longest, if there are too many: from the address of the newest
        or, if there are too many in all, from the address with most guests."""
        active = [guest for guest in self.guests if not guest.waits]
        count = Counter(guest.address for guest in active)
        if count[address] <= self._limits.most_per_address:
            if len(active) <= self._limits.most:
                return
            address = count.most_common(1)[0][0]
        min((one for one in active if one.address == address), key=lambda one: one.since).put_off()
