"""The HTTP/1.0 that game managers and players speak: one message, one reply, one connection.

It is written on asyncio streams because aiohttp cannot speak this dialect (see docs/measurements.md).
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_plus, urlsplit

from gdl.errors import GdlError

MAX_HEAD = 16 * 1024
"""Bytes that the request line and headers (or status line and headers) may take."""
MAX_BODY = 2 * 1024 * 1024
"""Bytes that a body may take (see docs/measurements.md)."""
MAX_DROPPED = 64 * 1024
"""Bytes after a message that are read and dropped."""
CONTENT_TYPE = "text/acl"
GREETING = b"HTTP/1.0 "
"""How every reply begins."""

_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    411: "Length Required",
    413: "Payload Too Large",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class HttpError(GdlError):
    """A request or reply that is not the HTTP we speak; a server answers it with the HTTP ``status``."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent: ``message`` is the body of a POST or the decoded path of a GET; the names of
    ``headers`` are in lower case."""

    method: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


async def read_request(reader: StreamReader, writer: StreamWriter, max_body: int = MAX_BODY) -> Request:
    """Read one request. The caller bounds the time.

    The body of a POST without Content-Length ends where the peer closes its side, or where as many
    parentheses are closed as were opened.

    Raises:
        HttpError: with the status to answer.
        ConnectionError: the peer has gone, or never sent a byte.
    """
    line, headers = await _read_head(reader)
    words = line.split(" ")
    if len(words) != 3 or not words[2].upper().startswith("HTTP/"):
        raise HttpError(400, "this is not an HTTP request", "send POST / HTTP/1.0 with the message as body")
    method, target, _ = words
    match method.upper():
        case "OPTIONS":
            return Request("OPTIONS", "", headers)
        case "GET":
            path = target.partition("//")[2].partition("/")[2] if "//" in target[:8] else target[1:]
            text = _text(unquote_plus(path, errors="surrogateescape"))
            return Request("GET", text, headers)
        case "POST":
            if headers.get("transfer-encoding", "identity").lower() != "identity":
                raise HttpError(411, "chunked bodies are not read", "send Content-Length")
            body = await _read_body(reader, headers, max_body, "body", writer)
            return Request("POST", _text(body), headers)
        case _:
            raise HttpError(405, "only POST, GET and OPTIONS are spoken here")


def reply_bytes(body: str, status: int = 200, content_type: str = CONTENT_TYPE) -> bytes:
    """A whole reply, head and body, as game managers expect it."""
    content = body.encode("utf-8", errors="replace")
    head = (
        f"HTTP/1.0 {status} {_REASONS.get(status, 'Error')}\r\n"
        f"Content-type: {content_type}\r\n"
        f"Content-length: {len(content)}\r\n"
        "\r\n"
    )
    return head.encode("ascii") + content


def readable_by(origin: str, reply: bytes) -> bytes:
    """The reply, with a head that lets pages of this origin send messages and read replies; ``*`` for all."""
    head, blank, content = reply.partition(b"\r\n\r\n")
    rights = (
        f"\r\nAccess-Control-Allow-Origin: {origin}\r\n"
        "Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
        "Access-Control-Allow-Headers: Content-Type\r\n"
        "Access-Control-Max-Age: 86400\r\n"
        "Vary: Origin"
    )
    return head + rights.encode("latin-1") + blank + content


async def send_and_close(
    reader: StreamReader, writer: StreamWriter, data: bytes, linger: float = 0.5
) -> None:
    """Send a reply and close the connection so that the peer gets all of it.

    Closing a socket while unread input waits resets the connection, and the peer may lose the reply. So this
    closes the sending side first, then reads and drops what the peer sends until it closes too, for at most
    ``linger`` seconds. Raises OSError if the peer did not take the reply (TimeoutError, ConnectionError among
    them).
    """
    writer.write(data)
    async with asyncio.timeout(5.0):
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    try:
        async with asyncio.timeout(linger):
            while await reader.read(65536):
                pass
    except TimeoutError:
        pass
    writer.close()


async def until_gone(reader: StreamReader, writer: StreamWriter, greet: Callable[[], None]) -> None:
    """Return when the peer has gone while it waits for its reply.

    The end of its bytes may mean that it has gone, or that it has closed its sending side only. So ``greet``
    is called then, which sends :data:`GREETING`: the computer of one that has gone answers with a reset.
    """
    dropped = 0
    try:
        while chunk := await reader.read(4096):
            dropped += len(chunk)
            if dropped > MAX_DROPPED:
                await asyncio.Event().wait()  # the kernel holds back the rest
    except OSError:
        return
    greet()
    connection = writer.get_extra_info("socket")
    pause = 0.02
    while not (writer.transport.is_closing() or connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
        await asyncio.sleep(pause)
        pause = min(2 * pause, 1.0)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a player listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address in ``http://host:port``, ``host:port`` or ``host`` (port 9147). Raises HttpError if no
    address can be read from it."""
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0 or parts.scheme not in ("", "http"):
        raise HttpError(400, f"{text} is no address of a player", "write http://host:port or host:port")
    return Address(host, 9147 if port is None else port)


