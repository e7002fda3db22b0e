"""What a follower does while it waits: plays at random before the match, looks a turn ahead in it.

So code for relations that grow in the course of a game is made before a clock runs. And where roles
alternate, the move that was legal last turn is not legal in the next: one that is legal in most of the states
that can come is a better last resort.
"""

from __future__ import annotations

import gc
import random
import time
from collections import Counter

from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.random_games import RandomGames

REHEARSAL_SECONDS = 1.5
"""CPU time for random games before the first turn."""
AHEAD = 4
"""Successors that are looked at in each turn, as many as AHEAD_SECONDS allow."""
AHEAD_SECONDS = 0.1


class Foresight:
    """Steps of a few milliseconds each, between messages; ``ahead``: in the match, too.

    Attributes:
        asked: the number of the turn that it looks ahead from; 0 before the first.
        move: what is legal in most of the states that may come next, once it knows.
    """

    def __init__(self, machine: ProverMachine, role: int, rng: random.Random, ahead: bool = True) -> None:
        self._machine, self._role, self._rng, self._ahead = machine, role, rng, ahead
        self._games = RandomGames(machine, rng.getrandbits(32))
        self._state: State | None = None
        self._left = 0
        self._rehearsed = False
        self._spent = 0.0
        self._legal: Counter[int] = Counter()
        self.asked = 0
        self.move: int | None = None

    def turn(self, number: int, state: State) -> None:
        """A turn was asked for: the states after this one may come next."""
        self.asked, self._state, self._left = number, state, AHEAD
        self._spent = 0.0
        self._legal.clear()
        self.move = None

    def step(self) -> bool:
        """Do a little; False where there is no more to do, for good or until the next turn."""
        begun = time.process_time()
        try:
            more = self._rehearse() if self._state is None else self._look_ahead(self._state)
        except GdlError:  # the match itself will meet it, where it matters
            return False
        self._spent += time.process_time() - begun
        return more

    def _rehearse(self) -> bool:
        if self._rehearsed:
            return False
        self._games.step()
        if self._spent < REHEARSAL_SECONDS:
            return True
        # What there is now lasts as long as the match: looking through it for garbage took 0.2 s of a turn.
        gc.collect()
        gc.freeze()
        self._rehearsed = True
        return False

    def _look_ahead(self, state: State) -> bool:
        machine = self._machine
        if self._ahead and self._left and self._spent < AHEAD_SECONDS and not machine.is_terminal(state):
            self._left -= 1
            joint = [self._rng.choice(machine.legal_moves(state, r)) for r in range(len(machine.roles))]
            after = machine.next_state(state, joint)
            if not machine.is_terminal(after):
                self._legal.update(machine.legal_moves(after, self._role))
            return True
        if self._legal:
            self.move = self._legal.most_common(1)[0][0]
            self._legal.clear()
        return False
