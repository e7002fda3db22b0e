"""The process that makes a cluster search: ``python -m players.uct.workers.relay SOCKET MEMORY ADDRESS``.

To the player it is one more search process (:mod:`players.uct.workers.pool`): it takes the same commands, and
writes the nodes' statistics of the root, added up, to the same memory. So a node, or the whole cluster, may
hang or vanish, and the player only gets fewer playouts.

The relay never waits for a node. At most two calls to it are under way: one sends the current target, one
asks for statistics. A node that hangs answers neither, and its statistics of older roots do not count. When
it resumes, it gets the newest target at once.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import queue
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gdl.errors import GdlError
from gdl.syntax.format import to_kif
from players.fleet.fleet import Arrays, Fleet, FleetNode, FleetWorker, LostWorkerError, Message
from players.fleet.open_fleet import open_fleet
from players.processes.limits import describe
from players.processes.lines import JsonMessage, Lines
from players.uct.root_statistics import RootStatistics, merge
from players.uct.workers.channel import Slot
from players.uct.workers.worker import unpack_machine

_READ_SECONDS = 0.1
"""Seconds that a node waits before it reports its statistics."""
_REFUSED_SECONDS = 1.0
"""Seconds before a node is asked again after a refusal."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """The task of the nodes.

    Attributes:
        start: the match, as :meth:`players.uct.workers.search_host.SearchHost.call` takes it.
        number: the root's number; 0 for none.
        state: its propositions as text.
        deadline: time when results will be read, time.monotonic() seconds.
        fix: the place of the move that was made there; -1 for none.
        rest: whether to stop searching.
    """

    start: Message
    number: int = 0
    state: str = ""
    deadline: float = 0.0
    fix: int = -1
    rest: bool = False


class NodeLink:
    """Keeps one node at its task.

    Args:
        fleet: the fleet of the node.
        worker: its search, a :class:`players.uct.workers.search_host.SearchHost`.
        place: index of the node, from 0: its random numbers follow from that.
        line: takes a finished line: the root's number, its value and its moves.

    Attributes:
        known: its last statistics, with the root's number; None before.
        fault: why it refuses; empty while it does not.
    """

    def __init__(
        self, fleet: Fleet, worker: FleetWorker, place: int, line: Callable[[int, int, str], None]
    ) -> None:
        self.worker = worker
        self.known: tuple[int, RootStatistics] | None = None
        self.fault = ""
        self._fleet, self._place, self._line = fleet, place, line
        self._target: SearchTarget | None = None
        self._changed = asyncio.Event()

    def set(self, target: SearchTarget) -> None:
        """Take this as the node's task from now on."""
        self._target = target
        self._changed.set()

    async def run(self) -> None:
        """Run until cancelled, or until the node is lost: then LostWorkerError is raised."""
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
                await self._send_target(target)
                self.fault = ""
            except LostWorkerError:
                raise
            except GdlError as error:
                self.fault = str(error)
                await asyncio.sleep(_REFUSED_SECONDS)

    async def _send_target(self, target: SearchTarget) -> None:
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
                await asyncio.sleep(_READ_SECONDS)
                continue
            question = {"do": "read", "number": target.number, "seconds": _READ_SECONDS}
            try:
                answer, arrays = await self._fleet.call(self.worker, question)
                if answer["number"] == target.number:
                    self.known = target.number, _statistics(answer, arrays)
                    for value, moves in answer["lines"]:
                        self._line(target.number, int(value), moves)
            except LostWorkerError:
                raise
            except GdlError as error:
                self.fault = str(error)
                await asyncio.sleep(_REFUSED_SECONDS)


def _statistics(answer: Message, arrays: Arrays) -> RootStatistics:
    """The statistics in a node's answer. Raises GdlError if they are inconsistent: another version runs
    there."""
    counts = tuple(int(count) for count in answer["counts"])
    visits, totals, proven = arrays
    if not len(visits) == len(totals) == len(proven) == sum(counts):
        raise GdlError("the node's answer is inconsistent", remedy="install one version on all nodes")
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


_SEARCH_HOST = "search"
"""The service of the nodes: :class:`players.uct.workers.search_host.SearchHost`. It builds machines, of which
the search itself knows nothing, so it is found by its name among the plugins."""
LOOK_SECONDS = 2.0
"""Seconds between two looks for new nodes."""
_WRITE_SECONDS = 0.02
"""Seconds between two sums of the nodes' statistics."""
_PULSE_SECONDS = 0.25


