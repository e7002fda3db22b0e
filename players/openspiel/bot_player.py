"""OpenSpiel's Monte Carlo tree search as our player ``players.openspiel:mcts``.

It has no deadline; this module adds one. OpenSpiel's bot in C++ crashes on games that are written in Python,
including its own; so this one is in Python.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import Any

import numpy as np
from open_spiel.python.algorithms import mcts

from gdl.errors import GdlError
from gdl.machine import State
from players.openspiel.spiel_game import SpielGame, spiel_game
from players.player import Choice, Player
from propnet.capabilities import lane_machine

EXPLORATION = 2.0
"""The constant of UCT in OpenSpiel's example of its bot."""
_SIMULATIONS = 1_000_000_000
_SHARE = 0.8
"""Share of the time that a search may take: it checks the clock only between simulations."""


class _TimeUpError(Exception):
    """The deadline has come."""


class _TimedMcts(mcts.MCTSBot):  # type: ignore[misc]
    """The bot with random rollouts, until ``deadline``, seconds of :func:`time.monotonic`; it performs at
    least one rollout."""

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


class SpielMcts(Player):
    """OpenSpiel's Monte Carlo tree search, in games whose roles take turns. It moves at random until the game
    is grounded."""

    name = "mcts"

    def __init__(self, *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self._game: SpielGame | None = None

    def prepare(self, state: State, deadline: float) -> None:
        self._spiel_game()

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if len(options) == 1:
            return Choice(options[0])
        game = self._spiel_game()
        if game is None:
            move = random.Random(f"{self.seed}{state.to_kif()}").choice(self.in_order(options))
            return Choice(move, note="a random move: the game is not grounded, or not yet")
        if not game.rules.sequential:
            raise GdlError(
                "mcts of OpenSpiel plays games whose roles take turns", remedy="take another player"
            )
        machine, now = game.rules.machine, time.monotonic()
        bot = _TimedMcts(game, self.seed, now + _SHARE * (deadline - now))
        move = bot.action(game.state_of(machine.own_state(state)))
        return Choice(self.machine.move_id(self.role, machine.move(self.role, move)))

    def _spiel_game(self) -> SpielGame | None:
        """The game for OpenSpiel, created when the machine has a network; None before."""
        fast = lane_machine(self.machine)
        if self._game is None and fast is not None:
            self._game = spiel_game(fast.rules.name or "game", fast)
        return self._game
