"""The messages of the match protocol and their dialect; servers that listen, and that are asked."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import socket
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable

import orjson
import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpRequestParser, HttpResponseParser
from hypothesis import given
from hypothesis import strategies as st

from bench import hostile
from gdl.errors import GdlError, ParseError
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.protocol import listener as listeners
from ggp.protocol import messages
from ggp.protocol.address import Address, parse_address
from ggp.protocol.asking import events, post
from ggp.protocol.dialect import (
    MessageReader,
    ReplyReader,
    Request,
    RequestReader,
    in_peers_form,
    request_bytes,
)
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import STUCK_SECONDS, Listener, ListenLimits
from ggp.protocol.match_record import MatchRecord, draw_seed
from ggp.protocol.messages import Abort, Info, Play, Preview, Start, Stop, parse_message
from ggp.server.newsroom import Newsroom
from tests.examples import examples

RULES = "( role Robot ) ( <= ( legal Robot ( mark 1 1 ) ) ( true ( step ?n ) ) ) ( init ( Mixed Case ) )"

FOREIGN = "role(x). p :- (a ; b), q('\\')')."

MESSAGES = [
    ("( INFO )", Info()),
    ("info", Info()),
    (f"( PREVIEW ({RULES}) 30 )", Preview(RULES, 30)),
    (f"( START m1 Robot ({RULES}) 30 10)", Start("m1", "Robot", RULES, 30, 10)),
    (f"(start m1 Robot ({RULES}) 30 10 more (and more) )", Start("m1", "Robot", RULES, 30, 10)),
    (
        "(start m1 Robot (role(x). p :- (a ; b), q('\\')').) 30 10 more)",
        Start("m1", "Robot", FOREIGN, 30, 10),
    ),
    ("( PREVIEW (role(x) p :- a & b) 5)", Preview("role(x) p :- a & b", 5)),
    ("( PREVIEW (% :(\nrole(x).) 5)", Preview("% :(\nrole(x).", 5)),
    ("( PLAY m1 NIL )", Play("m1", None)),
    ("(play\n\tm1 nil)", Play("m1", None)),
    ("( PLAY m1 () )", Play("m1", None)),
    ("( PLAY m1 (( mark 1 1 ) pass ) )", Play("m1", ("( mark 1 1 )", "pass"))),
    ("( STOP m1 (noop pass ) )", Stop("m1", ("noop", "pass"))),
    ("( PLAY m1 0 NIL NIL )", Play("m1", None, 0, None)),
    ("( PLAY m1 3 ( mark 1 1 ) (ok ( row 2 ) ) )", Play("m1", ("ok", "( row 2 )"), 3, "( mark 1 1 )")),
    ("(play m1 12 noop ())", Play("m1", None, 12, "noop")),
    ("( STOP m1 4 call (( shown king ) ) )", Stop("m1", ("( shown king )",), 4, "call")),
    ("( STOP m1 NIL )", Stop("m1", None)),
    ("( ABORT Match.base.ticTacToe.1234567890123 )", Abort("Match.base.ticTacToe.1234567890123")),
]


@pytest.mark.parametrize(("text", "message"), MESSAGES)
def test_messages_are_read(text: str, message: messages.Message) -> None:
    assert parse_message(text) == message
    assert parse_message(f"\r\n {text}\r\n\r\n") == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "()",
        "( FOO )",
        "( PLAY m1 )",
        "( PLAY m1 noop )",
        "( PLAY (m1) NIL )",
        "( START m1 Robot )",
        "( START m1 Robot rules 30 10 )",
        "( START m1 Robot ((role a)) x 10 )",
        "( START m1 Robot ((role a)) -1 10 )",
        "( START m1 Robot (role(x). p :- a ; b.) 10 )",
        "( START m1 Robot (role(x). p :- a ; b.) 10 10",
        "( START m1 Robot (role(x). p :- a ; b.) x 10 )",
        "( START m1 Robot (role(x). p :- a ; b. 10 10 )",
        "( PREVIEW (role(x). ) )",
        "( STOP )",
        "( ABORT )",
        "( PLAY m1 NIL",
        "( PLAY m1 NIL ) )",
        "( INFO ) ( INFO )",
        "(" * 100_000,
        ")",
        f"( ABORT {'m' * 5000} )",
    ],
)
def test_what_is_no_message_is_refused_with_a_short_reason(text: str) -> None:
    with pytest.raises(ParseError) as refusal:
        parse_message(text)
    assert 10 < len(str(refusal.value)) < 300


@given(st.text(alphabet="( ) ;\n\tINFOplaystart0123?\x00é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_message(text)
    except GdlError:
        return


@given(st.text(alphabet="()';%.\n 10ap,:-", max_size=60))
def test_any_rules_after_a_beginning_are_read_or_refused(text: str) -> None:
    try:
        message = parse_message(f"( START m1 robot (a{text}")
    except GdlError:
        return
    assert isinstance(message, Start)
    assert message.rules in f"a{text}"


def test_requests_of_games_of_hidden_information_are_read_as_they_were_meant() -> None:
    for command, kind in (("PLAY", Play), ("STOP", Stop)):
        first = messages.blind_request(command, "m1", 0, None, [])
        assert first == f"( {command} m1 0 NIL NIL )"
        assert parse_message(first) == kind("m1", None, 0, None)
        later = messages.blind_request(command, "m1", 2, "(mark 1 1)", ["ok", "(row 2)"])
        assert parse_message(later) == kind("m1", ("ok", "( row 2 )"), 2, "( mark 1 1 )")
        bare = messages.blind_request(command, "m1", 2, "(mark 1 1)", ["ok"], numbered=False)
        assert bare == f"( {command} m1 (ok ) )"
        assert parse_message(bare) == kind("m1", ("ok",))


@pytest.mark.parametrize(
    "report",
    [
        Play("m", None, 0, None),
        Play("m", None, 7, "noop"),
        Play("m", ("ok", "(row 2)"), 7, "(mark 1 1)"),
        Play("m", ("ok",)),
        Play("m", None),
    ],
)
def test_what_was_told_of_a_turn_is_read_back(report: Play) -> None:
    turn, own, percepts = messages.read_told(report.told)
    assert (turn, own, percepts) == (report.turn, report.own, report.moves or ())


def test_rules_become_one_line_without_comments_in_their_own_spelling() -> None:
    text = "(role Robot) ; a comment (\n(<= (legal Robot (mark 1 1))\n\t(true (step ?n)))(init (Mixed Case))"
    assert messages.spaced(text) == RULES


def test_info_replies_are_read_old_and_new() -> None:
    reply = messages.info_reply("kaskade", available=True)
    assert reply == "( ( name kaskade ) ( status available ) ( species MACHINE ) )"
    assert messages.parse_info_reply(reply)["name"] == "kaskade"
    assert messages.parse_info_reply("available") == {"status": "available"}
    assert messages.info_reply("x", available=False) == "( ( name x ) ( status busy ) ( species MACHINE ) )"


def test_addresses_of_players() -> None:
    assert str(parse_address("http://localhost:9148/")) == "localhost:9148"
    assert str(parse_address("10.0.0.1:80")) == "10.0.0.1:80"
    assert str(parse_address("example")) == "example:9147"
    for wrong in ("", "ftp://x", "http://", "host:port", "host:99999999"):
        with pytest.raises(HttpError):
            parse_address(wrong)


RECORDED = """
(role a) (role b) (init (step 1)) (<= (legal a (mark 1 1)) (true (step 1))) (legal b noop)
(<= (next (step 2)) (true (step 1))) (<= (next over) (true (step 1))) (<= terminal (true over))
"""


def test_a_match_record_has_the_ecosystems_keys() -> None:
    record = MatchRecord("m1", 30, 10, ["a", "b"], game_url="http://example.org/game/")
    state = ProverMachine(parse_rules(RECORDED)).initial_state()
    record.add_state(state, ["", ""])
    record.add_moves(state, [moves[0] for moves in state.machine.options(state)])
    record.add_state(state.play(["(mark 1 1)", "noop"]), ["", "TO"])
    record.completed, record.goals = True, [100, 0]
    fields = record.to_dict()
    assert fields["states"] == ["( ( step 1 ) )", "( over ( step 2 ) )"]
    assert fields["moves"] == [["( mark 1 1 )", "noop"]]
    assert fields["errors"] == [["", ""], ["", "TO"]]
    assert len(fields["stateTimes"]) == 2
    assert fields["goalValues"] == [100, 0]
    assert set(fields) == {
        "matchId", "randomToken", "startTime", "startClock", "playClock", "previewClock", "gameMetaURL",
        "playerNamesFromHost", "tournamentNameFromHost", "scrambled", "isCompleted", "isAborted", "states",
        "moves", "stateTimes", "errors", "goalValues",
    }  # fmt: skip


def test_the_seed_is_told_at_the_end_only() -> None:
    record = MatchRecord("m", 1, 1, ["a"], seed=draw_seed())
    assert "seed" not in record.to_dict()
    record.aborted = True
    assert record.to_dict()["seed"] == str(record.seed)
    record.aborted, record.completed = False, True
    assert orjson.loads(record.to_json())["seed"] == str(record.seed)


# --- The dialect: however its bytes come, a message is the same, and aiohttp can read what is made of it
LOOP = asyncio.new_event_loop()
"""aiohttp's parsers want one; it never runs."""
FEW = examples(60)
ENDS = st.sampled_from(["\r\n", "\n", "\r\r\n"])
WORDS = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="\n"), max_size=8)


