"""Who looks on is told all of a match: by servers, managers and tournaments, on pages and in metrics."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gdl.errors import GdlError, ParseError
from ggp.game import Game
from ggp.processes.budget import WorkBudget
from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import Start, spaced
from ggp.server.match_news import MatchNews
from ggp.server.newsroom import Newsroom
from ggp.server.status import ServerStatus, as_html, as_text
from ggp.tournament.runner import Runner
from ggp.tournament.settings import parse_entrants
from ggp.tournament.store import Store
from ggp.web.watch.watched import Watched, WatchedMatch
from tests.ggp.server.live import START, LiveServer, body_of
from tests.ggp.tournament.small_tournaments import Silent, tournament_of

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


# --- The status page and the metrics of a server, and that they do not disturb the match protocol
CURL = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
BROWSER = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text,text/plain;q=0.5\r\n\r\n"


def metrics(server: LiveServer) -> dict[str, float]:
    """All samples, by name with labels."""
    reply = server.raw(METRICS)
    assert b"Content-type: text/plain; version=0.0.4" in reply
    lines = [line for line in body_of(reply).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_pages_show_the_matches_and_metrics_count_them(server: LiveServer) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    assert server.say(START) == "ready"
    for _ in range(2):
        server.say("( PLAY m1 NIL )")
    text = body_of(server.raw(CURL))
    assert re.search(r"^uptime +\d", text, re.MULTILINE)
    assert "Live matches: 1" in text
    line = next(line for line in text.splitlines() if line.startswith("m1 "))
    for part in ("Robot", " 1 ", "prover", "20/20 s", "(Mark 1 1)"):
        assert part in line
    assert server.say("( STOP m1 NIL )") == "done"
    assert server.say("( PLAY m1 NIL )") == "busy"
    assert server.raw(request_bytes("( PLAY )", "x", "x")).startswith(b"HTTP/1.0 400 ")
    samples = metrics(server)
    assert list(text_string_to_metric_families(body_of(server.raw(METRICS))))
    expected = {
        'ggp_requests_total{kind="start"}': 1,
        'ggp_requests_total{kind="play"}': 3,
        'ggp_requests_total{kind="stop"}': 1,
        'ggp_requests_total{kind="status"}': 1,
        'ggp_requests_total{kind="unreadable"}': 1,
        'ggp_moves_total{by="player"}': 1,
        'ggp_moves_total{by="watchdog"}': 0,
        "ggp_matches_started_total": 1,
        'ggp_matches_finished_total{why="stop"}': 1,
        "ggp_live_matches": 0,
        "ggp_restarts_total": 0,
        "ggp_late_replies_total": 0,
        'ggp_answer_clock_share_count{clock="play"}': 2,
        'ggp_answer_clock_share_bucket{clock="play",le="1.0"}': 2,
        'ggp_replies_total{status="400"}': 1,
    }
    assert {name: samples.get(name) for name in expected} == expected
    if Path("/proc/self/statm").exists():
        assert samples['ggp_resident_bytes{of="server"}'] > 1e6


def test_a_browser_gets_a_page_that_loads_nothing_else(server: LiveServer) -> None:
    assert server.say(START.replace("m1", "<script>m1")) == "ready"
    reply = server.raw(BROWSER)
    assert b"Content-type: text/html; charset=utf-8\r\n" in reply
    page = body_of(reply)
    assert page.startswith("<!doctype html>")
    assert "&lt;script&gt;m1" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"?(http|//)", page)


def test_the_page_has_a_row_for_each_match_and_escapes_everything() -> None:
    live, ended = {"match": "<a>", "<b>": "(<c>)", "time": "1:01"}, {"match": "<d>", "<e>": "<f>"}
    status = ServerStatus("<g>", [("<h>", "<i>")], [live], [ended, ended])
    page = as_html(status)
    for letter in "abcdefghi":
        assert f"&lt;{letter}&gt;" in page
    assert "<a>" not in page.replace('<a href="/metrics">', "")
    text = as_text(status)
    assert "match  <b>    time\n<a>    (<c>)  1:01\n" in text and "finished matches: 2" in text
    assert (
        as_text(ServerStatus("x", [], [], [])) == "x\n\nLive matches: none\n\nLast finished matches: none\n"
    )


# --- Game managers and tournaments tell of their matches, to programs of this computer
RULES = Path("games/tictactoe.kif").read_text(encoding="utf-8")
MOVES = [("(mark a 1)", "noop"), ("noop", "(mark b 2)"), ("(mark a 2)", "noop")]


async def until(done: Callable[[], Any]) -> Any:
    async with asyncio.timeout(60):
        while not (found := done()):
            await asyncio.sleep(0.01)
    return found


def only(watched: Watched) -> WatchedMatch | None:
    return next(iter(watched.matches.values()), None)


async def test_a_match_is_followed_through_a_loss_of_its_manager() -> None:
    room = Newsroom("first")
    news = room.begin("m1", RULES, "tictactoe", ["<b>a</b>", "b"], (10, 5))
    news.joint(MOVES[0], ["", ""])
    async with room.open(0) as port:
        watched = Watched([f"http://127.0.0.1:{port}"], WorkBudget(8, 2**32))
        watched.begin()
        match = await until(lambda: only(watched))
        assert match.line()["role"] == "<b>a</b> - b"
        await until(lambda: only(watched).board.get("step") == 1)  # type: ignore[union-attr]
    await until(lambda: not watched.list()["servers"][0]["reached"])
    again = Newsroom("again")
    news = again.begin("m1", RULES, "tictactoe", ["<b>a</b>", "b"], (10, 5))
    for joint in MOVES:
        news.joint(joint, ["", "no answer in time"])
    async with again.open(port):
        await until(lambda: only(watched).board.get("step") == 3)  # type: ignore[union-attr]
        told = only(watched)
        assert told is not None
        assert "no answer in time" in str(told._snapshot()["answers"])
        again.end("m1", "stop", [100, 0])
        again.end("m1", "abort")
        await until(lambda: only(watched).why)  # type: ignore[union-attr]
        assert told.why == "stop: 100 0"
    await watched.close()


async def test_pages_of_other_sites_hear_nothing() -> None:
    room = Newsroom("somebody")
    async with room.open(0) as port, aiohttp.ClientSession() as session:
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            async with session.get(f"http://127.0.0.1:{port}/events", headers=headers) as reply:
                assert reply.status == 403
        with pytest.raises(GdlError, match="cannot listen"):
            async with Newsroom("second").open(port):
                pass


async def test_a_tournament_tells_of_its_matches(tmp_path: Path) -> None:
    settings = tournament_of(parse_entrants(["random,b@random"]), name="cup", level="prover")
    room = Newsroom("cup")
    with Store(tmp_path / "cup.sqlite") as store:
        async with room.open(0) as port:
            watched = Watched([f"http://127.0.0.1:{port}"], WorkBudget(8, 2**32))
            watched.begin()
            await until(lambda: watched.list()["servers"][0]["reached"])
            await Runner(settings, store, 1, None, room).run(Silent())
            await until(lambda: len(watched.matches) == 2 and all(m.why for m in watched.matches.values()))
        results = store.results()
    told = [(match.why, len(match.moves)) for match in watched.matches.values()]
    assert told == [(f"stop: {' '.join(map(str, r.goals))}", r.steps) for r in results]
    await watched.close()
