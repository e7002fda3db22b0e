"""The workers of a spread search: one for each part, started on the nodes of a fleet, replaced when lost."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, FleetNode, FleetWorker, LostWorkerError, Message
from players.fleet.open_fleet import open_fleet
from players.puzzles.frontier.storage.files import OutOfRoomError

_SERVICE = "players.puzzles.frontier.partitions.part:FrontierPart"
CALL_SECONDS = 300.0
"""How long a worker may take to answer, until it counts as lost: no question takes so long on any node that
works. (What it is asked ends after seconds; kernels may have to be compiled before.)"""
_END_SECONDS = 20.0

T = TypeVar("T")


class PartCrew:
    """A fleet with an event loop in a thread of its own.

    Args:
        address: as :func:`players.fleet.open_fleet.open_fleet` takes it.
        parts: how many workers; 0 for as many as there are cores.

    Raises:
        GdlError: there is no fleet, or it has no nodes.

    Attributes:
        parts: how many there are.
        workers: the worker of each part that has one.
        wire: bytes of arrays that were sent and received so far.
    """

    def __init__(self, address: str, parts: int = 0) -> None:
        self._fleet = open_fleet(address)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="parts", daemon=True)
        self._thread.start()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._faults: Counter[str] = Counter()
        self._starting = asyncio.Lock()
        self.workers: dict[int, FleetWorker] = {}
        self.wire = 0
        try:
            nodes = self.submit(self._fleet.nodes()).result()
            if not nodes:
                raise GdlError(f"there are no nodes at {address}", remedy="see `ray status`")
            self.parts = parts or sum(node.cores for node in nodes)
        except BaseException:
            self.close()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have a coroutine run in the loop."""

        async def noted() -> T:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                return await work
            finally:
                self._tasks.discard(task)

        return asyncio.run_coroutine_threadsafe(noted(), self._loop)

    def give_up(self, job: Future[Any]) -> None:
        """Cancel what was submitted, and wait until it has ended."""
        job.cancel()

        async def settled() -> None:
            if self._tasks:
                await asyncio.wait(self._tasks)

        asyncio.run_coroutine_threadsafe(settled(), self._loop).result()

    async def worker(self, part: int) -> FleetWorker:
        """The worker of a part; it is started if there is none. Raises LostWorkerError where it cannot be."""
        if (known := self.workers.get(part)) is not None:
            return known
        async with self._starting:
            node, free = await self._place()
            try:
                try:
                    worker = await self._fleet.start(node, _SERVICE, 1 if free else 0)
                except LostWorkerError:
                    raise
                except GdlError:  # others have the node's cores: it shares them
                    worker = await self._fleet.start(node, _SERVICE, 0)
            except GdlError as error:
                self._faults[node.id] += 1
                raise LostWorkerError(f"nothing starts on {node.host}: {error.message}") from None
            self.workers[part] = worker
        return worker

    async def _place(self) -> tuple[FleetNode, bool]:
        """The node for one more worker, and whether it has a core for it: one that has lost none, or few, and
        has the most cores left."""
        nodes = await self._fleet.nodes()
        if not nodes:
            raise LostWorkerError("all nodes are gone")
        busy = Counter(worker.node.id for worker in self.workers.values())
        node = min(nodes, key=lambda node: (self._faults[node.id], busy[node.id] - node.cores))
        return node, busy[node.id] < node.cores

    async def lose(self, part: int) -> None:
        """A part's worker is lost: it is ended, if it is not."""
        worker = self.workers.pop(part, None)
        if worker is not None:
            self._faults[worker.node.id] += 1
            try:
                async with asyncio.timeout(_END_SECONDS):
                    await self._fleet.stop(worker)
            except (GdlError, TimeoutError):
                pass  # its node is gone, or will not answer

    async def ask(
        self, worker: FleetWorker, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, Sequence[npt.NDArray[np.generic]]]:
        """Ask a worker. Raises LostWorkerError, also where there is no answer for minutes, OutOfRoomError
        where it has no room, and GdlError."""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer, came = await self._fleet.call(worker, message, arrays)
        except TimeoutError:
            raise LostWorkerError(f"a part of the search on {worker.node.host} does not answer") from None
        self.wire += sum(array.nbytes for array in arrays) + sum(array.nbytes for array in came)
        if "full" in answer:
            raise OutOfRoomError(
                f"a part of the search on {worker.node.host} needs more than its {answer['full']} of memory",
                remedy="allow each part more with --memory, or take more nodes: each has its share",
            )
        return answer, came

    def close(self) -> None:
        """End the workers and the thread, and leave the fleet."""
        try:
            self.submit(self._fleet.close()).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