class _Relay:
    """Carries out the player's commands with a fleet."""

    def __init__(self, messages: Lines, slot: Slot, fleet: Fleet) -> None:
        self._messages, self._slot, self._fleet = messages, slot, fleet
        self._inbox: queue.SimpleQueue[JsonMessage] = queue.SimpleQueue()
        self._search: JsonMessage | None = None
        self._target: SearchTarget | None = None
        self._links: dict[str, NodeLink] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._places = 0
        self._faults: set[str] = set()
        self._sent: tuple[int, int] = (0, -1)

    async def run(self) -> None:
        """Serve until the process ends, which happens when the player is gone."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop, woken), daemon=True, name="listener").start()
        looked = -LOOK_SECONDS
        while True:
            self._slot.task()
            if time.monotonic() > looked + LOOK_SECONDS:
                looked = time.monotonic()
                await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(_WRITE_SECONDS):
                    await woken.wait()
            woken.clear()
            while not self._inbox.empty():
                self._obey(self._inbox.get())
            self._write()

    def _listen(self, loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
        try:
            for message in self._messages:
                self._inbox.put(message)
                loop.call_soon_threadsafe(woken.set)
        finally:
            os._exit(0)

    def _obey(self, message: JsonMessage) -> None:
        target = self._target
        match message.pop("do"):
            case "start":
                self._search, self._target = message, None
            case "machine":
                descriptor = self._messages.file()
                try:
                    if target is None and self._search is not None:
                        self._set(SearchTarget(self._start_of(descriptor, self._search)))
                finally:
                    os.close(descriptor)
            case "root" if target is not None:
                self._set(SearchTarget(target.start, message["root"], message["state"], message["deadline"]))
            case "fix" if target is not None and message["root"] == target.number:
                self._set(replace(target, fix=message["place"]))
            case "rest" if target is not None:
                self._set(replace(target, rest=True))

    def _start_of(self, descriptor: int, search: JsonMessage) -> JsonMessage:
        """The match as the nodes get it: without a machine, because every node builds its own."""
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            rules = unpack_machine(data).rules
        return {"match": secrets.token_hex(8), "rules": to_kif(rules), **search}

    def _set(self, target: SearchTarget) -> None:
        self._target = target
        for link in self._links.values():
            link.set(target)

    async def _look(self) -> None:
        """Take new nodes, and forget those that were lost."""
        for key in [key for key, task in self._tasks.items() if task.done()]:
            self._links.pop(key, None)
            error = self._tasks.pop(key).exception()
            self._complain(str(error) if isinstance(error, GdlError) else describe(error) if error else "")
        try:
            nodes = await self._fleet.nodes()
        except GdlError as error:
            self._complain(str(error))
            return
        for node in nodes:
            if node.id not in self._tasks:
                self._tasks[node.id] = asyncio.create_task(self._keep(node))

    async def _keep(self, node: FleetNode) -> None:
        """Have a node search until it is lost."""
        worker = await self._fleet.start(node, _SEARCH_HOST, node.cores)
        link = NodeLink(self._fleet, worker, self._places, self._line)
        self._places += 1
        self._links[node.id] = link
        if self._target is not None:
            link.set(self._target)
        try:
            await link.run()
        except LostWorkerError as error:
            self._complain(str(error))
        finally:
            self._links.pop(node.id, None)
            await self._fleet.stop(worker)

    def _line(self, number: int, value: int, moves: str) -> None:
        self._messages.send("line", root=number, value=value, moves=moves)

    def _complain(self, fault: str) -> None:
        """Report a fault to the user, once."""
        if fault and fault not in self._faults:
            self._faults.add(fault)
            self._messages.send("news", text=f"cluster: {fault}")

    def _write(self) -> None:
        """Write the sum of all nodes' statistics of the root for the player."""
        target = self._target
        if target is None or not target.number:
            return
        for link in self._links.values():
            self._complain(link.fault)
        reports = [
            report for link in self._links.values() if (report := link.known) and report[0] == target.number
        ]
        if not reports:
            return
        merged = merge(reports[0][1].counts, [statistics for _, statistics in reports])
        if (target.number, merged.playouts) != self._sent:
            self._sent = target.number, merged.playouts
            self._slot.write(target.number, merged)


def _pulse(slot: Slot) -> None:
    while True:
        slot.pulse()
        time.sleep(_PULSE_SECONDS)


def main() -> None:
    """Work until the player is gone."""
    messages = Lines(socket.socket(fileno=int(sys.argv[1])))
    slot = Slot(int(sys.argv[2]))
    threading.Thread(target=partial(_pulse, slot), daemon=True, name="pulse").start()
    try:
        asyncio.run(_Relay(messages, slot, open_fleet(sys.argv[3])).run())
    except BrokenPipeError:
        os._exit(0)
    except GdlError as error:
        with suppress(OSError):
            messages.send("news", text=f"cluster: {error}")
        os._exit(1)
    except Exception as error:  # another process takes the place of this one
        print(f"relay {os.getpid()} ends: {describe(error)}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
