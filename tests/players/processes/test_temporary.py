"""What a killed process leaves behind is removed by the next one, what a living one has is not."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from players.processes.temporary import ScratchFolder
from tests.places import ROOT

HOLDER = """
import os, signal
from players.processes.temporary import ScratchFolder
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
    assert not first.path.exists()
    del second  # whoever forgets to remove it
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == [other.name]


def test_where_there_are_no_locks_or_a_folder_cannot_be_looked_into_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("propnet.storage.process_lock.fcntl", None)
    first = ScratchFolder("scratch-")
    second = ScratchFolder("scratch-")
    assert first.path.exists() and second.path.exists()

    def refused(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("players.processes.temporary._remove_if_left", refused)
    third = ScratchFolder("scratch-")
    for folder in (first, second, third):
        folder.remove()
