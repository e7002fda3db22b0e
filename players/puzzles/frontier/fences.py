"""Fences: keys at which the key space is cut, so that all ranges have about as much to merge."""

from __future__ import annotations

from collections.abc import Sequence

from players.puzzles.frontier.expansion import LayerExpansion
from players.puzzles.frontier.runs import Run
from propnet.jit.arrays import Words

_SAMPLED, _SAMPLES, _SAMPLES_OF_A_RANGE = 64, 1 << 10, 32
"""Blocks and states of a layer whose successors tell where most of them are, at least; states for a range."""


def fences_of(
    layer: Run,
    clock: Words,
    expansion: LayerExpansion,
    expected: float,
    range_keys: float,
    old: Sequence[Run],
) -> list[int]:
    """Fences for the successors of a layer.

    Args:
        layer, clock: the layer, and uint64, shape (words,): its clock.
        expansion: makes some successors.
        expected: about how many there are in all.
        range_keys: keys of a range.
        old: runs that are to be written anew with them.
    """
    if expected <= range_keys and not old:
        return []
    ranges = int(expected / range_keys)
    some = layer.blocks[:: max(1, len(layer.blocks) // max(_SAMPLED, 4 * ranges))]
    samples = max(_SAMPLES, _SAMPLES_OF_A_RANGE * ranges)
    weighed: list[tuple[int, float]] = []
    held_by_some = sum(block.count for block in some)
    for block in some:
        keys = layer.read(block)[:: max(1, held_by_some // samples)]
        sample = expansion.sample(keys, clock)
        weighed += [(key, expected * block.count / held_by_some / len(sample)) for key in sample]
    weighed += [(block.first, block.count) for run in old for block in run.blocks]
    fences: dict[int, None] = {}
    held, part = 0.0, 0
    for first, weight in sorted(weighed):
        held += weight
        if held // range_keys > part:
            part = int(held // range_keys)
            fences[first] = None
    fences.pop(0, None)
    return list(fences)
