"""Percepts as outputs next to those of the next state: while the passes run they are base propositions that
nothing reads.

So a pass treats them like everything on which the next state depends, and needs no knowledge of them. Rules
without ``sees`` give the same network as ever.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.ground_rules import GroundRules
from gdl.terms import SEES, Term
from propnet.network import Network


def percepts_as_bases(ground: GroundRules) -> GroundRules:
    """The rules with a base proposition ``(sees ROLE PERCEPT)`` for each percept, after the others. It is
    true in the states after which the role has that percept. The rules themselves if there are no
    percepts."""
    more = len(ground.percept_atoms)
    if not more:
        return ground
    bases = len(ground.bases)
    number = np.arange(ground.atom_count, dtype=np.int64)
    number[bases:] += more

    def moved(atoms: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(atoms >= 0, number[atoms], -1).astype(np.int32)

    def atom(old: int) -> int:
        return int(number[old]) if old >= 0 else -1

    named = [
        Term(SEES, role, percept)
        for role, own in zip(ground.roles, ground.percepts, strict=True)
        for percept in own
    ]
    return replace(
        ground,
        bases=(*ground.bases, *named),
        atom_count=ground.atom_count + more,
        heads=moved(ground.heads),
        bodies=(2 * number[ground.bodies >> 1] + (ground.bodies & 1)).astype(np.int32),
        next_atoms=np.concatenate([moved(ground.next_atoms), moved(ground.percept_atoms)]),
        legal_atoms=moved(ground.legal_atoms),
        goal_atoms=tuple([(role, value, atom(old)) for role, value, old in ground.goal_atoms]),
        terminal_atom=atom(ground.terminal_atom),
        initial=np.concatenate([ground.initial, np.zeros(more, np.bool_)]),
        names={atom(old): name for old, name in ground.names.items()},
    )


def percepts_as_outputs(network: Network, ground: GroundRules) -> Network:
    """The network of :func:`percepts_as_bases` of these rules, without those base propositions; their next
    functions become its percepts."""
    more, bases = len(ground.percept_atoms), len(ground.bases)
    if not ground.percepts:
        return network
    node = np.arange(network.nodes, dtype=np.int64)
    node[1 + bases + more :] -= more

    def moved(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        renumbered: NDArray[np.int32] = (2 * node[literals >> 1] + (literals & 1)).astype(np.int32)
        return renumbered

    goals = network.goals.copy()
    goals[:, 2] = moved(goals[:, 2])
    following = moved(network.next_literals)
    return replace(
        network,
        bases=ground.bases,
        gate_inputs=moved(network.gate_inputs),
        next_literals=following[:bases],
        legal_literals=moved(network.legal_literals),
        goals=goals,
        terminal_literal=int(moved(np.array([network.terminal_literal], np.int32))[0]),
        initial=ground.initial,
        percepts=ground.percepts,
        percept_literals=following[bases:],
    )
