"""The processes that draw: one for each game that was drawn lately, asked for one drawing at a time."""

from __future__ import annotations

import asyncio

from gdl.errors import GdlError
from ggp.processes.child import Child
from ggp.processes.parent import JsonMessage

MODULE = "ggp.web.boards.drawing_process"
MOST = 4
"""Processes at a time."""
SECONDS = 10.0
"""For one drawing, the start of its process included."""
WAITING = 16
"""Requests that wait for one process; more are refused."""


class Artists:
    """Keeps the processes. To be used within one event loop."""

    def __init__(self) -> None:
        self._processes: dict[str, _ArtistProcess] = {}

    async def draw(self, name: str, state: str, steps: list[str]) -> str:
        """The drawing of a state of an installed game. Raises GdlError: it cannot be drawn, took too long, or
        there is too much to do."""
        process = self._processes.pop(name, None)
        if process is None:
            await self._make_room()
            process = _ArtistProcess(name)
        # The last one used stands last.
        self._processes[name] = process
        return await process.draw(state, steps)

    async def close(self) -> None:
        """End all processes."""
        processes = list(self._processes.values())
        self._processes.clear()
        await asyncio.gather(*(process.end() for process in processes))

    async def _make_room(self) -> None:
        while len(self._processes) >= MOST:
            idle = next((name for name, process in self._processes.items() if not process.waiting), None)
            if idle is None:
                raise GdlError("too many games are being drawn", remedy="try again in a moment")
            await self._processes.pop(idle).end()


class _ArtistProcess:
    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._reply: asyncio.Future[JsonMessage] | None = None
        self.waiting = 0

    async def draw(self, state: str, steps: list[str]) -> str:
        if self.waiting >= WAITING:
            raise GdlError(f"too many drawings of {self._name} are asked for", remedy="try again in a moment")
        self.waiting += 1
        try:
            async with self._lock:
                reply = await self._ask(state, steps)
        finally:
            self.waiting -= 1
        if reply["kind"] != "drawn":
            raise GdlError(str(reply["error"]))
        return str(reply["svg"])

    async def end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            await child.ended()

    async def _ask(self, state: str, steps: list[str]) -> JsonMessage:
        self._reply = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(SECONDS):
                if self._child is None or not self._child.alive:
                    self._child = await Child.spawn(MODULE, self._name)
                    self._child.on_message = self._told
                    self._child.on_exit = self._gone
                self._child.send("draw", state=state, steps=steps)
                return await self._reply
        except TimeoutError:
            await self.end()
            raise GdlError(f"drawing {self._name} takes longer than {SECONDS:g} s") from None
        except OSError as error:
            raise GdlError(f"no process can be started: {error.strerror}") from None
        except asyncio.CancelledError:
            # The reply to this question must not be taken for that to the next.
            await self.end()
            raise

    def _told(self, message: JsonMessage) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(message)

    def _gone(self, child: Child) -> None:
        if child is self._child:
            self._told({"kind": "gone", "error": f"the process that draws {self._name} ended early"})
