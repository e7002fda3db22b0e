"""What is slow to make is made once for all who ask, and others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ggp.answers import catalogue
from ggp.web import cached_lists
from ggp.web.cached_lists import CachedList
from tests.ggp.web.clients import Client


async def test_all_who_ask_share_one_making_and_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    go = threading.Event()

    def make() -> int:
        assert go.wait(60)
        made.append(1)
        return len(made)

    one = CachedList(make)
    asked = [asyncio.create_task(one.get()) for _ in range(100)]
    await asyncio.sleep(0.1)
    asked[0].cancel()
    go.set()
    assert await asyncio.gather(*asked[1:]) == [1] * 99
    assert await one.get() == 1
    monkeypatch.setattr(cached_lists, "LONGEST", 0.0)
    assert await CachedList(make).get() == 2
    monkeypatch.setattr(one, "_until", 0.0)
    assert await one.get() == 3


async def test_what_goes_wrong_is_told_to_all_and_tried_again() -> None:
    tries: list[int] = []

    def make() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return 7

    one = CachedList(make)
    assert await asyncio.gather(*(one.get() for _ in range(3)), return_exceptions=True) != [7, 7, 7]
    while True:
        try:
            assert await one.get() == 7
            break
        except ValueError:
            await asyncio.sleep(0.01)


async def test_a_hundred_pages_of_puzzles_read_each_file_once_and_block_nobody(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    rules_of = catalogue.read_rules_file
    catalogue._game_card.cache_clear()
    monkeypatch.setattr(catalogue, "read_rules_file", lambda path: (read.append(path), rules_of(path))[1])
    pages = [asyncio.create_task(client.get("/puzzles")) for _ in range(100)]
    await asyncio.sleep(0)
    assert (await client.get("/static/page.js")).status == 200
    assert {reply.status for reply in await asyncio.gather(*pages)} == {200}
    assert len(read) == len(set(read)) > 10
