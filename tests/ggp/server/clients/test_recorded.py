"""Peers see the same bytes as from the server of old, which spoke HTTP by hand: its replies are in a file."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from bench import hostile
from tests.ggp.server.live import START, LiveServer, Serve, talk

RECORDED = Path(__file__).parent / "recorded_replies.json"
CHANGING = (b"text/plain", b"text/html")
"""Pages: of these only the head is compared, without the length."""
HEAD = (
    "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: foreign\r\n"
    "Content-Type: text/acl\r\nContent-Length: "
)
ALLOWED = "https://manager.example"


def said(text: str) -> str:
    return f"{HEAD}{len(text.encode())}\r\n\r\n{text}"


def asked(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> str:
    return "\r\n".join([f"{method} {path} HTTP/{version}", *headers, "", ""])


REQUESTS: list[tuple[str, bool]] = [
    (said("( INFO )"), False),
    (said(START), False),
    (said(START), False),
    (said("( PLAY m1 NIL )"), False),
    (said("( PLAY m1 NIL )"), True),
    (said("( play M1 ((mark 1 1) pass) )"), False),
    ("POST / HTTP/1.0\r\n\r\n( PLAY m1 ((mark 1 1) pass) )", False),
    ("POST / HTTP/1.0\r\n\r\n( INFO", True),
    ("POST / HTTP/1.0\n\n( INFO )", False),
    ("POST / HTTP/1.0\nContent-Length: 8\n\n( INFO )", False),
    ("\r\n\r\nPOST / HTTP/1.0\r\n\r\n( INFO )", False),
    ("post /any/where http/1.1\r\n\r\ninfo", True),
    ("POST / HTTP/1.1\r\nContent-Length: 8\r\nConnection: keep-alive\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.1\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n( INFO )\r\n0\r\n\r\n", False),
    ("POST / HTTP/1.0\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.0\r\nContent-Length: 3\r\nContent-Length: 8\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.0\r\nodd name: x\r\nno colon\r\n: empty\r\nX: a\x01b\rc\r\n\r\n( INFO )", False),
    ("POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO ) and more ( than ) that", False),
    ("POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", False),
    ("POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n", False),
    ("POST / HTTP/1.0\r\nContent-Length: 9999999\r\n\r\n", False),
    ("POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\n( INFO", True),
    ("POST / HTTP/1.0\r\n", True),
    ("POST", True),
    ("", True),
    ("HELLO\r\n\r\n", False),
    ("GET / \r\n\r\n", False),
    ("GET  / HTTP/1.0\r\n\r\n", False),
    (asked("/", method="HEAD"), False),
    (asked("/", method="DELETE"), False),
    (asked("/", method="OPTIONS"), False),
    (asked("*", method="OPTIONS"), False),
    (asked("/", "Origin: http://evil.example", method="OPTIONS"), False),
    (asked("/", f"Origin: {ALLOWED}", method="OPTIONS"), False),
    (asked("/(INFO)", version="1.0"), False),
    (asked("/%28+INFO+%29", version="1.0"), False),
    (asked("http://localhost:9147/(INFO)", version="1.0"), False),
    (asked("//localhost:9147/info", version="1.0"), False),
    (asked("http://localhost:9147", version="1.0"), False),
    (asked("/( INFO )", version="1.0"), False),
    (asked("/(PLAY%20m1%20NIL)"), False),
    (asked("/(PLAY%20m1%20(?x))"), False),
    (asked("/favicon.ico"), False),
    (asked("/../../etc/passwd"), False),
    (asked("/a?b=c&d#e"), False),
    (asked("/%FF%FE"), False),
    (asked("/%00"), False),
    (asked("/%zz"), False),
    (asked("/\xc3\xa9"), False),
    (asked("/"), False),
    (asked("/", "Accept: application/json"), False),
    (asked("/", "Accept: */*"), False),
    (asked("/%20", "Accept: text/html"), False),
    (asked("/", "Accept: text/html"), False),
    (asked("/", "Accept: text/html", "Host: evil.example"), False),
    (asked("/metrics"), False),
    (asked("/metrics/"), False),
    (asked("/metrics", "Host: evil.example"), False),
    (asked("/metrics", f"Origin: {ALLOWED}"), False),
    (asked("/(INFO)", "Host: evil.example", "Sec-Fetch-Site: same-origin"), False),
    (said("( INFO )").replace("Sender", "Origin: http://evil.example\r\nSender"), False),
    (said("( INFO )").replace("Sender", f"Origin: {ALLOWED}\r\nSender"), False),
    (said("( DANCE )").replace("Sender", f"Origin: {ALLOWED}\r\nSender"), False),
    (said("( DANCE )").replace("Sender", "Origin: null\r\nSender"), False),
    (said("( INFO )").replace("Sender", "Origin: http://evil\x00.example\r\nSender"), False),
    (said("( INFO )").replace("Sender", "Sec-Fetch-Site: cross-site\r\nSender"), False),
    (said("( PLAY"), False),
    (said("( PLAY nobody NIL )"), False),
    (said("( START m2 Robot ((role Robot)) 9 9 )"), False),
    (said("( STOP m1 ((mark 1 1) pass) )"), False),
    (said("( STOP m1 ((mark 1 1) pass) )"), False),
    (said("( ABORT m1 )"), False),
    (said("( ABORT nobody )"), False),
    (said("( START m3 Robot ((role Robot)) 9 9 )"), False),
    (said("( PREVIEW ((role Robot)) 9 )"), False),
    ("GET /" + "x" * 20_000 + " HTTP/1.0\r\n\r\n", False),
    ("GET / HTTP/1.0\r\n" + "X: y\r\n" * 200 + "\r\n", False),
    ("GET / HTTP/1.0\r\nX: " + "y" * 12_000 + "\r\n\r\n", False),
]
"""What is sent, one after the other, and whether the client closes its sending side then."""


def shown(reply: bytes) -> str:
    """A reply as it is recorded."""
    head, blank, body = reply.partition(b"\r\n\r\n")
    if any(b"Content-type: " + kind in head for kind in CHANGING):
        head, body = re.sub(rb"length: \d+", b"length: N", head), b""
    return (head + blank + body).decode("latin-1")


def replies(server: LiveServer) -> list[str]:
    """What comes back, of all."""
    return [shown(server.raw(text.encode("latin-1"), close)) for text, close in REQUESTS]


def without_reason(reply: bytes) -> bytes:
    """A reply without the words of an error, and their length: these become better."""
    head, blank, body = reply.partition(b"\r\n\r\n")
    if body.startswith(b"error:"):
        return re.sub(rb"length: \d+", b"length: N", head) + blank + b"error:"
    return reply


def hostile_replies(server: LiveServer) -> str:
    """A hash of what comes back for the first hostile requests. Those whose reply a reset may cut are left
    out. STARTs have nine seconds instead of one: where reading the rules takes longer than the startclock,
    the reply is ``ready``, and what is wrong with them is told to the first PLAY."""
    total = hashlib.sha256()
    for case in hostile.cases(400, seed=16):
        if case.kind not in ("huge body", "long headers", "raw bytes"):
            data = case.data.replace(b" 1 1 )", b" 9 1 )")
            total.update(without_reason(talk(server.port, data, case.half_close)) + b"\0")
    return total.hexdigest()


def test_every_reply_is_the_recorded_one(serve: Serve) -> None:
    server = serve(allow_origins=(ALLOWED,), read_seconds=5.0)
    recorded = json.loads(RECORDED.read_text())["replies"]
    for (text, _), got, wanted in zip(REQUESTS, replies(server), recorded, strict=True):
        assert got == wanted, text


@pytest.mark.slow
def test_hostile_requests_get_the_recorded_replies(serve: Serve) -> None:
    server = serve(allow_origins=(ALLOWED,), read_seconds=5.0)
    assert hostile_replies(server) == json.loads(RECORDED.read_text())["hostile"]


@pytest.mark.parametrize("path", ["/", "/metrics"])
def test_a_page_in_the_peers_form_ends_with_its_connection(serve: Serve, path: str) -> None:
    reply = serve().raw(asked(path, "Accept: text/plain").encode())
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 OK\r\nContent-type: text/plain")
    assert int(head.rpartition(b": ")[2]) == len(body)