@st.composite
def http_messages(draw: st.DrawFn, first: str) -> bytes:
    lines = [first, *draw(st.lists(WORDS | WORDS.map("Accept: {}".format), max_size=5))]
    body = draw(st.sampled_from(["( INFO )", "", "(a", "((a) b)(", "é"]))
    if draw(st.booleans()):
        lines.append(f"Content-Length: {draw(st.integers(0, 12))}")
    end = draw(ENDS)
    head = draw(st.sampled_from(["", end])) + "".join(line + draw(ENDS | st.just(end)) for line in lines)
    return (head + end).encode("latin-1") + body.encode()


REQUESTS = st.one_of(
    http_messages("POST / HTTP/1.0"),
    http_messages("GET /a(b)?x=y HTTP/1.1"),
    http_messages("GET /a?x=y HTTP/1.1"),
    http_messages("OPTIONS * HTTP/1.1"),
    st.binary(max_size=60),
)
REPLIES = st.one_of(
    http_messages("HTTP/1.0 200 OK"), http_messages("http/1.1 4x4 \x01é"), http_messages("HTTP/1.0")
)


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
@given(data=http_messages("GET / HTTP/1.0") | REPLIES, cuts=st.lists(st.integers(0, 200), max_size=6))
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


# --- Servers stay within their limits, and ask others without being led anywhere
class FakeGuest:
    """A connection that notes how it ends."""

    def __init__(self, listener: Listener, address: str, since: float, waits: bool) -> None:
        self.address, self.since, self.waits = address, since, waits
        self.unsent = 0
        self._listener = listener

    def put_off(self) -> None:
        assert not self.waits
        self.close()

    def check(self, now: float) -> None:
        """Nothing is due."""

    def close(self) -> None:
        self._listener.forget(self)


