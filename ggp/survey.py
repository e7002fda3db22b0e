"""What kind of game this is, as far as a few random playouts show: for the log and the status page.

No proof: turns are called alternating, and sums constant, if nothing else was seen. Nothing that
plays relies on it.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from gdl.machine import Machine

SINGLE = "single"
ALTERNATING = "alternating"
SIMULTANEOUS = "simultaneous"

MOST_PLAYOUTS = 16


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen.

    Attributes:
        roles: how many.
        options: how many joint moves there are at the beginning.
        turns: ``single`` for one role; ``simultaneous`` if several roles had a choice in one state.
        total: what the goals of all roles add up to at each end that was seen; None where they
            differ, or none was seen.
        states: how many states were seen, and ``ends`` how many of them at the end of a playout.
        length: the longest playout that came to its end, in joint moves; 0 if none did.
    """

    roles: int
    options: int
    turns: str
    total: int | None
    states: int
    ends: int
    length: int

    def __str__(self) -> str:
        words = [f"{self.roles} role{'s' if self.roles > 1 else ''}"]
        if self.roles > 1:
            words.append(self.turns)
            if self.ends:
                words.append("not constant-sum" if self.total is None else f"sum {self.total}")
        if self.length:
            words.append(f"{self.length} turns")
        return ", ".join(words)


def survey(machine: Machine, seconds: float, seed: int = 0) -> Survey:
    """Play at random for so many seconds, at least one step, and see.

    Raises:
        GdlError: the game cannot be played on.
    """
    end = time.monotonic() + seconds
    rng = random.Random(seed)
    roles = range(len(machine.roles))
    totals: set[int | None] = set()
    several = False
    first = states = ends = longest = 0
    for _ in range(MOST_PLAYOUTS):
        state = machine.initial_state()
        length = 0
        while not machine.is_terminal(state):
            options = [machine.legal_moves(state, role) for role in roles]
            if not states:
                first = 1
                for moves in options:
                    first *= len(moves)
            states += 1
            several |= sum(len(moves) > 1 for moves in options) > 1
            if time.monotonic() >= end or not all(options):
                break
            state = machine.next_state(state, [rng.choice(moves) for moves in options])
            length += 1
        else:
            goals = [machine.goal(state, role) for role in roles]
            totals.add(None if None in goals else sum(goal or 0 for goal in goals))
            ends += 1
            longest = max(longest, length)
        if time.monotonic() >= end:
            break
    turns = SINGLE if len(roles) == 1 else SIMULTANEOUS if several else ALTERNATING
    total = totals.pop() if len(totals) == 1 else None
    return Survey(len(roles), first, turns, total, states, ends, longest)
