"""What programs tell of matches arrives, also after they were away; nonsense is told in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gdl.errors import GdlError
from ggp.events.feed import Feed
from ggp.events.stream import encode
from ggp.server.clients.events_port import told_on
from ggp.web.watch.live_match import LiveMatch
from ggp.web.watch.source import LiveMatches, checked

RULES = Path("games/tictactoe.kif").read_text()
MOVES = [["(mark a 1)", "noop"], ["noop", "(mark b 2)"], ["(mark a 2)", "noop"], ["noop", "(mark a 3)"]]


async def until(done: Callable[[], Any], seconds: float = 20.0) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := done()):
            await asyncio.sleep(0.01)
    return found


def only(matches: LiveMatches) -> LiveMatch | None:
    return next(iter(matches.sources[0].matches.values()), None)


def test_a_program_that_was_away_goes_on_at_the_right_step() -> None:
    async def run() -> None:
        feed = Feed("first")
        story = feed.begin("m1", RULES, role="x", clocks=[10, 5])
        async with told_on(feed, 0) as port:
            matches = LiveMatches([f"127.0.0.1:{port}"])
            matches.open()
            match = await until(lambda: only(matches))
            story.step(1, MOVES[0])
            await until(lambda: match.listed()["step"] == 1)
            await until(lambda: matches.sources[0].connected)
        await until(lambda: not matches.sources[0].connected)
        assert not match.connected
        # It was killed, and knows the match again; two moves were made meanwhile.
        again = Feed("again")
        story = again.begin("m1", RULES, role="x", clocks=[10, 5])
        for number, joint in enumerate(MOVES[:3], 1):
            story.step(number, joint)
        async with told_on(again, port):
            await until(lambda: match.connected)
            assert match.listed()["step"] == 3
            assert only(matches) is match
            story.step(4, MOVES[3])
            story.end("stop", ["0", "100"])
            await until(lambda: match.over)
            assert match.listed()["step"] == 4
            assert match.goals == ["0", "100"]
        await matches.close()

    asyncio.run(run())


def test_a_match_is_drawn_once_for_all_who_look_on() -> None:
    async def run() -> None:
        feed = Feed("somebody")
        story = feed.begin("m1", RULES, game="tictactoe", players=["<b>a</b>", "b"])
        async with told_on(feed, 0) as port:
            matches = LiveMatches([f"127.0.0.1:{port}"])
            matches.open()
            match = await until(lambda: only(matches))
            match.open()
            for number, joint in enumerate(MOVES[:2], 1):
                story.step(number, joint)
            await until(lambda: match._drawn == 2)
            assert "<svg" in await match.drawing(1)
            with pytest.raises(GdlError):
                await match.drawing(3)
            story.step(2, ["noop", "(mark c 3)"])  # put right
            await until(lambda: "c3" in match._svg or match._steps[1]["moves"] == ["noop", "(mark c 3)"])
            story.step(3, ["(fly 1)", "noop"])
            await until(lambda: "step 3" in match._note)
            await matches.close()

    asyncio.run(run())


STORY: dict[str, Any] = {"match": "m", "rules": RULES, "steps": [], "think": None, "over": "", "goals": []}
NONSENSE: list[bytes] = [
    b"data: {\n\n",
    b"event: all\ndata: 7\n\n",
    b"event: all\ndata: " + b"[" * 5000 + b"\n\n",
    encode("step", {"match": "nobody", "number": 1, "moves": [], "errors": []}),
    encode("all", {"source": "s", "matches": [{**STORY, "steps": [{"number": "x"}]}]}),
    encode("all", {"source": "s", "matches": [{**STORY, "steps": 5}]}),
    encode("all", {"source": "s", "matches": [{**STORY, "think": {"step": []}}]}),
    encode("all", {"source": ["\n\x1b"], "matches": [STORY]}) + encode("think", {"match": "m", "value": {}}),
]


@pytest.mark.parametrize("bad", NONSENSE)
def test_nonsense_is_told_in_one_line(bad: bytes) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=bad, content_type="text/event-stream")

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/events", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        matches = LiveMatches([f"http://127.0.0.1:{runner.addresses[0][1]}"])
        matches.open()
        problem = await until(lambda: matches.sources[0].problem)
        assert problem.startswith("it tells what cannot be read")
        assert problem.isprintable()
        await matches.close()
        await runner.cleanup()

    asyncio.run(run())


def test_what_is_no_address_is_refused() -> None:
    assert checked("localhost:9147") == "http://localhost:9147"
    assert checked("http://localhost:9147/events") == "http://localhost:9147"
    for bad in ("ftp://x", "http://", "http://x:99999", "http://[::1"):
        with pytest.raises(GdlError, match="no address"):
            checked(bad)


def test_pages_of_other_sites_read_no_events() -> None:
    import aiohttp

    async def run() -> None:
        feed = Feed("somebody")
        async with told_on(feed, 0) as port, aiohttp.ClientSession() as session:
            for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
                async with session.get(f"http://127.0.0.1:{port}/events", headers=headers) as reply:
                    assert reply.status == 403

    asyncio.run(run())
