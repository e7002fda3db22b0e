"""All reachable states, layer by layer: breadth-first search with sorted sets (Korf 2003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gdl.errors import TooLargeError
from players.strong.row_kernels import subtract
from players.strong.row_sets import Gatherer, SetSignature
from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine

Watch = Callable[[str, int, int], None]
"""Told what is done (``forward`` or ``backward``), in which layer, and how many states it is done with."""

_PART = 1 << 18
"""States that are expanded between two looks at the memory."""

_MOST_LAYERS = 65_000

_VALUE = 3
"""Bytes of a state's value and distance."""

_FIXED = 180 << 20
"""Bytes of a process that has few states."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """The states of a game.

    Attributes:
        layers: sets (n, words) of records; layer d is what is first reached after d joint moves.
        signatures: one for each layer.
        layered: whether every successor of a state in layer d is in layer d + 1, so that no play passes
            through two states of a layer, and none comes back to a state.
    """

    layers: list[Words]
    signatures: list[SetSignature]
    layered: bool

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(map(len, self.layers))


def reachable(machine: PropnetMachine, memory: int, watch: Watch = lambda *_: None) -> Reachable:
    """Every state that joint moves lead to from the start, terminal ones included.

    ``memory`` is the size that the process may have, in bytes, with room for the states' values. Raises
    TooLargeError when there are more states.
    """
    expander = Expander(machine)
    layers = [np.array(machine.records([machine.initial_state()]))]
    signatures = [SetSignature.of(layers[0])]
    gatherer = Gatherer(machine.words, max(1 << 20, min(1 << 26, (memory - _FIXED) // 16)))
    layered = True
    states = 1
    while True:
        last = layers[-1]
        for first in range(0, len(last), _PART):
            for chunk in expander.stream(last[first : first + _PART]):
                gatherer.add(chunk.records)
            # The sort at the end of a layer takes the rows twice, one set of all states three times.
            held = (8 * machine.words * (1 if layered else 3) + _VALUE) * states
            needed = _FIXED + held + 2 * gatherer.held()
            if needed > memory or len(layers) > _MOST_LAYERS:
                raise TooLargeError(
                    f"after {states:,} states in {len(layers)} layers the memory is full, and there are more",
                    remedy="give more --memory: all states are kept there",
                )
            watch("forward", len(layers), states)
        found = gatherer.finish()
        if not len(found):
            return Reachable(layers, signatures, layered)
        sign = SetSignature.of(found)
        kept = np.ones(len(found), np.bool_)
        old = [layer for layer, other in zip(layers, signatures, strict=True) if sign.may_share(other)]
        repeated = sum([subtract(found, layer, kept) for layer in old])
        if repeated:
            layered = False
            found = found[kept]
            if not len(found):
                return Reachable(layers, signatures, layered)
            sign = SetSignature.of(found)
        layers.append(found)
        signatures.append(sign)
        states += len(found)