async def a_moment() -> None:
    """Until the listener has made room: on a busy machine its timer and this one are due at the same time."""
    await asyncio.sleep(2 * listeners.MOMENT)
    for _ in range(9):
        await asyncio.sleep(0)


@given(
    coming=st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60),
    most=st.integers(1, 20),
    per_address=st.integers(1, 20),
)
def test_there_are_never_more_idle_ones_than_allowed(
    coming: list[tuple[str, bool]], most: int, per_address: int
) -> None:
    async def run() -> None:
        listener = Listener(ListenLimits(most, per_address, 1000))
        for since, (address, waits) in enumerate(coming):
            listener.took(FakeGuest(listener, address, float(since), waits))
        await a_moment()
        idle = Counter(guest.address for guest in listener.guests if not guest.waits)
        assert sum(idle.values()) <= max(most, 1)
        assert all(number <= per_address for number in idle.values())
        assert sum(guest.waits for guest in listener.guests) == sum(waits for _, waits in coming)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listeners, "MOMENT", 0.001)  # each example waits for it
        asyncio.run(run())


async def test_the_newest_of_many_idle_ones_stays() -> None:
    listener = Listener(ListenLimits(5, 3, 1000))
    guests = [FakeGuest(listener, "a", float(number), False) for number in range(40)]
    for guest in guests:
        listener.took(guest)
    await a_moment()
    assert listener.guests == set(guests[-3:])


@given(sizes=st.lists(st.integers(0, 100), max_size=20), most=st.integers(1, 200))
def test_what_is_unsent_has_a_bound(sizes: list[int], most: int) -> None:
    listener = Listener(ListenLimits(unsent=most))
    for size in sizes:
        guest = FakeGuest(listener, "a", 0.0, False)
        guest.unsent = size
        listener.guests.add(guest)
    listener.end_stuck(0.0)
    left = [guest.unsent for guest in listener.guests]
    assert sum(left) <= most
    assert len(left) == len(sizes) or not left or sum(sizes) > most


def test_who_takes_nothing_goes_and_who_takes_a_little_stays() -> None:
    listener = Listener(ListenLimits())
    stuck, slow = (FakeGuest(listener, "a", 0.0, False) for _ in range(2))
    listener.guests |= {stuck, slow}
    stuck.unsent = slow.unsent = 1000
    for second in range(2 * int(STUCK_SECONDS)):
        slow.unsent -= 1
        listener.end_stuck(float(second))
    assert listener.guests == {slow}


