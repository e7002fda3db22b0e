"""A search process. Its arguments are a socket and a memory, both inherited descriptors.

It takes commands from the socket, searches, and writes its results to the memory
(:mod:`players.uct.workers.channel`). It ends at once when the other end of the socket is closed, whatever it
is doing: so it never outlives its player.
"""

from __future__ import annotations

import mmap
import os
import pickle
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.rules import Rules
from gdl.syntax.parser import parse_terms
from players.processes.limits import describe
from players.processes.lines import JsonMessage, Lines
from players.uct.search import Search
from players.uct.tuning import Tuning
from players.uct.workers.channel import Slot

_PONDER_SECONDS = 600.0
"""Seconds that the search goes on after a deadline if no command comes."""
_WRITE_SECONDS = 0.005
"""Seconds between two writes of the results to the shared memory."""
_PULSE_SECONDS = _IDLE_SECONDS = 0.25
_MOST_SECONDS = 1.0
"""A batch is planned as if at least this much time were left: this process may be late."""


class _SearchWorker:
    """Carries out commands, and searches while there are none."""

    def __init__(self, messages: Lines, slot: Slot) -> None:
        self._messages = messages
        self._slot = slot
        self._search: Search | None = None
        self._root = 0
        self._deadline = 0.0
        self._until = 0.0
        self._line: list[int] = []
        self._news = ""
        self._written = 0.0

    def run(self) -> None:
        """Serve until the socket is closed."""
        inbox: queue.SimpleQueue[JsonMessage] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(inbox,), daemon=True, name="listener").start()
        threading.Thread(target=self._pulse, daemon=True, name="pulse").start()
        while True:
            self._slot.task()
            busy = self._root > 0 and self._step()
            try:
                message = inbox.get(timeout=0.0 if busy else _IDLE_SECONDS)
            except queue.Empty:
                continue
            command: Callable[..., None] = getattr(self, f"_do_{message.pop('do')}")
            command(**message)

    def _listen(self, inbox: queue.SimpleQueue[JsonMessage]) -> None:
        try:
            for message in self._messages:
                inbox.put(message)
        finally:
            os._exit(0)

    def _pulse(self) -> None:
        while True:
            self._slot.pulse()
            time.sleep(_PULSE_SECONDS)

    def _do_start(self, role: int, seed: int, tuning: JsonMessage) -> None:
        """Begin a new match, or another search."""
        self._root = 0
        self._search = Search(role, seed, Tuning(**tuning))

    def _do_machine(self) -> None:
        """Take the machine to think on; the file that came with the message contains its pickle."""
        assert self._search is not None
        descriptor = self._messages.file()
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            machine = unpack_machine(data)
        os.close(descriptor)
        self._root = 0
        self._search.set_machine(machine)

    def _do_root(self, root: int, state: str, deadline: float) -> None:
        """Search from this state from now on."""
        search = self._search
        assert search is not None
        self._root = 0
        try:
            search.set_root(search.machine.state_of(frozenset(parse_terms(state, "state"))))
        except GdlError:  # this machine cannot represent the state: other processes have to search
            return
        self._root = root
        self._deadline = deadline
        self._until = max(deadline, time.monotonic()) + _PONDER_SECONDS
        self._line = []
        self._write()

    def _do_fix(self, root: int, place: int) -> None:
        """Search only below this move of the role from now on: it was made."""
        if root == self._root and self._search is not None:
            self._search.fix(place)
            self._deadline = 0.0

    def _do_rest(self) -> None:
        """Stop searching until the next root."""
        self._root = 0

    def _step(self) -> bool:
        search = self._search
        assert search is not None
        now = time.monotonic()
        if now > self._until:
            return False
        finished = search.step(max(self._deadline, now + _MOST_SECONDS))
        if finished or now - self._written > _WRITE_SECONDS:
            self._write()
        return not finished

    def _write(self) -> None:
        """Publish the current results."""
        search = self._search
        assert search is not None
        # Send the line first: a reader that sees the proven result then finds the line in the socket.
        if search.line.moves and search.line.moves != self._line:
            self._line = search.line.moves
            moves = " ".join(map(str, search.line.terms(search.machine)))
            self._messages.send("line", root=self._root, value=search.line.value, moves=moves)
        if search.news != self._news:
            self._news = search.news
            self._messages.send("news", text=f"search {search.tuning.number}: {self._news}")
        self._slot.write(self._root, search.statistics())
        self._written = time.monotonic()


def pack_machine(machine: Machine) -> bytes:
    """The machine for :func:`unpack_machine` in another process; for a prover, its rules."""
    from gdl.prover.machine import ProverMachine

    return pickle.dumps(machine.rules if isinstance(machine, ProverMachine) else machine)


def unpack_machine(data: Any) -> Machine:
    """The machine from the bytes of :func:`pack_machine`, which come from our own program."""
    packed = pickle.loads(data)
    if isinstance(packed, Rules):
        from gdl.prover.machine import ProverMachine

        return ProverMachine(packed)
    assert isinstance(packed, Machine)
    return packed


def main() -> None:
    """Work until the player is gone."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    try:
        _SearchWorker(Lines(connection), Slot(int(sys.argv[2]))).run()
    except BrokenPipeError:
        os._exit(0)
    except Exception as error:  # another process takes the place of this one
        print(f"search process {os.getpid()} ends: {describe(error)}", file=sys.stderr, flush=True)
        os._exit(1)
