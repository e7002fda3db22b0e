"""Feature space search as a search of the portfolio (:mod:`players.puzzles.sokoban.fess`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from players.puzzles.sokoban.search.push_search import Outcome, PushSearch, PushTask, checked

if TYPE_CHECKING:
    from players.puzzles.sokoban.fess.search import FessSearch


_MOST_SQUARES = 1500
"""On larger maps the plan alone may take minutes, which nobody could interrupt."""


class FeatureSpace(PushSearch):
    """FESS. A limit of pushes matters only once it has a solution: it gives up where that is too long, and on
    maps of more than 1,500 squares."""

    name = "fess"

    def __init__(self, task: PushTask) -> None:
        checked(task)
        super().__init__(task)
        self._search: FessSearch | None = None

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`. The first slice also makes the plan and the dead sets."""
        if self.outcome is not Outcome.GOING_ON:
            return self.outcome
        if self.task.geometry.size > _MOST_SQUARES:
            self.outcome = Outcome.GAVE_UP
            return self.outcome
        if self._search is None:
            # Its kernels are only loaded for levels that need it.
            from players.puzzles.sokoban.fess.search import FessSearch

            self._search = FessSearch(self.task.geometry, self.task.start, self.task.memory)
        pushes = self._search.step(seconds)
        self.progress.positions = self._search.positions
        if pushes is not None:
            most = self.task.most_pushes
            self.pushes = pushes
            self.outcome = Outcome.SOLVED if most is None or len(pushes) <= most else Outcome.GAVE_UP
        elif self._search.full:
            self.outcome = Outcome.MEMORY_FULL
        elif self._search.exhausted:
            # What it leaves out, it leaves out by rules of thumb: this is no proof.
            self.outcome = Outcome.GAVE_UP
        return self.outcome

    def close(self) -> None:
        """Give its memory back."""
        self._search = None
