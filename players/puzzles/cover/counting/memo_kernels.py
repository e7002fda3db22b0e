"""The compiled loop of the counting memo: all states of one layer become those of the next.

A state is the set of items that are covered, from the layer's item on: ``uint64[words]``, bit 0 of word 0
is the first item of the layer's block of 64. Its count is a number of any length, ``uint64[limbs]``, the
lowest first. States are found again by their hash and compared in full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import ARENA, kernel

FULL = -1
"""There is no room for more states."""
TOO_LONG = -2
"""A count needs another limb."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HALF = np.uint64(32)


@kernel(**ARENA)
def advance(
    states: NDArray[np.uint64],
    counts: NDArray[np.uint64],
    begin: int,
    end: int,
    bit: int,
    optional: bool,
    masks: NDArray[np.uint64],
    table: NDArray[np.int32],
    next_states: NDArray[np.uint64],
    next_counts: NDArray[np.uint64],
    filled: int,
) -> int:
    """Go over the states from begin to end. Returns how many states the next layer has, FULL or TOO_LONG.

    Args:
        states, counts: of this layer, uint64[states, words] and uint64[states, limbs].
        bit: of the layer's item in word 0.
        optional: whether the item may stay uncovered.
        masks: the options that begin with the item, uint64[options, words].
        table: int32[a power of two], -1 where empty; which state has a hash.
        next_states, next_counts: of the next layer; one row more than may be filled.
        filled: how many of its rows are in use.
    """
    words, limbs, room = states.shape[1], counts.shape[1], next_states.shape[0] - 1
    last = np.uint64(table.shape[0] - 1)
    own = _ONE << np.uint64(bit)
    for state in range(begin, end):
        covered = states[state, 0] & own != _ZERO
        first = -1 if covered or optional else 0
        for option in range(first, 0 if covered else masks.shape[0]):
            free = True
            if option >= 0:
                for word in range(words):
                    if states[state, word] & masks[option, word] != _ZERO:
                        free = False
                        break
            if not free:
                continue
            hashed = _ZERO
            for word in range(words):
                part = states[state, word]
                if option >= 0:
                    part |= masks[option, word]
                if word == 0:
                    part &= ~own
                next_states[filled, word] = part
                hashed = (hashed ^ part) * _MIX
                hashed ^= hashed >> _HALF
            slot = hashed & last
            found = filled
            while table[slot] >= 0:
                found = table[slot]
                for word in range(words):
                    if next_states[found, word] != next_states[filled, word]:
                        found = filled
                        break
                if found != filled:
                    break
                slot = (slot + _ONE) & last
            if found == filled:
                if filled == room:
                    return FULL
                table[slot] = filled
                for limb in range(limbs):
                    next_counts[filled, limb] = counts[state, limb]
                filled += 1
                continue
            carry = _ZERO
            for limb in range(limbs):
                old = next_counts[found, limb]
                total = old + counts[state, limb]
                over = _ONE if total < old else _ZERO
                whole = total + carry
                if whole < total:
                    over = _ONE
                next_counts[found, limb] = whole
                carry = over
            if carry != _ZERO:
                return TOO_LONG
    return filled
