"""One node that searches: what it was told, and what it last said. Nobody waits for it.

Two calls at most are under way: one that tells what to do now, one that asks what is known. A node that
hangs answers neither, and what it said of older roots counts for nothing. When it goes on it is told the
newest target at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, Fleet, FleetWorker, LostWorkerError, Message
from players.uct.root_statistics import RootStatistics

READ_SECONDS = 0.1
"""How long a node waits before it tells what it knows."""
REFUSED_SECONDS = 1.0
"""How long after a refusal it is asked again."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """What the nodes are to do.

    Attributes:
        start: the match, as :meth:`players.search_node.host.SearchHost.call` takes it.
        number: the root's number; 0 for none.
        state: its propositions as text.
        deadline: when results will be read, time.monotonic() seconds.
        fix: the place of the move that was made there; -1 for none.
        rest: search no more.
    """

    start: Message
    number: int = 0
    state: tuple[str, ...] = ()
    deadline: float = 0.0
    fix: int = -1
    rest: bool = False


class NodeLink:
    """Keeps one node at its task.

    Args:
        fleet: whose it is.
        worker: its search, a :class:`players.search_node.host.SearchHost`.
        place: which of the nodes it is, from 0: its random numbers follow from that.
        line: takes a finished line: the root's number, its value and its moves.

    Attributes:
        known: what it last said, and of which root; None before.
        fault: why it refuses; empty while it does not.
    """

    def __init__(
        self, fleet: Fleet, worker: FleetWorker, place: int, line: Callable[[int, int, list[str]], None]
    ) -> None:
        self.worker = worker
        self.known: tuple[int, RootStatistics] | None = None
        self.fault = ""
        self._fleet, self._place, self._line = fleet, place, line
        self._target: SearchTarget | None = None
        self._changed = asyncio.Event()

    def set(self, target: SearchTarget) -> None:
        """Do this from now on."""
        self._target = target
        self._changed.set()

    async def run(self) -> None:
        """Until cancelled, or the node is lost: then LostWorkerError is raised."""
        tasks = [asyncio.create_task(self._tell()), asyncio.create_task(self._ask())]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError, GdlError):
                await asyncio.gather(*tasks)

    async def _tell(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            target = self._target
            assert target is not None
            try:
                await self._told(target)
                self.fault = ""
            except LostWorkerError:
                raise
            except GdlError as error:
                self.fault = str(error)
                await asyncio.sleep(REFUSED_SECONDS)

    async def _told(self, target: SearchTarget) -> None:
        match = target.start["match"]
        order: Message = {"do": "think", "match": match, "number": target.number, "state": target.state}
        order |= {"fix": target.fix, "rest": target.rest}
        for _ in range(2):
            order["seconds"] = target.deadline - time.monotonic()
            answer: Message = {"lacks": True}
            if target.number:
                answer, _ = await self._fleet.call(self.worker, order)
            if not answer.get("lacks"):
                return
            seed = target.start["seed"] + 1000 * (self._place + 1)
            workers = self.worker.node.cores
            start = {**target.start, "do": "start", "seed": seed, "workers": workers}
            await self._fleet.call(self.worker, start)

    async def _ask(self) -> None:
        while True:
            target = self._target
            if target is None or not target.number:
                await asyncio.sleep(READ_SECONDS)
                continue
            question = {"do": "read", "number": target.number, "seconds": READ_SECONDS}
            try:
                answer, arrays = await self._fleet.call(self.worker, question)
                if answer["number"] == target.number:
                    self.known = target.number, _statistics(answer, arrays)
                    for value, terms in answer["lines"]:
                        self._line(target.number, int(value), terms)
            except LostWorkerError:
                raise
            except GdlError as error:
                self.fault = str(error)
                await asyncio.sleep(REFUSED_SECONDS)


def _statistics(answer: Message, arrays: Arrays) -> RootStatistics:
    """What a node says. Raises GdlError where that cannot be: another version runs there."""
    counts = tuple(int(count) for count in answer["counts"])
    visits, totals, proven = arrays
    if not len(visits) == len(totals) == len(proven) == sum(counts):
        raise GdlError("a node says what does not fit together", remedy="install one version on all nodes")
    return RootStatistics(
        counts,
        visits.astype(np.int64),
        totals.astype(np.float64),
        proven.astype(np.int16),
        playouts=int(answer["playouts"]),
        nodes=int(answer["nodes"]),
        depth=int(answer["depth"]),
        value=int(answer["value"]),
        mixed=bool(answer["mixed"]),
    )
