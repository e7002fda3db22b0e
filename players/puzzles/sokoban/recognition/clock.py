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
        literals = network.next_literals[self.bases]
        self._from, self._turned = literals >> 1, (literals & 1).astype(np.bool_)
        self._gates = _gates_below(network, self._from.tolist())
        self._now = np.zeros(network.nodes, np.bool_)
        self._now[0] = True
        self._truth: dict[int, bool] = {0: True}
        self._inputs: list[int] = (1 + self.bases).tolist()
        self._outputs: list[int] = self._from.tolist()

    def run(self, values: Flags) -> Iterator[Flags]:
        """The values from these on, bool (at most 512, clocks) at a time, until they repeat."""
        seen: set[bytes] = set()
        rows: list[Flags] = []
        follow = self._by_gates if self._gates else self._shifted
        while len(seen) < _MOST_STEPS and (key := values.tobytes()) not in seen:
            seen.add(key)
            rows.append(values)
            if len(rows) == _CHUNK:
                yield np.array(rows)
                rows = []
            values = follow(values)
        if rows:
            yield np.array(rows)

    def _shifted(self, values: Flags) -> Flags:
        """The next values where each is one of the old ones."""
        self._now[1 + self.bases] = values
        following: Flags = self._now[self._from] ^ self._turned
        return following

    def _by_gates(self, values: Flags) -> Flags:
        """The next values by the gates. There are few: plain Python is faster than numpy."""
        now = self._truth
        for base, value in zip(self._inputs, values.tolist(), strict=True):
            now[base] = value
        for node, plain, negated in self._gates:
            truth = True
            for read in plain:
                if not now[read]:
                    truth = False
                    break
            else:
                for read in negated:
                    if now[read]:
                        truth = False
                        break
            now[node] = truth
        return np.array([now[node] for node in self._outputs]) ^ self._turned


def _gates_below(network: Network, wanted: list[int]) -> list[tuple[int, list[int], list[int]]]:
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
