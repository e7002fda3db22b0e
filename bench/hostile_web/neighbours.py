"""Another computer of the network at a player's server that all may reach: ``ggp serve --host 0.0.0.0``."""

from __future__ import annotations

import socket
from contextlib import suppress

from bench.hostile_web.attack import Attack, Verdict, victim
from ggp.game import Game
from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import spaced, start_request

ID = "Match.neighbours.tictactoe.1700000000"
PAGE = b"GET / HTTP/1.0\r\nAccept: text/plain\r\n\r\n"
EVENTS = b"GET /events HTTP/1.0\r\n\r\n"


def other_address() -> str:
    """An address of this computer that is not the loopback device's; empty where there is none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        return str(probe.getsockname()[0])
    return ""


def ask(address: str, port: int, data: bytes) -> str:
    """What comes back from the server at this address, which is also where it is asked from."""
    with socket.create_connection((address, port), timeout=30) as connection:
        connection.sendall(data)
        reply = b""
        with suppress(TimeoutError, ConnectionError):
            while chunk := connection.recv(65536):
                reply += chunk
        return reply.decode("utf-8", "replace")


def foreign_messages(count: int, seed: int) -> Verdict:
    """A neighbour looks for the id of a match, then plays and ends it; and does so although it knows it."""
    verdict = Verdict()
    there = other_address()
    if not there:
        return Verdict("not tried: this computer has no address but its own")
    start = start_request(ID, "x", spaced(Game.load("tictactoe").kif), 5, 5)
    with victim("serve", "--host", "0.0.0.0", "--player", "legal", "--machine", "prover") as server:

        def say(address: str, message: str) -> str:
            return ask(address, server.port, request_bytes(message, "localhost", "x")).rpartition("\r\n\r\n")[
                2
            ]

        verdict.expect(say("127.0.0.1", start) == "ready", "the match does not begin")
        page, events = ask(there, server.port, PAGE), ask(there, server.port, EVENTS)
        verdict.expect("Live matches: 1" in page and ID not in page, f"the page shows the id: {page[-500:]}")
        verdict.expect(ID in ask("127.0.0.1", server.port, PAGE), "the page hides the id from this computer")
        verdict.expect(" 403 " in events[:40], f"events: {events[:200]}")
        tried = (start, f"( PLAY {ID} NIL )", f"( STOP {ID} NIL )", f"( ABORT {ID} )")
        answers = [say(there, message) for message in tried]
        verdict.expect(set(answers) == {"busy"}, f"a neighbour is answered {answers}")
        played = say("127.0.0.1", f"( PLAY {ID} NIL )")
        verdict.expect(played.startswith("(mark"), f"the match does not go on: {played}")
        verdict.expect(say("127.0.0.1", f"( ABORT {ID} )") == "aborted", "its manager cannot end it")
        verdict.expect(ID not in server.log(), "the log shows the id")
    verdict.figures = f"START, PLAY, STOP, ABORT of a neighbour: {answers}; GET /events: {events[9:12]}"
    return verdict


ATTACKS = [Attack("a neighbour at a player's server", foreign_messages)]
