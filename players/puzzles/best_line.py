"""The best finished line of moves that a search has found in a one-player game, kept and followed.

Nested and single-player tree search do so (Cazenave 2009, Schadd et al. 2008).
"""

from __future__ import annotations

import time

from gdl.machine import Machine, State
from gdl.terms import Term
from gdl.words import counted


class BestLine:
    """A line of moves of role 0, and where it begins.

    Attributes:
        moves: move ids; empty if there is no line.
        value: the goal at its end, 0..100; -1 if there is no line.
        found_at: when it was found; time.monotonic() seconds.
    """

    def __init__(self) -> None:
        self.found_at = 0.0
        self.forget()

    def forget(self) -> None:
        """There is no line any more."""
        self.moves: list[int] = []
        self.value = -1
        self._start: State | None = None

    def beaten_by(self, value: int, length: int) -> bool:
        """Whether a line of that value and length would be better: higher, or as high and shorter."""
        return (value, -length) > (self.value, -len(self.moves))

    def keep(self, start: State, moves: list[int], value: int) -> None:
        """Take this line for the best; ``start`` is where it begins."""
        self.moves, self.value, self._start = moves, value, start
        self.found_at = time.monotonic()

    def follow(self, state: State) -> None:
        """The match is in this state now: go along the line to it, or forget the line."""
        start = self._start
        if start is None or start == state:
            return
        if self.moves and state.machine.next_state(start, [self.moves[0]]) == state:
            self.moves = self.moves[1:]
            self._start = state
        if self._start != state or not self.moves:
            self.forget()

    def move_to(self, old: Machine, new: Machine) -> None:
        """Go over to another machine of the same rules."""
        if self._start is not None:
            self.moves = [new.move_id(0, term) for term in self.terms(old)]
            self._start = new.state_of(self._start.propositions)

    def terms(self, machine: Machine) -> list[Term]:
        """The moves as terms."""
        return [machine.move(0, move) for move in self.moves]

    def __str__(self) -> str:
        return f"{self.value} in {counted(len(self.moves), 'move')}"
