"""`Leads`: whether two roles do best to play for their lead over the other, where goals do not add up to 100.

Where roles fight in any case, the other's gain is a loss later on, which playouts show too weakly
(skirmish). Where both do well in peace, a fight costs both (dollar auction, centipede, stag hunt).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import Ends

QUESTION = 1024
"""Playouts that tell how roles fare, made once there were as many others."""
_SURE = 0.9
"""Share of these that must come to an end."""
_UNFAIR = 1e-3
"""Results of two roles that miss their sum by more than this do not add up."""
_OPPOSED, _TOGETHER = -0.5, 0.1
"""The correlations of goals between which one role may gain at the other's expense, and it makes a difference
whether it plays for that."""
_LEAST, _MOST = 75.0, 110.0
"""The goals of two roles together, in random matches, where they fight: they take from each other whatever
they do, and have no more to lose than to win."""


def add_up(results: NDArray[np.float64]) -> bool:
    """Whether results of two roles, 0..1, shape (n, 2), add up to 1."""
    return bool((np.abs(results.sum(axis=1) - 1.0) <= _UNFAIR).all())


def fight(goals: NDArray[np.int16]) -> bool:
    """Whether two roles fight, by their goals at the end of random matches, int16, shape (n, 2), -1 for none:
    these are neither high nor low whatever happens, do not rise together, and are not just opposed."""
    known = goals[(goals >= 0).all(axis=1)].astype(np.float64)
    if not len(known) or not _LEAST <= known.sum(axis=1).mean() <= _MOST:
        return False
    apart = known - known.mean(axis=0)
    spread = float(known.std(axis=0).prod())
    return spread > 0.0 and _OPPOSED <= float(apart.prod(axis=1).mean()) / spread <= _TOGETHER


def replace_by_leads(results: NDArray[np.float64]) -> None:
    """Replace results of two roles, 0..1, shape (n, 2), by leads: 0.5 if the roles are level."""
    results[:] = 0.5 + (results - results[:, ::-1]) / 2.0


class Leads:
    """Whether two roles play for their lead, which is in question once results do not add up.

    Attributes:
        count: whether they do, so that leads replace results; None until that is decided.
    """

    def __init__(self, in_question: bool) -> None:
        self.count: bool | None = None if in_question else False
        self._fair, self._tried = True, 0

    def weigh(self, results: NDArray[np.float64]) -> None:
        """See whether results of two roles, 0..1, shape (n, 2), add up; or replace them by leads."""
        if self.count is None:
            self._fair = self._fair and add_up(results)
        elif self.count:
            replace_by_leads(results)

    def in_question(self, steps: int) -> bool:
        """Whether playouts of so many steps at most may decide, which shorter ones have not."""
        return self.count is None and not self._fair and steps > self._tried

    def decide(self, ends: Ends, steps: int, in_turn: bool) -> bool:
        """Decide by :data:`QUESTION` playouts from the game's first state, which no goals in hand distort:
        leads count if the roles fight, and move one at a time (``in_turn``). If most of the playouts were cut
        after their ``steps``, the question stays open. Returns whether leads count from now on."""
        self._tried = steps
        if ends.finished.mean() >= _SURE:
            self.count = in_turn and fight(ends.goals[ends.finished])
        return bool(self.count)
