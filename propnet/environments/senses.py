"""`Senses`: the information of one role of a game with hidden information, turn by turn, as bytes, as text
and as numbers.

A *turn* is the role's own move and its percepts. Two histories that a role cannot distinguish are the same
bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from propnet.machine import PropnetMachine

_NUMBER = 4
"""Bytes of a number."""
_MOST_LINES = 10_000


class Senses:
    """The moves and percepts of one role by number.

    Attributes:
        moves, percepts: the possible moves and percepts of the role.
        width: numbers of one turn in :meth:`vector`: a 1, the move, and the percepts.
    """

    def __init__(self, machine: PropnetMachine, role: int) -> None:
        network = machine.network
        self.role = role
        self.moves: tuple[Term, ...] = network.moves[role]
        self.percepts: tuple[Term, ...] = network.percepts[role] if network.percepts else ()
        self.width = 1 + len(self.moves) + len(self.percepts)
        self._rules = machine.rules
        self._numbers = {percept: number for number, percept in enumerate(self.percepts)}
        self._lines: dict[bytes, str] = {}

    def turn(self, move: int, percepts: Iterable[Term]) -> bytes:
        """One turn: the number of values that follow, the move's number, those of its percepts."""
        seen = sorted(self._numbers[percept] for percept in percepts)
        return np.array([1 + len(seen), move, *seen], "<u4").tobytes()

    def turns(self, history: bytes) -> list[bytes]:
        """The turns of a history, which consists of consecutive turns."""
        found, at = [], 0
        while at < len(history):
            past = at + _NUMBER * (1 + int.from_bytes(history[at : at + _NUMBER], "little"))
            found.append(history[at:past])
            at = past
        return found

    def read(self, history: bytes) -> list[tuple[int, frozenset[Term]]]:
        """The move and the percepts of each turn."""
        found = [np.frombuffer(turn, "<u4").tolist() for turn in self.turns(history)]
        return [(one[1], frozenset(self.percepts[number] for number in one[2:])) for one in found]

    def text(self, history: bytes, first: int = 1) -> str:
        """A history in words, a line for each turn, numbered from ``first``: ``1 noop: (card king)``."""
        lines = [self._lines.get(turn) or self._spelled(turn) for turn in self.turns(history)]
        return "\n".join(f"{number} {line}" for number, line in enumerate(lines, first))

    def vector(self, history: bytes, most: int) -> NDArray[np.uint8]:
        """The last ``most`` turns as zeros and ones, uint8 (most * width,), the newest first; 0 for missing
        turns."""
        rows = np.zeros((most, self.width), np.uint8)
        for row, turn in zip(rows, reversed(self.turns(history)), strict=False):
            numbers = np.frombuffer(turn, "<u4")
            row[0] = row[1 + int(numbers[1])] = 1
            row[1 + len(self.moves) + numbers[2:].astype(np.int64)] = 1
        return rows.reshape(-1)

    def _spelled(self, turn: bytes) -> str:
        numbers = np.frombuffer(turn, "<u4").tolist()
        seen = " ".join(self._rules.spell(self.percepts[number]) for number in numbers[2:])
        line = f"{self._rules.spell(self.moves[numbers[1]])}: {seen or 'nothing'}"
        if len(self._lines) < _MOST_LINES:
            self._lines[turn] = line
        return line


def remembered(longest: int, width: int, numbers: int) -> int:
    """The number of turns of ``width`` numbers that fit into ``numbers`` numbers: those of a match of
    ``longest`` turns, or fewer; at least one."""
    return max(1, min(longest, numbers // width))
