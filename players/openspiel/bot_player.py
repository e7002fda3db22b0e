"""Bots of OpenSpiel as our players: ``players.openspiel:mcts``, ``players.openspiel:uniform_random``.

OpenSpiel's Monte Carlo tree search has no deadline; this module adds one. Its bot in C++ crashes on games
that are written in Python, including its own; so this one is in Python.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar

import numpy as np
from open_spiel.python.algorithms import mcts

from gdl.errors import GdlError
from gdl.machine import State
from players.openspiel.spiel_game import SpielGame, SpielState, pyspiel_module, spiel_game
from players.player import Choice, Player
from propnet.capabilities import lane_machine

EXPLORATION = 2.0
"""The constant of UCT in OpenSpiel's example of its bot."""
_SIMULATIONS = 1_000_000_000


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


pyspiel = pyspiel_module()

_SHARE = 0.8
"""Share of the time that a search may take: it checks the clock only between simulations."""


class _BotPlayer(Player):
    """Lets a bot of OpenSpiel play a role. It moves at random until the game is grounded.

    Attributes:
        bot: the bot's name.
    """

    bot: ClassVar[str] = ""

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
        machine = game.rules.machine
        own = machine.own_state(state)
        move = self._ask(game, game.state_of(own), deadline)
        return Choice(self.machine.move_id(self.role, machine.move(self.role, move)))

    def _spiel_game(self) -> SpielGame | None:
        """The game for OpenSpiel, created when the machine has a network; None before."""
        fast = lane_machine(self.machine)
        if self._game is None and fast is not None:
            self._game = spiel_game(fast.rules.name or "game", fast)
        return self._game

    def _ask(self, game: SpielGame, spiel: SpielState, deadline: float) -> int:
        """The bot's action in a state."""
        if self.bot != "mcts":
            return int(pyspiel.load_bot(self.bot, game, game.rules.players.index(self.role)).step(spiel))
        if not game.rules.sequential:
            raise GdlError("mcts of OpenSpiel plays games whose roles take turns", remedy="take another bot")
        now = time.monotonic()
        return _TimedMcts(game, self.seed, now + _SHARE * (deadline - now)).action(spiel)


@cache
def player_class(name: str) -> type[Player] | None:
    """The player of a bot; None if OpenSpiel has no bot of this name."""
    if name != "mcts" and name not in pyspiel.registered_bots():
        return None
    return type(
        f"Spiel_{name}", (_BotPlayer,), {"bot": name, "name": name, "__doc__": f"OpenSpiel's {name}."}
    )
