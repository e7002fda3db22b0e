"""`PushSearch`: what looks for pushes that solve a position, in slices of time."""

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
    """What is known of a geometry, each item worked out when it is first asked for. Searches of the same
    geometry share it.

    Attributes:
        geometry: the level's.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry

    @cached_property
    def distances(self) -> Int32s:
        """int32, shape (goals, size + 1): pushes of a lone box to each goal, FAR where there is no way."""
        from players.puzzles.sokoban.distances import goal_distances  # brings a kernel along

        return goal_distances(self.geometry)

    @cached_property
    def dead(self) -> Octets:
        """uint8, shape (size + 1,): 1 where a box can never reach any goal."""
        from players.puzzles.sokoban.distances import FAR

        dead: Octets = (self.distances == FAR).all(axis=0).astype(np.uint8)
        return dead


@dataclass(frozen=True, slots=True)
class PushTask:
    """What a search is made for.

    Attributes:
        knowledge: of the geometry.
        start: the position.
        memory: bytes that the search may take.
        most_pushes: solutions with more pushes do not count; None for any.
    """

    knowledge: LevelKnowledge
    start: Position
    memory: int
    most_pushes: int | None = None

    @property
    def geometry(self) -> Geometry:
        """The level's."""
        return self.knowledge.geometry


@dataclass(slots=True)
class Progress:
    """How far a search has come, for people.

    Attributes:
        positions: how many positions were made.
        bound: its best lower bound or estimate of pushes still to make; -1 while there is none.
    """

    positions: int = 0
    bound: int = -1


class PushSearch(ABC):
    """Looks for pushes that solve one position. Made once, asked for any number of slices, and dropped.

    It must be cheap to make: what takes more than a millisecond belongs into :meth:`step`.

    Attributes:
        name: by which people ask for it.
        outcome: GOING_ON until the search ends.
        pushes: the solution, once it is SOLVED.
        optimal: whether no solution has fewer pushes than ``pushes``.
        progress: for people, brought up to date by each slice.
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
        """Work for about so many CPU seconds, a few milliseconds more or less. Returns the outcome, which is
        then in ``outcome`` too."""

    def close(self) -> None:
        """Give memory back early. It is not asked for another slice."""


@dataclass(slots=True)
class SliceRate:
    """How many units of work fit into a slice of time, learnt from those before.

    Attributes:
        rate: units per CPU second, as last measured.
        least: units that are done at once, at least.
    """

    rate: float = 20_000.0
    least: int = 16

    def run(self, seconds: float, work: Callable[[int], bool]) -> None:
        """Call ``work`` with numbers of units until it returns False or so many CPU seconds have gone."""
        began = now = time.thread_time()
        while now < began + seconds:
            left = began + seconds - now
            # A first call may load a kernel: the rate is believed only as far as doubling.
            units = max(self.least, int(self.rate * min(left, 0.02)))
            goes_on = work(units)
            before, now = now, time.thread_time()
            self.rate = min(units / max(now - before, 1e-6), 2 * self.rate)
            if not goes_on:
                return


def checked(task: PushTask) -> None:
    """Raises GdlError where there are more boxes than goals where the keeper can come: nothing can solve
    that."""
    boxes, goals = len(task.start.boxes), len(task.geometry.goals)
    if boxes > goals:
        raise GdlError(
            f"the keeper can come to {counted(boxes, 'box', 'boxes')} and only {counted(goals, 'goal')}:"
            " there is no solution",
            remedy="take boxes away or add goals",
        )
