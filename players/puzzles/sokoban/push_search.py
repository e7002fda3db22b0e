"""`PushSearch`: the interface of searches for pushes that solve a position, in slices of time."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from gdl.errors import GdlError
from gdl.words import counted
from players.companions import Stepwise
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.solution import Outcome


@dataclass(frozen=True, slots=True)
class PushTask:
    """The task of a search.

    Attributes:
        geometry: the geometry of the level.
        start: the position.
        memory: the most bytes that the search may take.
        most_pushes: solutions with more pushes do not count; None for any.
    """

    geometry: Geometry
    start: Position
    memory: int
    most_pushes: int | None = None


class PushSearch(Stepwise, ABC):
    """Looks for pushes that solve one position, in any number of slices; finished once it has an outcome.

    Construction must be cheap: work that takes more than a millisecond belongs in :meth:`step`.

    Attributes:
        name: the search's name for users.
        outcome: GOING_ON until the search ends.
        pushes: the solution, once it is SOLVED.
        optimal: whether no solution has fewer pushes than ``pushes``.
        positions: the number of positions generated, updated by each slice.
        bound: its best lower bound or estimate of the pushes left; -1 while there is none.

    Raises:
        GdlError: there are more boxes than goals where the keeper can come. No search can solve that.
    """

    name: ClassVar[str]

    def __init__(self, task: PushTask) -> None:
        boxes, goals = len(task.start.boxes), len(task.geometry.goals)
        if boxes > goals:
            raise GdlError(
                f"the keeper can come to {counted(boxes, 'box', 'boxes')} and only {counted(goals, 'goal')}:"
                " there is no solution",
                remedy="take boxes away or add goals",
            )
        self.task = task
        self.outcome = Outcome.GOING_ON
        self.pushes: list[Push] = []
        self.optimal = False
        self.positions, self.bound = 0, -1

    @property
    def over(self) -> bool:
        """Whether the search has ended."""
        return self.outcome is not Outcome.GOING_ON

    def close(self) -> None:
        """Free memory early. No further slice follows."""
