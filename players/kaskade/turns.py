"""Builders take turns: whoever builds what another one builds waits for its result, and no more compile at a
time than there are processors.

Four matches of one game need one network, and four compilers on one processor are done no sooner than one
after another. The turns are locks on files in the folder of the caches: all processes of a user share them,
and those of a builder that is killed are free at once. Nobody waits for ever: a builder may be stopped.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from typing import Self

from players.processes.limits import cores
from propnet.private_files import default_directory, make_directory
from propnet.storage.process_lock import ProcessLock

PATIENCE_SECONDS = 90.0, 10.0
"""How long to wait for one that builds the same, and for a processor: others may compile for long."""
LOOK_SECONDS = 0.25
_NAMES = 64
"""Files for things that are built; two things that share a file wait for each other."""


class BuildTurn:
    """The turn to build the thing of this name, on one of some processors if they are given. It ends with the
    block, or with the process."""

    def __init__(self, name: str, processors: Sequence[int] = ()) -> None:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") % _NAMES
        self._locks: list[list[ProcessLock]] = []
        self._began = time.monotonic()
        try:
            folder = default_directory() / "building"
            make_directory(folder)
        except (OSError, RuntimeError):  # no folder for caches: each builds for itself
            return
        self._locks = [[ProcessLock(str(folder / f"thing-{number}"))]]
        if processors:
            self._locks += [[ProcessLock(str(folder / f"processor-{each}")) for each in processors]]
        self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for locks in self._locks:
            for lock in locks:
                lock.leave()

    def come(self) -> bool:
        """Wait a moment for the turn; whether it has come. What others build may be stored by then."""
        while self._locks and self._taken < len(self._locks):
            has = any(lock.take(0.0) for lock in self._locks[self._taken])
            if not has and time.monotonic() - self._began < PATIENCE_SECONDS[self._taken]:
                time.sleep(LOOK_SECONDS)
                return False
            self._taken += 1
            self._began = time.monotonic()
        return True


def processors() -> list[int]:
    """The numbers of the processors that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(cores()))
