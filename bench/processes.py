"""Calls functions in processes of their own, one at a time, within limits. No script: others use it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

HANG = 4
"""Wall seconds that a call may take, per second of CPU time allowed: a process that sleeps ends too."""


def call(
    function: Callable[..., Any], arguments: Sequence[Any], preload: list[str], limit: float
) -> tuple[Any, str]:
    """What a function returns in a new process; None, and the reason, where it returns nothing.

    Args:
        function: a module's function; its process may be killed at any time.
        arguments: pickled to it.
        preload: modules that the process has from its beginning.
        limit: CPU seconds. No RLIMIT_CPU: under one, Linux counts CPU time in ticks of some milliseconds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(preload)
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(function, arguments, theirs))
    child.start()
    theirs.close()
    try:
        if reason := _wait(child, ours, limit):
            return None, reason
        return ours.recv(), ""
    except EOFError:
        child.join(1)
        return None, death(child.exitcode)
    finally:
        child.kill()
        child.join()
        ours.close()


def _send(function: Callable[..., Any], arguments: Sequence[Any], pipe: Connection) -> None:
    pipe.send(function(*arguments))


def _wait(child: BaseProcess, pipe: Connection, limit: float) -> str:
    """Wait until a process has sent something or ended; else which limit it went past."""
    start = time.monotonic()
    while not pipe.poll(0.2):
        if cpu_seconds(child.pid) > limit:
            return f"more than {limit:g} s of CPU time"
        if time.monotonic() - start > HANG * limit:
            return f"no answer within {HANG * limit:g} s by the clock"
    return ""


def cpu_seconds(process: int | None) -> float:
    """CPU time of a process up to now; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def death(exitcode: int | None) -> str:
    """How a process ended that sent nothing."""
    if exitcode is not None and exitcode < 0:
        return f"died of {signal.Signals(-exitcode).name}"
    return f"ended with status {exitcode}"


def rules_files(paths: Sequence[Path]) -> list[Path]:
    """The .kif files that are named, and those in and below the folders that are named."""
    return [file for path in paths for file in (sorted(path.rglob("*.kif")) if path.is_dir() else [path])]
