"""Random games of a keeper while it waits: code for relations that are first needed, or grow, in the course
of a game is made before a match comes there. What is left when it begins is played beside its turns."""

from __future__ import annotations

import gc
import time

from gdl.ends import RandomGames
from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine

PRACTICE_SECONDS, QUIET_SECONDS = 1.5, 0.3
"""CPU time for these games; and in how much of it without new code they end before."""
PACE_STEPS, PACE_SECONDS = 8, 0.25
"""After so many steps, or this CPU time, it is known what a turn needs."""

MOST_CHARACTERS = 10_000
"""Names of relations that the server is told, in all."""


class Practice:
    """Steps of a few milliseconds each, between messages.

    Attributes:
        over: whether there is no more to do.
        pace: the longest of the first steps, CPU seconds; None until it is known.
    """

    def __init__(self, machine: ProverMachine, seed: int) -> None:
        self._machine = machine
        self._games = RandomGames(machine, seed)
        self._steps, self._longest = 0, 0.0
        self._spent, self._quiet = 0.0, 0.0
        self.over = False
        self.pace: float | None = None

    @property
    def large(self) -> list[str]:
        """What another machine of these rules need not find out: :attr:`ProverMachine.large_relations`."""
        names = self._machine.large_relations
        return names if sum(map(len, names)) <= MOST_CHARACTERS else []

    def step(self) -> bool:
        """Play a little; whether there is more to do."""
        begun, written = time.process_time(), self._machine.functions_written
        try:
            self._games.step()
        except GdlError:  # the match itself will meet it, where it matters
            self.over = True
        seconds = time.process_time() - begun
        self._spent += seconds
        self._quiet = self._quiet + seconds if self._machine.functions_written == written else 0.0
        self.over = self.over or self._spent >= PRACTICE_SECONDS or self._quiet >= QUIET_SECONDS
        if self.pace is None:
            self._steps, self._longest = self._steps + 1, max(self._longest, seconds)
            if self.over or self._steps >= PACE_STEPS or self._spent >= PACE_SECONDS:
                self.pace = self._longest
        if self.over:
            # What there is now lasts as long as the match: a look through it for garbage takes 0.2 s.
            gc.collect()
            gc.freeze()
        return not self.over
