"""The process that has a cluster search: ``python -m players.uct.cluster.relay SOCKET MEMORY ADDRESS``.

To the player it is one more search process (:mod:`players.uct.workers.pool`): it takes the same commands, and
shows in the same memory what the nodes know of the root, added up. So a node, or the whole cluster, may hang
or vanish, and the player notices nothing but fewer playouts.
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
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from gdl.errors import GdlError
from gdl.syntax.format import to_kif
from gdl.syntax.parser import parse_term
from players.fleet.fleet import Fleet, FleetNode, LostWorkerError
from players.fleet.open_fleet import open_fleet
from players.processes.ending import end_with
from players.processes.limits import describe
from players.uct.cluster.node_link import NodeLink, SearchTarget
from players.uct.root_statistics import merge
from players.uct.tuning import Tuning
from players.uct.workers.messages import Messages
from players.uct.workers.shared_statistics import Slot
from players.uct.workers.worker import unpack_machine

SEARCH_HOST = "players.search_node.host:SearchHost"
LOOK_SECONDS = 2.0
"""How often it is seen which nodes came."""
WRITE_SECONDS = 0.02
"""How often what the nodes know is added up."""
PULSE_SECONDS = 0.25


class Relay:
    """Carries out the player's commands by means of a fleet."""

    def __init__(self, messages: Messages, slot: Slot, fleet: Fleet) -> None:
        self._messages, self._slot, self._fleet = messages, slot, fleet
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._search: tuple[int, int, Tuning] | None = None
        self._target: SearchTarget | None = None
        self._links: dict[str, NodeLink] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._places = 0
        self._faults: set[str] = set()
        self._sent: tuple[int, int] = (0, -1)

    async def run(self) -> None:
        """Serve until the process ends, which is when the player is gone."""
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
                async with asyncio.timeout(WRITE_SECONDS):
                    await woken.wait()
            woken.clear()
            while not self._inbox.empty():
                self._obey(self._inbox.get())
            self._write()

    def _listen(self, loop: asyncio.AbstractEventLoop, woken: asyncio.Event) -> None:
        try:
            while (message := self._messages.receive()) is not None:
                self._inbox.put(message)
                loop.call_soon_threadsafe(woken.set)
        finally:
            os._exit(0)

    def _obey(self, message: tuple[Any, ...]) -> None:
        target = self._target
        match message:
            case ("start", int(role), int(seed), Tuning() as tuning):
                self._search, self._target = (role, seed, tuning), None
            case ("machine", int(descriptor)):
                try:
                    if target is None and self._search is not None:
                        self._set(SearchTarget(self._start_of(descriptor, *self._search)))
                finally:
                    os.close(descriptor)
            case ("root", int(number), propositions, float(deadline)) if target is not None:
                state = tuple(map(str, propositions))
                self._set(SearchTarget(target.start, number, state, deadline))
            case ("fix", int(number), int(place)) if target is not None and number == target.number:
                self._set(replace(target, fix=place))
            case ("rest",) if target is not None:
                self._set(replace(target, rest=True))

    def _start_of(self, descriptor: int, role: int, seed: int, tuning: Tuning) -> dict[str, Any]:
        """The match as nodes are told of it: no machine is sent, for every node builds its own."""
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            rules = unpack_machine(data).rules
        told = {"rules": to_kif(rules), "role": role, "seed": seed, "tuning": asdict(tuning)}
        return {"match": secrets.token_hex(8), **told}

    def _set(self, target: SearchTarget) -> None:
        self._target = target
        for link in self._links.values():
            link.set(target)

    async def _look(self) -> None:
        """Take nodes that came; what ended with those that went is forgotten."""
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
        worker = await self._fleet.start(node, SEARCH_HOST, node.cores)
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

    def _line(self, number: int, value: int, terms: list[str]) -> None:
        self._messages.send(("line", number, value, [parse_term(term) for term in terms]))

    def _complain(self, fault: str) -> None:
        """Have people read of a fault, once."""
        if fault and fault not in self._faults:
            self._faults.add(fault)
            self._messages.send(("news", f"cluster: {fault}"))

    def _write(self) -> None:
        """Let the player see what all nodes together know of the root."""
        target = self._target
        if target is None or not target.number:
            return
        for link in self._links.values():
            self._complain(link.fault)
        said = [known for link in self._links.values() if (known := link.known) and known[0] == target.number]
        if not said:
            return
        merged = merge(said[0][1].counts, [statistics for _, statistics in said])
        if (target.number, merged.playouts) != self._sent:
            self._sent = target.number, merged.playouts
            self._slot.write(target.number, merged)


def _pulse(slot: Slot) -> None:
    while True:
        slot.pulse()
        time.sleep(PULSE_SECONDS)


def main() -> None:
    """Work until the player is gone."""
    end_with(int(sys.argv[1]))  # also while a cluster is opened, which may take minutes
    messages = Messages(socket.socket(fileno=int(sys.argv[1])))
    slot = Slot(int(sys.argv[2]))
    threading.Thread(target=partial(_pulse, slot), daemon=True, name="pulse").start()
    try:
        asyncio.run(Relay(messages, slot, open_fleet(sys.argv[3])).run())
    except BrokenPipeError:
        os._exit(0)
    except GdlError as error:
        with suppress(OSError):
            messages.send(("news", f"cluster: {error}"))
        os._exit(1)
    except Exception as error:  # another process takes the place of this one
        print(f"relay {os.getpid()} ends: {describe(error)}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
