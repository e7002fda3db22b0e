"""A match at a table of the page is watched like any other, by those who have no key to the table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ggp.web.clients import Client, Listener, token_of


@pytest.mark.slow
async def test_a_table_is_watched_from_its_first_state_to_its_end_and_back_again(client: Client) -> None:
    headers = token_of(client)

    async def post(path: str, **fields: object) -> dict[str, Any]:
        told: dict[str, Any] = await (await client.post(path, json=fields, headers=headers)).json()
        return told

    order = {"game": "tictactoe", "seats": ["uct:workers=1", "human"]}
    table = (await post("/play/tables", **order, playclock=1.5))["table"]
    everything = Listener(client, "/watch/events")
    matches: list[dict[str, Any]] = []
    while not matches:
        matches = (await everything.until("list"))["matches"]
    assert (matches[0]["match"], matches[0]["game"]) == ("table 1", "Tic-tac-toe")
    assert matches[0]["role"] == "x: uct:workers=1 - o: human"
    key = matches[0]["key"]
    onlooker = Listener(client, f"/watch/{key}/events")
    search = await onlooker.until("search")
    assert search["candidates"] and search["note"].startswith("x, ") and 0 <= search["expects"] <= 100
    await onlooker.until("board", lambda told: told["step"] == 1)
    answer = next(told for name, told in onlooker.heard if name == "answer")
    assert answer["turn"] == 1 and answer["expects"] is not None

    earlier = await (await client.get(f"/watch/{key}/steps/0")).json()
    assert earlier["step"] == 0 and "<svg" in earlier["svg"]

    await post(f"/play/{table}/seat", role="o", player="legal")
    await post(f"/play/{table}/seat", role="x", player="legal")
    ended = await onlooker.until("ended")
    assert ended["text"].startswith("done: ")
    await post(f"/play/{table}/goto", step=1)
    again = await onlooker.until("match")
    assert again["why"] == ""
    await onlooker.until("board", lambda told: told["step"] == 1)
    said = json.dumps(onlooker.heard + everything.heard)
    assert table not in said, "whoever looks on could play"
