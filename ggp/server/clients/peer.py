"""One connection: reads its first message, has aiohttp answer it, and sends the reply as the peer knows it.

::

  READING -- the message is whole --> ASKED -- aiohttp replies --> REPLIED -- the peer closes --> OVER
     |                                  |                             |
     | too long, too slow, no HTTP      | the peer has gone           | half a second
     v                                  v                             v
  REPLIED                              OVER                          OVER

A browser that goes on asking on one connection talks to aiohttp itself from its first message on: DIRECT.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol, cast

from aiohttp.web_protocol import RequestHandler

from ggp.protocol.dialect import CONTINUE, GREETING, RequestReader, in_peers_form
from ggp.protocol.http_error import HttpError
from ggp.server.clients.visitors import sender_of

_MAX_DROPPED = 64 * 1024
"""Bytes after a message that are read and dropped until its answer is sent."""
_LINGER_SECONDS = 0.5
"""Seconds that a peer may take to close once it has its reply."""
_TAKE_SECONDS = 5.0
"""Seconds that a peer may take to read a long reply."""
PEER = "peer"
"""The name under which aiohttp's handlers find a connection: ``transport.get_extra_info(PEER)``."""


class ConnectionPhase(Enum):
    """The progress of a connection."""

    READING = "its message comes in"
    ASKED = "aiohttp has its message"
    DIRECT = "aiohttp has the connection"
    REPLIED = "its reply goes out"
    OVER = "it is closed"


class _Hub(Protocol):
    """The owner of connections, which they notify of their progress."""

    read_seconds: float
    max_body: int

    def took(self, peer: Peer) -> None:
        """Note a new connection."""

    def handler(self, stays: bool) -> RequestHandler:
        """The HTTP handler for one connection, which may stay open for further requests."""

    def refused(self, error: Exception) -> bytes:
        """The whole reply to an invalid message."""

    def lost(self, error: str) -> None:
        """Note that a connection broke."""

    def forget(self, peer: Peer) -> None:
        """Forget a connection that is over."""

    def crowded(self) -> bytes:
        """The whole reply to a connection that is closed to make room for others."""


