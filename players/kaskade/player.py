"""A player that moves to faster machines as soon as the kaskade has built them, between turns and within; and
states for callers that need them at once (`ClimbingStates`), first of the prover, then of the network when it
is built.

A player that can resume a search (:attr:`players.player.Player.resumes`) waits for no machine: when one is
ready, its search is interrupted and resumed there. Other players wait for the first machine, for a while.

A state stays on the machine that created it. Successors of a prover's state are moved to the network once it
is built; states with the same content are equal on all machines. Names of moves are valid on both machines,
ids only on their own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gdl.ends import difference
from gdl.errors import TooLargeError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from players.kaskade.kaskade import BOTTOM, Kaskade
from players.kaskade.stages import STAGES, load_propnet
from players.player import Choice, Player
from players.processes.limits import describe

if TYPE_CHECKING:
    from players.belief.belief import Belief

log = logging.getLogger("players.climbing")


START_SHARE = 0.7
"""Share of the startclock in which it waits for the first fast machine before it begins. The prover searches
so slowly in comparison that waiting costs little, and the builder has the processors to itself."""
_TURN_SHARE = 0.5
"""Share of a turn's time in which a player that cannot resume a search waits for the first fast machine."""
LEAST_SECONDS = 0.7
"""With less time left in a turn, the player changes machines only at the next one: the change loses the
results of the search on the prover, and search processes take a while to load a machine."""


class KaskadePlayer(Player):
    """Runs ``player`` on the furthest machine of ``kaskade`` that is ready.

    Like every player it answers in ids of the machine of the given state. ``on_up`` is called with each
    machine that the player has changed to.
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
        """The progress callback of the player that thinks."""
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
        self.player.start(self.machine, role, self.machine.own_state(state), startclock, deadline)
        if self._called and not machine.is_terminal(state) and machine.legal_moves(state, role):
            self.decide(state, [], deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        self._callers_machine = state.machine
        return self.decide(state, [], deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        self._callers_machine = belief.machine
        if self._kaskade.rising and not self.player.resumes:
            self._await_first(deadline, _TURN_SHARE)
        self._deadline = deadline
        self._go_up(belief.likeliest)
        self.player.interrupted = lambda: (
            False
        )  # it decides by many states, so it cannot resume in one of them
        choice = self.player.choose_from(self._own_belief(belief, deadline), deadline)
        return self.player.translated(choice, belief.machine)

    def _own_belief(self, belief: Belief, deadline: float) -> Belief:
        """The same belief on the machine of the player; it is cached, and grows turn by turn."""
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
            self._await_first(deadline, _TURN_SHARE)
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
        """Wait for the first machine above the prover, if one is being built, for a share of the time
        left."""
        for level in self._kaskade.levels[:1]:
            self._kaskade.wait(level, max(0.0, deadline - time.monotonic()) * share)

    def _is_called(self) -> bool:
        """Whether the player should interrupt its search and change machines."""
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
        """The furthest machine that agrees with the state's own machine on this state."""
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


AT_ONCE_SECONDS = 0.2
"""CPU time of grounding within which a network is built while its user waits."""
MOST_RULES_AT_ONCE = 20_000
"""Maximum number of ground rules of such a network: building takes longer than grounding."""


class ClimbingStates:
    """A game's states, each new one on the furthest machine that is ready. Native code does not speed up
    single states, so the network is the last stage.

    ``text`` holds the rules in KIF, for the process that builds; ``made`` is called with each machine before
    its states are returned. Raises RulesError if the rules cannot be played.
    """

    def __init__(self, rules: Rules, text: str, made: Callable[[Machine], None]) -> None:
        self._made = made
        self._top: Machine | None = None
        self._kaskade: Kaskade | None = None
        network = _network_at_once(rules)
        if network is not None:
            self._reach(network)
            return
        self._prover = ProverMachine(rules)
        self._prover.lift = self._lift
        made(self._prover)
        self._kaskade = Kaskade(stages=STAGES[:1], on_event=lambda event: log.debug("%s", event))
        self._kaskade.begin(text, rules)

    def initial_state(self) -> State:
        """The state before the first move."""
        return (self._better() or self._prover).initial_state()

    def ready(self, seconds: float | None = None) -> bool:
        """Wait at most ``seconds`` until new states are on the network. Returns whether they are. In games
        that do not ground within the limits they never will be."""
        if self._kaskade is not None:
            self._kaskade.wait(STAGES[0].level, seconds)
        return self._better() is not None

    def _lift(self, state: State) -> State:
        above = self._better()
        return state if above is None else above.state_of(state.propositions)

    def _better(self) -> Machine | None:
        """The machine of the network, once it is ready."""
        if self._top is None and self._kaskade is not None and (machine := self._kaskade.newest) is not None:
            self._reach(machine)
        return self._top

    def _reach(self, machine: Machine) -> None:
        self._made(machine)
        self._top = machine


def _network_at_once(rules: Rules) -> Machine | None:
    """The machine of the network if it is stored, or builds so fast that a user hardly notices the wait."""
    from gdl.grounding.limits import GroundLimits
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.machine import PropnetMachine
    from propnet.storage.network_bytes import load

    stored = load(rules)
    if stored is not None:
        return load_propnet(rules, stored, None)
    try:
        limits = GroundLimits(max_rules=MOST_RULES_AT_ONCE, cpu_seconds=AT_ONCE_SECONDS)
        return PropnetMachine(rules, build(ground(rules, limits)))
    except TooLargeError:
        return None
