"""All reachable states, layer by layer: breadth-first search with sorted sets (Korf 2003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gdl.errors import TooLargeError
from players.strong.row_kernels import subtract
from players.strong.sets import Gatherer, PackedSet, SetSignature
from propnet.expander import Expander
from propnet.machine import PropnetMachine

Watch = Callable[[str, int, int], None]
"""Told what is done (``forward`` or ``backward``), in which layer, and how many states it is done with."""

_MOST_LAYERS = 65_000

_VALUE = 3
"""Bytes of a state's value and distance."""

_FIXED = 180 << 20
"""Bytes of a process that has few states."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """The states of a game.

    Attributes:
        layers: sets of records; layer d is what is first reached after d joint moves.
        signatures: one for each layer.
        layered: whether every successor of a state in layer d is in layer d + 1, so that no play passes
            through two states of a layer, and none comes back to a state.
    """

    layers: list[PackedSet]
    signatures: list[SetSignature]
    layered: bool


def reachable(machine: PropnetMachine, memory: int, watch: Watch = lambda *_: None) -> Reachable:
    """Every state that joint moves lead to from the start, terminal ones included.

    ``memory`` is the size that the process may have, in bytes, with room for the states' values. Raises
    TooLargeError when there are more states.
    """
    expander = Expander(machine)
    start = np.array(machine.records([machine.initial_state()]))
    layers, signatures = [PackedSet.of(start)], [SetSignature.of(start)]
    gatherer = Gatherer(machine.words, max(1 << 20, min(1 << 27, (memory - _FIXED) // 16)))
    layered = True
    states = 1
    while True:
        for part in layers[-1].blocks():
            for chunk in expander.stream(part):
                gatherer.add(chunk.records)
            watch("forward", len(layers), states)
            if _needed(layers, gatherer, layered, states) > memory or len(layers) > _MOST_LAYERS:
                raise TooLargeError(
                    f"after {states:,} states in {len(layers)} layers the memory is full, and there are more",
                    remedy="give more --memory: all states are kept there",
                )
        found = gatherer.finish()
        if not len(found):
            return Reachable(layers, signatures, layered)
        sign = _signature(found)
        kept = _without_earlier(found, sign, layers, signatures)
        if len(kept) < len(found):
            layered = False
            if not len(kept):
                return Reachable(layers, signatures, layered)
            sign = _signature(kept)
        layers.append(kept)
        signatures.append(sign)
        states += len(kept)


def _needed(layers: list[PackedSet], gatherer: Gatherer, layered: bool, states: int) -> int:
    """Bytes that the search takes now, or will take when it goes backward."""
    row = 8 * layers[0].words
    forward = sum(layer.held for layer in layers) + gatherer.held
    if layered:
        # Two layers with their values, one of them with its rows.
        back = sum(layer.held for layer in layers) + (row + 2 * _VALUE) * max(map(len, layers))
    else:
        back = (3 * row + _VALUE) * states
    return _FIXED + max(forward, back)


def _signature(found: PackedSet) -> SetSignature:
    signs = [SetSignature.of(part) for part in found.blocks()]
    whole = signs[0]
    for sign in signs[1:]:
        whole = whole.joined(sign)
    return whole


def _without_earlier(
    found: PackedSet, sign: SetSignature, layers: list[PackedSet], signatures: list[SetSignature]
) -> PackedSet:
    """The states that are in no earlier layer; the set itself where all are new."""
    old = [layer for layer, other in zip(layers, signatures, strict=True) if sign.may_share(other)]
    if not old:
        return found
    rows = found.rows()
    new = np.ones(len(rows), np.bool_)
    repeated = sum([subtract(rows, part, new) for layer in old for part in layer.blocks()])
    return PackedSet.of(rows[new]) if repeated else found