class Peer(asyncio.Protocol):
    """A connection.

    Attributes:
        address: the computer it comes from.
        sender: the address in a form that can be compared.
        since: when (time.monotonic()) it began to send or to take its reply, or was last active.
        phase: its progress.
        waits: whether it waits for an answer.
        sent: called when it has its reply, or can no longer get it.
    """

    def __init__(self, hub: _Hub) -> None:
        self.address = self.sender = ""
        self.since = time.monotonic()
        self.phase = ConnectionPhase.READING
        self.waits = False
        self.sent: Callable[[bool], None] | None = None
        self.transport: asyncio.Transport
        self._hub = hub
        self._reader = RequestReader(hub.max_body)
        self._handler: RequestHandler | None = None
        self._deadline = self.since + hub.read_seconds
        self._then: Callable[[], None] | None = self._too_slow
        self._greets = self._greeted = self._eof = self._held_back = False
        self._dropped = 0

    @property
    def replied(self) -> bool:
        """Whether all of its reply has been passed to the transport."""
        return self.phase in (ConnectionPhase.REPLIED, ConnectionPhase.OVER)

    @property
    def unsent(self) -> int:
        """Bytes of its reply that the peer has not read."""
        return self.transport.get_write_buffer_size()

    # --- called by asyncio ---------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else ""
        self.sender = sender_of(self.address)
        self._hub.took(self)

    def data_received(self, data: bytes) -> None:
        if self.phase is ConnectionPhase.READING:
            self._read(data)
        elif self.phase is ConnectionPhase.DIRECT:
            self.since = time.monotonic()
            assert self._handler is not None
            self._handler.data_received(data)
        elif self.phase is ConnectionPhase.ASKED:
            self._dropped += len(data)
            if self._dropped > _MAX_DROPPED:
                self.transport.pause_reading()  # the kernel holds back the rest

    def eof_received(self) -> bool:
        self._eof = True
        match self.phase:
            case ConnectionPhase.READING:
                self._read(b"", ended=True)
            case ConnectionPhase.ASKED:
                if self._greets:
                    self._greet()
            case ConnectionPhase.REPLIED if not self._held_back:
                self._end(delivered=True)
            case ConnectionPhase.DIRECT:
                return False
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self.phase is not ConnectionPhase.OVER:
            self._hub.lost(str(exc) or type(exc).__name__)
        self._end(delivered=False)

    def pause_writing(self) -> None:
        self._held_back = True
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._held_back = False
        if self._handler is not None:
            self._handler.resume_writing()
        if self.phase is ConnectionPhase.REPLIED:
            self._linger()

    # --- the message --------------------------------------------------------------------------------------
    def _read(self, data: bytes, ended: bool = False) -> None:
        reader, expected = self._reader, self._reader.expects
        try:
            if ended:
                reader.feed_eof()
                whole = True
            else:
                whole = reader.feed(data)
                if reader.expects and not expected:
                    self.transport.write(CONTINUE)
            if whole:
                self._ask()
        except ConnectionResetError as error:
            self._hub.lost(str(error))
            self._end(delivered=False)
        except Exception as error:  # a stranger's message must never stop the server
            self.reply(self._hub.refused(error))

    def _too_slow(self) -> None:
        seconds = self._hub.read_seconds
        self.reply(self._hub.refused(HttpError(408, f"no whole message within {seconds:g} s")))

    def _ask(self) -> None:
        request = self._reader.request()
        self._then = None
        self._handler = handler = self._hub.handler(request.stays)
        if request.stays:
            self.phase = ConnectionPhase.DIRECT
            handler.connection_made(_DirectTransport(self))
            handler.data_received(request.equivalent() + request.rest)
        else:
            self.phase, self.waits = ConnectionPhase.ASKED, True
            handler.connection_made(_ReplyTransport(self))
            handler.data_received(request.equivalent())

    # --- the reply ----------------------------------------------------------------------------------------
    def hold(self) -> None:
        """Wait for an answer that takes time. From now on aiohttp cancels the handler when the peer leaves.

        The end of the peer's bytes may mean that it has gone, or that it has closed only its sending side. So
        the first bytes of the reply are sent then: if the peer has gone, its computer answers with a reset.
        """
        self.waits = True
        self._greets = self.phase is ConnectionPhase.ASKED
        if self._eof and self._greets:
            self._greet()

    def _greet(self) -> None:
        if not self._greeted:
            self._greeted = True
            self.transport.write(GREETING)
            self._probe(0.02)

    def _probe(self, pause: float) -> None:
        if self.phase is not ConnectionPhase.ASKED:
            return
        connection = self.transport.get_extra_info("socket")
        if self.transport.is_closing() or connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self._hub.lost("the client has gone")
            self._end(delivered=False)
        else:
            asyncio.get_running_loop().call_later(pause, self._probe, min(2 * pause, 1.0))

    def reply(self, data: bytes) -> None:
        """Send a whole reply, and close so that the peer gets all of it.

        Closing a socket while unread input waits resets the connection, and the peer may lose the reply. So
        this closes the sending side first, then drops what the peer sends until it closes too.
        """
        if self.replied:
            return
        self.phase, self.waits, self.since = ConnectionPhase.REPLIED, False, time.monotonic()
        if self._dropped > _MAX_DROPPED:
            self.transport.resume_reading()
        self._cork()
        self.transport.write(data.removeprefix(GREETING) if self._greeted else data)
        if self._held_back:
            self._wait(_TAKE_SECONDS, self._not_taken)
        else:
            self._linger()

    def _cork(self) -> None:
        """Have the kernel hold the end of the reply until this side is closed: both are sent in one
        packet."""
        option = getattr(socket, "TCP_CORK", None)
        if option is not None:
            with contextlib.suppress(OSError):  # it has gone: writing will fail
                self.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, option, 1)

    def _linger(self) -> None:
        if self._eof or self.transport.is_closing():
            # aiohttp's task may be the one running now.
            asyncio.get_running_loop().call_soon(self._end, self._eof)
            return
        self.transport.write_eof()
        self._wait(_LINGER_SECONDS, self._lingered)

    def _lingered(self) -> None:
        self._end(delivered=True)

    def _not_taken(self) -> None:
        self._hub.lost(TimeoutError.__name__)
        self._end(delivered=False)

    def put_off(self) -> None:
        """Close at once, to make room for others; a connection without a reply gets the reason."""
        delivered = self.replied
        if not delivered:
            reply = self._hub.crowded()
            if self.phase is not ConnectionPhase.DIRECT:
                self.transport.write(reply)
        self.transport.abort()
        self._end(delivered)

    def stream(self) -> None:
        """Send a reply without a fixed end piece by piece."""
        self.phase, self.waits = ConnectionPhase.DIRECT, False

    def _end(self, delivered: bool) -> None:
        if self.phase is ConnectionPhase.OVER:
            return
        self.phase, self.waits = ConnectionPhase.OVER, False
        self._then = None
        self._hub.forget(self)
        if delivered:
            self.transport.close()
        else:
            self.transport.abort()
        sent, self.sent = self.sent, None
        if sent is not None:
            sent(delivered)
        if self._handler is not None:
            self._handler.connection_lost(None)

    def close(self) -> None:
        """End the connection at once."""
        self._end(delivered=False)

    def check(self, now: float) -> None:
        """Do the work that is due at ``now`` (time.monotonic()). Call this regularly."""
        if self._then is not None and now > self._deadline:
            then, self._then = self._then, None
            then()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._deadline, self._then = time.monotonic() + seconds, then


class _DirectTransport(asyncio.Transport):
    """The transport that aiohttp writes to: the connection itself."""

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer = peer

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == PEER:
            return self._peer
        # aiohttp would set options of the socket that asyncio has set already.
        return default if name == "socket" else self._peer.transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._peer.transport.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._peer.since = time.monotonic()
        self._peer.transport.write(data)

    def close(self) -> None:
        self._peer.transport.close()

    def abort(self) -> None:
        self._peer.transport.abort()

    def pause_reading(self) -> None:
        self._peer.transport.pause_reading()

    def resume_reading(self) -> None:
        self._peer.transport.resume_reading()


class _ReplyTransport(_DirectTransport):
    """The transport that aiohttp writes one reply to: it passes it on in the peer's form. A reply without a
    length, a stream, is sent unchanged."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self._collected = b""
        self._head = b""
        self._missing = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._peer.phase is ConnectionPhase.DIRECT:
            super().write(data)
            return
        self._collected += data
        if not self._head:
            head, blank, body = self._collected.partition(b"\r\n\r\n")
            if not blank:
                return
            self._head, _, length = in_peers_form(head)
            if length is None:
                self._peer.stream()
                super().write(self._collected)
                return
            self._missing, self._collected = length, body
        if len(self._collected) >= self._missing:
            self._peer.reply(self._head + self._collected)

    def is_closing(self) -> bool:
        return self._peer.replied or super().is_closing()

    def close(self) -> None:
        if self._peer.phase in (ConnectionPhase.ASKED, ConnectionPhase.DIRECT):
            super().close()

    def pause_reading(self) -> None:
        """Note that the message has been read."""

    resume_reading = pause_reading
