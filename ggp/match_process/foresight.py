"""What a follower does while it waits: plays at random before the match, looks a turn ahead in it.

So code for relations that grow in the course of a game is made before a clock runs. And for joint moves that
may come next it knows a legal move after each: whoever is told of them has an answer although this process
may be late, hang or end in the next turn.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections import Counter
from itertools import product
from typing import NamedTuple

from gdl.errors import GdlError
from gdl.machine import JointMove, Machine, State
from gdl.random_games import RandomGames

REHEARSAL_SECONDS = 1.5
"""CPU time for random games before the first turn."""
PACE_STEPS, PACE_SECONDS = 8, 0.25
"""After so many steps of these games, or this CPU time, it is known what a turn needs."""
AHEAD = 64
"""Joint moves that are looked at in each turn, as many as AHEAD_SECONDS of CPU time allow."""
AHEAD_SECONDS = 0.08


class Seen(NamedTuple):
    """What may come after a turn.

    Attributes:
        turn: its number.
        replies: a legal move of our role after each of these joint moves.
        guess: what is legal after most of them.
    """

    turn: int
    replies: list[tuple[JointMove, int]]
    guess: int


class Foresight:
    """Steps of a few milliseconds each, between messages; ``ahead``: in the match, too.

    Attributes:
        pace: the longest of the first steps before the match, CPU seconds; None until it is known.
    """

    def __init__(self, machine: Machine, role: int, rng: random.Random, ahead: bool = True) -> None:
        self._machine, self._role, self._rng, self._ahead = machine, role, rng, ahead
        self._games = RandomGames(machine, rng.getrandbits(32))
        self._state: State | None = None
        self._turn = 0
        self._rehearsed = False
        self._steps, self._longest = 0, 0.0
        self._spent = 0.0
        self._joints: list[JointMove] | None = None
        self._replies: list[tuple[JointMove, int]] = []
        self.pace: float | None = None

    def turn(self, number: int, state: State) -> None:
        """A turn was asked for: the states after this one may come next."""
        self._turn, self._state = number, state
        self._joints = None if self._ahead else []
        self._spent = 0.0
        self._replies = []

    def step(self) -> bool:
        """Do a little; False where there is no more to do, for good or until the next turn."""
        begun = time.process_time()
        try:
            more = self._rehearse() if self._state is None else self._look_ahead(self._state)
        except GdlError:  # the match itself will meet it, where it matters
            more, self._joints = False, []
        seconds = time.process_time() - begun
        self._spent += seconds
        if self.pace is None:
            self._steps, self._longest = self._steps + 1, max(self._longest, seconds)
            if not more or self._steps >= PACE_STEPS or self._spent >= PACE_SECONDS:
                self.pace = self._longest
        return more

    def seen(self) -> Seen | None:
        """What was found out since this was last asked."""
        replies, self._replies = self._replies, []
        if not replies:
            return None
        return Seen(self._turn, replies, Counter(move for _, move in replies).most_common(1)[0][0])

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
        if self._joints is None:
            self._joints = [] if machine.is_terminal(state) else self._drawn(state)
        if not self._joints or self._spent >= AHEAD_SECONDS:
            return False
        joint = self._joints.pop()
        after = machine.next_state(state, joint)
        options = [] if machine.is_terminal(after) else machine.legal_moves(after, self._role)
        if options:
            self._replies.append((joint, self._rng.choice(options)))
        return True

    def _drawn(self, state: State) -> list[JointMove]:
        """Joint moves that may come next, in no order: all, or :data:`AHEAD` of many."""
        options = [self._machine.legal_moves(state, role) for role in range(len(self._machine.roles))]
        if math.prod(map(len, options)) > AHEAD:
            return list({tuple(map(self._rng.choice, options)): None for _ in range(AHEAD)})
        joints = list(product(*options))
        self._rng.shuffle(joints)
        return joints
