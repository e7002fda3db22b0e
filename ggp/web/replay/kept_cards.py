"""The cards of records that were drawn, kept for the next who looks into a folder."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import orjson

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.web.replay.shelf import ShelvedRecord

WORK = WorkKind(
    "ggp.web.replay.replay_process", "drawing a record", most=1, seconds=30.0, longest=16 * 1024 * 1024
)
MOST_BYTES = 64 * 1024 * 1024
"""Of all cards that are kept. The one that was asked for longest ago goes first."""


class RecordCards:
    """Draws cards one after the other and keeps them. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self.workers = Workers(WORK, budget)
        self._lock = asyncio.Lock()
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._bytes = 0

    async def card(self, found: ShelvedRecord, number: int) -> bytes:
        """The card of a record as JSON, as :meth:`ggp.web.replay.record_card.CardMaker.card` makes it. Raises
        BusyError; GdlError where the record cannot be read or drawn."""
        try:
            told = await asyncio.to_thread(found.path.stat)
        except OSError as error:
            raise GdlError(f"the record cannot be read: {error.strerror}") from None
        key = found, number, told.st_mtime_ns, told.st_size
        async with self._lock:
            card = self._kept.pop(key, None)
            if card is None:
                order = {"do": "card", "kind": found.kind, "path": str(found.path), "match": number}
                card = orjson.dumps((await self.workers.ask("cards", order))["card"])
                self._bytes += len(card)
            self._kept[key] = card
            while self._bytes > MOST_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return card
