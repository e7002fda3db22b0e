"""A player that goes up to faster machines as the kaskade has them ready, between turns and within.

A player that can resume a search (:attr:`players.player.Player.resumes`) waits for no machine: it is called
back when one is ready, and asked again. Others wait for the first one, for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gdl.machine import Machine, State, difference
from players.kaskade.kaskade import BOTTOM, Kaskade
from players.player import Choice, Player
from players.processes.limits import describe

if TYPE_CHECKING:
    from players.belief.belief import Belief

START_SHARE = 0.7
"""Share of the startclock for which it waits for the first fast machine before it begins. The prover
searches so much slower that waiting costs little, and the builder has the processors to itself."""
TURN_SHARE = 0.5
"""Share of a turn's time for which a player that cannot resume a search waits for it."""
LEAST_SECONDS = 0.7
"""With less time left in a turn the player goes up only at the next one: going up loses what the search on
the prover has learned, and search processes take a while to load a machine."""


class KaskadePlayer(Player):
    """Lets ``player`` think, on the furthest machine of ``kaskade`` that is ready.

    Like every player it answers for the machine of the state it is asked about. ``on_up`` is called with each
    machine that the player has gone up to.
    """

    def __init__(
        self, player: Player, kaskade: Kaskade, on_up: Callable[[Machine], None] | None = None
    ) -> None:
        self.player = player
        watching = player.on_progress
        super().__init__(seed=player.seed)
        player.on_progress = watching
        self.name = player.name
        self.reports = player.reports
        self._kaskade = kaskade
        self._on_up = on_up
        self._current: Machine | None = None
        self._belief: Belief | None = None

    @property
    def on_progress(self) -> Callable[[Choice], None] | None:
        """As that of the player that thinks."""
        return self.player.on_progress

    @on_progress.setter
    def on_progress(self, watch: Callable[[Choice], None] | None) -> None:
        player = self.player

        def report(choice: Choice) -> None:
            if watch is not None:
                watch(player.translated(choice, self._callers_machine))

        player.on_progress = None if watch is None else report

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        self.role = role
        self._callers_machine = machine
        self._await_first(deadline, START_SHARE)
        self.machine = self._current = self._sound(state)
        self._deadline = deadline
        self._called = False
        self.player.interrupted = self._is_called
        self.player.start(self.machine, role, self.own_state(state), startclock, deadline)
        if self._called and not machine.is_terminal(state) and machine.legal_moves(state, role):
            self.decide(state, [], deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        self._callers_machine = state.machine
        return self.decide(state, [], deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        self._callers_machine = belief.machine
        if self._kaskade.rising and not self.player.resumes:
            self._await_first(deadline, TURN_SHARE)
        self._deadline = deadline
        self._go_up(belief.likeliest)
        self.player.interrupted = lambda: False  # it decides by many states, and resumes in none of them
        choice = self.player.choose_from(self._own_belief(belief, deadline), deadline)
        return self.player.translated(choice, belief.machine)

    def _own_belief(self, belief: Belief, deadline: float) -> Belief:
        """The same on the machine that the player thinks on: kept, and grown turn by turn."""
        if self.machine is belief.machine:
            return belief
        own = self._belief
        if own is None or own.machine is not self.machine or not belief.goes_on(own):
            own = self._belief = belief.on(self.machine, deadline)
        else:
            for seen in belief.history[len(own.history) :]:
                own.update(seen, deadline)
        return own

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if self._kaskade.rising and not self.player.resumes:
            self._await_first(deadline, TURN_SHARE)
        self._deadline = deadline
        while True:
            self._go_up(state)
            self._called = False
            choice = self.player.choose(state, deadline)
            if not self._called:
                return choice

    def update_machine(self, machine: Machine) -> None:
        self.player.update_machine(machine)
        self.machine = self._current = machine

    def share(self, workers: int, ponder: bool) -> None:
        self.player.share(workers, ponder)

    def stop(self) -> None:
        self.player.stop()

    def _await_first(self, deadline: float, share: float) -> None:
        """Wait for the first machine above the prover, if there is one, for a share of the time left."""
        for level in self._kaskade.levels[:1]:
            self._kaskade.wait(level, max(0.0, deadline - time.monotonic()) * share)

    def _is_called(self) -> bool:
        """Whether the player should come back, to go up."""
        newest = self._kaskade.newest
        if newest in (None, self._current) or self._deadline - time.monotonic() < LEAST_SECONDS:
            return False
        self._called = True
        return True

    def _go_up(self, state: State) -> None:
        """Change to the furthest machine."""
        before, machine = self.machine, self._sound(state)
        if machine is before:
            return
        try:
            self.update_machine(machine)
        except Exception as error:
            self._kaskade.reject(machine, f"the player cannot go over to it: {describe(error)}")
            self.update_machine(before)
            return
        if self._on_up is not None:
            self._on_up(machine)

    def _sound(self, state: State) -> Machine:
        """The furthest machine that agrees with the state's own machine about the state."""
        while True:
            machine = self._kaskade.best()
            if machine.level == BOTTOM or machine in (state.machine, self._current):
                return machine
            try:
                fault = difference(machine, state)
            except Exception as error:
                fault = describe(error)
            if not fault:
                return machine
            self._kaskade.reject(machine, fault)
