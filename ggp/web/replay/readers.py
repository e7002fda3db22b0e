"""The processes that read records and draw matches: one for each file in use, asked one thing at a time."""

from __future__ import annotations

import asyncio
from typing import Any

from gdl.errors import GdlError
from ggp.processes.child import Child, ProcessKind
from ggp.processes.parent import JsonMessage
from ggp.web.replay.sources import RecordSource

MODULE = "ggp.web.replay.replay_process"
MOST = 4
"""Processes at a time."""
SECONDS = 20.0
"""For one question, the start of the process included."""
WAITING = 64
"""Questions that wait for one process; more are refused."""
KIND = ProcessKind(max_line=64 * 1024 * 1024)


class Readers:
    """Keeps the processes. To be used within one event loop."""

    def __init__(self) -> None:
        self._processes: dict[str, _ReaderProcess] = {}

    async def ask(self, address: str, source: RecordSource, do: str, **fields: object) -> dict[str, Any]:
        """The answer to a question about a file. Raises GdlError: it cannot be answered, that took too long,
        or there is too much to do."""
        process = self._processes.pop(address, None)
        if process is None:
            await self._make_room()
            process = _ReaderProcess(source)
        # The last one used stands last.
        self._processes[address] = process
        return await process.ask(do, fields)

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


class _ReaderProcess:
    def __init__(self, source: RecordSource) -> None:
        self._source = source
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._reply: asyncio.Future[JsonMessage] | None = None
        self._matches: list[dict[str, Any]] = []
        self.waiting = 0

    async def ask(self, do: str, fields: dict[str, object]) -> dict[str, Any]:
        if self.waiting >= WAITING:
            raise GdlError("too much is asked of this record", remedy="try again in a moment")
        self.waiting += 1
        try:
            async with self._lock:
                return await self._ask(do, fields)
        finally:
            self.waiting -= 1

    async def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            await child.ended()

    async def _ask(self, do: str, fields: dict[str, object]) -> dict[str, Any]:
        name = self._source.name
        try:
            async with asyncio.timeout(SECONDS):
                if do == "matches" or self._child is None or not self._child.alive:
                    opened = await self._open()
                    if do == "matches":
                        return opened
                return await self._talk(do, fields)
        except TimeoutError:
            await self.end()
            raise GdlError(f"{name} takes longer than {SECONDS:g} s") from None
        except OSError as error:
            raise GdlError(f"no process can be started: {error.strerror}") from None
        except asyncio.CancelledError:
            # The reply to this question must not be taken for that to the next.
            await self.end()
            raise

    async def _open(self) -> dict[str, Any]:
        """Have the file read, again where it was: it may have grown."""
        if self._child is None or not self._child.alive:
            self._child = await Child.spawn(MODULE, kind=KIND)
            self._child.on_message = self._told
            self._child.on_exit = self._gone
        source = self._source
        path, text = "" if source.path is None else str(source.path), source.data.decode(errors="replace")
        try:
            return await self._talk("open", {"path": path, "text": text})
        except GdlError:
            await self.end()
            raise

    async def _talk(self, do: str, fields: dict[str, object]) -> dict[str, Any]:
        assert self._child is not None
        self._reply = asyncio.get_running_loop().create_future()
        self._child.send(do, **fields)
        reply = await self._reply
        if reply.pop("kind") != "done":
            raise GdlError(str(reply["error"]))
        return reply

    def _told(self, message: JsonMessage) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(message)

    def _gone(self, child: Child) -> None:
        if child is self._child:
            self._told({"kind": "gone", "error": f"the process that reads {self._source.name} ended early"})
