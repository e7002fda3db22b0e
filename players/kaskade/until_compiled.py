"""`UntilCompiled`: a player whose kernels are still being compiled, with another one in its place.

Whether they are compiled is asked here, between turns; neither of the two players knows of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gdl.machine import Machine, State
from players.player import Choice, Player

if TYPE_CHECKING:
    from players.belief.belief import Belief

STAND_IN = "montecarlo"
"""The player in its place, by random playouts after each of its moves: on the prover it needs no kernels."""


class UntilCompiled(Player):
    """Plays as ``stand_in``, on the machine of the given states, until ``is_compiled``; from the next turn on
    the player from ``make`` plays. ``name`` is that player's name."""

    reports = True

    def __init__(
        self, name: str, stand_in: Player, make: Callable[[], Player], is_compiled: Callable[[], bool]
    ) -> None:
        super().__init__(seed=stand_in.seed)
        self.name = name
        self._make, self._is_compiled = make, is_compiled
        self._made = False
        self._player = stand_in

    @property
    def machine(self) -> Machine:
        """The machine of the player that plays."""
        return self._player.machine

    @machine.setter
    def machine(self, machine: Machine) -> None:
        self._player.machine = machine

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        self.role = role
        if self._is_compiled():
            self._player, self._made = self._make(), True
            self._player.on_progress = self.on_progress
        self._player.start(machine, role, state, startclock, deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        return self._player_for(state).choose(state, deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        return self._player_for(belief.likeliest).choose_from(belief, deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._player.decide(state, options, deadline)

    def share(self, workers: int, ponder: bool) -> None:
        self._player.share(workers, ponder)

    def stop(self) -> None:
        self._player.stop()

    def _player_for(self, state: State) -> Player:
        """The player of this turn."""
        if not self._made and self._is_compiled():
            self._player.stop()
            self.start(state.machine, self.role, state, 0.0, time.monotonic())
        self._player.on_progress = self.on_progress
        return self._player
