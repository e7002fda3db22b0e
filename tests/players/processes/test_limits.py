"""What gives way has a higher nice value, as a thread and as a session, and can be made as before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from players.processes import launch, limits
from players.processes.limits import BEHIND, USUAL, WAITS, set_session, set_threads
from tests.waiting import until

JOBS = "tests.players.processes.fork_jobs"
GROUPS = Path("/proc/self/autogroup").exists()

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and sessions of Linux")


def session_nice(pid: int) -> int | None:
    """None for a session that is in no group, such as one begun before the system made groups."""
    words = Path(f"/proc/{pid}/autogroup").read_text(encoding="utf-8").split()
    return int(words[-1]) if words else None


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(not GROUPS, reason="the kernel has no groups of sessions")
def test_a_session_gives_way_and_goes_as_usual_again(sleeper: subprocess.Popen[bytes]) -> None:
    for nice in (BEHIND, WAITS, USUAL):
        set_session(sleeper.pid, nice)
        until(lambda nice=nice: session_nice(sleeper.pid) == nice)


@pytest.mark.skipif(not GROUPS, reason="the kernel has no groups of sessions")
def test_the_session_of_somebody_else_is_left_alone() -> None:
    process = subprocess.Popen(["sleep", "3600"])
    try:
        before = session_nice(process.pid)
        set_session(process.pid, BEHIND)
        until(lambda: process.pid not in limits._pending)
        assert session_nice(process.pid) == before
    finally:
        process.kill()
        process.wait()


def refusing(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[tuple[str, str]]]:
    """A system that takes no wish while the event is set, and the wishes that it has taken, with their files.
    (Who is not root may change ten sessions a second.)"""
    refuse, taken = threading.Event(), list[tuple[str, str]]()
    refuse.set()

    def write(self: Path, text: str, encoding: str) -> int:
        if refuse.is_set():
            raise BlockingIOError
        taken.append((str(self), text))
        return len(text)

    monkeypatch.setattr(Path, "write_text", write)
    monkeypatch.setattr(limits, "_AGAIN_SECONDS", 0.01)
    return refuse, taken


def test_what_the_system_does_not_take_now_is_tried_again_with_the_latest_wish(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse, taken = refusing(monkeypatch)
    for nice in (BEHIND, USUAL, WAITS):
        set_session(sleeper.pid, nice)
    refuse.clear()
    until(lambda: sleeper.pid not in limits._pending)
    assert taken == [(f"/proc/{sleeper.pid}/autogroup", str(WAITS))]


def test_a_wish_that_comes_just_when_the_one_before_is_fulfilled_is_not_lost(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse, taken = refusing(monkeypatch)

    class Slow(dict[int, int]):
        """Whoever has looked into it takes a while to do something about it."""

        def __contains__(self, pid: object) -> bool:
            found = super().__contains__(pid)
            if found and refuse.is_set():
                refuse.clear()
                time.sleep(0.3)
            return found

    monkeypatch.setattr(limits, "_pending", Slow())
    set_session(sleeper.pid, BEHIND)
    set_session(sleeper.pid, WAITS)
    until(lambda: not len(limits._pending))
    assert taken[-1] == (f"/proc/{sleeper.pid}/autogroup", str(WAITS))


def test_processes_that_are_gone_are_no_error(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait()
    set_session(sleeper.pid, BEHIND)
    set_threads(sleeper.pid, BEHIND)
    assert sleeper.pid not in limits._pending


def test_processes_launched_before_and_after_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches and builders of a match, once others are played beside it."""
    monkeypatch.setattr(launch, "_behind", False)
    processes = [launch.launch(JOBS, ["sleep"], session=True)]
    try:
        usual = os.getpriority(os.PRIO_PROCESS, processes[0].pid)
        launch.give_way(True)
        processes.append(launch.launch(JOBS, ["sleep"], session=True))
        for process in processes:
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == max(usual, BEHIND)
            until(lambda pid=process.pid: not GROUPS or session_nice(pid) == BEHIND)
        launch.give_way(False)
        for process in processes:
            until(lambda pid=process.pid: not GROUPS or session_nice(pid) == USUAL)
    finally:
        launch.give_way(False)
        for process in processes:
            process.kill()
            process.wait()
