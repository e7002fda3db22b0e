"""Listens for connections, and bounds them: how many there may be, from one address too, and who makes room.

A *guest* is one connection as the listener sees it. Those that wait for an answer are never sent away. Of the
others the one that has been silent longest goes when there are too many. Guests that do not take their
answers go too, for these fill the memory.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web_response

from gdl.errors import GdlError

# The Server header of every reply of ours, of refusals too: versions would say what to attack.
web_response.SERVER_SOFTWARE = "kaskade"  # type: ignore[attr-defined]

MOMENT = 0.02
"""Seconds after which a new connection makes others go."""
TICK = 0.1
"""Seconds between two looks at the deadlines of connections."""
STUCK_SECONDS = 30.0
"""How long a guest may take nothing of what was written to it."""


@dataclass(frozen=True, slots=True)
class ListenLimits:
    """Attributes:
    most: how many connections at once.
    most_per_address: how many from one address.
    backlog: how many connections may wait to be taken.
    unsent: bytes that may be written to all and not taken yet; with more, who has most of it goes.
    """

    most: int = 256
    most_per_address: int = 128
    backlog: int = 1024
    unsent: int = 128 * 1024**2


class Guest(Protocol):
    """A connection.

    Attributes:
        address: the computer it comes from.
        since: when (time.monotonic) it last did anything.
        waits: whether it waits for an answer.
    """

    address: str
    since: float
    waits: bool

    @property
    def unsent(self) -> int:
        """Bytes that were written to it, and that it has not taken."""

    def put_off(self) -> None:
        """Close at once to make room for others, and say so."""

    def check(self, now: float) -> None:
        """Do what is due at ``now`` (time.monotonic)."""

    def close(self) -> None:
        """End the connection at once."""


def cannot_listen(host: str, port: int, error: OSError | UnicodeError, option: str = "--port") -> GdlError:
    """Why an address cannot be listened on, and what to do. ``option`` is what the port was chosen by."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        why, remedy = "another program listens there", f"choose another {option}; 0 takes a free one"
    elif number in (errno.EACCES, errno.EPERM):
        why, remedy = "this port takes rights that you lack", f"choose a {option} above 1023"
    elif number == errno.EADDRNOTAVAIL:
        why, remedy = (
            "this is no address of this computer",
            "choose 127.0.0.1, or 0.0.0.0 for all of its addresses",
        )
    elif isinstance(error, socket.gaierror | UnicodeError):
        why, remedy = "there is no such address", "choose 127.0.0.1, or 0.0.0.0 for all of this computer"
    else:
        why, remedy = error.strerror or str(error) if isinstance(error, OSError) else str(error), ""
    return GdlError(f"cannot listen on {host}:{port}: {why}", remedy=remedy)


class Listener:
    """Keeps the guests of one port within ``limits``. Each guest says when it comes (:meth:`took`) and when
    it is over (:meth:`forget`)."""

    def __init__(self, limits: ListenLimits) -> None:
        self.guests: set[Guest] = set()
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._ticks: asyncio.Task[None] | None = None
        self._unsent: dict[Guest, tuple[int, float]] = {}
        """How much was unsent, and since when it is just so much."""

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def serving(self) -> bool:
        """Whether new guests can come."""
        return self._server is not None and self._server.is_serving()

    async def open(self, host: str, port: int, make: Callable[[], asyncio.Protocol]) -> None:
        """Listen, ``::`` on both versions of IP; ``make`` makes the guest of a new connection.
        Raises GdlError if the address cannot be listened on."""
        loop, backlog = asyncio.get_running_loop(), self._limits.backlog
        try:
            if host == "::" and socket.has_dualstack_ipv6():
                both = socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=True)
                self._server = await loop.create_server(make, sock=both, backlog=backlog)
            else:
                self._server = await loop.create_server(make, host, port, backlog=backlog)
        except (OSError, UnicodeError) as error:  # a name that cannot be one of a computer is the latter
            raise cannot_listen(host, port, error) from None
        self._ticks = asyncio.create_task(self._check())

    def stop(self) -> None:
        """Take no more guests."""
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
        """A connection has come: where there are too many, others go."""
        self.guests.add(guest)
        if len(self.guests) > self._limits.most + self._limits.backlog:
            self._make_room(guest.address)
        elif len(self.guests) > min(self._limits.most, self._limits.most_per_address):
            # Of many that come at once, those are served first that have sent their message: in one round
            # of the event loop it is read, then others go.
            loop = asyncio.get_running_loop()
            loop.call_later(MOMENT, loop.call_soon, loop.call_soon, self._make_room, guest.address)

    def forget(self, guest: Guest) -> None:
        """A connection is over."""
        self.guests.discard(guest)

    async def _check(self) -> None:
        """Have all guests look at their deadlines: a timer for each would cost more."""
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            for guest in list(self.guests):
                guest.check(now)
            self.end_stuck(now)

    def end_stuck(self, now: float) -> None:
        """Put off guests that take nothing, or too much of what is unsent at ``now`` (time.monotonic)."""
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
        """Put off the guest that has been silent longest, where there are too many: from the address of the
        newest or, with too many of all, from the one with most."""
        active = [guest for guest in self.guests if not guest.waits]
        count = Counter(guest.address for guest in active)
        if count[address] <= self._limits.most_per_address:
            if len(active) <= self._limits.most:
                return
            address = count.most_common(1)[0][0]
        min((one for one in active if one.address == address), key=lambda one: one.since).put_off()
