"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

Such a process is ``python -m players.uct.training.play_processes SOCKET``, an inherited descriptor. It gets
the ``task``, which holds the machine and the terms, and sends ``ready``. Then it receives ``values``, and
sends back the ``states`` played by them, until the other end of the socket is closed. All of these are in the
files that come with the messages.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable

import numpy as np

from players.knowledge.state_values import StateValues
from players.processes.launch import Forked, launch_linked
from players.processes.lines import Lines
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay
from propnet.machine import PropnetMachine


class PlayProcesses:
    """``count`` processes that play, or fewer if the system has no room for more."""

    def __init__(self, machine: PropnetMachine, terms: PlayTerms, count: int, seed: int) -> None:
        self._members: dict[Lines, Forked | subprocess.Popen[bytes]] = {}
        for number in range(count):
            task = pickle.dumps((machine, terms, seed + number + 1))
            try:
                ours, process = launch_linked("players.uct.training.play_processes", [], session=True)
            except OSError:
                break
            ours.setblocking(False)
            self._members[lines := Lines(ours)] = process
            with contextlib.suppress(OSError):
                lines.send_bytes("task", task)

    def exchange(self, values: StateValues, learn: Callable[[LearntStates], None]) -> None:
        """Learn from the states that have arrived, and send these values to the processes that have sent
        them. Processes that have died are dropped; this never waits for one."""
        waiting: list[Lines] = []
        for lines in list(self._members):
            try:
                for message in lines:
                    if message["do"] == "states":
                        learn(pickle.loads(lines.file_bytes()))
                    waiting.append(lines)
                self._miss(lines)
            except BlockingIOError:
                continue
            except (OSError, ValueError):
                self._miss(lines)
        data = pickle.dumps(values) if waiting else b""
        for lines in filter(self._members.__contains__, waiting):
            try:
                lines.send_bytes("values", data)
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


def main() -> None:
    """Play until the training is over."""
    lines = Lines(socket.socket(fileno=int(sys.argv[1])))
    with contextlib.suppress(OSError):
        if lines.receive() is None:
            return
        machine, terms, seed = pickle.loads(lines.file_bytes())
        lines.send("ready")  # it listens from now on, so the trainer need not wait for its start
        if lines.receive() is None:
            return
        values = pickle.loads(lines.file_bytes())
        play = SearchedPlay(machine, values, terms, np.random.default_rng(seed))
        while True:
            lines.send_bytes("states", pickle.dumps(play.learnt(STEPS)))
            if lines.receive() is None:
                break
            values.take(pickle.loads(lines.file_bytes()))


if __name__ == "__main__":
    main()
