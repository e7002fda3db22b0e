"""Roles with the same rules, as far as colour refinement (B. Weisfeiler and A. Leman, 1968) can tell."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import Ternary

ROUNDS = 6
"""How many joint moves ahead differences count."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


def alike_roles(ternary: Ternary) -> bool:
    """Whether all roles' goals and moves look alike, whatever the initial state and what is in loops. Roles
    that can be exchanged by renaming look alike; so may, rarely, others."""
    network = ternary.network
    bases, first = len(network.bases), network.first_gate
    colour = np.ones(network.nodes, np.uint64)
    colour[1 + bases : first] = 2
    for _ in range(ROUNDS):
        for level in (*ternary.before, *ternary.after):
            colour[level.rows >> 1] = _mixed(np.add.reduceat(_literals(colour, level.inputs), level.starts))
        colour[1 : 1 + bases] = _literals(colour, network.next_literals)
        colour[1 + bases : first] = _literals(colour, network.legal_literals) + np.uint64(1)
    looks = set()
    for role, (low, high) in enumerate(pairwise(ternary.role_offsets)):
        mine = network.goals[network.goals[:, 0] == role]
        goals = sorted(zip(mine[:, 1].tolist(), _literals(colour, mine[:, 2]).tolist(), strict=True))
        moves = colour[1 + bases + low : 1 + bases + high]
        looks.add((tuple(goals), tuple(np.sort(moves).tolist())))
    return len(looks) == 1


def _literals(colour: NDArray[np.uint64], literals: NDArray[Any]) -> NDArray[np.uint64]:
    return _mixed(colour[literals >> 1] * np.uint64(2) + (literals & 1).astype(np.uint64))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sebastiano Vigna's splitmix64 finalizer."""
    mixed = values * _MIX
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    finalized: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return finalized
