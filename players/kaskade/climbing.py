"""`ClimbingStates`: states for who asks at once, of the prover at first, of the network once that is built.

A state stays on the machine that made it. What follows from a state of the prover is handed up to the network
once that is built; states that hold the same are equal wherever they stand. Names of moves are good for both
machines, ids are each machine's own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from gdl.errors import TooLargeError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from players.kaskade.kaskade import Kaskade
from players.kaskade.stages import STAGES, Stage

log = logging.getLogger("players.climbing")

AT_ONCE_SECONDS = 0.2
"""CPU time of grounding within which a network is built while its user waits."""
MOST_RULES_AT_ONCE = 20_000
"""Ground rules of such a network: it takes longer to build than to ground."""


class ClimbingStates:
    """A game's states, each new one on the furthest machine that is ready. Native code is no faster for
    single states than the network, so the network is the top.

    ``text`` are the rules in KIF, for the process that builds; ``made`` is called with each machine before
    states of it are given out. Raises RulesError if the rules cannot be played.
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
        stage = Stage(STAGES[0].level, STAGES[0].job, _load)
        self._kaskade = Kaskade(stages=(stage,), on_event=lambda event: log.debug("%s", event))
        self._kaskade.begin(text, rules)

    def initial_state(self) -> State:
        """The state before the first move."""
        return (self._better() or self._prover).initial_state()

    def ready(self, seconds: float | None = None) -> bool:
        """Wait, at most so many seconds, until new states stand on the network; whether they do. They never
        will in games that do not ground within the limits."""
        if self._kaskade is not None:
            self._kaskade.wait(STAGES[0].level, seconds)
        return self._better() is not None

    def _lift(self, state: State) -> State:
        above = self._better()
        return state if above is None else above.state_of(state.propositions)

    def _better(self) -> Machine | None:
        """The machine of the network, once it is there."""
        if self._top is None and self._kaskade is not None and (machine := self._kaskade.newest) is not None:
            self._reach(machine)
        return self._top

    def _reach(self, machine: Machine) -> None:
        self._made(machine)
        self._top = machine


def _network_at_once(rules: Rules) -> Machine | None:
    """The machine of the network if it is stored, or takes no longer than a user waits without a thought."""
    from gdl.grounding.limits import GroundLimits
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.machine import PropnetMachine
    from propnet.storage.network_bytes import load

    stored = load(rules)
    if stored is not None:
        return _load(rules, stored, None)
    try:
        limits = GroundLimits(max_rules=MOST_RULES_AT_ONCE, cpu_seconds=AT_ONCE_SECONDS)
        return PropnetMachine(rules, build(ground(rules, limits)))
    except TooLargeError:
        return None


def _load(rules: Rules, product: bytes, before: Machine | None) -> Machine:
    from propnet.machine import PropnetMachine
    from propnet.storage.network_bytes import from_bytes

    return PropnetMachine(rules, from_bytes(product))
