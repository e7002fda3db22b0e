"""The probability of each proposition to a role that holds a belief."""

from __future__ import annotations

import numpy as np

from gdl.terms import Term
from players.belief.belief import Belief
from propnet.capabilities import lane_machine

_MOST = 100_000
"""The most states of a belief that are examined."""
SURE = 1 - 1e-9
"""A proposition with at least this likelihood counts as true in all states of a belief."""


def likelihoods(belief: Belief) -> dict[Term, float]:
    """The share of a belief's weight in which each proposition is true, for those that are true in any
    state."""
    machine = lane_machine(belief.machine)
    if machine is not None:
        # Imported here: views are made before a first move, which waits for no import of numba.
        from players.belief.lane_worlds import LaneWorlds
        from propnet.kernels.records import unpack

        if isinstance(belief.world_machine, LaneWorlds):
            bases = machine.network.bases
            worlds, weights = belief.few(_MOST)
            bits = unpack(worlds, len(bases)).view(np.uint8)
            shares = np.zeros(len(bases))
            # A part at a time: as numbers the bits take eight times as much memory.
            for first in range(0, len(bits), 4096):
                shares += weights[first : first + 4096] @ bits[first : first + 4096]
            return {bases[number]: float(shares[number]) for number in np.flatnonzero(shares)}
    found: dict[Term, float] = {}
    for state, weight in zip(belief.states(), belief.weights.tolist(), strict=True):
        for term in state.propositions:
            found[term] = found.get(term, 0.0) + weight
    return found
