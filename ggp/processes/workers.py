"""Processes that work on strangers' rules for pages and tools: few, one request each at a time, within
limits.

A process answers requests until it is idle, killed, or ended to make room. It may die, hang or use up its
limits: the caller gets a one-line error, and the next request starts a new process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.child import MAX_LINE, Child
from ggp.processes.parent import JsonMessage
from ggp.protocol.http_error import BusyError

_EARLY = "the process ended early, perhaps at its limit of memory or time"
_ENDED = "ended"
_GIVEN_UP = "cancelled in favour of a later request"


@dataclass(frozen=True, slots=True)
class WorkKind:
    """A kind of work.

    Attributes:
        module: of the process; its ``main`` calls :func:`ggp.processes.parent.answer_requests`.
        what: in messages: ``drawing``.
        most: processes at a time.
        seconds: for a request, including the start of its process.
        waiting: requests that wait for one process; more are refused.
        longest: bytes of its longest answer.
        need: the part of the budget that one process needs.
    """

    module: str
    what: str
    most: int = 4
    seconds: float = 10.0
    waiting: int = 16
    longest: int = MAX_LINE
    need: WorkNeed = WorkNeed()


class GivenUpError(GdlError):
    """The request was cancelled in favour of a later one."""


class Workers:
    """The processes of one kind, each under a key, within a budget. Use it within one event loop."""

    def __init__(self, kind: WorkKind, budget: WorkBudget) -> None:
        self.kind = kind
        self._budget = budget
        self._processes: dict[str, _WorkerProcess] = {}
        self._closed = False

    async def ask(
        self,
        key: str,
        request: JsonMessage,
        *,
        arguments: tuple[str, ...] = (),
        instead: bool = False,
        news: Callable[[JsonMessage], object] = lambda message: None,
        seconds: float | None = None,
    ) -> JsonMessage:
        """The answer to a request.

        Args:
            key: of the process; one is started if there is none.
            request: the request: ``do`` and its fields.
            arguments: of the process, if it is started.
            instead: cancels the requests that the process is busy with.
            news: called with each message of the process before its answer.
            seconds: for this request, instead of the usual ones.

        Raises:
            GivenUpError: the request was cancelled in favour of another.
            BusyError: there is too much to do.
            GdlError: it was refused, or took too long.
        """
        process = self._processes.get(key)
        if process is not None and instead and process.waiting:
            await process.end(_GIVEN_UP)
        await self._make_room(key)
        if self._closed:
            raise GdlError(f"{self.kind.what}: {_ENDED}")
        process = self._processes.pop(key, None) or _WorkerProcess(self.kind, arguments, self._budget)
        # The process used last comes last.
        self._processes[key] = process
        return await process.ask(request, news, seconds or self.kind.seconds)

    async def end(self, key: str) -> None:
        """End the process of a key, if there is one."""
        if (process := self._processes.pop(key, None)) is not None:
            await process.end()

    async def close(self) -> None:
        """End all processes; no further requests are answered."""
        self._closed = True
        processes = list(self._processes.values())
        self._processes.clear()
        await asyncio.gather(*(process.end() for process in processes))

    async def _make_room(self, key: str) -> None:
        # Other requests, also for this key, may come while an idle process ends.
        while key not in self._processes and len(self._processes) >= self.kind.most:
            idle = next((name for name, one in self._processes.items() if not one.waiting), None)
            if idle is None:
                raise BusyError(f"too many others are at it: {self.kind.what}")
            await self._processes.pop(idle).end()


class _WorkerProcess:
    def __init__(self, kind: WorkKind, arguments: tuple[str, ...], budget: WorkBudget) -> None:
        self._kind, self._arguments, self._budget = kind, arguments, budget
        self._lock = asyncio.Lock()
        self._child: Child | None = None
        self._answer: asyncio.Future[JsonMessage] | None = None
        self._news: Callable[[JsonMessage], object] = lambda message: None
        self._ends, self._why = 0, ""
        self.waiting = 0

    async def ask(
        self, request: JsonMessage, news: Callable[[JsonMessage], object], seconds: float
    ) -> JsonMessage:
        what = self._kind.what
        if self.waiting >= self._kind.waiting:
            raise BusyError(f"too much is asked for at once: {what}")
        self.waiting += 1
        ends = self._ends
        try:
            async with self._lock:
                if ends != self._ends:  # it was cancelled while it waited
                    answer: JsonMessage = {"kind": "gone", "why": self._why}
                else:
                    answer = await self._ask(request, news, seconds)
        finally:
            self.waiting -= 1
        match answer.pop("kind"):
            case "done":
                return answer
            case "refused":
                raise GdlError(str(answer["error"]))
            case _:
                kind = GivenUpError if answer["why"] == _GIVEN_UP else GdlError
                raise kind(f"{what}: {answer['why']}")

    async def end(self, why: str = _ENDED) -> None:
        """End the process; all requests to it are cancelled."""
        self._ends += 1
        self._why = why
        await self._kill(why)

    async def _kill(self, why: str = _ENDED) -> None:
        child, self._child = self._child, None
        if self._answer is not None and not self._answer.done():
            self._answer.set_result({"kind": "gone", "why": why})
        if child is not None:
            child.kill()
            await child.ended()

    async def _ask(
        self, request: JsonMessage, news: Callable[[JsonMessage], object], seconds: float
    ) -> JsonMessage:
        answer: asyncio.Future[JsonMessage] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._news = news
        try:
            async with asyncio.timeout(seconds):
                if self._child is None or not self._child.alive:
                    child = await self._start()
                    if answer.done():  # it was cancelled while the process started
                        child.kill()
                        return answer.result()
                    self._child = child
                    child.on_message = self._on_message
                self._child.send(request["do"], **request)
                return await answer
        except TimeoutError:
            await self._kill()
            raise GdlError(f"{self._kind.what} takes longer than {seconds:g} s") from None
        except OSError as error:
            raise GdlError(f"no process can be started: {error.strerror}") from None
        except asyncio.CancelledError:
            # The answer to this request must not be taken for the answer to the next.
            await self._kill()
            raise

    async def _start(self) -> Child:
        """Start the process once the budget allows it. Raises BusyError, and OSError if no more processes can
        be started or files opened."""
        kind = self._kind
        reservation = await self._budget.reserve(kind.what, kind.need, lambda: not self.waiting, self.end)
        try:
            child = await Child.spawn(kind.module, *self._arguments, max_line=kind.longest)
        except BaseException:
            reservation.release()
            raise
        reservation.pid = child.pid

        def gone(child: Child) -> None:
            reservation.release()
            if child is self._child:
                self._on_message({"kind": "gone", "why": _EARLY})

        child.on_exit = gone
        return child

    def _on_message(self, message: JsonMessage) -> None:
        if self._answer is None or self._answer.done():
            return
        if message["kind"] in ("done", "refused", "gone"):
            self._answer.set_result(message)
        else:
            self._news(message)
