"""A follower looks a turn ahead while it waits.

For joint moves that may come next it knows a legal move after each: whoever is told of them has an answer
although this process may be late, hang or end in the next turn.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from itertools import product
from typing import NamedTuple

from gdl.errors import GdlError
from gdl.machine import JointMove, Machine, State

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
    """Steps of a few milliseconds each, between messages."""

    def __init__(self, machine: Machine, role: int, rng: random.Random) -> None:
        self._machine, self._role, self._rng = machine, role, rng
        self._state: State | None = None
        self._turn = 0
        self._spent = 0.0
        self._joints: list[JointMove] | None = None
        self._replies: list[tuple[JointMove, int]] = []

    def turn(self, number: int, state: State) -> None:
        """A turn was asked for: the states after this one may come next."""
        self._turn, self._state = number, state
        self._joints = None
        self._spent = 0.0
        self._replies = []

    def step(self) -> bool:
        """Do a little; False where there is no more to do until the next turn."""
        if self._state is None:
            return False
        begun = time.process_time()
        try:
            more = self._look_ahead(self._state)
        except GdlError:  # the match itself will meet it, where it matters
            more, self._joints = False, []
        self._spent += time.process_time() - begun
        return more

    def seen(self) -> Seen | None:
        """What was found out since this was last asked."""
        replies, self._replies = self._replies, []
        if not replies:
            return None
        return Seen(self._turn, replies, Counter(move for _, move in replies).most_common(1)[0][0])

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
        options = self._machine.options(state)
        if math.prod(map(len, options)) > AHEAD:
            return list({tuple(map(self._rng.choice, options)): None for _ in range(AHEAD)})
        joints = list(product(*options))
        self._rng.shuffle(joints)
        return joints
