"""States of games are drawn by address, in processes that may die or hang."""

from __future__ import annotations

import asyncio
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from gdl.errors import GdlError
from ggp.boards.svg.markup import drawing_policy
from ggp.processes.budget import WorkBudget
from ggp.processes.child import Child
from ggp.processes.workers import Workers
from ggp.web.boards import WORK
from tests.ggp.web.clients import Client, with_client


def test_states_by_moves_and_by_propositions() -> None:
    async def talk(client: Client) -> None:
        path = "/games/tictactoe/state.svg"
        first = await client.get(path)
        assert first.status == 200
        assert first.content_type == "image/svg+xml"
        assert first.headers["Content-Security-Policy"] == drawing_policy()
        assert "x on b 2" not in await first.text()
        moved = await client.get(path, params=[("moves", "(mark b 2) noop"), ("moves", "(mark a 1)")])
        text = await moved.text()
        assert "x on b 2" in text
        assert "o on a 1" in text
        assert 'class="gb-new"' in text
        given = await client.get(path, params={"state": "(cell c 3 o) (control x)"})
        assert "o on c 3" in await given.text()
        ET.fromstring(text)

    with_client(talk)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/games/nosuchgame/state.svg", 404),
        ("/games/..%2fchess/state.svg", 404),
        ("/games/tictactoe/state.svg?moves=(mark", 400),
        ("/games/tictactoe/state.svg?moves=(mark z 9) noop", 400),
        ("/games/tictactoe/state.svg?moves=", 400),
        ("/games/tictactoe/state.svg?state=(((", 400),
        ("/games/tictactoe/state.svg?state=(wild <script>)", 400),
        ("/games/tictactoe/state.svg?" + "&".join(["moves=noop"] * 600), 400),
    ],
)
def test_what_cannot_be_drawn_is_told_on_one_line(path: str, status: int) -> None:
    async def talk(client: Client) -> None:
        reply = await client.get(path)
        error = (await reply.json())["error"]
        assert reply.status == status
        assert "\n" not in error
        assert "Traceback" not in error

    with_client(talk)


async def drawn(artists: Workers, name: str) -> str:
    answer = await artists.ask(name, {"do": "draw", "state": "", "steps": []}, arguments=(name,))
    return str(answer["svg"])


def test_a_process_that_dies_or_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        artists = Workers(WORK, WorkBudget(8, 2**32))
        try:
            assert "<svg" in await drawn(artists, "tictactoe")
            child = artists._processes["tictactoe"]._child
            assert child is not None
            child.kill()
            await child.ended()
            assert "<svg" in await drawn(artists, "tictactoe")
            monkeypatch.setattr(artists, "kind", replace(WORK, seconds=0.01))
            monkeypatch.setattr(Child, "send", lambda *args, **fields: None)
            with pytest.raises(GdlError, match="takes longer"):
                await drawn(artists, "tictactoe")
            monkeypatch.undo()
            assert "<svg" in await drawn(artists, "tictactoe")
        finally:
            await artists.close()

    asyncio.run(run())


def test_processes_are_few() -> None:
    async def run() -> None:
        artists = Workers(WORK, WorkBudget(8, 2**32))
        before = len(Child.pids)
        try:
            for name in ("tictactoe", "nim", "hex", "chomp", "connectfour", "queens"):
                assert "<svg" in await drawn(artists, name)
            assert len(Child.pids) - before <= WORK.most
        finally:
            await artists.close()
        assert len(Child.pids) == before

    asyncio.run(run())
