"""What tests of kaskades share: a game, a log of what happened, and looks at processes and files."""

from __future__ import annotations

import contextlib
import queue
from pathlib import Path

import pytest

from players.kaskade.kaskade import Event

LONG = 120.0
"""Seconds that nothing in these tests takes; waits end earlier, when what they wait for has happened."""

GAME = (
    "(role me) (init (n 0)) (legal me go) (legal me wait) (<= (next (n 1)) (does me go))"
    " (<= (next (n 0)) (does me wait)) (<= terminal (true (n 1))) (goal me 100)"
)

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


class Log:
    """What a kaskade tells, in order."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.put(event)

    def all(self) -> list[Event]:
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while True:
                events.append(self.events.get_nowait())
        return events


def open_files() -> int:
    """How many files this process has open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def children() -> list[int]:
    """The processes that this one has started and that are not gone, the dead ones among them."""
    try:
        return [int(pid) for pid in Path("/proc/thread-self/children").read_text(encoding="utf-8").split()]
    except OSError:
        return []
