"""Dependence in a network: clocks, and the propositions and gates that matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from propnet.network import Network


def clocks(network: Network) -> NDArray[np.bool_]:
    """Base propositions that no move ever influences, shape (bases,): step counters, or the player to move if
    turns alternate strictly."""
    source, target = _edges(network)
    mark = np.zeros(network.nodes, np.bool_)
    mark[1 + len(network.bases) : network.first_gate] = True
    spread(mark, source, target)
    return ~mark[1 : 1 + len(network.bases)]


def step_clocks(network: Network) -> NDArray[np.bool_]:
    """Clocks that count steps and matter only to the end of the match: shape (bases,). Two states that differ
    only in these have the same moves, and their successors differ only in these."""
    source, target = _edges(network)
    bases = len(network.bases)
    steady = clocks(network)
    read = np.zeros(network.nodes, np.bool_)
    read[1 + bases : network.first_gate] = True
    read[1 : 1 + bases] = ~steady
    spread(read, target, source)
    return steady & ~read[1 : 1 + bases]


def observed(network: Network) -> NDArray[np.bool_]:
    """Base propositions on which a legal move, the end or a goal may depend, now or later: shape (bases,).
    States that differ only in others are bisimilar (R. Milner, 1980)."""
    source, target = _edges(network)
    mark = np.zeros(network.nodes, np.bool_)
    for literals in (network.goals[:, 2], network.legal_literals, np.array([network.terminal_literal])):
        mark[literals >> 1] = True
    spread(mark, target, source)
    return mark[1 : 1 + len(network.bases)]


def without_dead_gates(network: Network) -> Network:
    """The network without gates on which no output depends; it may be the same network."""
    first = network.first_gate
    owner = np.repeat(first + np.arange(network.gates), np.diff(network.gate_start))
    mark = np.zeros(network.nodes, np.bool_)
    percepts = network.percept_literals
    outputs = network.next_literals, network.legal_literals, network.goals[:, 2], percepts
    for literals in (*outputs, np.array([network.terminal_literal])):
        mark[literals >> 1] = True
    spread(mark, owner, network.gate_inputs.astype(np.int64) >> 1)
    alive = mark[first:]
    if alive.all():
        return network
    place = np.concatenate([np.arange(first), first + np.cumsum(alive) - alive])
    before = np.concatenate([[0], np.cumsum(alive)]).astype(np.int32)

    loops = before[network.loops]
    widths = np.diff(network.gate_start)
    moved = network.renumbered(place)
    return replace(
        moved,
        gate_start=np.concatenate([[0], np.cumsum(widths[alive])]).astype(np.int32),
        gate_inputs=moved.gate_inputs[np.repeat(alive, widths)],
        base_gates=int(before[network.base_gates]),
        loops=loops[loops[:, 0] < loops[:, 1]],
        loop_init=network.loop_init[alive],
    )


def _edges(network: Network) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges from each node to the nodes that read it: gates, base propositions (next), moves (legal)."""
    first, bases = network.first_gate, len(network.bases)
    owner = np.repeat(first + np.arange(network.gates), np.diff(network.gate_start))
    outputs = np.concatenate([network.next_literals, network.legal_literals]).astype(np.int64)
    source = np.concatenate([network.gate_inputs.astype(np.int64), outputs]) >> 1
    target = np.concatenate([owner, 1 + np.arange(bases + network.move_count)])
    return source, target
