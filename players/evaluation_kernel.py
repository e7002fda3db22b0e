"""The compiled loops of learnt values: sums of weights of the propositions that hold in packed states.

Weights of propositions are laid out as ``tables``, float32 (roles, octets, 256): what octet o of a record
adds to a role's sum when it has this value. Records are uint64 (n, words); octets = 8 * words. All arrays
are C-contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import kernel
from propnet.jit.splitmix import next_random

NOBODY, SEVERAL = -1, -2
"""As a mover: no role is known to have a choice; more than one has."""
CERTAIN = 12.0
"""The sum that stands for a result of 100; its negative for one of 0."""


@kernel(nogil=True)
def _sum(table: NDArray[np.float32], records: NDArray[np.uint64], row: Any) -> Any:
    """The sum of a record by one role's table (octets, 256), whose entries for 0 are 0."""
    total = np.float32(0.0)
    for word in range(records.shape[1]):
        bits = records[row, word]
        octet = 8 * word
        while bits:
            total += table[octet, bits & np.uint64(255)]
            bits >>= np.uint64(8)
            octet += 1
    return total


@kernel(nogil=True)
def add_up(tables: NDArray[np.float32], records: NDArray[np.uint64], sums: NDArray[np.float32]) -> None:
    """Write the sums of each record to ``sums`` (n, roles)."""
    for row in range(records.shape[0]):
        for role in range(tables.shape[0]):
            sums[row, role] = _sum(tables[role], records, row)


@kernel(nogil=True)
def add_back(records: NDArray[np.uint64], amounts: NDArray[np.float32], counts: NDArray[np.float32]) -> None:
    """Add the amount (n,) of each record to ``counts`` (octets, 256), in the places of its octets' values;
    octets that are 0 are left out."""
    for row in range(records.shape[0]):
        amount = amounts[row]
        for word in range(records.shape[1]):
            bits = records[row, word]
            octet = 8 * word
            while bits:
                counts[octet, bits & np.uint64(255)] += amount
                bits >>= np.uint64(8)
                octet += 1


@kernel(nogil=True)
def draw(
    parents: NDArray[np.int32],
    moves: NDArray[np.int32],
    records: NDArray[np.uint64],
    terminal: NDArray[np.bool_],
    goals: NDArray[np.int16],
    tables: NDArray[np.float32],
    sharp: NDArray[np.float32],
    random: NDArray[np.uint64],
    firsts: NDArray[np.int32],
    movers: NDArray[np.int16],
    keys: NDArray[np.float32],
    after: NDArray[np.uint64],
    over: NDArray[np.bool_],
    ends: NDArray[np.int16],
) -> None:
    """Draw a successor for each of p parents, out of one chunk of an expansion after another.

    With the mover's sum s of a successor its chance is proportional to ``exp(sharp[parent] * s)``: drawn is
    the largest of these exponents plus Gumbel noise. Where several roles choose, any may be drawn.

    Args:
        parents: (m,), ascending: the chunk, with ``moves`` (m, roles), ``records`` (m, words),
            ``terminal`` (m,) and ``goals`` (m, roles).
        tables: see the module.
        sharp: (p,).
        random: (1,) the state of the random numbers.
        firsts: (p, roles), -1 at first: the moves that lead to the first successor.
        movers: (p,), NOBODY at first: which role chooses.
        keys: (p,), minus infinity at first, and so where a parent has no successor.
        after: (p, words): the successor that was drawn, with ``over`` (p,) and ``ends`` (p, roles).
    """
    m = len(parents)
    begin = 0
    while begin < m:
        parent = parents[begin]
        end = begin + 1
        while end < m and parents[end] == parent:
            end += 1
        if firsts[parent, 0] < 0:
            firsts[parent] = moves[begin]
        # The last successor differs from the first in every role that has a choice.
        for role in range(moves.shape[1]):
            if moves[end - 1, role] != firsts[parent, role] and movers[parent] != role:
                movers[parent] = role if movers[parent] == NOBODY else SEVERAL
        mover = np.int64(movers[parent])
        for row in range(begin, end):
            uniform = ((next_random(random) >> np.uint64(40)) + np.uint64(1)) * 2.0**-24
            key = np.float32(-math.log(max(1e-9, -math.log(uniform))))
            if mover >= 0 and sharp[parent] > 0.0:
                if terminal[row]:
                    total = np.float32(CERTAIN * (goals[row, mover] - 50) / 50.0)
                else:
                    total = _sum(tables[mover], records, row)
                key += sharp[parent] * total
            if key > keys[parent]:
                keys[parent] = key
                after[parent] = records[row]
                over[parent] = terminal[row]
                ends[parent] = goals[row]
        begin = end
