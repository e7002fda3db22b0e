"""Roles with the same rules, as far as colour refinement (B. Weisfeiler and A. Leman, 1968) can tell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from propnet.analysis.colours import literal_colours, mixed
from propnet.analysis.ternary import Ternary

ROUNDS = 6
"""How many joint moves ahead differences count."""


def alike_roles(ternary: Ternary) -> bool:
    """Whether all roles' goals and moves look alike, whatever the initial state and what is in loops. Roles
    that can be exchanged by renaming look alike; so may, rarely, others."""
    network = ternary.network
    bases, first = len(network.bases), network.first_gate
    colour = np.ones(network.nodes, np.uint64)
    colour[1 + bases : first] = 2
    for _ in range(ROUNDS):
        for level in (*ternary.before, *ternary.after):
            colour[level.rows >> 1] = mixed(
                np.add.reduceat(literal_colours(colour, level.inputs), level.starts)
            )
        colour[1 : 1 + bases] = literal_colours(colour, network.next_literals)
        colour[1 + bases : first] = literal_colours(colour, network.legal_literals) + np.uint64(1)
    looks = set()
    for role, (low, high) in enumerate(pairwise(ternary.role_offsets)):
        mine = network.goals[network.goals[:, 0] == role]
        goals = sorted(zip(mine[:, 1].tolist(), literal_colours(colour, mine[:, 2]).tolist(), strict=True))
        moves = colour[1 + bases + low : 1 + bases + high]
        looks.add((tuple(goals), tuple(np.sort(moves).tolist())))
    return len(looks) == 1
