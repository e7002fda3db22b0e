"""What nodes are and do is told; what is silent or another version is told as that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from players.fleet import survey as module
from players.fleet.fleet import Arrays, FleetWorker, Message
from players.fleet.survey import PROBE, NodeProbe, survey
from tests.players.fleet.here import HereFleet


def surveyed(nodes: int, look: Callable[[HereFleet], Awaitable[None]]) -> None:
    """Look at a fleet of so many nodes, and close it."""

    async def run() -> None:
        fleet = HereFleet(nodes)
        try:
            await look(fleet)
        finally:
            await fleet.close()

    asyncio.run(run())


def test_each_node_says_what_it_is_and_its_workers_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 60.0)

    async def look(fleet: HereFleet) -> None:
        first, second = await fleet.nodes()
        await fleet.start(first, "search", 1)
        reports = {report.node.id: report for report in await survey(fleet)}
        assert list(reports[first.id].doing) == ["search: no match"]
        assert list(reports[second.id].doing) == []
        assert all(not report.fault and report.seconds > 0 for report in reports.values())
        assert len(await fleet.workers()) == 1, "the probes have ended"

    surveyed(2, look)


def test_a_worker_that_hangs_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.5)

    async def look(fleet: HereFleet) -> None:
        worker = await fleet.start((await fleet.nodes())[0], PROBE, 1)
        hangs = fleet._ask

        async def ask(asked: FleetWorker, frame: bytes) -> bytes:
            await asyncio.sleep(60.0 if asked is worker else 0.0)
            return await hangs(asked, frame)

        monkeypatch.setattr(fleet, "_ask", ask)
        (report,) = await survey(fleet)
        assert list(report.doing) == ["probe: silent"]

    surveyed(1, look)


def test_a_node_with_another_version_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = NodeProbe.call

    async def call(probe: NodeProbe, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        about, same = await usual(probe, message, arrays)
        return {**about, "version": "9.9"}, same

    monkeypatch.setattr(NodeProbe, "call", call)

    async def look(fleet: HereFleet) -> None:
        (report,) = await survey(fleet)
        assert "runs 9.9" in report.fault

    surveyed(1, look)
