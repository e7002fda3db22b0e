"""A match belongs to the address that has started it; others learn no id, and not what the search expects."""

from __future__ import annotations

import json
import time

import pytest

from ggp.protocol import messages
from ggp.protocol.messages import parse_message, spaced
from ggp.server.clients.visitors import LOOPBACK, Veil, is_here, sender_of
from tests.ggp.server.live import MARKS, LiveServer, Serve, ServeProcess, body_of, talk

ID = "Match.manager.marks.1700000000"
START = messages.start_request(ID, "Robot", spaced(MARKS), 20, 20)
ELSEWHERE = b"X-Forwarded-For: 203.0.113.9\r\n"
"""What a proxy on this computer says of somebody who is not."""
PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n%s\r\n"
EVENTS = b"GET /events HTTP/1.1\r\nHost: localhost\r\n%s\r\n"


def ask(server: LiveServer, message: str, sender: str) -> str:
    """The reply to a message that comes from an address."""
    return server.do(server.server.answer(parse_message(message), time.monotonic(), sender))


def test_only_who_has_started_a_match_can_play_or_end_it(serve: Serve) -> None:
    server = serve()
    assert ask(server, START, "192.0.2.1") == "ready"
    for message in (f"( PLAY {ID} NIL )", f"( STOP {ID} NIL )", f"( ABORT {ID.upper()} )", START):
        assert ask(server, message, "192.0.2.2") == "busy"
        assert ask(server, message, LOOPBACK) == "busy"
    assert ask(server, f"( PLAY {ID} NIL )", "192.0.2.1") == "(Mark 1 1)"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.1") == "aborted"
    # The reply does not even tell that there was such a match.
    for message in (f"( ABORT {ID} )", f"( STOP {ID} NIL )", "( ABORT none )"):
        assert ask(server, message, "192.0.2.2") == "busy"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.1") == "aborted"


def test_the_operator_may_let_all_addresses_in(serve: Serve) -> None:
    server = serve(any_sender=True)
    assert ask(server, START, "192.0.2.1") == "ready"
    assert ask(server, f"( PLAY {ID} NIL )", "192.0.2.2") == "(Mark 1 1)"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.3") == "aborted"
    assert ask(server, f"( ABORT {ID} )", "192.0.2.4") == "aborted"


def test_pages_and_events_show_whole_ids_to_this_computer_only(serve: Serve) -> None:
    server = serve(open_events=True)
    assert server.say(START) == "ready"
    server.say(f"( PLAY {ID} NIL )")
    told = []
    for head in (b"", ELSEWHERE):
        for accept in (b"text/html", b"text/plain"):
            told.append(body_of(server.raw(PAGE % (accept, head))))
        greeting = talk_for_a_moment(server.port, EVENTS % head)
        told.append(next(line for line in greeting.splitlines() if '"role"' in line))
    assert [ID in text for text in told] == [True, True, True, False, False, False]
    assert all("Match.ma.." in text for text in told[3:])
    server.say(f"( STOP {ID} NIL )")
    assert ID not in body_of(server.raw(PAGE % (b"text/plain", ELSEWHERE)))


def test_events_are_for_this_computer_unless_the_operator_opens_them(serve: Serve) -> None:
    server = serve()
    refused = server.raw(EVENTS % ELSEWHERE)
    assert b" 403 " in refused.partition(b"\r\n")[0]
    assert b"--open-events" in refused
    assert "event: server" in talk_for_a_moment(server.port, EVENTS % b"")


@pytest.mark.slow
def test_the_log_names_matches_by_no_whole_id() -> None:
    with ServeProcess("--player", "legal", "--machine", "prover", "--log-format", "json") as server:
        rules = spaced(MARKS)
        for message in (messages.start_request(ID, "Robot", rules, 5, 5), f"( ABORT {ID} )", "( ABORT x1 )"):
            body = message.encode()
            talk(server.port, b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert ID not in server.said
    started = [json.loads(line) for line in server.said.splitlines() if '"start"' in line]
    assert started[0]["match"].startswith("Match.ma..")


@pytest.mark.parametrize(
    ("address", "sender"),
    [
        ("127.0.0.1", LOOPBACK),
        ("127.8.9.1", LOOPBACK),
        ("::1", LOOPBACK),
        ("::ffff:127.0.0.1", LOOPBACK),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", ""),
    ],
)
def test_addresses_are_compared_whatever_their_form(address: str, sender: str) -> None:
    assert sender_of(address) == sender


def test_who_comes_through_a_proxy_of_this_computer_is_elsewhere() -> None:
    assert is_here("127.0.0.1", {})
    assert not is_here("192.0.2.1", {})
    for header in ("forwarded", "x-forwarded-for", "x-real-ip", "via"):
        assert not is_here("127.0.0.1", {header: "x"})


def test_names_for_strangers_are_the_same_for_one_id_and_lead_back_to_none() -> None:
    veil = Veil()
    assert veil.name(ID) == veil.name(ID)
    assert veil.name(ID) != veil.name(ID + "1")
    assert veil.name(ID) != Veil().name(ID)
    for match in ("m", "m1", "abc", ID):
        assert match not in veil.name(match)


def talk_for_a_moment(port: int, data: bytes) -> str:
    """What comes within a moment on a connection that stays open."""
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        reply = b""
        while b"\ndata: " not in reply or (b"event: match" not in reply and b'"role"' not in reply):
            connection.settimeout(1.0)
            try:
                chunk = connection.recv(65536)
            except TimeoutError:
                break
            if not chunk:
                break
            reply += chunk
        return reply.decode()
