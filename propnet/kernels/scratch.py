"""The arrays in which kernels work. A machine has one set for all kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Int32s, Ints, Words
from propnet.jit.vector512 import LANES, aligned
from propnet.kernels.plan import Plan

HEAVIEST = 7
"""The largest exponent of a weight (:mod:`propnet.kernels.weighted_choice`)."""
GROUP = 15
"""The moves of a role that are counted together: as many as four planes can count."""
GROUP_ROWS = GROUP + 5
"""Vectors before those of the first group: the moves of a group, and ranks among them."""


class Scratch(NamedTuple):
    """Vectors on 64-byte borders, uint64. Only the constant wire keeps its value from call to call."""

    wires: Words
    """(wires, 8): the value of each wire, as in :mod:`propnet.kernels.gates`."""
    following: Words
    """(bases, 8): the next states, while wires of the present ones are still read."""
    planes: Words
    """(3 * depth, 8): numbers for the uniform choice of moves."""
    groups: Words
    """(20 + 5 * groups, 8): a role's moves in groups, for the same."""
    weighted_planes: Words
    """(13 * depth + 40, 8): numbers for the choice by a policy."""
    chosen: Words
    """(moves, 8): the lanes whose playout made a move by choice; all 0 between two calls."""


def new_scratch(plan: Plan) -> Scratch:
    """Scratch arrays for the kernels of a plan."""
    most = int(np.diff(plan.role_moves).max(initial=0))
    following, chosen = aligned(max(1, plan.bases)), aligned(max(1, plan.moves))
    return Scratch(
        wires=new_wires(plan),
        following=following,
        planes=new_planes(most),
        groups=new_groups(most),
        weighted_planes=new_weighted_planes(most),
        chosen=chosen,
    )


def new_wires(plan: Plan) -> Words:
    """Wires for the kernels, with the constant set."""
    wires = aligned(plan.wires)
    wires[0] = np.iinfo(np.uint64).max
    return wires


def _plane_depth(most: int) -> int:
    """The number of planes for counts of a role's legal moves up to ``most``, rounded up to whole walks of
    six."""
    return (most.bit_length() // 6 + 1) * 6


def new_planes(most: int) -> Words:
    """Planes for the uniform choice among up to this many moves of a role."""
    return aligned(3 * _plane_depth(most))


def new_groups(most: int) -> Words:
    """Scratch for the uniform choice among up to this many moves of a role, in groups."""
    return aligned(GROUP_ROWS + 5 * (most // GROUP + 1))


def new_weighted_planes(most: int) -> Words:
    """Planes for the choice by a policy among up to this many moves of a role."""
    classes = HEAVIEST + 1
    return aligned(13 * _plane_depth(most) + 5 * classes)


class BlockScratch(NamedTuple):
    """Further scratch of batched expansion. All arrays are flat except the vectors, which are on 64-byte
    borders: ``block`` (64, 8), ``masks`` (2, 8), ``legal`` (moves, 8), the legality of the live moves, and
    ``after`` (wires, 8), wires in which successors are examined.

    Per lane of a block of states: ``counts`` and ``strides`` (roles * 512), each role's legal moves and the
    number of joint moves before its move changes; ``seen`` (512), moves met; ``joints`` (512), joint moves;
    ``begin`` (512), row of joint move 0; ``low`` and ``high`` (512), the range of joint moves to write.
    ``lanes`` and ``ended`` (512) list lanes. ``rows`` (512) holds the row of each lane. ``live`` (moves)
    lists the moves that are legal in some lane, role r's from ``live_from[r]`` to before ``live_from[r +
    1]``. ``chooses`` (roles) is set for roles that have a choice in some lane. ``waiting`` (rows) lists rows
    that wait for dense passes.
    """

    block: Words
    masks: Words
    legal: Words
    after: Words
    counts: Ints
    strides: Ints
    seen: Ints
    joints: Ints
    begin: Ints
    low: Ints
    high: Ints
    lanes: Ints
    ended: Ints
    rows: Int32s
    waiting: Int32s
    live: Ints
    live_from: Ints
    chooses: Ints


def new_block_scratch(plan: Plan, rows: int) -> BlockScratch:
    """Scratch arrays for the expansion of states into this number of rows."""
    roles = len(plan.role_moves) - 1
    sizes = dict.fromkeys(("seen", "joints", "begin", "low", "high", "lanes", "ended"), LANES)
    sizes |= {"counts": roles * LANES, "strides": roles * LANES}
    sizes |= {"live": plan.moves, "live_from": roles + 1, "chooses": roles}
    return BlockScratch(
        block=aligned(64),
        masks=aligned(2),
        legal=aligned(max(1, plan.moves)),
        after=new_wires(plan),
        rows=np.zeros(LANES, np.int32),
        waiting=np.zeros(rows, np.int32),
        **{name: np.zeros(size, np.int64) for name, size in sizes.items()},
    )
