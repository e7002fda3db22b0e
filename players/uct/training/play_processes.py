"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps (:mod:`players.uct.training.play_process`)."""

from __future__ import annotations

import multiprocessing.connection
import os
import pickle
import socket
import subprocess
from collections.abc import Callable
from multiprocessing.connection import Connection

from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.state_values import StateValues
from players.processes.launch import Forked, launch
from players.processes.nameless import shared_bytes
from players.uct.training.play_terms import LearntStates, PlayTerms
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
            ours, theirs = socket.socketpair()
            files = theirs.fileno(), task
            arguments = [str(file) for file in files]
            inherited = {file: file for file in files}
            try:
                process = launch("players.uct.training.play_process", arguments, inherited, session=True)
            except OSError:
                ours.close()
                return
            finally:
                theirs.close()
                os.close(task)
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
