"""A process that is killed at any moment loses at most what it had not committed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from players.sorted_sets.files import LOCK, MANIFEST
from tests.players.sorted_sets import committing
from tests.players.sorted_sets.filling import reopened


def begin(scratch: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, committing.__file__, str(scratch)], stdout=subprocess.PIPE, text=True
    )


def test_what_was_committed_is_whole_after_each_of_20_kills(tmp_path: Path) -> None:
    randomness = random.Random(19)
    reached = 0
    for _ in range(20):
        process = begin(tmp_path)
        assert process.stdout is not None
        said = [process.stdout.readline()]
        time.sleep(randomness.uniform(0, 0.03))
        process.kill()
        said += process.stdout.readlines()
        process.wait()
        told = int([line for line in said if line.endswith("\n")][-1])
        store, state = reopened(tmp_path, 0, rules="(role you)")
        layer = state["layer"]
        assert layer in (told, told + 1) and layer > reached
        assert sorted(store.blobs) == state["names"]
        assert set(state["names"]) == {
            f"layer{number}" for number in range(1, layer + 1) if (number + 1) % 3 or number + 1 > layer
        }
        for name, blob in store.blobs.items():
            number = int(name.removeprefix("layer"))
            assert [blob.read(block) for block in range(3)] == [
                committing.content(number, block) for block in range(3)
            ]
        files = {blob.path.name for blob in store.blobs.values() if blob.path}
        assert {path.name for path in tmp_path.iterdir()} == files | {LOCK, MANIFEST}
        store.close()
        reached = layer
