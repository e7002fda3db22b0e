"""The search processes of one player: started, told, watched, replaced, ended.

Nothing here waits for a process: what it has found lies in shared memory, commands go to sockets that
do not block, and a process that is dead, stopped or hangs is replaced by a new one that is told the
same. A process ends by itself when this one does, however that comes about.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import socket
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from gdl.machine import Machine, State
from gdl.terms import Term
from players.processes.launch import launch
from players.uct.root_statistics import RootStatistics
from players.uct.tuning import Tuning
from players.uct.workers.shared_statistics import Slot, new_memory, shared_bytes
from players.uct.workers.wire import Wire
from players.uct.workers.worker import pack_machine

SILENT_SECONDS = 5.0
"""A process that gives no sign of life for so long is replaced: it is stopped or starved."""

LOADING_SECONDS = 60.0
"""How long it may take to the first one."""

STUCK_SECONDS = 180.0
"""A process that lives and yet does not do what it is told for so long is replaced. Loading a machine
takes long where its code was never compiled on this computer."""

START_SECONDS = 1.0
"""How long the first processes are waited for."""

MOST_FAILURES = 8
"""So many processes may fail in a match before they have searched anything; then no more are made."""


class Pool:
    """A number of search processes that do the same, with different random numbers.

    Args:
        size: how many.

    Attributes:
        news: what they have found out about the game, for people to read; whoever reads it clears it.
    """

    def __init__(self, size: int) -> None:
        self.news: list[str] = []
        self._size = size
        self._processes: list[_Process] = []
        # Starting and ending a process can take long on a busy computer.
        self._helper = ThreadPoolExecutor(1, "uct-pool")
        self._coming: list[Future[_Process]] = []
        self._ender = weakref.finalize(self, _end_all, self._processes)
        self._failures = 0
        self._made = 0
        self._start: tuple[int, int, Tuning] | None = None
        self._machine = -1
        self._root_number = 0
        self._root: tuple[Any, ...] | None = None
        self._fill()

    # --- commands to all --------------------------------------------------------------------
    def start(self, role: int, seed: int, tuning: Tuning, machine: Machine) -> None:
        """Begin with an empty tree for a role of a match."""
        wait(self._coming, START_SECONDS)
        self._root = self._start = None
        self._failures = 0
        self.mend()
        self._start = role, seed, tuning
        for number, process in enumerate(self._processes):
            own = replace(tuning, number=number % self._size)
            process.tell(("start", role, seed * 1009 + number, own))
        self.set_machine(machine)

    def set_machine(self, machine: Machine) -> None:
        """Hand this machine to all, and let them go on searching on it."""
        try:
            data = pack_machine(machine)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return  # it cannot be handed on: they go on with the one they have
        self._close_machine()
        self._machine = shared_bytes(data)
        for process in self._processes:
            self._hand(process)

    def set_root(self, state: State, deadline: float) -> None:
        """Search from this state from now on; ``deadline`` is when that will be asked for."""
        self._root_number += 1
        if self._machine < 0:
            return  # they have nothing to search on
        self._root = ("root", self._root_number, state.propositions, deadline)
        for process in self._processes:
            process.tell(self._root)

    def fix(self, place: int) -> None:
        """Go on below this move of the role, its place in the order of text: it was made."""
        for process in self._processes:
            process.tell(("fix", self._root_number, place))

    def rest(self) -> None:
        """Search no more until the next root."""
        self._root = None
        for process in self._processes:
            process.tell(("rest",))

    # --- what they find ---------------------------------------------------------------------
    def read(self) -> list[RootStatistics]:
        """What each process has told about the root; those that have told nothing are left out."""
        found = (process.slot.read(self._root_number) for process in self._processes)
        return [part for part in found if part is not None]

    def lines(self) -> Iterator[tuple[int, list[Term]]]:
        """New finished lines from the root with their values (one-player games); also collects news."""
        for process in self._processes:
            for message in process.messages():
                if message[0] == "line" and message[1] == self._root_number:
                    yield message[2], message[3]
                elif message[0] == "news":
                    self.news.append(message[1])

    def watch(self, seconds: float) -> None:
        """Wait until one sends a message, but not longer than that."""
        sockets = [process.wire.connection for process in self._processes if process.alive]
        select.select(sockets, [], [], max(0.0, seconds))

    def resize(self, size: int) -> None:
        """Have so many processes from now on."""
        self._size = size
        self.mend()

    def mend(self) -> None:
        """Replace processes that have died or give no sign of life."""
        now = time.monotonic()
        for process in list(self._processes):
            if process.alive:
                pulse, task = process.slot.last_pulse, process.slot.last_task
                silent = now - max(pulse, process.born)
                stuck = now - max(task, process.born)
                if silent < (SILENT_SECONDS if pulse else LOADING_SECONDS) and stuck < STUCK_SECONDS:
                    continue
            self._processes.remove(process)
            self._helper.submit(process.end)
            self._made += 1
            if not process.slot.used:
                self._failures += 1
        for coming in [future for future in self._coming if future.done()]:
            self._coming.remove(coming)
            if coming.exception() is None:
                self._welcome(coming.result())
            else:  # no more processes or files to be had
                self._failures += 1
        while len(self._processes) > self._size:
            self._helper.submit(self._processes.pop().end)
        self._fill()

    def stop(self) -> None:
        """End all processes."""
        for coming in self._coming:
            if not coming.cancel() and coming.exception() is None:
                self._processes.append(coming.result())
        self._coming.clear()
        self._ender()
        self._helper.shutdown()
        self._close_machine()

    @property
    def pids(self) -> list[int]:
        """The process ids."""
        return [process.popen.pid for process in self._processes]

    # --- details ------------------------------------------------------------------------------
    def _fill(self) -> None:
        while len(self._processes) + len(self._coming) < self._size and self._failures < MOST_FAILURES:
            self._coming.append(self._helper.submit(_Process))

    def _welcome(self, process: _Process) -> None:
        self._processes.append(process)
        if self._start is not None:
            role, seed, tuning = self._start
            number = len(self._processes) + self._size * self._made
            own = replace(tuning, number=number % self._size)
            process.tell(("start", role, seed * 1009 + number, own))
            self._hand(process)

    def _hand(self, process: _Process) -> None:
        if self._machine < 0:
            return
        process.tell(("machine",), self._machine)
        if self._root is not None:
            process.tell(self._root)

    def _close_machine(self) -> None:
        if self._machine >= 0:
            os.close(self._machine)
            self._machine = -1


class _Process:
    """One of them.

    Attributes:
        alive: whether it can be talked to.
        born: when it was started; time.monotonic() seconds.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        memory = new_memory()
        try:
            self.slot = Slot(memory)
            given = theirs.fileno(), memory
            self.popen = launch(
                "players.uct.workers.worker",
                [str(file) for file in given],
                {file: file for file in given},
                session=True,
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(memory)
        ours.setblocking(False)
        self.wire = Wire(ours)
        self.born = time.monotonic()
        self._broken = False

    @property
    def alive(self) -> bool:
        return not self._broken and self.popen.poll() is None

    def tell(self, message: tuple[Any, ...], file: int | None = None) -> None:
        try:
            self.wire.send(message, file)
        except (OSError, RecursionError):
            self._broken = True

    def messages(self) -> Iterator[tuple[Any, ...]]:
        try:
            while (message := self.wire.receive()) is not None:
                yield message
            self._broken = True
        except BlockingIOError:
            return
        except OSError:
            self._broken = True

    def end(self) -> None:
        self.popen.kill()
        self.wire.close()
        self.popen.wait()


def _end_all(processes: list[_Process]) -> None:
    for process in processes:
        process.popen.kill()
    for process in processes:
        with contextlib.suppress(OSError):
            process.end()
    processes.clear()
