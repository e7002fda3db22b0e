"""Processes that talk JSON: whatever they do their end is seen, and none is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from ggp.processes.child import MOST_UNREAD, Child
from ggp.processes.parent import JsonMessage
from ggp.protocol.http_error import BusyError
from ggp.server.fork_servers import Spare
from ggp.server.supervised_process import SupervisedProcess
from tests.places import ROOT
from tests.waiting import runs, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
TALKERS = "tests.ggp.processes.talkers"
LONG = 60.0


class Talk:
    """A process and all that it has said."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.exits = 0
        self._inbox: asyncio.Queue[JsonMessage] = asyncio.Queue()
        child.on_message = self._inbox.put_nowait
        child.on_exit = self._exited

    def _exited(self, child: Child) -> None:
        assert child is self.child
        self.exits += 1

    async def hear(self, kind: str) -> JsonMessage:
        """The next message, which is of this kind."""
        async with asyncio.timeout(LONG):
            message = await self._inbox.get()
        assert message["kind"] == kind
        return message

    async def is_over(self) -> None:
        """It has ended, and was seen to."""
        async with asyncio.timeout(LONG):
            await self.child.ended()
        assert self.exits == 1
        assert not self.child.alive
        self.child.send("echo", text="nobody hears")


async def test_fields_of_messages_may_have_any_names() -> None:
    names = ("self", "do", "kind", "cls", "fields", "name", "", "\x00", "\ud800")
    child = await Child.spawn(TALKERS)
    talk = Talk(child)
    try:
        child.send("echo", **dict.fromkeys(names, 1), text="heard")
        await talk.hear("ready")
        assert await talk.hear("echo") == {"kind": "echo", "text": "heard"}
    finally:
        child.kill()
        await child.ended()


@asynccontextmanager
async def talking(*arguments: str, **kind: Any) -> AsyncIterator[Talk]:
    """A process that talks, and is over in the end."""
    spoken = Talk(await Child.spawn(TALKERS, *arguments, **kind))
    assert (await spoken.hear("ready"))["pid"] == spoken.child.pid
    try:
        yield spoken
        await spoken.is_over()
    finally:
        spoken.child.kill()


@pytest.mark.parametrize("text", ["", "é\n\x00", "x" * 3_000_000])
async def test_messages_come_as_they_were_sent(text: str) -> None:
    async with talking() as spoken:
        spoken.child.send("echo", text=text)
        assert (await spoken.hear("echo"))["text"] == text
        spoken.child.kill()


@pytest.mark.parametrize(
    "text", ["{no JSON\n", "x" * 200_000, "[" * 90_000 + "\n", "[]\n", "1\n", '{"what": "no kind"}\n']
)
async def test_who_talks_nonsense_is_ended(text: str) -> None:
    async with talking(max_line=100_000) as spoken:
        spoken.child.on_message = lambda message: message["kind"]
        spoken.child.send("write", text=text)


async def test_who_talks_no_more_is_ended() -> None:
    async with talking() as spoken:
        spoken.child.send("hang up")


async def test_the_end_of_a_process_is_seen_though_others_hold_its_connection_open_and_they_end_too() -> None:
    async with talking() as spoken:
        spoken.child.send("have a child")
        grandchild = (await spoken.hear("child"))["pid"]
        os.kill(spoken.child.pid, signal.SIGKILL)
        await spoken.is_over()
        await asyncio.to_thread(until, lambda: not runs(grandchild))


async def test_a_stopped_process_is_seen_and_ended() -> None:
    async with talking() as spoken:
        spoken.child.send("stop")
        async with asyncio.timeout(LONG):
            while not spoken.child.stopped:
                await asyncio.sleep(0.01)
        spoken.child.hang_up()
        await spoken.child.end(0.1)


@pytest.mark.parametrize("patient", [False, True])
async def test_a_process_ends_by_itself_when_its_parent_hangs_up(patient: bool) -> None:
    async with talking(*["patient"] * patient) as spoken:
        spoken.child.hang_up()
        if patient:
            await spoken.hear("freed")
        await spoken.is_over()


@pytest.mark.parametrize("patience", [[], ["patient"]])
def test_a_parent_that_dies_in_the_middle_of_a_line_takes_the_process_along(patience: list[str]) -> None:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", TALKERS, *patience]
    process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs)
    with ours, theirs:
        assert ours.recv(1000)
        ours.sendall(b'{"do": "ec')
    assert process.wait(LONG) in (0, -signal.SIGKILL)


async def test_for_a_process_that_does_not_read_bytes_wait_up_to_a_bound_and_no_more() -> None:
    async with talking(max_line=3 * MOST_UNREAD) as spoken:
        spoken.child.send("stop")
        await asyncio.to_thread(until, lambda: spoken.child.stopped)
        spoken.child.send("echo", text="x" * 2 * MOST_UNREAD)  # one alone may be longer
        for _ in range(3):
            with pytest.raises(BusyError, match="does not read"):
                spoken.child.send("echo", text="y")
        assert spoken.child._writer.transport.get_write_buffer_size() < 2 * MOST_UNREAD + 100
        os.kill(spoken.child.pid, signal.SIGCONT)
        assert len((await spoken.hear("echo"))["text"]) == 2 * MOST_UNREAD
        spoken.child.send("echo", text="read again")
        assert (await spoken.hear("echo"))["text"] == "read again"
        spoken.child.kill()


# --- A process that follows a match is replaced when it does not read what it is sent
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
