"""Work that a page begins and watches: each job in a process, its news sent to all who look on."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.processes.budget import WorkBudget
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.shell import Broadcast, encode


class Job:
    """One request, answered in a process of its own.

    Attributes:
        id: random letters and digits that cannot be guessed.
        request: for the process.
        known: the latest value of each field of its progress, and at last of its answer.
        done: whether it is over.
        news: events ``progress``, then ``solved`` or ``failed``; later readers get the latest one on
            connecting.
    """

    def __init__(self, request: JsonMessage, known: JsonMessage) -> None:
        self.id = secrets.token_urlsafe(12)
        self.request, self.known = request, known
        self.done = False
        self.news = Broadcast(lambda: [encode(*self._latest)])
        self.task: asyncio.Task[None] | None = None
        self._latest: tuple[str, JsonMessage] = ("progress", known)

    def progress(self, message: JsonMessage) -> None:
        """Send a message of the process to all readers."""
        if message.pop("kind") == "progress":
            self.known = {**self.known, **message}
            self._latest = "progress", self.known
            self.news.send("progress", message)

    async def wait(self, seconds: float) -> None:
        """Wait until it is over, or until this time has passed."""
        if self.task is not None:
            await asyncio.wait((self.task,), timeout=seconds)

    def end(self, event: str, data: JsonMessage) -> None:
        """Send the last event."""
        self.done, self._latest = True, (event, data)
        self.news.send(event, data)


class Jobs:
    """The jobs of a room, within a budget. Use it within one event loop.

    Args:
        kind: of the processes.
        what: the object of the work, in messages: ``puzzle``.
        at_once: number of jobs that may run at the same time.
        most: number of jobs in memory; the oldest finished one is dropped first.
        size: the size of a job; finished jobs are also dropped if the sum exceeds ``most_size``.
        silent: fields of the answer that are not sent to readers.
    """

    def __init__(
        self,
        kind: WorkKind,
        budget: WorkBudget,
        what: str,
        *,
        at_once: int,
        most: int,
        size: Callable[[Job], int] = lambda job: 0,
        most_size: int = 0,
        silent: tuple[str, ...] = (),
    ) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._workers = Workers(kind, budget)
        self._what, self._at_once, self._silent = what, at_once, silent
        self._most, self._size, self._most_size = most, size, most_size

    def get(self, key: str) -> Job:
        """The job with this id. Raises GdlError if there is none."""
        if (job := self._jobs.get(key)) is None:
            raise GdlError(f"this {self._what} is no longer in memory", remedy="begin it again")
        return job

    @property
    def running(self) -> list[Job]:
        """The jobs that are not over."""
        return [job for job in self._jobs.values() if not job.done]

    def check_room(self) -> None:
        """Raise BusyError if too many run for another one."""
        if len(self.running) >= self._at_once:
            raise BusyError(
                f"no more than {self._at_once} at a time: {self._what}", remedy="stop one, or wait for it"
            )

    def begin(self, request: JsonMessage, known: JsonMessage, seconds: float) -> Job:
        """Start a job that may take ``seconds``; ``known`` is its progress before the first news. Raises
        BusyError if too many run."""
        self.check_room()
        job = Job(request, known)
        self._jobs[job.id] = job
        while len(self._jobs) > self._most or sum(map(self._size, self._jobs.values())) > self._most_size:
            del self._jobs[next(key for key, one in self._jobs.items() if one.done)]
        job.task = asyncio.create_task(self._run(job, seconds))
        return job

    async def _run(self, job: Job, seconds: float) -> None:
        try:
            answer = await self._workers.ask(job.id, job.request, news=job.progress, seconds=seconds)
        except GdlError as error:
            job.known = {**job.known, "error": without_folders(str(error))}
            job.end("failed", job.known)
        else:
            job.known = answer
            job.end("solved", {name: value for name, value in answer.items() if name not in self._silent})
        finally:
            job.done = True

    async def ask(self, job: Job, request: JsonMessage) -> dict[str, Any]:
        """The answer to a request about a job, from its own process if that is free."""
        return await self._workers.ask(job.id if job.done else f"{job.id}-beside", request)

    async def stop(self, job: Job) -> None:
        """End a job; what it knows stays."""
        if not job.done:
            await self._workers.end(job.id)

    async def close(self) -> None:
        """End all."""
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._workers.close()
