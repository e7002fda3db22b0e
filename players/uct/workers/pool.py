"""The search processes of one player: starts, commands, watches, replaces and ends them.

The pool never waits for a process: results lie in shared memory, commands go to sockets that do not block,
and a process that is dead, stopped or hangs is replaced by a new one that gets the same commands. A process
ends by itself when this one does, however that comes about.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from players.processes.launch import launch_linked
from players.processes.lines import JsonMessage, Lines, shared_bytes
from players.uct.root_statistics import RootStatistics
from players.uct.tuning import Tuning
from players.uct.workers.channel import Slot, new_memory
from players.uct.workers.worker import pack_machine

SILENT_SECONDS = 5.0
"""A process that gives no sign of life for this long is replaced: it is stopped or starved."""
_LOADING_SECONDS = 60.0
"""The same before its first sign of life."""
STUCK_SECONDS = 180.0
"""A process that is alive but carries out no command for this long is replaced. Loading a machine takes long
if its code was never compiled on this computer."""
START_SECONDS = 1.0
"""Most seconds to wait for the first processes."""
_MOST_RELAYS = 20
"""Most starts of the relay to a cluster."""
_MOST_FAILURES = 8
"""Most processes that may fail in a match before they have searched; then no more are started."""


class Pool:
    """``size`` search processes that do the same, with different random numbers.

    With the address of a ``cluster`` there is one more process (:mod:`players.uct.workers.relay`), which
    makes the cluster search: the pool treats it like the others.

    ``news`` are their findings about the game, for people to read; the reader clears it."""

    def __init__(self, size: int, cluster: str = "") -> None:
        self.news: list[str] = []
        self._size = size
        self._cluster = cluster
        self._relays = 0
        self._processes: list[_SearchProcess] = []
        # Starting and ending a process can take long on a busy computer.
        self._helper = ThreadPoolExecutor(1, "uct-pool")
        self._starting: list[Future[_SearchProcess]] = []
        self._relay_starting: Future[_SearchProcess] | None = None
        self._ender = weakref.finalize(self, _end_all, self._processes)
        self._failures = 0
        self._replaced = 0
        self._start: tuple[int, int, Tuning] | None = None
        self._machine = -1
        self._root_number = 0
        self._root: JsonMessage | None = None
        self._fill()

    def start(self, role: int, seed: int, tuning: Tuning, machine: Machine) -> None:
        """Begin with an empty tree for a role of a match."""
        wait(self._starting, START_SECONDS)
        self._root = self._start = None
        self._root_number += 1  # later messages about the last root belong to another match
        self._failures = 0
        self.mend()
        self._start = role, seed, tuning
        for number, process in enumerate(self._processes):
            self._begin(process, number)
        self.set_machine(machine)

    def set_machine(self, machine: Machine) -> None:
        """Send this machine to all, and let them go on searching on it."""
        try:
            data = pack_machine(machine)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return  # it cannot be sent: they go on with the previous one
        self._close_machine()
        self._machine = shared_bytes(data)
        for process in self._processes:
            self._send_machine(process)

    def set_root(self, state: State, deadline: float) -> None:
        """Search from this state from now on; ``deadline`` is the time when the results will be read."""
        self._root_number += 1
        if self._machine < 0:
            return  # they have no machine to search on
        text = " ".join(map(str, state.propositions))
        self._root = {"root": self._root_number, "state": text, "deadline": deadline}
        for process in self._processes:
            process.send("root", **self._root)

    def fix(self, place: int) -> None:
        """Go on below this move of the role, its place in the order of text: it was made."""
        for process in self._processes:
            process.send("fix", root=self._root_number, place=place)

    def rest(self) -> None:
        """Stop searching until the next root."""
        self._root = None
        for process in self._processes:
            process.send("rest")

    def read(self) -> list[RootStatistics]:
        """The statistics of the root from each process that has some."""
        read = (process.slot.read(self._root_number) for process in self._processes)
        return [statistics for statistics in read if statistics is not None]

    def lines(self) -> Iterator[tuple[int, list[Term]]]:
        """New finished lines from the root with their values (one-player games); also collects news."""
        for process in self._processes:
            for message in process.messages():
                if message["do"] == "line" and message["root"] == self._root_number:
                    yield message["value"], parse_terms(message["moves"], "line")
                elif message["do"] == "news":
                    self.news.append(message["text"])

    def watch(self, seconds: float) -> None:
        """Wait until a process sends a message, but at most ``seconds``."""
        sockets = [process.channel.connection for process in self._processes if process.alive]
        select.select(sockets, [], [], max(0.0, seconds))

    def resize(self, size: int) -> None:
        """Change the number of processes to ``size``."""
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
                if silent < (SILENT_SECONDS if pulse else _LOADING_SECONDS) and stuck < STUCK_SECONDS:
                    continue
            self._processes.remove(process)
            self._helper.submit(process.end)
            self._replaced += 1
            if not process.slot.used and not process.relays:
                self._failures += 1
        if self._relay_starting is not None and self._relay_starting.done():
            self._starting.append(self._relay_starting)
            self._relay_starting = None
        for started in [future for future in self._starting if future.done()]:
            self._starting.remove(started)
            if started.exception() is None:
                self._welcome(started.result())
            else:  # the system has no more processes or files
                self._failures += 1
        own = [process for process in self._processes if not process.relays]
        for process in own[self._size :]:
            self._processes.remove(process)
            self._helper.submit(process.end)
        self._fill()

    def stop(self) -> None:
        """End all processes."""
        for starting in filter(None, (*self._starting, self._relay_starting)):
            if not starting.cancel() and starting.exception() is None:
                self._processes.append(starting.result())
        self._starting.clear()
        self._relay_starting = None
        self._ender()
        self._helper.shutdown()
        self._close_machine()

    @property
    def pids(self) -> list[int]:
        """The process ids."""
        return [process.popen.pid for process in self._processes]

    def _fill(self) -> None:
        own = len(self._starting) + sum(not process.relays for process in self._processes)
        while own < self._size and self._failures < _MOST_FAILURES:
            own += 1
            self._starting.append(self._helper.submit(_SearchProcess))
        relaying = self._relay_starting is not None or any(process.relays for process in self._processes)
        if self._cluster and not relaying and self._relays < _MOST_RELAYS:
            self._relays += 1
            self._relay_starting = self._helper.submit(_SearchProcess, self._cluster)

    def _welcome(self, process: _SearchProcess) -> None:
        self._processes.append(process)
        if self._start is not None:
            self._begin(process, len(self._processes) + self._size * self._replaced)
            self._send_machine(process)

    def _begin(self, process: _SearchProcess, number: int) -> None:
        """Let a process begin its search, with random numbers that follow from ``number``."""
        assert self._start is not None
        role, seed, tuning = self._start
        own = replace(tuning, number=number % max(1, self._size))
        process.send("start", role=role, seed=seed * 1009 + number, tuning=asdict(own))

    def _send_machine(self, process: _SearchProcess) -> None:
        """Send a process the machine, and the root if there is one."""
        if self._machine < 0:
            return
        process.send("machine", self._machine)
        if self._root is not None:
            process.send("root", **self._root)

    def _close_machine(self) -> None:
        if self._machine >= 0:
            os.close(self._machine)
            self._machine = -1


class _SearchProcess:
    """A search process, or with the address of a ``cluster`` the relay to it. Its ``slot`` holds its
    statistics of the root, its ``channel`` takes commands and brings lines and news; ``born`` is the time of
    its start, in time.monotonic() seconds."""

    def __init__(self, cluster: str = "") -> None:
        self.relays = bool(cluster)
        memory = new_memory()
        try:
            self.slot = Slot(memory)
        except BaseException:
            os.close(memory)
            raise
        module = "players.uct.workers.relay" if cluster else "players.uct.workers.worker"
        ours, self.popen = launch_linked(module, [memory], [cluster] if cluster else [], session=True)
        ours.setblocking(False)
        self.channel = Lines(ours)
        self.born = time.monotonic()
        self._broken = False

    @property
    def alive(self) -> bool:
        """Whether it runs and takes commands."""
        return not self._broken and self.popen.poll() is None

    def send(self, do: str, file: int | None = None, **fields: object) -> None:
        try:
            self.channel.send(do, file, **fields)
        except OSError:
            self._broken = True

    def messages(self) -> Iterator[JsonMessage]:
        try:
            yield from self.channel
            self._broken = True
        except BlockingIOError:
            return
        except (OSError, ValueError):
            self._broken = True

    def end(self) -> None:
        self.popen.kill()
        self.channel.close()
        self.popen.wait()


def _end_all(processes: list[_SearchProcess]) -> None:
    for process in processes:
        process.popen.kill()
    for process in processes:
        with contextlib.suppress(OSError):
            process.end()
    processes.clear()
