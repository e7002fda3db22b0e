"""Reads the HTTP/1.0 of game managers and players from bytes, and converts it to the HTTP that aiohttp reads.

A message is read as it arrives, whatever ends its lines and its body. It becomes an equivalent message with a
Content-Length and nothing unusual in it. Replies go back in the form that the peers understand. Nothing here
waits: :mod:`ggp.server.clients.connections` and :mod:`ggp.protocol.asking` supply the bytes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote_plus

from gdl.reading import plain
from ggp.protocol.http_error import HttpError

MAX_HEAD = 16 * 1024
"""The most bytes of the request line and headers (or status line and headers)."""
MAX_LINE = 64 * 1024
"""The most bytes of an unfinished line."""
MAX_BODY = 2 * 1024 * 1024
"""The most bytes of a body (see docs/measurements.md)."""
CONTENT_TYPE = "text/acl"
GREETING = b"HTTP/1.0 "
"""The first bytes of every reply."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

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
_CHUNK = 65536
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+").fullmatch
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OF_ONE_CONNECTION = frozenset(
    [
        "connection",
        "content-length",
        "content-encoding",
        "expect",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-connection",
    ]
)
"""Headers that are not passed on: the body has been read, and the connection is ours."""


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request: ``text`` is the body of a POST or the decoded path of a GET. The names of
    ``headers`` are in lower case. ``target`` is the path for aiohttp, ``rest`` the bytes after the
    request."""

    method: str
    text: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""
    version: str = "1.0"
    rest: bytes = b""

    @property
    def stays(self) -> bool:
        """Whether a browser asks for a page, and wants to keep this connection open for more requests."""
        connection = self.headers.get("connection", "").lower()
        return (
            self.method == "GET"
            and self.version == "1.1"
            and "keep-alive" in connection
            and "(" not in self.text
        )

    def equivalent(self) -> bytes:
        """The same request in the form that aiohttp reads."""
        lines = [f"{self.method} {self.target} HTTP/{self.version}"]
        for name, value in self.headers.items():
            if name not in _OF_ONE_CONNECTION and _TOKEN(name):
                lines.append(f"{name}: {value if value.isprintable() else _CONTROLS.sub('?', value)}")
        lines.append("connection: keep-alive" if self.stays else "connection: close")
        if self.body:
            lines.append(f"content-length: {len(self.body)}")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + self.body


class MessageReader:
    """Reads one message as its bytes arrive.

    Args:
        max_body: the most bytes of its body.
        what: the name of the body in errors.

    Attributes:
        line: the first line, once it has arrived.
        headers: by names in lower case; the last of a name counts.
        body: the body, without the bytes after it.
        rest: the bytes after the body.
    """

    UNTIL_BALANCED = False
    """Whether a body without Content-Length ends when as many parentheses are closed as were opened."""

    def __init__(self, max_body: int = MAX_BODY, what: str = "body") -> None:
        self.line = ""
        self.headers: dict[str, str] = {}
        self.rest = b""
        self._max_body = max_body
        self._what = what
        self._lines: list[str] = []
        self._buffer = bytearray()
        self._seen = 0
        self._head_bytes = 0
        self._length: int | None = None
        self._in_body = False
        self._opened = self._closed = 0

    @property
    def body(self) -> bytes:
        return bytes(self._buffer)

    def feed(self, data: bytes) -> bool:
        """Add bytes. Returns whether the message is complete. Raises HttpError with the status to answer."""
        if self._in_body:
            return self._feed_body(data)
        self._buffer += data
        if not self._feed_head():
            return False
        begun = bytes(self._buffer)
        self._buffer.clear()
        self._in_body = True
        self._read_headers()
        self._length = self._body_length()
        if self._length is not None and self._length > self._max_body:
            raise HttpError(413, f"the {self._what} has {self._length:,} bytes, more than {self._max_body:,}")
        return self._feed_body(begun)

    def feed_eof(self) -> None:
        """End the message, because the peer sends no more. Raises HttpError if it is incomplete, and
        ConnectionResetError if nothing was sent."""
        if not (self._in_body or self._lines or self._buffer):
            raise ConnectionResetError("the peer closed without a word")
        if not self._in_body:
            raise HttpError(400, "the headers end before their empty line")
        if self._length is not None:
            count = f"{len(self._buffer):,} of {self._length:,} bytes"
            raise HttpError(400, f"the {self._what} ends before its Content-Length, after {count}")

    def _body_length(self) -> int | None:
        """Bytes of the body; None if it ends in another way."""
        return content_length(self.headers)

    def _feed_head(self) -> bool:
        """Read the lines that have arrived. Returns whether the head is complete."""
        buffer, begin = self._buffer, 0
        while True:
            end = buffer.find(b"\n", max(begin, self._seen))
            if (len(buffer) if end < 0 else end) - begin > MAX_LINE:
                raise HttpError(431, "the headers are too long")
            if end < 0:
                del buffer[:begin]
                self._seen = len(buffer)
                return False
            self._head_bytes += end + 1 - begin
            if self._head_bytes > MAX_HEAD:
                raise HttpError(431, f"the headers have more than {MAX_HEAD:,} bytes")
            line = buffer[begin:end].decode("latin-1").rstrip("\r\n")
            begin = end + 1
            if line:
                self._lines.append(line)
            elif self._lines:
                del buffer[:begin]
                return True

    def _read_headers(self) -> None:
        self.line = self._lines[0]
        for line in self._lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                self.headers[name.strip().lower()] = value.strip()

    def _feed_body(self, data: bytes) -> bool:
        if self._length is not None:
            missing = self._length - len(self._buffer)
            self._buffer += data[:missing]
            self.rest = data[missing:]
            return len(data) >= missing
        for begin in range(0, len(data), _CHUNK):
            chunk = data[begin : begin + _CHUNK]
            self._buffer += chunk
            if len(self._buffer) > self._max_body:
                raise HttpError(413, f"the body has more than {self._max_body:,} bytes")
            if self.UNTIL_BALANCED:
                self._opened += chunk.count(b"(")
                self._closed += chunk.count(b")")
                if self._closed and self._opened <= self._closed:
                    return True
        return False


class RequestReader(MessageReader):
    """Reads a request. The body of a POST without Content-Length ends when the peer closes its side, or when
    as many parentheses are closed as were opened. ``expects`` is True if the client waits for ``100
    Continue``."""

    UNTIL_BALANCED = True
    expects = False

    def request(self) -> Request:
        """The complete request. Raises HttpError if it is not a request that we accept."""
        method, target, version = self.line.split(" ")
        # aiohttp correctly refuses HTTP/1.1 without a Host; many peers send none.
        version = "1.1" if version.upper() == "HTTP/1.1" and self.headers.get("host") else "1.0"
        match method.upper():
            case "GET":
                path = target.partition("//")[2].partition("/")[2] if "//" in target[:8] else target[1:]
                text = decoded(unquote_plus(path, errors="surrogateescape"))
                return Request("GET", text, _to_page(path, text), self.headers, b"", version, self.rest)
            case "POST":
                return Request("POST", decoded(self.body), "/", self.headers, self.body, version)
        return Request("OPTIONS", "", "/", self.headers, b"", version)

    def _body_length(self) -> int | None:
        words = self.line.split(" ")
        if len(words) != 3 or not words[2].upper().startswith("HTTP/"):
            raise HttpError(
                400, "this is not an HTTP request", "send POST / HTTP/1.0 with the message as body"
            )
        match words[0].upper():
            case "OPTIONS" | "GET":
                return 0
            case "POST":
                if self.headers.get("transfer-encoding", "identity").lower() != "identity":
                    raise HttpError(411, "chunked bodies are not read", "send Content-Length")
                length = content_length(self.headers)
                self.expects = self.headers.get("expect", "").lower() == "100-continue"
                return length
        raise HttpError(405, "only POST, GET and OPTIONS are spoken here")


class ReplyReader(MessageReader):
    """Reads the reply of a player. A body without Content-Length ends when the player closes the
    connection."""

    def __init__(self, max_body: int = MAX_BODY) -> None:
        super().__init__(max_body, "reply")

    def equivalent(self) -> bytes:
        """The same reply in the form that aiohttp reads, with the words of the status as ``Status``. Raises
        HttpError if it is not HTTP."""
        words = self.line.split(" ", 2)
        if not words[0].upper().startswith("HTTP/") or len(words) < 2:
            raise HttpError(400, f"the reply is not HTTP: {self.line[:60]!r}")
        status = "200" if words[1] == "200" else "500"
        head = (
            f"HTTP/1.1 {status} -\r\nStatus: {quote(' '.join(words[1:]))}\r\n"
            f"Connection: close\r\nContent-Length: {len(self._buffer)}\r\n\r\n"
        )
        return head.encode("ascii") + self.body


def reply_bytes(body: str, status: int = 200) -> bytes:
    """A complete reply, head and body, as game managers expect it."""
    content = body.encode("utf-8", errors="replace")
    head = {"Content-type": CONTENT_TYPE, "Content-length": str(len(content))}
    return _reply_head(status, "Error", head) + content


@functools.lru_cache(64)
def in_peers_form(head: bytes) -> tuple[bytes, int, int | None]:
    """The head of a reply of aiohttp, without its blank line, in the form that peers understand; its HTTP
    status; and the bytes of its body, None if the head does not state them."""
    first, *lines = head.decode("latin-1").split("\r\n")
    _, code, reason = first.split(" ", 2)
    kind, length = "", None
    others = {}
    for line in lines:
        name, _, value = line.partition(": ")
        match name.lower():
            case "content-type":
                kind = value
            case "content-length":
                length = int(value)
            case "date" | "server" | "connection":
                pass
            case _:
                others[name] = value
    headers = {"Content-type": kind, "Content-length": str(length), **others}
    return _reply_head(int(code), reason, headers), int(code), length


def _reply_head(status: int, reason: str, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.0 {status} {_REASONS.get(status, reason)}\r\n{lines}\r\n".encode("latin-1")


def rights(origin: str) -> dict[str, str]:
    """Headers of a reply that let pages of this origin send messages and read replies; ``*`` for all
    origins."""
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": "86400",
        "Vary": "Origin",
    }


def request_headers(host: str, receiver: str) -> dict[str, str]:
    """The headers of a request as game managers send them, without its length."""
    return {
        "Accept": "text/delim",
        "Host": host,
        "Sender": "GAMESERVER",
        "Receiver": receiver,
        "Content-Type": CONTENT_TYPE,
    }


def request_bytes(message: str, host: str, receiver: str) -> bytes:
    """A complete request as game managers send it."""
    body = message.encode("utf-8")
    headers = {**request_headers(host, receiver), "Content-Length": len(body)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST / HTTP/1.0\r\n{lines}\r\n".encode() + body


def content_length(headers: Mapping[str, str]) -> int | None:
    """The length that the headers state, None if there is none. Raises HttpError if it is not a number."""
    value = headers.get("content-length")
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise HttpError(400, f"Content-Length is {value[:40]!r}, not a number of bytes")
    return int(value)


def decoded(data: bytes | str) -> str:
    """The text of a message: UTF-8, with a byte order mark or without. Raises HttpError for other bytes."""
    try:
        return plain((data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data).decode())
    except UnicodeError:
        raise HttpError(400, "the message is not text", "send UTF-8") from None


def _to_page(path: str, text: str) -> str:
    """The target of a GET: a message is a single path, other targets may have a query."""
    text = text.strip()
    if "(" in text or "?" not in path:
        return "/" + quote(text)
    path, _, query = path.partition("?")
    name = unquote_plus(path, errors="surrogateescape").strip()
    return f"/{quote(name, errors='surrogateescape')}?{quote(query, safe='=&+%,:;/@', encoding='latin-1')}"
