"""A process of strangers' work that is asked one thing at a time, and ended where it takes too long."""

from __future__ import annotations

import asyncio
from typing import Any

from gdl.errors import GdlError
from ggp.processes.child import Child, ProcessKind
from ggp.processes.parent import JsonMessage

WAITING = 64
"""Questions that wait for one process; more are refused."""
KIND = ProcessKind(max_line=64 * 1024 * 1024)


class AskedProcess:
    """One process. It answers each order with ``done`` and fields, or ``refused`` and an ``error``.

    Args:
        module: what it runs.
        name: for messages: what it works on.
        opening: the order that it is told first of all, and again where it had to be replaced.
        seconds: for one answer, the start of the process included.

    Attributes:
        waiting: how many questions are open.
    """

    def __init__(self, module: str, name: str, opening: dict[str, Any], seconds: float) -> None:
        self.waiting = 0
        self._module = module
        self._name = name
        self._opening = opening
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._reply: asyncio.Future[JsonMessage] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a process that knows what it was told."""
        return self._child is not None and self._child.alive

    async def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """The answer; that to ``open`` is given by a process that reads anew. Raises GdlError: there is none,
        it takes too long, or there is too much to do."""
        if self.waiting >= WAITING:
            raise GdlError(f"too much is asked of {self._name}", remedy="try again in a moment")
        self.waiting += 1
        try:
            async with self._lock:
                return await self._ask(do, fields)
        finally:
            self.waiting -= 1

    async def end(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            await child.ended()

    async def _ask(self, do: str, fields: dict[str, Any]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._seconds):
                if do == "open" or not self.alive:
                    opened = await self._open()
                    if do == "open":
                        return opened
                return await self._talk(do, fields)
        except TimeoutError:
            await self.end()
            raise GdlError(f"{self._name} takes longer than {self._seconds:g} s") from None
        except OSError as error:
            raise GdlError(f"no process can be started: {error.strerror}") from None
        except asyncio.CancelledError:
            # The reply to this question must not be taken for that to the next.
            await self.end()
            raise

    async def _open(self) -> dict[str, Any]:
        if self._child is None or not self._child.alive:
            self._child = await Child.spawn(self._module, kind=KIND)
            self._child.on_message = self._told
            self._child.on_exit = self._gone
        try:
            return await self._talk("open", self._opening)
        except GdlError:
            await self.end()
            raise

    async def _talk(self, do: str, fields: dict[str, Any]) -> dict[str, Any]:
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
            self._told({"kind": "gone", "error": f"the process for {self._name} ended early"})
