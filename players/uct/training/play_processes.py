"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps.

The argument of such a process is a socket, an inherited descriptor. It gets
the ``task``, which holds the machine and the terms, and sends ``ready``. Then it receives ``values``, and
sends back the ``states`` played by them, until the other end of the socket is closed. All of these are in the
files that come with the messages.

`SearchedTraining` learns weights from what they play.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gdl.errors import GdlError
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.net_training import LASTING
from players.knowledge.state_values import StateValues
from players.knowledge.training import Training, TrainingProgress
from players.processes.launch import Forked, launch_linked
from players.processes.lines import Lines
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay
from propnet.analysis.random_play import forced_moves
from propnet.machine import PropnetMachine

_ANEW = 20_000
"""Moves after which the step sizes of the weights are reset, again and again: otherwise the targets of
earlier searches, by worse weights, would hold the weights back."""
_LAST = 0.85
"""The share of the time after which step sizes are not reset, so that the weights settle."""


def searches_can_play(machine: PropnetMachine) -> bool:
    """Whether self-play of a game can be by searches: two roles choose in turn, without chance."""
    return len(machine.roles) == 2 and forced_moves(machine) is not None


class SearchedTraining:
    """Learns the weights of a game from self-play by searches.

    Attributes:
        values: values of states by the current weights.
        progress: the play that was learnt from so far.
    """

    def __init__(
        self, weights: Training, seed: int = 0, workers: int = 1, terms: PlayTerms = PlayTerms()
    ) -> None:
        """Goes on with the training of ``weights``, in ``workers`` processes, this one counted. Raises
        GdlError for games that searches do not play: those of more than two roles (chance counts), in which
        roles choose at the same time, or whose goals do not add up to 100."""
        machine = weights.machine
        if weights.columns != (0,) or not searches_can_play(machine):
            raise GdlError(
                "searches play games in which two roles choose in turn, and one gets what the other does not"
            )
        weights.remember(LASTING)
        self._weights, self.values = weights, weights.values
        moves = weights.progress.moves
        rng = np.random.default_rng([seed, moves, 1])
        self._play = SearchedPlay(machine, self.values, terms, rng)
        self._processes = PlayProcesses(machine, terms, workers - 1, seed * 4099 + 1)
        self._gone = self._seconds = 0.0
        self._anew = moves + _ANEW
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def round(self, gone: float = 0.0) -> None:
        """Play some steps and learn from them, and from the play of other processes. ``gone``: the elapsed
        share of the time for this training, 0..1: towards its end the weights settle."""
        began = time.process_time()
        self._gone = gone
        if self.progress.moves >= self._anew and gone < _LAST:
            self._anew = self.progress.moves + _ANEW
            self._weights.begin_anew()
        self._processes.exchange(self.values, self._take)
        self._take(self._play.learnt(STEPS))
        self._seconds += time.process_time() - began

    def _take(self, played: LearntStates) -> None:
        """Learn from played states."""
        states = len(played.records)
        squares = self._weights.learn(played.records, played.targets, self._gone)
        self.progress = self.progress.after(
            played.moves, played.finished, played.won, squares / max(1, states), states
        )

    def add_net(self) -> None:
        """Let a net learn from now on, in place of the linear weights."""
        self._weights.add_net()

    def knowledge(self, game: str) -> GameKnowledge:
        """The learnt weights, not to be used yet: their share is 0."""
        learnt = self._weights.knowledge(game)
        return replace(learnt, moves=self.progress.moves, seconds=learnt.seconds + self._seconds)

    def close(self) -> None:
        """End the processes that play."""
        self._processes.close()


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
