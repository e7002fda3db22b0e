"""Processes are forked warm, whatever happens to fork servers, and nothing is left of them."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from players.processes import launch
from players.processes.launch import Forked
from players.processes.lifeline import descendants, is_stopped
from tests.fork_server import ForkServer
from tests.players.processes import fork_jobs
from tests.waiting import process_state, runs, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

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
