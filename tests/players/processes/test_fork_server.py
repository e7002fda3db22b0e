"""Processes are forked warm or started, end with their parents, give way, and nothing is left of them."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from players.processes import launch, limits
from players.processes.launch import Forked
from players.processes.lifeline import descendants, is_stopped
from players.processes.limits import BEHIND, USUAL, WAITS, set_session, set_threads
from players.processes.lines import shared_bytes
from tests.fork_server import ForkServer
from tests.players.processes import fork_jobs
from tests.waiting import process_state, runs, until

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs fork servers, /proc and sessions of Linux"
)

JOBS = fork_jobs.__name__
WARM_UP = f"{JOBS}:warm_up"


@pytest.fixture
def servers() -> Iterator[ForkServer]:
    servers = ForkServer(WARM_UP, "a", "b")
    yield servers
    servers.close()


def run(*arguments: str, **options: bool) -> tuple[Forked | subprocess.Popen[bytes], bytes]:
    """A job, when it has ended, and what it has printed."""
    ours, theirs = os.pipe()
    job = launch.launch(JOBS, arguments, {1: theirs, theirs: theirs}, **options)
    os.close(theirs)
    with os.fdopen(ours, "rb") as output:
        printed = output.read()
    job.wait(20)
    return job, printed


def stopped(pid: int) -> bool:
    return is_stopped(pid)


def test_children_are_warm_and_have_what_they_are_given(servers: ForkServer) -> None:
    ours, theirs = os.pipe()
    for session in (False, True):
        job = launch.launch(JOBS, ["say", str(theirs)], {theirs: theirs}, session=session)
        assert isinstance(job, Forked)
        assert job.wait(20) == 0
        assert os.read(ours, 1000).decode() == f"{JOBS} a b True {session}"
        message = json.loads(servers.messages.readline())
        assert message == {"pid": job.pid, "owner": os.getpid()}
        assert json.loads(servers.messages.readline()) == {"gone": job.pid}
    os.close(ours)
    os.close(theirs)


def test_children_have_no_other_files(servers: ForkServer) -> None:
    long = launch.launch(JOBS, ["sleep"])
    job, printed = run("files")
    assert isinstance(job, Forked)
    numbers = json.loads(printed)
    client = servers.sockets[1].fileno()
    assert numbers[:3] == [0, 1, 2]
    assert client in numbers
    assert len(numbers) == 6  # and the lifeline, and the one by which the output was passed
    long.kill()
    assert long.wait(20) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("arguments", "status"), [(("exit", "0"), 0), (("exit", "7"), 7), (("fail",), 1), (("launch", "5"), 5)]
)
def test_status_is_told(servers: ForkServer, arguments: tuple[str, ...], status: int) -> None:
    job, _ = run(*arguments)
    assert isinstance(job, Forked)
    assert job.poll() == job.returncode == status


def test_input_and_output_are_connected(servers: ForkServer) -> None:
    ours, theirs = socket.socketpair()
    job = launch.launch(JOBS, ["echo"], {0: theirs.fileno(), 1: theirs.fileno()}, session=True)
    theirs.close()
    ours.sendall(b"hello\n")
    assert ours.recv(100) == b"HELLO\n"
    assert os.getsid(job.pid) == os.getpgid(job.pid) == job.pid
    assert job.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(0.01)
    ours.close()
    assert job.wait(20) == 0


def test_the_status_of_one_that_was_gone_before_it_was_looked_for_is_waited_for() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        job = Forked(gone.pid, ours)
        assert job.poll() is None
        threading.Timer(0.1, theirs.send, (b"7",)).start()
        assert job.wait(20) == 7


def test_all_threads_that_look_see_the_same_end(servers: ForkServer) -> None:
    """Who closed its handle twice closed, or killed, what somebody else had opened in between."""
    statuses: list[int | None] = []

    def look(job: Forked) -> None:
        while job.poll() is None:
            pass
        statuses.append(job.poll())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            job = launch.launch(JOBS, ["exit", "7"])
            assert isinstance(job, Forked)
            looking = threading.Thread(target=look, args=(job,))
            looking.start()
            statuses.append(job.wait(20))
            looking.join(20)
    finally:
        sys.setswitchinterval(interval)
    assert statuses == [7] * 40


def test_without_an_answer_a_new_interpreter_is_started(servers: ForkServer) -> None:
    assert servers.first.poll() is None
    os.kill(servers.first.pid, signal.SIGSTOP)
    until(lambda: stopped(servers.first.pid))
    job = launch.launch(JOBS, ["exit", "3"])
    assert isinstance(job, subprocess.Popen)
    assert job.wait(20) == 3
    # What nobody waits for any more is not started afterwards.
    os.kill(servers.first.pid, signal.SIGCONT)
    assert isinstance(run("exit", "0")[0], Forked)
    pids = [json.loads(servers.messages.readline()) for _ in range(2)]
    assert "pid" in pids[0]
    assert "gone" in pids[1]


@pytest.mark.parametrize("forks", [True, False])
def test_the_kernel_ends_stopped_processes_with_the_first_of_their_tree(forks: bool) -> None:
    root = subprocess.Popen(
        [sys.executable, "-P", "-c", _TREE.format(warm_up=WARM_UP, jobs=JOBS, forks=forks)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert root.stdout is not None
    pids = json.loads(root.stdout.readline())
    assert len(pids) == 4 + forks
    # Who starts a program waits for it unstoppably: a child that is stopped before it runs its own program
    # would keep its parent from being stopped.
    until(lambda: all(process_state(pid) == "S" for pid in pids))
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    until(lambda: all(stopped(pid) for pid in pids))
    root.kill()
    root.wait()
    root.stdout.close()
    until(lambda: not any(runs(pid) for pid in pids))


@pytest.mark.parametrize("forks", [True, False])
def test_a_stopped_process_ends_with_the_one_that_has_asked_for_it(forks: bool, servers: ForkServer) -> None:
    if not forks:
        launch.use(None)
    before = set(descendants(os.getpid()))
    job = launch.launch(JOBS, ["parent"])
    heirs = lambda: set(descendants(os.getpid())) - before - {job.pid}  # noqa: E731
    until(lambda: len(heirs()) == 1 and process_state(min(heirs())) == "S")
    (heir,) = heirs()
    os.kill(heir, signal.SIGSTOP)
    until(lambda: stopped(heir))
    job.kill()
    job.wait(20)
    until(lambda: not runs(heir))


_TREE = """
import json, os, subprocess, time
from players.processes.lifeline import descendants
from tests.fork_server import ForkServer
from players.processes import launch
forks = [ForkServer("{warm_up}")] if {forks} else []
jobs = [launch.launch("{jobs}", ["parent"], session=bool(n)) for n in range(2)]
while len(below := descendants(os.getpid())) < 4 + {forks}:
    time.sleep(0.05)
