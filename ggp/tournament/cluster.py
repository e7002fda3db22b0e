"""The nodes of a fleet as places for matches: nodes come, are lost, and share no core."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from gdl.errors import GdlError
from gdl.words import counted
from ggp.processes.parent import JsonMessage
from ggp.tournament.sites import Cores, OwnSite, Site
from players.fleet.fleet import Arrays, Fleet, FleetNode, FleetWorker, LostWorkerError, Message
from players.processes.limits import processors

_MATCH_HOST = "match"


class MatchHost:
    """Runs the referees of a node. The caller keeps account of its cores."""

    def __init__(self) -> None:
        self._site = OwnSite()
        self._played = 0
        self._now: list[str] = []

    def status(self) -> str:
        """The matches that are played now, and the number played before."""
        return f"{', '.join(self._now) or 'no match now'}; {counted(self._played, 'match', 'matches')} before"

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Answer ``cores`` with the cores that this node may use and the computer's name, and ``play`` with
        the referee's last message about a job and its steps."""
        match message.get("do"):
            case "cores":
                return {"host": platform.node(), "cores": processors()}, ()
            case "play":
                steps: list[JsonMessage] = []
                name = str(message["job"]["key"])
                self._now.append(name)
                try:
                    last = await self._site.play(message["job"], steps.append)
                finally:
                    self._now.remove(name)
                    self._played += 1
                return {"said": last, "steps": steps}, ()
        raise GdlError("a host of matches answers only 'cores' and 'play'")


LOOK_SECONDS = 1.0
"""Seconds between two looks for new nodes."""
_ALONE_SECONDS = 120.0
"""Seconds that a tournament waits without any node."""


class _NodeSite:
    """A node with a host of matches, which reserves all of its cores.

    Args:
        cores: the cores of the node; matches are bound to theirs if ``bound``. Nodes on one computer that
            together offer more cores than it has cannot be bound to cores of their own.
    """

    def __init__(
        self, fleet: Fleet, worker: FleetWorker, host: str, cores: Sequence[int], bound: bool
    ) -> None:
        self.cores = Cores(cores)
        self.host = host
        self.bound = bound
        self.worker = worker
        self.lost = False
        self._fleet = fleet

    async def play(self, job: JsonMessage, heard: Callable[[JsonMessage], None]) -> JsonMessage | None:
        """Play a match as :meth:`ggp.tournament.sites.Site.play` does; its steps are reported when it is
        over."""
        if not self.bound:
            job = {**job, "seats": [{**seat, "cores": []} for seat in job["seats"]]}
        try:
            answer, _ = await self._fleet.call(self.worker, {"do": "play", "job": job})
        except LostWorkerError:
            self.lost = True
            raise
        for step in answer["steps"]:
            heard(step)
        last: JsonMessage | None = answer["said"]
        return last


class ClusterSites:
    """The nodes of a fleet.

    Args:
        fleet: whose nodes play; closed with this.
        alone: seconds without any node after which the tournament stops.
    """

    patience: float | None = LOOK_SECONDS

    def __init__(self, fleet: Fleet, alone: float = _ALONE_SECONDS) -> None:
        self._fleet = fleet
        self._alone = alone
        self._sites: dict[str, _NodeSite] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._company = time.monotonic()
        self._looked = 0.0

    @property
    def open(self) -> Sequence[Site]:
        """The nodes whose host answers."""
        return [site for site in self._sites.values() if not site.lost]

    async def look(self) -> None:
        """Start hosts on new nodes, and forget lost ones. Raises GdlError if there has been no node for too
        long."""
        lost = any(site.lost for site in self._sites.values())
        if self.open and not lost and time.monotonic() < self._looked + LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        nodes = {node.id: node for node in await self._fleet.nodes()}
        for key, site in list(self._sites.items()):
            if site.lost or key not in nodes:
                del self._sites[key]
                await self._fleet.stop(site.worker)
        self._starting = {key: task for key, task in self._starting.items() if not task.done()}
        for key, node in nodes.items():
            if key not in self._sites and key not in self._starting:
                self._starting[key] = asyncio.create_task(self._start(node))
        if not self._sites and self._starting:
            await asyncio.wait(self._starting.values(), return_when=asyncio.FIRST_COMPLETED)
        if self._sites:
            self._company = time.monotonic()
        elif time.monotonic() > self._company + self._alone:
            raise GdlError(
                f"no node of the cluster has played for {self._alone:.0f} s",
                remedy="add one; the same command goes on where this one stopped",
            )

    async def close(self) -> None:
        """End all hosts, and leave the fleet."""
        for task in self._starting.values():
            task.cancel()
        if self._starting:
            await asyncio.wait(self._starting.values())
        await self._fleet.close()

    async def _start(self, node: FleetNode) -> None:
        """Add a node; if it does not answer, or its cores are not free, it is tried again later."""
        with suppress(GdlError):
            worker = await self._fleet.start(node, _MATCH_HOST, node.cores)
            about, _ = await self._fleet.call(worker, {"do": "cores"})
            taken = {
                core
                for site in self._sites.values()
                if site.host == about["host"] and site.bound and not site.lost
                for core in site.cores.all
            }
            free = [core for core in about["cores"] if core not in taken]
            bound = len(free) >= node.cores
            cores = free[: node.cores] if bound else range(node.cores)
            self._sites[node.id] = _NodeSite(self._fleet, worker, about["host"], cores, bound)
