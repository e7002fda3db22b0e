"""Starts processes that compile everything together (:mod:`ggp.warm.compile`), and shows what they do."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time

from rich.progress import Progress, TaskID

from gdl.errors import GdlError
from gdl.words import counted
from ggp.console import new_console
from ggp.terminal.spinner import spinner
from players.processes.launch import anew

_LAST = 300
"""Characters of a process's errors that are shown."""


def compile_all(player: str, processes: int) -> bool:
    """Compile what matches of this player (a registered name, with options or without) need, with so many
    processes that share the work; return whether all of it could be. Raises GdlError where nothing can be
    kept."""
    console = new_console(soft_wrap=True)
    folder = _folder()
    if not os.access(folder, os.W_OK):
        text = f"{folder} can only be read: what is not in it yet is not kept"
        console.print(text, style="yellow")
    began = time.monotonic()
    with spinner(console) as progress:
        progress.add_task("looking for what is not compiled yet")
        running = [_WarmProcess(player, progress) for _ in range(processes)]
        faults = [fault for process in running if (fault := process.wait())]
    count = sum(process.compiled for process in running)
    seconds = time.monotonic() - began
    if faults:
        console.print(f"not everything could be compiled: {faults[0]}", style="yellow")
        console.print("matches compile the rest when they need it", style="yellow")
    elif count:
        console.print(f"all is ready: {counted(count, 'kernel')} compiled in {seconds:.0f} s")
    else:
        console.print(f"all is ready, nothing was to be compiled ({seconds:.1f} s)")
    return not faults


def _folder() -> str:
    """Where kernels are kept. Raises GdlError where there is no place: to compile would be of no use."""
    from propnet.kernels.playouts import playouts

    if (folder := playouts._cache.cache_path) is None:
        raise GdlError(
            "nothing that is compiled can be kept: no folder for it can be written by you alone",
            remedy="name one in $NUMBA_CACHE_DIR",
        )
    return str(folder)


class _WarmProcess:
    """A process that compiles, and its line on the screen; ``compiled`` counts its kernels."""

    def __init__(self, player: str, progress: Progress) -> None:
        self.compiled = 0
        self._progress = progress
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._fault = ""
        ours, theirs = os.pipe()
        self._messages = os.fdopen(ours)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = anew("ggp.warm.compile", [player], {1: theirs, 2: self._errors.fileno()})
        except OSError as error:
            self._fault = f"no process could be started ({error.strerror})"
        finally:
            os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> str:
        """Wait for its end; return what went wrong, empty if nothing did."""
        try:
            if self._process is not None:
                status = self._process.wait()
                if status:
                    self._errors.seek(0)
                    lines = self._errors.read().decode(errors="replace").strip().splitlines()
                    self._fault = lines[-1][-_LAST:] if lines else f"a process has ended with status {status}"
            self._reader.join()
        except BaseException:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            raise
        finally:
            self._errors.close()
        return self._fault

    def _read(self) -> None:
        task: TaskID | None = None
        with self._messages:
            for line in self._messages:
                message = json.loads(line)
                if task is not None:
                    self._progress.remove_task(task)
                    task = None
                if "begun" in message:
                    task = self._progress.add_task(message["begun"])
                else:
                    self.compiled += 1
                    self._progress.console.print(f"{message['seconds']:6.1f} s  {message['compiled']}")
        if task is not None:
            self._progress.remove_task(task)
