"""`PlayProcesses`: self-play by searches in processes of their own, each of which asks for the newest weights
after some steps."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import numpy as np
from numpy.typing import NDArray

from gdl.processes import end_with_parent
from players.knowledge.state_values import StateValues
from players.uct.training.searched_play import SearchedPlay
from propnet.machine import PropnetMachine

STEPS = 12
"""Moves of each match before the next weights."""
LAMBDA = 0.95
"""How much of what a state is worth comes from what came of the next one; its search says the rest."""


@dataclass(frozen=True, eq=False)
class LearntStates:
    """What some steps have brought: states in random order, and what they are worth to role 0.

    Attributes:
        records: uint64, shape (n, words).
        targets: float32, shape (n, 1), 0..1.
        moves: how many were made; ``finished`` matches came to their end, of which role 0 got ``won``.
    """

    records: NDArray[np.uint64]
    targets: NDArray[np.float32]
    moves: int
    finished: int
    won: float


@dataclass(frozen=True)
class PlayTerms:
    """How self-play goes on: matches side by side, paths for each move, how often a move is random."""

    lanes: int = 256
    visits: int = 32
    explored: float = 0.05


def play_and_tell(play: SearchedPlay, steps: int, rng: np.random.Generator) -> LearntStates:
    """Play some steps, and tell what there is to learn from them."""
    finished, won = play.finished, play.won
    played, inner = play.play(steps)
    records = played.records.reshape(-1, played.records.shape[-1])
    targets = played.targets(LAMBDA).reshape(-1, 1)
    order = rng.permutation(len(records) + len(inner.records))
    return LearntStates(
        np.concatenate([records, inner.records])[order],
        np.concatenate([targets, inner.values])[order],
        len(records),
        play.finished - finished,
        play.won - won,
    )


class PlayProcesses:
    """Processes that play; none where ``count`` is 0."""

    def __init__(self, machine: PropnetMachine, terms: PlayTerms, count: int, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._members: dict[Connection, BaseProcess] = {}
        for number in range(count):
            here, there = context.Pipe()
            process = context.Process(
                target=_serve, args=(machine, terms, seed + number + 1, there), daemon=True
            )
            process.start()
            there.close()
            self._members[here] = process
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
                self._members.pop(pipe).join()
                continue
            learn(told)
            self._waiting.append(pipe)
        for pipe in self._waiting:
            try:
                pipe.send(values)
            except OSError:
                self._members.pop(pipe).join()
        self._waiting.clear()

    def close(self) -> None:
        """End them."""
        for process in self._members.values():
            process.kill()
        for process in self._members.values():
            process.join()
        self._members.clear()


def _serve(machine: PropnetMachine, terms: PlayTerms, seed: int, pipe: Connection) -> None:
    """One process."""
    end_with_parent()
    rng = np.random.default_rng(seed)
    try:
        values: StateValues = pipe.recv()
        play = SearchedPlay(machine, values, terms.lanes, terms.visits, terms.explored, rng)
        while True:
            pipe.send(play_and_tell(play, STEPS, rng))
            values.take(pipe.recv())
    except (EOFError, OSError):
        return
