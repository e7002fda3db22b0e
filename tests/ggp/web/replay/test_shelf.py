"""What pages bring is kept once it can be read: what is refused takes no room, and pushes nothing out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GdlError
from ggp.protocol.http_error import BusyError
from ggp.web.replay import routes as shelves
from ggp.web.replay.replay_process import ReplayDesk
from ggp.web.replay.routes import Shelf, ShelvedRecord

GOOD = {"matchId": "m", "states": ["( ( p ) )"], "moves": []}


async def chunks(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 1000):
        yield data[at : at + 1000]


def body(record: object, **more: object) -> bytes:
    return json.dumps({"record": json.dumps(record), **more}).encode()


async def check(record: ShelvedRecord) -> None:
    """As the process with limits does it."""
    order = {"do": "story", "kind": record.kind, "path": str(record.path), "match": 0}
    ReplayDesk().answer(order, lambda *_, **__: None)


def kept(shelf: Shelf) -> int:
    """Files that the shelf has on disk."""
    assert shelf._room is not None
    return len(list(Path(shelf._room.name).iterdir()))


async def test_what_is_refused_takes_no_room_and_pushes_nothing_out() -> None:
    shelf = Shelf(None)
    try:
        name = await shelf.take(chunks(body(GOOD, game="tictactoe")), check)
        found: Any = shelf.find({"brought": name})
        for bad in (
            b"",
            b"[]",
            b"{",
            b"x" * 10_000,
            body([]),
            body(GOOD, rules=3),
            b'{"record": "\\ud800"}',
        ):
            for _ in range(shelves.MOST_BROUGHT):
                with pytest.raises(GdlError):
                    await shelf.take(chunks(bad), check)
        assert kept(shelf) == 1
        assert shelf.find({"brought": name}) == found
        room = Path(found.path).parent
        assert room.stat().st_mode & 0o077 == 0
    finally:
        shelf.close()
    assert not room.exists()


async def test_the_oldest_make_room_for_good_ones_by_number_and_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shelves, "MOST_BROUGHT", 3)
    shelf = Shelf(None)
    try:
        names = [await shelf.take(chunks(body(GOOD)), check) for _ in range(5)]
        assert kept(shelf) == 3
        with pytest.raises(GdlError, match="upload it again"):
            shelf.find({"brought": names[1]})
        monkeypatch.setattr(shelves, "MOST_BYTES", 2 * len(body(GOOD)) - 1)
        names.append(await shelf.take(chunks(body(GOOD)), check))
        assert kept(shelf) == 1
        assert shelf.find({"brought": names[-1]}).path.exists()
    finally:
        shelf.close()


async def test_only_a_few_are_brought_at_the_same_time() -> None:
    shelf, go = Shelf(None), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        await go.wait()
        yield body(GOOD)

    try:
        coming = [asyncio.create_task(shelf.take(slow(), check)) for _ in range(shelves.MOST_COMING)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await shelf.take(chunks(body(GOOD)), check)
        go.set()
        assert len(set(await asyncio.gather(*coming))) == shelves.MOST_COMING
        await shelf.take(chunks(body(GOOD)), check)
    finally:
        shelf.close()
