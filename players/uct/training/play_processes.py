"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

Such a process is ``python -m players.uct.training.play_processes SOCKET TASK``, both inherited descriptors.
The task holds the machine and the terms. It says None when it has begun. Then values come from the socket,
and what was played by them goes there. It ends at once when the other end of the socket is closed.
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

from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.state_values import StateValues
from players.processes.launch import Forked, launch_linked
from players.processes.lifeline import end_with
from players.processes.temporary import bytes_of, shared_bytes
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay, play_and_tell
from propnet.machine import PropnetMachine

_MESSAGE_SECONDS = 3.0
"""A process that sends nothing for so long in the midst of a message, or takes nothing, is stopped: whoever
trains may have a turn to answer."""


class PlayProcesses:
    """Processes that play; none where ``count`` is 0, fewer where there are no more processes."""

    def __init__(
        self,
        machine: PropnetMachine,
        terms: PlayTerms,
        count: int,
        seed: int,
        derived: DerivedPropositions | None = None,
    ) -> None:
        self._members: dict[Connection, Forked | subprocess.Popen[bytes]] = {}
        for number in range(count):
            task = shared_bytes(pickle.dumps((machine, terms, seed + number + 1, derived)))
            try:
                ours, process = launch_linked("players.uct.training.play_processes", [task], session=True)
            except OSError:
                break
            self._members[_patient(ours)] = process
        self._waiting: list[Connection] = []

    def exchange(self, values: StateValues, learn: Callable[[LearntStates], None]) -> None:
        """Hand on what has arrived, and let those that wait go on by these values. A process that has died
        or was stopped is missed from now on."""
        for pipe in multiprocessing.connection.wait(list(self._members), 0.0) if self._members else ():
            assert isinstance(pipe, Connection)
            try:
                told = pipe.recv()
                assert told is None or isinstance(told, LearntStates)
            except (EOFError, OSError):
                self._miss(pipe)
                continue
            if told is not None:
                learn(told)
            self._waiting.append(pipe)
        for pipe in self._waiting:
            try:
                pipe.send(values.sent())
            except OSError:
                self._miss(pipe)
        self._waiting.clear()

    def _miss(self, pipe: Connection) -> None:
        """Do without a process."""
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
    """The connection at this end of a socket; what takes longer than MESSAGE_SECONDS is an OSError."""
    seconds = struct.pack("@ll", int(_MESSAGE_SECONDS), int(_MESSAGE_SECONDS % 1 * 1e6))
    for what in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        ours.setsockopt(socket.SOL_SOCKET, what, seconds)
    return Connection(ours.detach())


def main() -> None:
    """Play until the training is over."""
    number, task = (int(argument) for argument in sys.argv[1:])
    end_with(number)
    machine, terms, seed, derived = pickle.loads(bytes_of(task))
    rng, pipe = np.random.default_rng(seed), Connection(number)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)  # it listens from now on: nobody waits for it to begin
        values = pipe.recv()
        values.derived = derived
        play = SearchedPlay(machine, values, terms, rng)
        while True:
            pipe.send(play_and_tell(play, STEPS, rng))
            values.take(pipe.recv())


if __name__ == "__main__":
    main()
