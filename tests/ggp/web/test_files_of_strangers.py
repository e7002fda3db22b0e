"""A stranger's file among the records is one line in both rooms, and meanwhile others are answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.hostile_tournaments import ENDLESS, picture, write_hostile, write_special, write_tournament
from tests.ggp.web.clients import client_of

SHOWN = ("view", "rounds", "settings-x", "row-large", "loop", "log-pipe", "entrants-lines")


@pytest.mark.slow
async def test_hostile_tournaments_are_one_line_in_both_rooms(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    write_special(tmp_path)
    before = picture(tmp_path)
    async with client_of(records=tmp_path) as client:
        for name in SHOWN:
            asked = [
                client.get("/tournaments/events", params={"file": f"{name}.sqlite"}),
                client.get("/replay/story", params={"tournament": f"{name}.sqlite", "match": "1"}),
                client.get("/static/page.js"),
            ]
            tables, story, static = await asyncio.gather(*asked)
            assert static.status == 200
            assert tables.status == 400, name
            assert "\n" not in (await tables.json())["error"]
            assert str(tmp_path) not in await tables.text()
            # The row of one match may be whole where others are not.
            assert story.status == 400, name
            assert "internal" not in await story.text() + await tables.text()
        for name in ("pipe", "device", "folder"):
            for where, field in (("/tournaments/events", "file"), ("/replay/story", "tournament")):
                reply = await client.get(where, params={field: f"{name}.sqlite", "match": "1"})
                assert reply.status == 400
    assert picture(tmp_path) == before


async def test_all_who_ask_for_the_same_file_share_one_reading(tmp_path: Path) -> None:
    write_tournament(tmp_path / "t.sqlite", more=(f"CREATE VIEW other AS {ENDLESS} SELECT x FROM n",))
    async with client_of(records=tmp_path) as client:
        replies = await asyncio.gather(
            *(client.get("/tournaments/events", params={"file": "t.sqlite"}) for _ in range(40))
        )
        assert {reply.status for reply in replies} == {200}
        for reply in replies:
            reply.close()
