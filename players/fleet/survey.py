"""A description of the nodes of a fleet, and of the current work of their workers.

A *probe* is a service that describes its node and sends arrays back. It shows whether a node answers, how
fast, and with which versions.
"""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gdl.errors import GdlError
from players.fleet.fleet import STATUS, Arrays, Fleet, FleetNode, FleetWorker, Message


def own_version() -> str:
    """The version of this program; empty if it is not installed."""
    try:
        return version("kaskade-ggp")
    except PackageNotFoundError:
        return ""


class NodeProbe:
    """Describes its node."""

    def status(self) -> str:
        """It does nothing by itself."""
        return "ready"

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """The node in words, and the arrays of the message. Raises GdlError for a message that asks for
        anything."""
        if message:
            raise GdlError("a probe does nothing but answer")
        where = {"host": platform.node(), "processor": platform.machine(), "process": os.getpid()}
        return {**where, "python": platform.python_version(), "version": own_version()}, arrays


PROBE = "probe"
START_SECONDS = 30.0
"""Seconds in which the probe of a node must start."""
ANSWER_SECONDS = 5.0
"""A worker that has not answered after this time is reported as silent."""


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The state of a node.

    Attributes:
        node: the node.
        what: its processor, Python and version of this program.
        seconds: round-trip time of an empty message.
        doing: the statuses of its workers, one line each.
        fault: a description of its fault; empty if there is none.
    """

    node: FleetNode
    what: str
    seconds: float
    doing: Sequence[str]
    fault: str = ""

    def as_json(self) -> dict[str, Any]:
        """The report as a JSON object."""
        node = {"node": self.node.id, "host": self.node.host, "cores": self.node.cores}
        report = {"what": self.what, "seconds": round(self.seconds, 5), "doing": list(self.doing)}
        return {**node, **report, "fault": self.fault}


async def survey(fleet: Fleet) -> list[NodeReport]:
    """Ask all nodes and workers in parallel."""
    workers = await fleet.workers()
    nodes = await fleet.nodes()
    return list(
        await asyncio.gather(
            *(_asked(fleet, node, [w for w in workers if w.node.id == node.id]) for node in nodes)
        )
    )


async def _asked(fleet: Fleet, node: FleetNode, workers: Sequence[FleetWorker]) -> NodeReport:
    doing = await asyncio.gather(*(_doing(fleet, worker) for worker in workers))
    try:
        async with asyncio.timeout(START_SECONDS):
            probe = await fleet.start(node, PROBE, 0)
        try:
            about, _ = await _call(fleet, probe, {})
            began = time.perf_counter()
            await _call(fleet, probe, {})
            seconds = time.perf_counter() - began
        finally:
            await fleet.stop(probe)
    except (GdlError, TimeoutError) as error:
        return NodeReport(node, "", 0.0, doing, str(error) if isinstance(error, GdlError) else "silent")
    what = f"{about['processor']}, Python {about['python']}, {about['version'] or 'not installed'}"
    fault = "" if about["version"] == own_version() else f"runs {about['version']}, here is {own_version()}"
    return NodeReport(node, what, seconds, doing, fault)


async def _doing(fleet: Fleet, worker: FleetWorker) -> str:
    try:
        answer, _ = await _call(fleet, worker, STATUS)
    except (GdlError, TimeoutError):
        return f"{worker.service}: silent"
    return f"{worker.service}: {answer['text']}"


async def _call(fleet: Fleet, worker: FleetWorker, message: Message) -> tuple[Message, Any]:
    async with asyncio.timeout(ANSWER_SECONDS):
        return await fleet.call(worker, message)
