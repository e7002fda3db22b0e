"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

Such a process is ``python -m players.uct.training.play_processes SOCKET TASK``, both inherited descriptors.
The task holds the machine and the terms. The process sends None when it is ready. Then it receives values
from the socket, and sends back the states played by them.
"""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import pickle
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np

from players.knowledge.state_values import StateValues
from players.processes.launch import Forked, launch_linked
from players.processes.temporary import bytes_of, shared_bytes
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay
from propnet.machine import PropnetMachine

_MESSAGE_SECONDS = 3.0
"""A process is stopped if it stalls for this long within a message: the training may have a turn to
answer."""


class PlayProcesses:
    """``count`` processes that play, or fewer if the system has no room for more."""

    def __init__(self, machine: PropnetMachine, terms: PlayTerms, count: int, seed: int) -> None:
        self._members: dict[Connection, Forked | subprocess.Popen[bytes]] = {}
        for number in range(count):
            task = shared_bytes(pickle.dumps((machine, terms, seed + number + 1)))
            try:
                ours, process = launch_linked("players.uct.training.play_processes", [task], session=True)
            except OSError:
                break
            self._members[_patient(ours)] = process
        self._waiting: list[Connection] = []

    def exchange(self, values: StateValues, learn: Callable[[LearntStates], None]) -> None:
        """Learn from the states that have arrived, and send these values to the processes that wait.
        Processes that have died or were stopped are dropped."""
        for pipe in multiprocessing.connection.wait(list(self._members), 0.0) if self._members else ():
            assert isinstance(pipe, Connection)
            try:
                states = pipe.recv()
                assert states is None or isinstance(states, LearntStates)
            except (EOFError, OSError):
                self._miss(pipe)
                continue
            if states is not None:
                learn(states)
            self._waiting.append(pipe)
        for pipe in self._waiting:
            try:
                pipe.send(values)
            except OSError:
                self._miss(pipe)
        self._waiting.clear()

    def _miss(self, pipe: Connection) -> None:
        """Drop a process."""
        process = self._members.pop(pipe)
        pipe.close()
        process.kill()
        process.wait()

    def close(self) -> None:
        """End them."""
        for process in self._members.values():
            process.kill()
        for pipe, process in self._members.items():
            process.wait()
            pipe.close()
        self._members.clear()
        self._waiting.clear()


def _patient(ours: socket.socket) -> Connection:
    """The connection at this end of a socket; if it stalls for MESSAGE_SECONDS, it raises OSError."""
    seconds = struct.pack("@ll", int(_MESSAGE_SECONDS), int(_MESSAGE_SECONDS % 1 * 1e6))
    for what in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        ours.setsockopt(socket.SOL_SOCKET, what, seconds)
    return Connection(ours.detach())


def main() -> None:
    """Play until the training is over."""
    number, task = (int(argument) for argument in sys.argv[1:])
    machine, terms, seed = pickle.loads(bytes_of(task))
    rng, pipe = np.random.default_rng(seed), Connection(number)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)  # it listens from now on, so the trainer need not wait for its start
        values = pipe.recv()
        play = SearchedPlay(machine, values, terms, rng)
        while True:
            pipe.send(play.learnt(STEPS))
            values.take(pipe.recv())


if __name__ == "__main__":
    main()
