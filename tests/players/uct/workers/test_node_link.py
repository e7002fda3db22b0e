"""A node is told the newest target, whatever it missed; what it says of older roots counts for nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, FleetNode, FleetWorker, LostWorkerError, Message
from players.uct.workers.relay import NodeLink, SearchTarget
from tests.players.fleet.here import HereFleet

NODE = FleetNode("n", "here", 3)
WORKER = FleetWorker(NODE, "a search", None)
START = {"match": "m", "seed": 5, "rules": "(role a)"}
TARGET = SearchTarget(START, 1, "p", time.monotonic() + 9)


class Script(HereFleet):
    """A fleet whose one worker hangs, refuses or goes, as the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Message] = []
        self.hangs = asyncio.Event()
        self.hangs.set()  # set: it does not
        self.error: Exception | None = None
        self.match = ""
        self.root = 0

    async def call(
        self, worker: FleetWorker, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, list[Any]]:
        self.calls.append(message)
        await self.hangs.wait()
        if self.error:
            raise self.error
        match message["do"]:
            case "start":
                self.match = message["match"]
                return {}, []
            case "think":
                if message["match"] != self.match:
                    return {"lacks": True}, []
                self.root = message["number"]
                return {}, []
        await asyncio.sleep(0.01)
        if message["number"] != self.root:
            return {"number": -1}, []
        told = {"counts": [2], "playouts": 7, "nodes": 3, "depth": 2, "value": -1, "mixed": False}
        arrays = [np.array([4, 3]), np.array([2.0, 1.0]), np.array([-1, -1], np.int16)]
        return {"number": self.root, "lines": [[90, "a b"]], **told}, list(arrays)


def run(talk: Callable[[Script, NodeLink, list[Any]], Any], kind: type[Script] = Script) -> None:
    async def begin() -> None:
        fleet, lines = kind(), []  # type: ignore[var-annotated]
        link = NodeLink(fleet, WORKER, 2, lambda *line: lines.append(line))
        task = asyncio.create_task(link.run())
        try:
            async with asyncio.timeout(30):
                await talk(fleet, link, lines)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, GdlError):
                await task

    asyncio.run(begin())


async def until(true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.01)


def test_a_node_that_lacks_the_match_is_told_of_it_and_answers() -> None:
    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await until(lambda: link.known)
        assert link.known is not None and link.known[0] == 1
        assert link.known[1].visits.tolist() == [4, 3] and link.known[1].playouts == 7
        start = next(message for message in fleet.calls if message["do"] == "start")
        assert start["workers"] == 3 and start["seed"] != START["seed"]
        assert (1, 90, "a b") in lines
        fleet.match = ""  # it was begun anew
        link.set(replace(TARGET, number=2))
        await until(lambda: link.known and link.known[0] == 2)
        assert [m["do"] for m in fleet.calls].count("start") == 2

    run(talk)


def test_a_node_that_hangs_is_told_the_newest_target_when_it_goes_on() -> None:
    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await until(lambda: link.known)
        fleet.hangs.clear()
        await asyncio.sleep(0.2)
        before = len(fleet.calls)
        for number in range(2, 50):
            link.set(replace(TARGET, number=number))
            await asyncio.sleep(0.005)
        assert len(fleet.calls) <= before + 2, "calls to a silent node pile up"
        assert link.known is not None and link.known[0] == 1
        fleet.hangs.set()
        await until(lambda: link.known and link.known[0] == 49)

    run(talk)


def test_a_refusal_is_told_and_tried_again_and_a_loss_ends_the_link() -> None:
    async def begin() -> None:
        fleet = Script()
        link = NodeLink(fleet, WORKER, 0, lambda *line: None)
        task = asyncio.create_task(link.run())
        fleet.error = GdlError("no such rules")
        link.set(TARGET)
        async with asyncio.timeout(30):
            await until(lambda: link.fault)
            assert "no such rules" in link.fault
            fleet.error = LostWorkerError("gone")
            link.set(TARGET)
            with pytest.raises(LostWorkerError):
                await task

    asyncio.run(begin())


def test_statistics_that_do_not_fit_together_are_refused() -> None:
    class Odd(Script):
        async def call(self, *told: Any, **more: Any) -> tuple[Message, list[Any]]:
            answer, arrays = await super().call(*told, **more)
            return answer, [array[:1] for array in arrays]

    async def talk(fleet: Script, link: NodeLink, lines: list[Any]) -> None:
        link.set(TARGET)
        await until(lambda: link.fault)
        assert "is inconsistent" in link.fault
        assert link.known is None

    run(talk, Odd)
