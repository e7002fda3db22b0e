"""Nodes of Ray that were started here end with the process that wanted them, however that ends."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.places import ROOT

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]
MARK = "GGP_TEST_MARK"


class Marked:
    """The processes that have a mark in their environment: all that one of them has started."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8)
        self.environment = {**os.environ, MARK: self.mark, "PYTHONPATH": str(ROOT)}

    def running(self) -> dict[int, str]:
        """Their command lines, by number."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if f"{MARK}={self.mark}".encode() in (path / "environ").read_bytes():
                    found[int(path.name)] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    def nodes(self) -> dict[int, str]:
        """Those that are Ray's, or start it."""
        return {pid: words for pid, words in self.running().items() if "ray_owner" not in words}

    def wait_for(self, words: str) -> None:
        """Until there is such a process."""
        end = time.monotonic() + 120
        while not any(words in line for line in self.running().values()):
            assert time.monotonic() < end, self.running()
            time.sleep(0.05)

    def wait_for_end(self) -> None:
        """Until no node is left; nothing that ends with its owner takes so long."""
        end = time.monotonic() + 40
        while left := self.nodes():
            assert time.monotonic() < end, left
            time.sleep(0.1)


@pytest.fixture
def marked() -> Iterator[Marked]:
    one = Marked()
    yield one
    for pid in one.running():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["gcs_server", "raylet/raylet"])
def test_they_end_when_the_owner_is_killed_while_they_start(when: str, marked: Marked) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-m", "tests.players.fleet.ray_owner"], env=marked.environment, cwd=ROOT
    )
    marked.wait_for(when)
    owner.kill()
    owner.wait()
    marked.wait_for_end()


@pytest.mark.slow
def test_they_end_when_the_owner_is_killed_though_others_have_its_pipes(marked: Marked) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-m", "tests.players.fleet.ray_owner"],
        env=marked.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    assert ":" in owner.stdout.readline()
    assert len(marked.nodes()) > 3
    owner.kill()
    owner.wait()
    marked.wait_for_end()
    owner.stdout.close()
    assert any("ray_owner" in words for words in marked.running().values()), "the heir of its pipes goes on"


@pytest.mark.slow
def test_a_relay_ends_with_its_player_while_it_starts_nodes(marked: Marked) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    memory = os.memfd_create("slot")
    os.ftruncate(memory, 1 << 20)
    relay = subprocess.Popen(
        [
            *(sys.executable, "-m", "players.uct.workers.relay"),
            *(str(theirs.fileno()), str(memory), "local-ray:1"),
        ],
        env=marked.environment,
        cwd=ROOT,
        pass_fds=[theirs.fileno(), memory],
    )
    theirs.close()
    os.close(memory)
    marked.wait_for("gcs_server")
    relay.kill()
    relay.wait(40)
    ours.close()
    marked.wait_for_end()
