"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

Such a process is ``python -m players.uct.training.play_processes SOCKET TASK``, both inherited descriptors.
The task holds the machine and the terms. Values come from the socket, what was played by them goes there. It
ends at once when the other end of the socket is closed.
"""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import pickle
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
            self._members[Connection(ours.detach())] = process
        self._waiting = list(self._members)

    def exchange(self, values: StateValues, learn: Callable[[LearntStates], None]) -> None:
        """Hand on what has arrived, and let those that wait go on by these values. A process that has died
        is missed from now on."""
        for pipe in multiprocessing.connection.wait(list(self._members), 0.0) if self._members else ():
            assert isinstance(pipe, Connection)
            try:
                told = pipe.recv()
                assert isinstance(told, LearntStates)
            except (EOFError, OSError):
                self._miss(pipe)
                continue
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


def main() -> None:
    """Play until the training is over."""
    socket, task = (int(argument) for argument in sys.argv[1:])
    end_with(socket)
    machine, terms, seed, derived = pickle.loads(bytes_of(task))
    rng, pipe = np.random.default_rng(seed), Connection(socket)
    with contextlib.suppress(EOFError, OSError):
        values = pipe.recv()
        values.derived = derived
        play = SearchedPlay(machine, values, terms, rng)
        while True:
            pipe.send(play_and_tell(play, STEPS, rng))
            values.take(pipe.recv())


if __name__ == "__main__":
    main()