print(json.dumps(below), flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("limit", [24, 64, 500])
def test_children_start_however_few_files_may_be_open(limit: int) -> None:
    servers = ForkServer(WARM_UP)
    try:
        resource.prlimit(servers.first.pid, resource.RLIMIT_NOFILE, (limit, limit))
        long = [launch.launch(JOBS, ["sleep"]) for _ in range(limit if limit < 64 else 2)]
        assert isinstance(long[0], Forked)
        for job in long:
            job.kill()
            job.wait(20)
        # Too many for it were started otherwise; it goes on.
        assert isinstance(run("exit", "5")[0], Forked)
        assert servers.first.poll() is None
    finally:
        servers.close()


def test_without_fork_servers_processes_start_all_the_same() -> None:
    launch.use(None)
    job, _ = run("exit", "7", session=True)
    assert isinstance(job, subprocess.Popen)
    assert job.returncode == 7


def test_a_failing_warm_up_is_no_reason_not_to_serve(capfd: pytest.CaptureFixture[str]) -> None:
    servers = ForkServer(f"{JOBS}:broken")
    try:
        assert isinstance(run("exit", "0")[0], Forked)
    finally:
        servers.close()
    assert "no warm-up: ZeroDivisionError" in capfd.readouterr().err


# --- A process at the other end of a socket has what it was given; nothing stays open where there is none
def _open() -> set[int]:
    """The descriptors of this process; that of the list itself is closed by now."""
    return {int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


def test_a_process_at_the_other_end_of_a_socket_has_the_files_and_the_words_that_it_was_given() -> None:
    before = _open()
    # It stands at its end: whoever reads it has to go back.
    ours, process = launch.launch_linked(fork_jobs.__name__, [shared_bytes(b"abc")], ["def"])
    with ours, ours.makefile("rb") as told:
        assert told.read() == b"abcdef"
    assert process.wait(60) == 0
    assert _open() - before <= set(launch.lifeline._pipe)


def test_where_there_are_no_more_processes_files_and_socket_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr(launch, "launch", refused)
    before = _open()
    with pytest.raises(OSError, match="no more processes"):
        launch.launch_linked(fork_jobs.__name__, [shared_bytes(b"abc"), shared_bytes(b"def")])
    assert _open() == before


# --- Processes end with the one that has started them, stopped or not
SPAWNED = """
import json, multiprocessing, os, subprocess, sys, time
from players.processes.lifeline import Lifeline
from tests.players.processes.test_fork_server import sit
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    ours, theirs = context.Pipe(False)
    process = context.Process(target=sit, args=(theirs, Lifeline()), daemon=True)
    process.start()
    ours.recv()
    print(json.dumps([process.pid]), flush=True)
    time.sleep(3600)
"""


def sit(pipe: object, _: object) -> None:
    pipe.send("here")  # type: ignore[attr-defined]
    time.sleep(3600)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_stopped_processes_of_multiprocessing_end_with_their_parent(method: str, tmp_path: Path) -> None:
    script = tmp_path / "root.py"
    script.write_text(SPAWNED.format(method=method))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    root = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert root.stdout is not None
    (pid,) = json.loads(root.stdout.readline())
    os.kill(pid, signal.SIGSTOP)
    until(lambda: process_state(pid) == "T")
    root.kill()
    root.wait()
    root.stdout.close()
    until(lambda: process_state(pid) == "Z")


# --- What gives way has a higher nice value, as a thread and as a session, and can be made as before
JOB_MODULE = "tests.players.processes.fork_jobs"
GROUPS = Path("/proc/self/autogroup").exists()


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
    processes = [launch.launch(JOB_MODULE, ["sleep"], session=True)]
    try:
        usual = os.getpriority(os.PRIO_PROCESS, processes[0].pid)
        launch.give_way(True)
        processes.append(launch.launch(JOB_MODULE, ["sleep"], session=True))
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
