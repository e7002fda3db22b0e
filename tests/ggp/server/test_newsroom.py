"""Game managers and tournaments tell of their matches, to programs of this computer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget
from ggp.server.newsroom import Newsroom
from ggp.tournament.runner import Runner
from ggp.tournament.settings import parse_entrants
from ggp.tournament.store import Store
from ggp.web.watch.watched import Watched, WatchedMatch
from tests.ggp.tournament.small_settings import tournament_of
from tests.ggp.tournament.watchers import Silent

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
