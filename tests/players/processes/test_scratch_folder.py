"""What a killed process leaves behind is removed by the next one, what a living one has is not."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from players.processes.scratch_folder import ScratchFolder
from tests.places import ROOT

HOLDER = """
import os, signal
from players.processes.scratch_folder import ScratchFolder
folder = ScratchFolder("scratch-")
(folder.path / "file").write_text("much")
print(folder.path, flush=True)
input()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_leaves_is_removed_and_what_a_living_one_has_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    other = tmp_path / "scratch-of-somebody"
    other.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        theirs = Path(process.stdout.readline().strip())
        first = ScratchFolder("scratch-")
        assert theirs.exists() and theirs != first.path
        process.communicate("\n")
    second = ScratchFolder("scratch-")
    assert not theirs.exists() and first.path.exists() and other.exists()
    first.remove()
    second.remove()
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
