"""Who looks on is told all of a match, whenever he comes: moves, answers, what the player thinks."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest

from gdl.errors import ParseError
from ggp.game import Game
from ggp.protocol import messages
from ggp.protocol.messages import Start, spaced
from ggp.server.match_news import MatchNews
from tests.ggp.server.live import START, LiveServer

GET = b"GET /events HTTP/1.1\r\nHost: localhost\r\n%s\r\n"


class Onlooker:
    """Reads the events of a server."""

    def __init__(self, port: int, head: bytes = b"") -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._connection.sendall(GET % head)
        self._lines = self._connection.makefile("rb")

    def next(self, *wanted: str) -> dict[str, Any]:
        """The data of the next event of these names."""
        name = ""
        while line := self._lines.readline():
            text = line.decode().strip()
            if text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: ") and name in wanted:
                told: dict[str, Any] = json.loads(text[6:])
                return told
        raise AssertionError("the stream has ended")

    def close(self) -> None:
        self._lines.close()
        self._connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("head", [b"", b"Connection: keep-alive\r\n", b"Accept: text/event-stream\r\n"])
def test_a_match_is_told_as_it_goes_and_whole_to_who_comes_late(server: LiveServer, head: bytes) -> None:
    first = Onlooker(server.port, head)
    assert first.next("server")["player"] == "legal"
    assert server.say(START) == "ready"
    assert first.next("match")["role"] == "Robot"
    server.say("( PLAY m1 NIL )")
    assert first.next("answer")["move"] == "(Mark 1 1)"
    server.say("( PLAY m1 ((Mark 1 1) pass) )")
    assert first.next("step")["moves"] == [["(Mark 1 1)", "pass"]]
    late = Onlooker(server.port, head)
    told = late.next("match")
    assert told["moves"] == [["(Mark 1 1)", "pass"]]
    assert [answer["turn"] for answer in told["answers"]] == [1, 2]
    server.say("( STOP m1 ((Mark 1 1) pass) )")
    for onlooker in (first, late):
        assert onlooker.next("ended")["why"] == "stop"
        onlooker.close()


def test_pages_of_other_sites_are_told_nothing(server: LiveServer) -> None:
    for head in (b"Origin: http://evil.example\r\n", b"Sec-Fetch-Site: cross-site\r\n"):
        assert b" 403 " in server.raw(GET % head).partition(b"\r\n")[0]


def test_the_search_is_told_while_it_goes_on() -> None:
    server = LiveServer(player="uct:workers=0", machine="prover")
    try:
        onlooker = Onlooker(server.port)
        rules = spaced(Game.load("breakthrough").kif)
        start = messages.start_request("m1", "white", rules, 20, 3)
        starting = threading.Thread(target=server.say, args=(start,))
        starting.start()
        search = onlooker.next("search")  # it thinks during the startclock, too
        assert (search["turn"], search["machine"]) == (0, "prover")
        move, visits, value = search["candidates"][0]
        assert move.startswith("(move ")
        assert visits >= 1
        assert 0 <= value <= 100
        assert search["expects"] == value
        assert server.say("( ABORT m1 )") == "aborted"
        starting.join(30)
        onlooker.close()
    finally:
        server.close()


def test_until_the_name_is_known_the_title_says_what_the_rules_look_like() -> None:
    titles = [
        MatchNews(Start("m1", "x", rules, 10, 5)).title
        for rules in ("(role x) (legal x y)", "role(x). p('(') :- \\+ q, r.", "role(x) p :- q & r")
    ]
    assert titles == ["2 rules", "rules in prolog", "rules in infix"]


def test_parentheses_that_do_not_balance_are_told_with_their_place_in_the_rules() -> None:
    with pytest.raises(ParseError) as caught:
        MatchNews(Start("m1", "x", "role (a ()", 10, 5))
    assert str(caught.value).startswith("m1:1:6: this '(' is never closed")


def test_where_information_is_hidden_nothing_is_told_of_a_match_before_its_end() -> None:
    start = Start("m2", "first", Game.load("kuhn").kif, 20, 20)
    news, told = MatchNews(start), list[tuple[str, dict[str, Any]]]()
    news.publish = lambda event, data: told.append((event, data))
    news.began()
    news.search({"turn": 1, "note": "holds the king", "candidates": [["bet", 3, 75.0]], "expects": 75.0})
    news.answer(1, "bet", {"note": "holds the king", "expects": 75.0})
    news.joint(["bet", "noop", "noop"])
    assert [event for event, _ in told] == ["match"]
    late = news.snapshot()
    assert (late["moves"], late["answers"], late["search"], news.note) == ([], [], {}, "")
    news.ended("done", "75 25 0")
    assert [event for event, _ in told] == ["match", "step", "answer", "ended"]
    assert told[2][1]["move"] == "bet" and told[1][1]["moves"] == [["bet", "noop", "noop"]]