def test_why_an_address_cannot_be_listened_on_is_said_with_what_to_do() -> None:
    async def ask(host: str, port: int) -> str:
        with pytest.raises(GdlError) as caught:
            await Listener(ListenLimits()).open(host, port, asyncio.Protocol)
        return str(caught.value)

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert asyncio.run(ask("127.0.0.1", port)) == (
            f"cannot listen on 127.0.0.1:{port}: another program listens there"
            " (choose another --port; 0 takes a free one)"
        )
    for host in ("300.1.1.1", "no such", "a" * 80, "::1::2"):
        assert f"cannot listen on {host}:0: there is no such address (choose 127.0.0.1" in asyncio.run(
            ask(host, 0)
        )
    assert "this is not an address of this computer (choose 127.0.0.1" in asyncio.run(ask("192.0.2.1", 0))


@pytest.mark.parametrize(
    "request_", ["GET /events HTTP/1.1", "GET / HTTP/1.1", "NO HTTP", "GET / HTTP/9.9", "GET /\x01 HTTP/1.1"]
)
def test_no_reply_tells_versions(request_: str) -> None:
    async def ask() -> bytes:
        async with Newsroom("t").open(0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{request_}\r\nHost: localhost:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            return head

    head = asyncio.run(ask()).lower()
    assert b"server: kaskade\r\n" in head
    assert b"aiohttp" not in head and b"python" not in head


@pytest.mark.parametrize("module", ["ggp.server.server", "ggp.server.newsroom", "ggp.web.app"])
def test_every_server_listens_so(module: str) -> None:
    code = f"import {module}, aiohttp.web_response as w; print(w.SERVER_SOFTWARE)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "kaskade\n"


# --- A server that is asked leads nowhere else, and what it sends is neither unpacked nor unbounded
LONGEST = 64 * 1024
BOMB = gzip.compress(b"data: " + bytes(50_000_000))
EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


async def told(reply: bytes, endless: bytes = b"") -> tuple[str, str]:
    """What becomes of a message, and of events, where a server answers with these bytes, and perhaps with
    others for ever."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        try:
            while endless:
                writer.write(endless)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def line(place: Address) -> str:
        async with events(place, 5.0, LONGEST) as lines:
            return (await lines.readline()).decode()

    async def outcome(asked: Awaitable[str]) -> str:
        try:
            return await asked
        except (HttpError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    place = Address("127.0.0.1", server.sockets[0].getsockname()[1])
    async with server:
        return await outcome(post(place, "( INFO )", "x", 20.0)), await outcome(line(place))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_lead_nowhere(status: int) -> None:
    async def ask() -> tuple[tuple[str, str], int]:
        visits = 0

        def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal visits
            visits += 1
            writer.close()

        other = await asyncio.start_server(visited, "127.0.0.1", 0)
        async with other:
            port = other.sockets[0].getsockname()[1]
            head = (
                f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{port}/\r\nContent-Length: 0\r\n\r\n"
            )
            return await told(head.encode()), visits

    (message, listened), visits = asyncio.run(ask())
    assert f"answers {status}" in message
    assert f"answers {status}" in listened
    assert visits == 0


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_nothing_is_unpacked(encoding: str) -> None:
    head = f"{EVENTS}Content-Encoding: {encoding}\r\nContent-Length: {len(BOMB)}\r\n\r\n"
    tracemalloc.start()
    message, listened = asyncio.run(told(head.encode() + BOMB))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    assert message.startswith("HttpError") and listened.startswith("HttpError: answers 200 text/event-stream")


@pytest.mark.parametrize(
    ("head", "endless"),
    [
        (EVENTS + "\r\n", b"x" * 65536),
        (EVENTS, b"X-More: x\r\n" * 1000),
        (EVENTS + "X-Long: ", b"x" * 65536),
        ("", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (EVENTS + "Transfer-Encoding: chunked\r\n\r\n", b"10;" + b"x" * 65536),
    ],
    ids=["body", "headers", "header", "replies", "chunk"],
)
def test_what_has_no_end_is_cut(head: str, endless: bytes) -> None:
    tracemalloc.start()
    message, listened = asyncio.run(told(head.encode(), endless))
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()
    assert "Error" in message and "Error" in listened


def test_the_client_tells_no_versions() -> None:
    async def ask(asked: Callable[[Address], Awaitable[object]]) -> bytes:
        heads = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(note, "127.0.0.1", 0) as server:
            await asked(Address("127.0.0.1", server.sockets[0].getsockname()[1]))
        return bytes(heads[0]).lower()

    async def listen(place: Address) -> None:
        with pytest.raises(HttpError):
            async with events(place, 5.0, LONGEST):
                pass

    for asked in (listen, lambda place: post(place, "( INFO )", "x", 5.0)):
        head = asyncio.run(ask(asked))
        assert b"aiohttp" not in head and b"python" not in head
