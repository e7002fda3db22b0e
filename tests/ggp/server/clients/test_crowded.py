"""Connections that are abandoned, idle or many keep nobody else from being answered."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from bench.serving import post
from ggp.protocol.listener import ListenLimits
from ggp.protocol.messages import Start
from ggp.server.settings import MOST_WAITING, ServerConfig
from tests.ggp.server.live import LiveServer, Serve, eventually, start

PLAY = post(b"( PLAY m1 NIL )")
LEGAL = ("(Mark 1 1)", "(Mark 2 2)")


@contextlib.contextmanager
def opened(server: LiveServer, data: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Connections that have sent this and wait."""
    with contextlib.ExitStack() as stack:
        peers = []
        for _ in range(count):
            peers.append(
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            )
            peers[-1].sendall(data)
        yield peers


def body(peer: socket.socket) -> str:
    """The reply that comes in the end."""
    data = b""
    while chunk := peer.recv(4096):
        data += chunk
    return data.partition(b"\r\n\r\n")[2].decode()


def clients(server: LiveServer) -> int:
    return len(server.server._connections.listener.guests)


@pytest.fixture
def thinking(serve: Serve) -> LiveServer:
    """A server of which a match waits for a PLAY; the player takes all of its time."""
    server = serve(player="slow_players:Sleeper")
    server.warm()
    assert server.say(start(startclock=2, playclock=40)) == "ready"
    return server


@pytest.mark.slow
@pytest.mark.parametrize("how", ["closed", "half-closed", "silent"])
def test_abandoned_plays_lock_nobody_out(thinking: LiveServer, how: str) -> None:
    with opened(thinking, PLAY, 100) as peers:
        for peer in peers:
            if how == "closed":
                peer.close()
            elif how == "half-closed":
                peer.shutdown(socket.SHUT_WR)
        eventually(lambda: thinking.server.running[0]._turn is not None)
        assert "( status busy )" in thinking.say("( INFO )")
        eventually(lambda: clients(thinking) <= (0 if how == "closed" else MOST_WAITING))
        assert not thinking.server.running[0]._turn.answered  # type: ignore[union-attr]
        assert thinking.say("( ABORT m1 )") == "aborted"


def test_half_closed_clients_stay_served_and_the_first_and_last_of_a_turn_wait_for_its_answer(
    serve: Serve,
) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun(playclock=4)
    with opened(server, PLAY, 1) as (first,):
        first.shutdown(socket.SHUT_WR)
        eventually(lambda: clients(server) == 1)
        with opened(server, PLAY, 2 * MOST_WAITING) as others:
            assert first.recv(9) == b"HTTP/1.0 ", "so that a client that has gone is seen"
            for other in others[: MOST_WAITING + 1]:
                assert body(other) in LEGAL
            match = server.server.running[0]
            assert match._turn is not None and not match._turn.answered
            assert body(first) == LEGAL[1]
            assert [body(other) for other in others[MOST_WAITING + 1 :]] == [LEGAL[1]] * (MOST_WAITING - 1)


def test_a_reply_begun_early_is_the_same_in_the_end(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun(playclock=4)
    answers: list[bytes] = []
    thread = threading.Thread(target=lambda: answers.append(server.raw(PLAY)))
    thread.start()
    half_closed = server.raw(PLAY, half_close=True)
    thread.join()
    assert answers == [half_closed]
    assert half_closed.startswith(b"HTTP/1.0 200 OK\r\n")


def test_a_turn_whose_client_has_gone_was_not_delivered(thinking: LiveServer) -> None:
    match = thinking.server.running[0]
    with opened(thinking, PLAY, 1):
        eventually(lambda: match._turn is not None)
    eventually(lambda: match._turn is not None and not match._turn.delivered)


def test_a_start_whose_client_has_gone_goes_on(serve: Serve) -> None:
    server = serve()
    with opened(server, post(start().encode()), 1):
        eventually(lambda: bool(server.server.running))
    eventually(lambda: clients(server) == 0)
    assert server.say(start()) == "ready"


def test_those_who_send_nothing_make_room_for_those_who_do(serve: Serve) -> None:
    server = serve(limits=ListenLimits(16, 8))
    with opened(server, b"POST / HTTP/1.0\r\n", 40) as peers:
        assert "available" in server.say("( INFO )")
        assert body(peers[0]) == "error: too many connections"
        eventually(lambda: clients(server) <= 9)


def test_the_address_with_most_connections_makes_room(serve: Serve) -> None:
    server = serve(limits=ListenLimits(6, 100))
    with opened(server, b"P", 1) as (ours,), contextlib.ExitStack() as stack:
        ours.sendall(b"OST / HTTP/1.0\r\n")
        eventually(lambda: clients(server) == 1)
        for _ in range(12):
            source = ("127.0.0.2", 0)
            address = ("127.0.0.1", server.port)
            stack.enter_context(socket.create_connection(address, timeout=30, source_address=source))
        eventually(lambda: clients(server) == 6)
        ours.sendall(b"\r\n( INFO )")
        assert "available" in body(ours)


def test_clocks_are_cut_and_a_match_without_messages_has_an_end(serve: Serve) -> None:
    server = serve(longest_clock=40).begun(startclock=7 * 86400, playclock=404_800)
    match = server.server.running[0]
    assert (match.start.startclock, match.start.playclock) == (40, 40)
    assert server.say(start(startclock=7 * 86400, playclock=404_800)) == "ready", "it is sent again"
    assert isinstance(match.start, Start)


@pytest.mark.parametrize(
    ("clocks", "seconds"), [((60, 10), 115), ((600, 600), 3605), ((3600, 3600), 7205), ((9000, 1), 9005)]
)
def test_idle_time_has_a_bound(clocks: tuple[int, int], seconds: int) -> None:
    assert ServerConfig().idle_seconds(*clocks) == seconds
