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
from tests.gdl.test_processes import sit
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    ours, theirs = context.Pipe(False)
    process = context.Process(target=sit, args=(theirs,), daemon=True)
    process.start()
    ours.recv()
    print(json.dumps([process.pid]), flush=True)
    time.sleep(3600)
"""
ASSEMBLER = """
import json, os, subprocess, sys, time
from propnet.native.object_cache import host
target = host()
arguments = [target.cpu, target.features, str(os.getpid())]
command = [sys.executable, "-P", "-m", "propnet.native.object_cache"]
process = subprocess.Popen(command + arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process.stdin.write(b"0\\n")
process.stdin.flush()
process.stdout.readline()  # it has begun to serve
print(json.dumps([process.pid]), flush=True)
time.sleep(3600)
"""


def sit(pipe: object) -> None:
    from gdl.processes import end_with_parent

    end_with_parent()
    pipe.send("here")  # type: ignore[attr-defined]
    time.sleep(3600)


@pytest.mark.parametrize(
    "program",
    [SPAWNED.format(method="spawn"), SPAWNED.format(method="fork"), ASSEMBLER],
    ids=["spawn", "fork", "llvm"],
)
def test_stopped_processes_end_with_their_parent(program: str, tmp_path: Path) -> None:
    script = tmp_path / "root.py"
    script.write_text(program)
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


def test_one_whose_parent_was_gone_before_ends_at_once() -> None:
    program = "from gdl.processes import end_with; end_with(1 << 22); print('still here')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
