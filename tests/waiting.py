"""Waits of tests for something that happens, and looks at processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def until(happened: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for something that must happen, within a time that nothing takes."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


def process_state(pid: int) -> str:
    """A process's state as ``ps`` shows it; Z if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def runs(pid: int) -> bool:
    """Whether there is such a process, and it does not only wait to be buried."""
    return process_state(pid) not in "ZX"
