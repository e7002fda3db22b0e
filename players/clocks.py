"""Finds a game's clocks: base propositions that say how many steps were made, and matter to nothing
but the end of the match.

Two states that differ in clocks alone have the same moves, and the same states follow but for the
clocks: a search that looks for the shortest line to a goal need look at the earlier one only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.compiled import kernel
from propnet.network import Network
from propnet.pack import pack


def clocks(network: Network) -> NDArray[np.bool_]:
    """Which base propositions are clocks, bool, shape (bases,).

    A clock's next value depends on no move, only on propositions that are the same at the same step
    of every match; and no legal move, and no other proposition's next value, depends on a clock.
    """
    bases = len(network.bases)
    following = network.next_literals.astype(np.int64) >> 1
    # Forwards: what depends on a move is no clock, nor is what depends on such a thing.
    driven = np.zeros(network.nodes, np.bool_)
    driven[1 + bases : network.first_gate] = True
    while True:
        _forwards(network.gate_start, network.gate_inputs, network.first_gate, driven)
        more = driven[following] & ~driven[1 : 1 + bases]
        if not more.any():
            break
        driven[1 : 1 + bases] |= more
    steady = ~driven[1 : 1 + bases]
    # Backwards: what a move's legality or another proposition depends on is more than a clock.
    read = np.zeros(network.nodes, np.bool_)
    read[network.legal_literals >> 1] = True
    read[following[~steady]] = True
    while True:
        _backwards(network.gate_start, network.gate_inputs, network.first_gate, read)
        more = read[1 : 1 + bases] & ~read[following]
        if not more.any():
            return steady & ~read[1 : 1 + bases]
        read[following[more]] = True


def without_clocks(network: Network) -> NDArray[np.uint64]:
    """A record with a bit set for each proposition that is no clock, shape (words,)."""
    mask: NDArray[np.uint64] = pack(~clocks(network)[None, :])[0]
    return mask


@kernel
def _forwards(
    gate_start: NDArray[np.int32], gate_inputs: NDArray[np.int32], first_gate: int, marked: NDArray[np.bool_]
) -> None:
    """Mark the gates that read a marked node, until nothing changes (loops need several rounds)."""
    changed = True
    while changed:
        changed = False
        for gate in range(len(gate_start) - 1):
            if marked[first_gate + gate]:
                continue
            for i in range(gate_start[gate], gate_start[gate + 1]):
                if marked[gate_inputs[i] >> 1]:
                    marked[first_gate + gate] = True
                    changed = True
                    break


@kernel
def _backwards(
    gate_start: NDArray[np.int32], gate_inputs: NDArray[np.int32], first_gate: int, marked: NDArray[np.bool_]
) -> None:
    """Mark the nodes that a marked gate reads, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for back in range(len(gate_start) - 1):
            gate = len(gate_start) - 2 - back
            if not marked[first_gate + gate]:
                continue
            for i in range(gate_start[gate], gate_start[gate + 1]):
                node = gate_inputs[i] >> 1
                if not marked[node]:
                    marked[node] = True
                    changed = True
