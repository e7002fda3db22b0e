"""Perfect information Monte Carlo: the player searches each of some possible states as if it was known, and
plays the move that is best on average (Ginsberg, GIB, 2001). It gives no value to information, and assumes
that it will know the state next time: better players are measured against it.
"""

from __future__ import annotations

import time
from typing import Any

from gdl.machine import Machine, State
from gdl.words import counted
from players.belief.belief import Belief
from players.options import Option, at_least, between
from players.player import Candidate, Choice, Player
from players.uct.player import UctPlayer

_LEAST_SECONDS = 0.05
"""The least seconds of a search of one state; with less time fewer states are searched."""


class PimcPlayer(Player):
    """Searches up to ``worlds`` possible states by UCT, one after the other."""

    name = "pimc"
    OPTIONS = (
        Option("worlds", at_least(1), 16, "possible states that are searched", public=between(1, 64)),
        Option("playouts", int, None, "playouts per state after which it stops", public=at_least(1)),
    )

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self._most: int = self.options["worlds"]
        self._uct = UctPlayer(seed=seed, playouts=self.options["playouts"], knowledge="off")

    def prepare(self, state: State, deadline: float) -> None:
        self._uct.start(self.machine, self.role, state, 0.0, deadline)

    def update_machine(self, machine: Machine) -> None:
        super().update_machine(machine)
        self._uct.update_machine(machine)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._uct.decide(state, options, deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        options = belief.legal_moves()
        began = time.monotonic()
        most = max(1, min(self._most, int((deadline - began) / _LEAST_SECONDS)))
        worlds, weights = belief.few(most)
        states = [(belief.world_machine.state(worlds, i), float(w)) for i, w in enumerate(weights)]
        totals = dict.fromkeys(options, 0.0)
        visits = dict.fromkeys(options, 0)
        searched = 0
        for number, (state, weight) in enumerate(states):
            now = time.monotonic()
            if number and now > deadline - _LEAST_SECONDS / 2:
                break
            choice = self._uct.choose(state, now + (deadline - now) / (len(states) - number))
            valued = {c.move: c for c in choice.candidates if c.value is not None}
            least = min((c.value or 0.0 for c in valued.values()), default=50.0)
            for move in options:
                value = valued[move].value if move in valued else least
                totals[move] += weight * (50.0 if value is None else value)
                visits[move] += valued[move].visits if move in valued else 0
            searched += 1
        weight = sum(share for _, share in states[:searched]) or 1.0
        order = sorted(options, key=lambda move: (-totals[move], -visits[move]))
        candidates = tuple(Candidate(move, visits[move], totals[move] / weight) for move in order)
        note = f"searched {searched:,} of {counted(len(belief), 'possible state')}"
        return Choice(candidates[0].move, candidates, note)

    def stop(self) -> None:
        self._uct.stop()
