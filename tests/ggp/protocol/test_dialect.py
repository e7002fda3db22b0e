"""The dialect: however its bytes come, a message is the same, and aiohttp can read what is made of it."""

from __future__ import annotations

import asyncio
import itertools

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpRequestParser, HttpResponseParser
from hypothesis import given
from hypothesis import strategies as st

from bench import hostile
from ggp.protocol.dialect import (
    MessageReader,
    ReplyReader,
    Request,
    RequestReader,
    in_peers_form,
    request_bytes,
)
from ggp.protocol.http_error import HttpError
from tests.examples import examples

LOOP = asyncio.new_event_loop()
"""aiohttp's parsers want one; it never runs."""
FEW = examples(60)
ENDS = st.sampled_from(["\r\n", "\n", "\r\r\n"])
WORDS = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="\n"), max_size=8)


@st.composite
def messages(draw: st.DrawFn, first: str) -> bytes:
    lines = [first, *draw(st.lists(WORDS | WORDS.map("Accept: {}".format), max_size=5))]
    body = draw(st.sampled_from(["( INFO )", "", "(a", "((a) b)(", "é"]))
    if draw(st.booleans()):
        lines.append(f"Content-Length: {draw(st.integers(0, 12))}")
    end = draw(ENDS)
    head = draw(st.sampled_from(["", end])) + "".join(line + draw(ENDS | st.just(end)) for line in lines)
    return (head + end).encode("latin-1") + body.encode()


REQUESTS = st.one_of(
    messages("POST / HTTP/1.0"),
    messages("GET /a(b)?x=y HTTP/1.1"),
    messages("GET /a?x=y HTTP/1.1"),
    messages("OPTIONS * HTTP/1.1"),
    st.binary(max_size=60),
)
REPLIES = st.one_of(messages("HTTP/1.0 200 OK"), messages("http/1.1 4x4 \x01é"), messages("HTTP/1.0"))


def read(reader: MessageReader, pieces: list[bytes]) -> str:
    """What a reader makes of pieces, as text."""
    try:
        for piece in pieces:
            if piece and reader.feed(piece):
                break
        else:
            reader.feed_eof()
    except (HttpError, ConnectionResetError) as error:
        return f"error: {error}"
    return f"{reader.line} {reader.headers} {reader.body!r}"


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(places)]


@FEW
@given(data=messages("GET / HTTP/1.0") | REPLIES, cuts=st.lists(st.integers(0, 200), max_size=6))
def test_a_message_in_pieces_is_the_same(data: bytes, cuts: list[int]) -> None:
    # Bytewise, no head comes in one piece, so the two ways of reading one are compared as well.
    whole = read(ReplyReader(), [data])
    assert read(ReplyReader(), split(data, cuts)) == whole
    assert read(ReplyReader(), [bytes([byte]) for byte in data]) == whole


@FEW
@given(REQUESTS)
def test_aiohttp_reads_what_is_made_of_every_request(data: bytes) -> None:
    reader = RequestReader()
    if read(reader, [data]).startswith("error"):
        return
    try:
        request = reader.request()
    except HttpError:
        return
    found = parsed(request)
    assert found[0] == request.method
    assert found[1] == request.body


def test_aiohttp_reads_what_is_made_of_hostile_requests() -> None:
    made = 0
    for case in hostile.cases(400, seed=3):
        reader = RequestReader()
        if not read(reader, [case.data]).startswith("error"):
            try:
                request = reader.request()
            except HttpError:
                continue
            assert parsed(request) == (request.method, request.body)
            made += 1
    assert made > 100


def parsed(request: Request) -> tuple[str, bytes]:
    """Method and body as aiohttp reads them."""
    limits = {"max_line_size": 1 << 20, "max_field_size": 1 << 16, "max_headers": 1 << 14}
    parser = HttpRequestParser(BaseProtocol(LOOP), LOOP, 2**16, **limits)
    ((message, payload),), upgraded, tail = parser.feed_data(request.equivalent())
    assert not upgraded
    assert not tail
    return message.method, payload.read_nowait() if request.body else b""


@FEW
@given(REPLIES)
def test_aiohttp_reads_what_is_made_of_every_reply(data: bytes) -> None:
    reader = ReplyReader()
    read(reader, [data])
    try:
        made = reader.equivalent()
    except (HttpError, IndexError):
        return

    parser = HttpResponseParser(BaseProtocol(LOOP), LOOP, 2**16)
    ((message, payload),), _, _ = parser.feed_data(made)
    assert message.code in (200, 500)
    assert (payload.read_nowait() if reader.body else b"") == reader.body


def test_a_request_of_ours_is_read_as_it_was_meant() -> None:
    reader = RequestReader()
    assert reader.feed(request_bytes("( PLAY é NIL )", "x", "café"))
    request = reader.request()
    assert (request.method, request.text, request.target) == ("POST", "( PLAY é NIL )", "/")
    assert not request.stays


def test_the_head_of_a_reply_in_the_peers_form() -> None:
    head = b"HTTP/1.1 404 Not Found\r\nVary: Origin\r\nContent-Type: a/b\r\nContent-Length: 3\r\nDate: now"
    wanted = b"HTTP/1.0 404 Not Found\r\nContent-type: a/b\r\nContent-length: 3\r\nVary: Origin\r\n\r\n"
    assert in_peers_form(head) == (wanted, 404, 3)
    assert in_peers_form(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")[2] is None
