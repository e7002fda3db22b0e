"""What every move uses up: latches of which no line sets one twice, so that they count the moves.

In a tour, for one, each move marks a square that no other move marks: with as many moves as squares each
square is marked once. A SAT solver that looks at one step at a time does not see that by itself.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.cover.in_rules.clocks import Flags, bits
from players.puzzles.cover.in_rules.latch_game import Effects
from propnet.analysis.ternary import CASES_PER_WORD, Ternary, unpack_cases
from propnet.network import Network
from propnet.substitute import EffortError, Remake

_EFFORT = 200_000
_MOST_WORDS = 500_000
"""Nodes, times words of cases, that are simulated."""


def used_up(ternary: Ternary, found: Effects) -> Flags | None:
    """Which latches each move sets for the first time, whenever it is legal: bool, shape (moves, bases).

    A move that is legal in a state that is not terminal finds all of these unset; nothing unsets them. None
    if some move that can ever be legal has no such latch.
    """
    network = ternary.network
    up = found.adds.any(axis=0) & ~found.deletes.any(axis=0) & ~found.clock
    down = found.deletes.any(axis=0) & ~found.adds.any(axis=0) & ~found.clock
    sets = np.where(up, found.adds, False) | np.where(down, found.deletes, False)
    move, base = np.nonzero(sets)
    words = -(-len(move) // CASES_PER_WORD)
    if not sets.any(axis=1).all() or words * network.nodes > _MOST_WORDS:
        return None
    # One case for each move and latch: what the move's legality implies, and that the latch is set.
    rows = ternary.unknown(words)
    case = np.arange(len(move))
    np.bitwise_and.at(rows, (2 * base + up[base], case // CASES_PER_WORD), ~bits(case))
    try:
        needed = _needed(network)
    except EffortError:
        return None
    for made, word, bit in zip(move, case // CASES_PER_WORD, bits(case), strict=True):
        for literal in needed[made]:
            rows[literal ^ 1, word] &= ~bit
    may = ternary.state(rows)
    open_ = unpack_cases(may[[network.terminal_literal ^ 1]], len(move))[:, 0]
    legal = unpack_cases(may[network.legal_literals], len(move))[case, move]
    first = np.zeros_like(sets)
    fresh = ~(open_ & legal)
    first[move[fresh], base[fresh]] = True
    return first if first.any(axis=1).all() else None


def _needed(network: Network) -> list[list[int]]:
    """Per move the rows of :class:`Ternary` of base literals that hold wherever it is legal."""
    gates = Remake(network, _EFFORT)
    bases = len(network.bases)
    return [
        [x - 2 for x in gates.implied(literal) if 1 <= x >> 1 <= bases]
        for literal in network.legal_literals.tolist()
    ]
