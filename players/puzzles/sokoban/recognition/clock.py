"""The step counter, however it is written: followed on its own, without the rest of the network."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from propnet.jit.arrays import Flags
from propnet.network import Network

_CHUNK = 512
_MOST_STEPS = 200_000


class Clock:
    """Base propositions that no move influences, as a machine of their own.

    Attributes:
        bases: int64: which they are.
    """

    def __init__(self, network: Network, clocks: Flags) -> None:
        self.bases = np.flatnonzero(clocks)
        self._nodes = network.nodes
        literals = network.next_literals[self.bases]
        self._from, self._turned = literals >> 1, (literals & 1).astype(np.bool_)
        self._gates = _gates_below(network, self._from.tolist())

    def run(self, values: Flags) -> Iterator[Flags]:
        """The values from these on, bool (at most 512, clocks) at a time, until they repeat."""
        seen: set[bytes] = set()
        now = np.zeros(self._nodes, np.bool_)
        now[0] = True
        rows: list[Flags] = []
        while len(seen) < _MOST_STEPS and (key := values.tobytes()) not in seen:
            seen.add(key)
            rows.append(values)
            if len(rows) == _CHUNK:
                yield np.array(rows)
                rows = []
            now[1 + self.bases] = values
            for node, plain, negated in self._gates:
                now[node] = now[plain].all() and not now[negated].any()
            values = now[self._from] ^ self._turned
        if rows:
            yield np.array(rows)


def _gates_below(
    network: Network, wanted: list[int]
) -> list[tuple[int, list[int], list[int]]]:
    """The gates that these nodes depend on, in their order: node, nodes read plain, nodes read negated."""
    first = network.first_gate
    found: dict[int, tuple[int, list[int], list[int]]] = {}
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node < first or node in found:
            continue
        low, high = network.gate_start[node - first : node - first + 2].tolist()
        literals = network.gate_inputs[low:high].tolist()
        plain = [x >> 1 for x in literals if not x & 1]
        negated = [x >> 1 for x in literals if x & 1]
        found[node] = node, plain, negated
        waiting += plain + negated
    return [found[node] for node in sorted(found)]
