"""All that this program asks of others over HTTP: messages to players, and the events of their servers.

Only the address that the operator has named is called: redirects are answers like others, and proxies of the
environment are not used. Nothing that comes is unpacked, and all of it is bounded.

A player's reply may end with its connection, have a head of one line or lines that end without a carriage
return. :mod:`ggp.protocol.dialect` reads it, and aiohttp gets an equivalent reply. One session serves all
players of a match; a message outside of a match has a session of its own.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from urllib.parse import unquote

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from ggp.protocol.address import Address
from ggp.protocol.dialect import MAX_BODY, MAX_HEAD, ReplyReader, decoded, request_headers
from ggp.protocol.http_error import HttpError

_UNBOUND = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)
_session: ContextVar[aiohttp.ClientSession | None] = ContextVar("session", default=None)


@asynccontextmanager
async def asking() -> AsyncIterator[aiohttp.ClientSession]:
    """A context in which all messages share one session."""
    shared = _session.get()
    if shared is not None:
        yield shared
        return
    async with _new_session(_Connector(), middlewares=(_in_managers_order,)) as session:
        token = _session.set(session)
        try:
            yield session
        finally:
            _session.reset(token)


async def post(address: Address, message: str, receiver: str, seconds: float) -> str:
    """Send a message to a player and return the trimmed body of its reply.

    Raises:
        HttpError: the reply is not HTTP, says that the message is wrong, or is too long.
        ConnectionError, OSError: the player cannot be reached.
        TimeoutError: no complete reply within ``seconds``.
    """
    try:
        async with (
            asyncio.timeout(seconds),
            asking() as session,
            session.post(
                f"{address.url}/",
                data=message.encode("utf-8"),
                headers=request_headers(address.host, receiver),
                allow_redirects=False,
            ) as reply,
        ):
            body = await reply.read()
    except aiohttp.ClientConnectorError as error:
        raise error.os_error from None
    except aiohttp.ServerDisconnectedError:
        raise ConnectionResetError("the peer closed without a word") from None
    except (aiohttp.ClientError, ValueError) as error:
        if isinstance(error, OSError):
            raise
        raise HttpError(400, f"the player cannot be asked: {error}") from None
    text, status = decoded(body).strip(), unquote(reply.headers.get("Status", ""))
    if reply.status != 200:
        raise HttpError(400, f"the player answers {status}: {text[:200]}")
    return text


@asynccontextmanager
async def events(address: Address, silence: float, longest: int) -> AsyncIterator[aiohttp.StreamReader]:
    """The lines of ``GET /events`` of a server.

    Raises:
        HttpError: the server answers with something else.
        OSError: it cannot be reached, breaks off, or sends a line of more than twice ``longest`` bytes.
        TimeoutError: nothing comes for ``silence`` seconds.
    """
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=5.0, sock_read=silence)
    try:
        async with (
            asyncio.timeout(silence) as limit,
            _new_session(aiohttp.TCPConnector(force_close=True), timeout) as session,
            session.get(f"{address.url}/events", allow_redirects=False, read_bufsize=longest) as reply,
        ):
            limit.reschedule(None)
            packed = "Content-Encoding" in reply.headers or "Transfer-Encoding" in reply.headers
            if reply.status != 200 or reply.content_type != "text/event-stream" or packed:
                raise HttpError(400, f"answers {reply.status} {reply.content_type}: no events")
            yield reply.content
    except (aiohttp.ClientError, HttpProcessingError) as error:
        raise ConnectionError(str(error)) from None


class _ReplyHandler(ResponseHandler):
    """The handler with which aiohttp reads a reply: it gets the equivalent reply once the reply is
    complete."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._reader: ReplyReader | None = ReplyReader(MAX_BODY)

    def data_received(self, data: bytes) -> None:
        self._read(data)

    def eof_received(self) -> None:
        self._read(None)
        super().eof_received()

    def _read(self, data: bytes | None) -> None:
        """Process bytes, None at their end."""
        reader = self._reader
        if reader is None:
            return
        try:
            if data is None:
                reader.feed_eof()
            elif not reader.feed(data):
                return
            self._reader = None
            super().data_received(reader.equivalent())
        except HttpError as error:
            self._reader = None
            self.set_exception(error)
        except ConnectionResetError:
            self._reader = None  # aiohttp raises the same error


class _Connector(aiohttp.TCPConnector):
    def __init__(self) -> None:
        # One message, one connection; a match waits for all of its players at once.
        super().__init__(limit=0, force_close=True, use_dns_cache=False)
        reads: type[ResponseHandler] = _ReplyHandler
        self._factory = functools.partial(reads, loop=asyncio.get_running_loop())


async def _in_managers_order(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Put the headers in the order of game managers: aiohttp puts Host first."""
    length = request.headers.popall("Content-Length")
    host = request.headers.popall("Host")
    rest = list(request.headers.items())
    request.headers.clear()
    request.headers.extend([*rest[:1], ("Host", host[0]), *rest[1:], ("Content-Length", length[0])])
    return await send(request)


def _new_session(
    connector: aiohttp.TCPConnector,
    timeout: aiohttp.ClientTimeout = _UNBOUND,
    middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        version=aiohttp.HttpVersion10,
        skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept"),
        auto_decompress=False,
        middlewares=middlewares,
        max_line_size=8 * MAX_HEAD,
        max_field_size=8 * MAX_HEAD,
        trust_env=False,
    )
