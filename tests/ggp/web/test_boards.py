"""States of games are drawn by address, in processes that may die or hang."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from ggp.boards.svg.markup import drawing_policy
from tests.ggp.web.clients import Client


async def test_states_by_moves_and_by_propositions(client: Client) -> None:
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
async def test_what_cannot_be_drawn_is_told_on_one_line(client: Client, path: str, status: int) -> None:
    reply = await client.get(path)
    error = (await reply.json())["error"]
    assert reply.status == status
    assert "\n" not in error
    assert "Traceback" not in error
