"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

Such a process is ``python -m players.uct.training.play_processes SOCKET TASK``, both inherited descriptors.
The task holds the machine and the terms. The process sends ``ready``. Then it receives ``values``, and sends
back the ``states`` played by them, until the other end of the socket is closed. Values and states are in the
files that come with the messages.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from players.knowledge.state_values import StateValues
from players.processes.launch import Forked, launch_linked
from players.processes.lines import Lines, bytes_of, shared_bytes
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay
from propnet.machine import PropnetMachine


class PlayProcesses:
    """``count`` processes that play, or fewer if the system has no room for more."""

    def __init__(self, machine: PropnetMachine, terms: PlayTerms, count: int, seed: int) -> None:
        self._members: dict[Lines, Forked | subprocess.Popen[bytes]] = {}
        for number in range(count):
            task = shared_bytes(pickle.dumps((machine, terms, seed + number + 1)))
            try:
                ours, process = launch_linked("players.uct.training.play_processes", [task], session=True)
            except OSError:
                break
            ours.setblocking(False)
            self._members[Lines(ours)] = process

    def exchange(self, values: StateValues, learn: Callable[[LearntStates], None]) -> None:
        """Learn from the states that have arrived, and send these values to the processes that have sent
        them. Processes that have died are dropped; this never waits for one."""
        waiting: list[Lines] = []
        for lines in list(self._members):
            try:
                for message in lines:
                    if message["do"] == "states":
                        learn(_received(lines))
                    waiting.append(lines)
                self._miss(lines)
            except BlockingIOError:
                continue
            except (OSError, ValueError):
                self._miss(lines)
        data = pickle.dumps(values) if waiting else b""
        for lines in filter(self._members.__contains__, waiting):
            try:
                _send(lines, "values", data)
            except OSError:
                self._miss(lines)

    def _miss(self, lines: Lines) -> None:
        """Drop a process."""
        process = self._members.pop(lines)
        process.kill()
        process.wait()
        lines.close()

    def close(self) -> None:
        """End them."""
        for process in self._members.values():
            process.kill()
        for lines in list(self._members):
            self._miss(lines)


def _send(lines: Lines, do: str, data: bytes) -> None:
    """Send a message with a file of these bytes."""
    file = shared_bytes(data)
    try:
        lines.send(do, file)
    finally:
        os.close(file)


def _received(lines: Lines) -> Any:
    """The object in the file that came with a message."""
    return pickle.loads(bytes_of(lines.file()))


def main() -> None:
    """Play until the training is over."""
    number, task = (int(argument) for argument in sys.argv[1:])
    lines = Lines(socket.socket(fileno=number))
    machine, terms, seed = pickle.loads(bytes_of(task))
    with contextlib.suppress(OSError):
        lines.send("ready")  # it listens from now on, so the trainer need not wait for its start
        if lines.receive() is None:
            return
        values = _received(lines)
        play = SearchedPlay(machine, values, terms, np.random.default_rng(seed))
        while True:
            _send(lines, "states", pickle.dumps(play.learnt(STEPS)))
            if lines.receive() is None:
                break
            values.take(_received(lines))


if __name__ == "__main__":
    main()
