"""Processes that play are done without when they have died or hang."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading

import pytest

from players.knowledge.state_values import StateValues
from players.uct.training import play_processes
from players.uct.training.play_processes import PlayProcesses
from players.uct.training.searched_play import PlayTerms
from tests.machines import network

STOPPED = """
import os, signal
os.write({number}, b'{{"do": "a part')
os.kill(os.getpid(), signal.SIGSTOP)
"""
DEAD = "exit(3)"


@pytest.mark.skipif(os.name != "posix", reason="processes are stopped by a signal")
@pytest.mark.parametrize("program", [STOPPED, DEAD], ids=["stopped in a message", "dead before the first"])
def test_one_that_says_nothing_more_is_missed_and_training_goes_on(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = network("tictactoe")
    values = StateValues(len(machine.network.bases), 2, (0,))
    ours, theirs = socket.socketpair()
    script = program.format(number=theirs.fileno())
    process = subprocess.Popen([sys.executable, "-c", script], pass_fds=[theirs.fileno()])
    theirs.close()
    monkeypatch.setattr(play_processes, "launch_linked", lambda *_, **__: (ours, process))
    processes = PlayProcesses(machine, PlayTerms(), 1, 0)
    try:
        (lines,) = processes._members
        assert select.select([lines.connection], [], [], 60)[0]
        over = threading.Event()

        def train() -> None:
            processes.exchange(values, lambda _: None)
            over.set()

        threading.Thread(target=train, daemon=True).start()
        assert over.wait(30) and len(processes._members) == (program is STOPPED)
    finally:
        process.kill()
        process.wait()
