"""A player that goes up to faster machines as the cascade has them ready, between turns and within.

Where the player can go on with a search (:attr:`players.player.Player.resumes`), the time of a turn is
given to it in slices while a faster machine may still come, so that it waits for none and gets
each at the end of a slice.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gdl.machine import Machine
from gdl.state import State
from players.kaskade import BOTTOM, Kaskade
from players.limits import describe
from players.player import Choice, Player

START_SHARE = 0.7
"""Share of the startclock for which it waits for the first fast machine before it begins. The prover
searches hundreds of times slower, so waiting costs little, and leaves the builder its processors."""

TURN_SHARE = 0.5
"""Share of a turn's time for which a player that cannot go on with a search waits for it."""

SLICE_SECONDS = 0.5
"""Time that the player gets at once while a machine may still come."""


class KaskadePlayer(Player):
    """Has another player think, on the furthest machine that is ready.

    Its answers are for the machine of the state that it is asked about, as those of every player.

    Args:
        player: the one that thinks.
        kaskade: the machines; begun with the rules of the match.
        on_up: is told when the player has gone up to a machine.
    """

    def __init__(
        self, player: Player, kaskade: Kaskade, on_up: Callable[[Machine], None] | None = None
    ) -> None:
        super().__init__(seed=player.seed)
        self.name = player.name
        self.player = player
        self._kaskade = kaskade
        self._on_up = on_up
        self._taken: Machine | None = None

    @property
    def on_progress(self) -> Callable[[Choice], None] | None:
        """As that of the player that thinks; there is none where that has none."""
        told: Callable[[Choice], None] | None = self.player.on_progress  # type: ignore[attr-defined]
        return told

    @on_progress.setter
    def on_progress(self, told: Callable[[Choice], None] | None) -> None:
        player = self.player

        def tell(choice: Choice) -> None:
            if told is not None:
                told(player.translated(choice, self._asked))

        player.on_progress = None if told is None else tell  # type: ignore[attr-defined]

    # --- the match ----------------------------------------------------------------------------
    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        self.role = role
        self._asked = machine
        for level in self._kaskade.levels[:1]:
            self._kaskade.wait(level, max(0.0, deadline - time.monotonic()) * START_SHARE)
        self.machine = self._taken = self._sound(state)
        end = self._slice_end(deadline)
        self.player.start(self.machine, role, self.own_state(state), startclock, end)
        if end < deadline and not machine.is_terminal(state) and machine.legal_moves(state, role):
            self.decide(state, [], deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        self._asked = state.machine
        return self.decide(state, [], deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if self._kaskade.rising and not self.player.resumes:
            for level in self._kaskade.levels[:1]:
                self._kaskade.wait(level, max(0.0, deadline - time.monotonic()) * TURN_SHARE)
        self._go_up(state)
        while (end := self._slice_end(deadline)) < deadline:
            choice = self.player.choose(state, end)
            if not self._go_up(state) and choice.candidates and end - time.monotonic() > SLICE_SECONDS / 2:
                return choice  # it needs no more time
        return self.player.choose(state, deadline)

    def update_machine(self, machine: Machine) -> None:
        self.player.update_machine(machine)
        self.machine = self._taken = machine

    def stop(self) -> None:
        self.player.stop()

    # --- upwards --------------------------------------------------------------------------------
    def _slice_end(self, deadline: float) -> float:
        """Until when the player may think before it is asked again."""
        if not (self.player.resumes and self._kaskade.rising):
            return deadline
        end = time.monotonic() + SLICE_SECONDS
        return end if end + SLICE_SECONDS / 2 < deadline else deadline

    def _go_up(self, state: State) -> bool:
        """Take over the furthest machine; whether that is another one than before."""
        before = self.machine
        machine = self._sound(state)
        if machine is before:
            return False
        try:
            self.update_machine(machine)
        except Exception as error:
            self._kaskade.reject(machine, f"the player cannot go over to it: {describe(error)}")
            self.update_machine(before)
            return False
        if self._on_up is not None:
            self._on_up(machine)
        return True

    def _sound(self, state: State) -> Machine:
        """The furthest machine that says of this state what the state's own machine says."""
        while True:
            machine = self._kaskade.best()
            if machine.level == BOTTOM or machine in (state.machine, self._taken):
                return machine
            try:
                fault = _difference(machine, state)
            except Exception as error:
                fault = describe(error)
            if not fault:
                return machine
            self._kaskade.reject(machine, fault)


def _difference(machine: Machine, state: State) -> str:
    """What a machine says otherwise about a state than the state's own machine; may be empty."""
    known = state.machine
    other = machine.state_of(state.propositions)
    if machine.is_terminal(other) != known.is_terminal(state):
        return "it does not agree whether the match is over"
    for role in range(len(known.roles)):
        ours = {known.move(role, move) for move in known.legal_moves(state, role)}
        if {machine.move(role, move) for move in machine.legal_moves(other, role)} != ours:
            return f"it does not agree on the legal moves of {known.rules.spell(known.roles[role])}"
    return ""
