"""Processes end with the one that has started them, stopped or not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.waiting import process_state, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


SPAWNED = """
import json, multiprocessing, os, subprocess, sys, time
from players.processes.lifeline import Lifeline
from tests.players.processes.test_lifeline import sit
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
