"""The processes that read records and draw matches: one for each file in use, asked one thing at a time."""

from __future__ import annotations

import asyncio
from typing import Any

from gdl.errors import GdlError
from ggp.web.asked_process import AskedProcess
from ggp.web.replay.sources import RecordSource

MODULE = "ggp.web.replay.replay_process"
MOST = 4
"""Processes at a time."""
SECONDS = 20.0
"""For one question, the start of the process included."""


class Readers:
    """Keeps the processes. To be used within one event loop."""

    def __init__(self) -> None:
        self._processes: dict[str, AskedProcess] = {}

    async def ask(self, address: str, source: RecordSource, do: str, **fields: Any) -> dict[str, Any]:
        """The answer to a question about a file; ``open`` reads it anew: it may have grown. Raises GdlError:
        it cannot be answered, that took too long, or there is too much to do."""
        process = self._processes.pop(address, None)
        if process is None:
            await self._make_room()
            process = AskedProcess(MODULE, source.name, _opening(source), SECONDS)
        # The last one used stands last.
        self._processes[address] = process
        return await process.ask(do, **fields)

    async def close(self) -> None:
        """End all processes."""
        processes = list(self._processes.values())
        self._processes.clear()
        await asyncio.gather(*(process.end() for process in processes))

    async def _make_room(self) -> None:
        while len(self._processes) >= MOST:
            idle = next((name for name, process in self._processes.items() if not process.waiting), None)
            if idle is None:
                raise GdlError("too many records are being read", remedy="try again in a moment")
            await self._processes.pop(idle).end()


def _opening(source: RecordSource) -> dict[str, Any]:
    path = "" if source.path is None else str(source.path)
    return {"path": path, "text": source.data.decode(errors="replace")}
