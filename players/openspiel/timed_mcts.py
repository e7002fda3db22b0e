"""OpenSpiel's Monte Carlo tree search, `open_spiel.python.algorithms.mcts`, with a deadline.

Its bot in C++ crashes on games that are written in Python, its own ones too; so this is the one in Python.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import numpy as np
from open_spiel.python.algorithms import mcts

EXPLORATION = 2.0
"""The constant of UCT in OpenSpiel's example of its bot."""
_SIMULATIONS = 1_000_000_000


class _TimeUpError(Exception):
    """The deadline has come."""


class TimedMcts(mcts.MCTSBot):  # type: ignore[misc]
    """The bot with rollouts by random moves, until ``deadline``, seconds of :func:`time.monotonic`; one
    rollout is made in any case."""

    def __init__(self, game: Any, seed: int, deadline: float) -> None:
        numbers = np.random.RandomState(seed & 0xFFFFFFFF)
        evaluator = mcts.RandomRolloutEvaluator(1, numbers)
        super().__init__(game, EXPLORATION, _SIMULATIONS, evaluator, random_state=numbers)
        self._deadline = deadline
        self._root: Any = None

    def action(self, state: Any) -> int:
        """The most visited action, or a proven one."""
        with suppress(_TimeUpError):
            self._root = self.mcts_search(state)
        return int(self._root.best_child().action)

    def _apply_tree_policy(self, root: Any, state: Any) -> Any:
        self._root = root
        if root.children and time.monotonic() >= self._deadline:
            raise _TimeUpError
        return super()._apply_tree_policy(root, state)
