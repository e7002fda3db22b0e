"""The states in which a role has no choice, by its keys.

In games with alternating turns all moves of a role but one (most often ``noop``) need a proposition that it
is the role's turn: ``(true (control white))``, or one of a few such propositions. These are the role's
*keys*, read off the gates: each is true whenever some moves are legal. If none of a role's keys holds, only
its waiting move can be legal, and the others need not be evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from propnet.network import Network

MOST_KEYS = 4
EFFORT = 300_000
"""The most gate inputs that are visited (see docs/measurements.md)."""


@dataclass(frozen=True, slots=True)
class Rest:
    """The condition under which a role rests: if none of ``keys`` (literals of base propositions) holds, no
    move but ``waiting`` (its place among the role's moves) is legal."""

    waiting: int
    keys: tuple[int, ...]


def rests(network: Network) -> list[Rest | None]:
    """The rest of each role; None if it is unknown."""
    offsets = [0]
    for moves in network.moves:
        offsets.append(offsets[-1] + len(moves))
    if len(offsets) < 3:
        return [None] * len(network.moves)
    implied = Implied(network)
    legal = network.legal_literals.tolist()
    found: list[Rest | None] = []
    for low, high in pairwise(offsets):
        needs = [implied.bases([literal]) for literal in legal[low:high]] if high - low > 2 else []
        found.append(None if implied.effort < 0 else _rest(needs))
    return found


def _rest(needs: list[set[int]]) -> Rest | None:
    """The rest of a role whose moves need these literals of base propositions to be true. It has few keys:
    each is the literal that most of the remaining moves need."""
    left = dict(enumerate(needs))
    keys: list[int] = []
    while len(left) > 1 and len(keys) < MOST_KEYS:
        counts = Counter(literal for need in left.values() for literal in need)
        if not counts:
            return None
        key = min(counts, key=lambda literal: (-counts[literal], literal))
        left = {move: need for move, need in left.items() if key not in need}
        keys.append(key)
    return Rest(next(iter(left)), tuple(keys)) if len(left) == 1 else None


class Implied:
    """Finds literals of base propositions that other literals imply, by reading the inputs of ANDs. It finds
    no more when ``effort``, the number of gate inputs to visit, is used up."""

    def __init__(self, network: Network, effort: int = EFFORT) -> None:
        self.effort = effort
        self._first = network.first_gate
        self._bases = len(network.bases)
        self._start = network.gate_start.tolist()
        self._inputs = network.gate_inputs.tolist()

    def bases(self, literals: Iterable[int]) -> set[int]:
        """The literals of base propositions that are true whenever all these literals are."""
        seen: set[int] = set()
        found: set[int] = set()
        waiting = [*literals]
        while waiting and self.effort >= 0:
            x = waiting.pop()
            if x in seen:
                continue
            seen.add(x)
            node = x >> 1
            if 1 <= node <= self._bases:
                found.add(x)
            elif node >= self._first and not x & 1:
                gate = node - self._first
                inputs = self._inputs[self._start[gate] : self._start[gate + 1]]
                self.effort -= len(inputs)
                waiting += inputs
        return found
