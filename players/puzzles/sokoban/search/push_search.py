"""`PushSearch`: the interface of searches for pushes that solve a position, in slices of time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gdl.errors import GdlError
from gdl.words import counted
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Int32s, Octets


class LevelKnowledge:
    """Facts about a geometry, each computed on first use. Searches of the same geometry share them.

    Attributes:
        geometry: the geometry of the level.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry

    @cached_property
    def distances(self) -> Int32s:
        """int32, shape (goals, size + 1): pushes of a lone box to each goal, FAR if there is no way."""
        from players.puzzles.sokoban.distances import goal_distances  # loads a kernel

        return goal_distances(self.geometry)

    @cached_property
    def dead(self) -> Octets:
        """uint8, shape (size + 1,): 1 on squares from which a box can never reach any goal."""
        from players.puzzles.sokoban.distances import FAR

        dead: Octets = (self.distances == FAR).all(axis=0).astype(np.uint8)
        return dead


@dataclass(frozen=True, slots=True)
class PushTask:
    """The task of a search.

    Attributes:
        knowledge: the facts about the geometry.
        start: the position.
        memory: the most bytes that the search may take.
        most_pushes: solutions with more pushes do not count; None for any.
    """

    knowledge: LevelKnowledge
    start: Position
    memory: int
    most_pushes: int | None = None

    @property
    def geometry(self) -> Geometry:
        """The geometry of the level."""
        return self.knowledge.geometry


@dataclass(slots=True)
class Progress:
    """The progress of a search, for display.

    Attributes:
        positions: the number of positions generated.
        bound: its best lower bound or estimate of the pushes left; -1 while there is none.
    """

    positions: int = 0
    bound: int = -1


class PushSearch(ABC):
    """Looks for pushes that solve one position, in any number of slices.

    Construction must be cheap: work that takes more than a millisecond belongs in :meth:`step`.

    Attributes:
        name: the search's name for users.
        outcome: GOING_ON until the search ends.
        pushes: the solution, once it is SOLVED.
        optimal: whether no solution has fewer pushes than ``pushes``.
        progress: for display, updated by each slice.
    """

    name: ClassVar[str]

    def __init__(self, task: PushTask) -> None:
        self.task = task
        self.outcome = Outcome.GOING_ON
        self.pushes: list[Push] = []
        self.optimal = False
        self.progress = Progress()

    @abstractmethod
    def step(self, seconds: float) -> Outcome:
        """Work for about ``seconds`` CPU seconds, within a few milliseconds. Returns the outcome, which is
        also in ``outcome``."""

    def close(self) -> None:
        """Free memory early. No further slice follows."""


@dataclass(slots=True)
class SliceRate:
    """Learns from earlier slices how many units of work fit into a slice of time.

    Attributes:
        rate: units per CPU second, as last measured.
        least: the least units of work at a time.
    """

    rate: float = 20_000.0
    least: int = 16

    def run(self, seconds: float, work: Callable[[int], bool]) -> None:
        """Call ``work`` with numbers of units until it returns False or ``seconds`` CPU seconds have
        passed."""
        began = now = time.thread_time()
        while now < began + seconds:
            left = began + seconds - now
            # A first call may load a kernel: the rate may at most double.
            units = max(self.least, int(self.rate * min(left, 0.02)))
            goes_on = work(units)
            before, now = now, time.thread_time()
            self.rate = min(units / max(now - before, 1e-6), 2 * self.rate)
            if not goes_on:
                return


def checked(task: PushTask) -> None:
    """Raise GdlError if there are more boxes than goals where the keeper can come: no search can solve
    that."""
    boxes, goals = len(task.start.boxes), len(task.geometry.goals)
    if boxes > goals:
        raise GdlError(
            f"the keeper can come to {counted(boxes, 'box', 'boxes')} and only {counted(goals, 'goal')}:"
            " there is no solution",
            remedy="take boxes away or add goals",
        )
