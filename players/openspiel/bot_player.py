"""Bots of OpenSpiel as our players: ``players.openspiel:mcts``, ``players.openspiel:uniform_random``."""

from __future__ import annotations

import random
import time
from functools import cache
from typing import ClassVar

from gdl.errors import GdlError
from gdl.machine import State
from players.openspiel.spiel_game import SpielGame, spiel_game
from players.openspiel.spiel_state import SpielState, pyspiel_module
from players.player import Choice, Player
from propnet.capabilities import lane_machine

pyspiel = pyspiel_module()

_SHARE = 0.8
"""Share of the time that a search may take: it looks at the clock between simulations only."""


class BotPlayer(Player):
    """A role that a bot of OpenSpiel plays. It moves at random until the game is grounded.

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
        own = state if state.machine is machine else machine.state_of(state.propositions)
        move = self._ask(game, game.state_of(own), deadline)
        return Choice(self.machine.move_id(self.role, machine.move(self.role, move)))

    def _spiel_game(self) -> SpielGame | None:
        """The game for OpenSpiel, made when the machine has a network; None before."""
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
        from players.openspiel.timed_mcts import TimedMcts

        now = time.monotonic()
        return TimedMcts(game, self.seed, now + _SHARE * (deadline - now)).action(spiel)


@cache
def player_class(name: str) -> type[Player] | None:
    """The player of a bot; None if OpenSpiel has none of this name."""
    if name != "mcts" and name not in pyspiel.registered_bots():
        return None
    return type(f"Spiel_{name}", (BotPlayer,), {"bot": name, "name": name, "__doc__": f"OpenSpiel's {name}."})
