"""A process that follows a match is replaced when it does not read what it is sent."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from ggp.processes.child import MOST_UNREAD, Child
from ggp.processes.parent import JsonMessage
from ggp.server.fork_servers import Spare
from ggp.server.supervised_process import SupervisedProcess


class Spawned:
    """Gives new processes that echo."""

    async def take(self) -> Child:
        return await Child.spawn("tests.ggp.processes.talkers")


async def test_a_process_that_reads_nothing_is_replaced_and_what_waits_for_it_is_bounded() -> None:
    heard: asyncio.Queue[JsonMessage] = asyncio.Queue()
    logged: list[str] = []

    def log(level: str, event: str, **fields: Any) -> None:
        logged.append(event)

    process = SupervisedProcess(
        "talker",
        cast(Spare, Spawned()),
        lambda process: [("echo", {"text": "briefed"})],
        lambda process, message: heard.put_nowait(message),
        lambda process, pid: True,
        log,
    )

    async def until_briefed() -> None:
        async with asyncio.timeout(60):
            while (await heard.get()) != {"kind": "echo", "text": "briefed"}:
                pass

    await process.begin()
    await until_briefed()
    first = process.child
    assert first is not None
    process.send("stop")
    for _ in range(20):
        process.send("echo", text="x" * (MOST_UNREAD // 8))
        assert first._writer.transport.get_write_buffer_size() <= MOST_UNREAD
    assert logged == ["process does not read"] and process.child is not first
    await until_briefed()
    await first.ended()
    await process.close()