def request_bytes(message: str, host: str, receiver: str) -> bytes:
    """A whole request as game managers send it."""
    body = message.encode("utf-8")
    head = (
        "POST / HTTP/1.0\r\n"
        "Accept: text/delim\r\n"
        f"Host: {host}\r\n"
        "Sender: GAMESERVER\r\n"
        f"Receiver: {receiver}\r\n"
        "Content-Type: text/acl\r\n"
        f"Content-Length: {len(body)}\r\n"
        "\r\n"
    )
    return head.encode("utf-8") + body


async def post(address: Address, message: str, receiver: str, seconds: float) -> str:
    """Send a message to a player and give back the trimmed body of its reply.

    Raises:
        HttpError: the reply is not HTTP, says that the message is wrong, or is too long.
        ConnectionError, OSError: the player cannot be reached.
        TimeoutError: no complete reply within ``seconds``.
    """
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        try:
            writer.write(request_bytes(message, address.host, receiver))
            await writer.drain()
            line, headers = await _read_head(reader)
            body = await _read_body(reader, headers, MAX_BODY, "reply")
        finally:
            writer.close()
    words = line.split(" ", 2)
    if not words[0].upper().startswith("HTTP/") or len(words) < 2:
        raise HttpError(400, f"the reply is not HTTP: {line[:60]!r}")
    text = _text(body).strip()
    if words[1] != "200":
        raise HttpError(400, f"the player answers {' '.join(words[1:])}: {text[:200]}")
    return text


async def _read_head(reader: StreamReader) -> tuple[str, dict[str, str]]:
    """First line and headers (names in lower case, the last of a name counts)."""
    total = 0
    lines: list[str] = []
    while True:
        try:
            raw = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if not error.partial and not lines:
                raise ConnectionResetError("the peer closed without a word") from None
            raise HttpError(400, "the headers end before their empty line") from None
        except (asyncio.LimitOverrunError, ValueError):
            raise HttpError(431, "the headers are too long") from None
        total += len(raw)
        if total > MAX_HEAD:
            raise HttpError(431, f"the headers have more than {MAX_HEAD:,} bytes")
        line = raw.decode("latin-1").rstrip("\r\n")
        if line:
            lines.append(line)
        elif lines:
            break
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return lines[0], headers


async def _read_body(
    reader: StreamReader, headers: dict[str, str], limit: int, what: str, writer: StreamWriter | None = None
) -> bytes:
    """The body of a request, which is told by ``writer`` to go on where it asks, or of a reply."""
    length = _content_length(headers)
    if length is not None and length > limit:
        raise HttpError(413, f"the {what} has {length:,} bytes, more than {limit:,}")
    if writer is not None and headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if length is None:
        return await _read_until_closed(reader, limit, until_balanced=writer is not None)
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        count = f"{len(error.partial):,} of {length:,} bytes"
        raise HttpError(400, f"the {what} ends before its Content-Length, after {count}") from None


async def _read_until_closed(reader: StreamReader, limit: int, until_balanced: bool) -> bytes:
    body = bytearray()
    opened = closed = 0
    while chunk := await reader.read(65536):
        body += chunk
        if len(body) > limit:
            raise HttpError(413, f"the body has more than {limit:,} bytes")
        opened += chunk.count(b"(")
        closed += chunk.count(b")")
        if until_balanced and closed and opened <= closed:
            break
    return bytes(body)


def _content_length(headers: dict[str, str]) -> int | None:
    value = headers.get("content-length")
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise HttpError(400, f"Content-Length is {value[:40]!r}, not a number of bytes")
    return int(value)


def _text(data: bytes | str) -> str:
    try:
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        return data.decode("utf-8")
    except UnicodeError:
        raise HttpError(400, "the message is not text", "send UTF-8") from None
