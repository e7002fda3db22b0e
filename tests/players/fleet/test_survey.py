"""What nodes are and do is told; what is silent or another version is told as that."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import pytest

from players.fleet import survey as module
from players.fleet.local_fleet import LocalFleet
from players.fleet.survey import PROBE, survey


def surveyed(cores: int, nodes: int, look: Callable[[LocalFleet], Awaitable[None]]) -> None:
    """Look at a fleet of so many nodes, and close it."""

    async def run() -> None:
        fleet = LocalFleet(cores, nodes=nodes)
        try:
            await look(fleet)
        finally:
            await fleet.close()

    asyncio.run(run())


def test_each_node_says_what_it_is_and_its_workers_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 60.0)

    async def look(fleet: LocalFleet) -> None:
        first, second = await fleet.nodes()
        await fleet.start(first, "search", 1)
        reports = {report.node.id: report for report in await survey(fleet)}
        assert list(reports[first.id].doing) == ["search: no match"]
        assert list(reports[second.id].doing) == []
        assert all(not report.fault and report.seconds > 0 for report in reports.values())
        assert len(await fleet.workers()) == 1, "the probes have ended"

    surveyed(4, 2, look)


def test_a_worker_that_hangs_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.5)

    async def look(fleet: LocalFleet) -> None:
        node = (await fleet.nodes())[0]
        worker = await fleet.start(node, PROBE, 1)
        answer, _ = await fleet.call(worker, {})
        os.kill(answer["process"], signal.SIGSTOP)
        (report,) = await survey(fleet)
        assert list(report.doing) == ["probe: silent"]

    surveyed(2, 1, look)


def test_a_node_with_another_version_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "own_version", lambda: "9.9")

    async def look(fleet: LocalFleet) -> None:
        (report,) = await survey(fleet)
        assert "here is 9.9" in report.fault

    surveyed(1, 1, look)
