"""When all work for strangers takes too much memory, the greediest ends, and nothing else."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.web.app import end_greediest, memory_of
from ggp.web.rooms import rooms
from tests.places import SOURCES

MIB = 1024**2
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
HOLD = """
import subprocess, sys, time
held = bytearray({own} * 2**20)
if {below}:
    subprocess.Popen([sys.executable, "-c", "import time; held = bytearray({below} * 2**20); time.sleep(60)"])
print(flush=True)
time.sleep(60)
"""


@contextmanager
def holding(own: int, below: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds so many MiB, and one that it has started."""
    command = [sys.executable, "-c", HOLD.format(own=own, below=below)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()


async def nothing() -> None:
    """Ends what has ended."""


def budget_of(memory: int, *held: tuple[int, int]) -> WorkBudget:
    """A budget of so many MiB in which processes have reserved MiB."""
    budget = WorkBudget(8, 2**40)

    async def run() -> None:
        for pid, need in held:
            (await budget.reserve("work", WorkNeed(1, need * MIB), lambda: False, nothing)).pid = pid

    asyncio.run(run())
    budget.memory = memory * MIB
    return budget


@LINUX
def test_a_process_counts_with_all_that_it_has_started() -> None:
    with holding(20, 60) as process, holding(10) as other:
        end = time.monotonic() + 30
        while (taken := memory_of([process.pid, other.pid], {}))[process.pid] < 80 * MIB:
            assert time.monotonic() < end, taken
            time.sleep(0.1)
        assert 10 * MIB < taken[other.pid] < 60 * MIB


@LINUX
def test_the_one_furthest_above_its_reservation_ends() -> None:
    with holding(90) as greedy, holding(100) as modest:
        held = ((greedy.pid, 10), (modest.pid, 95))
        taken = memory_of([greedy.pid, modest.pid], {})
        assert end_greediest(budget_of(1000, *held), taken) == 0
        assert end_greediest(budget_of(150, *held), taken) == greedy.pid
        assert greedy.wait(10) == -9
        assert modest.poll() is None


def test_what_the_processes_of_all_rooms_run_is_loaded_before_they_are_forked() -> None:
    kinds = {name for path in SOURCES for name in re.findall(r'WorkKind\(\s*"([\w.]+)"', path.read_text())}
    assert "ggp.web.rules_process" in kinds
    assert kinds <= {name for room in rooms().values() for name in room.processes}


@LINUX
def test_the_greediest_ends_where_the_servers_own_process_takes_what_is_left() -> None:
    with holding(1) as greedy, holding(1) as modest:
        budget = budget_of(100, (greedy.pid, 20), (modest.pid, 20))
        taken = {greedy.pid: 30 * MIB, modest.pid: 20 * MIB}
        assert end_greediest(budget, taken) == 0
        budget.own = 61 * MIB
        assert end_greediest(budget, dict.fromkeys(taken, 20 * MIB)) == 0  # none is above what it reserved
        assert end_greediest(budget, taken) == greedy.pid
