"""Tallies of which moves 512 playouts have made, and how these ended: for all moves as first (Gelly and
Silver 2007) and for policies learnt from playouts.

``chosen`` is (moves, 8) uint64, a vector per move: the lanes whose playout has made it where its role
had several legal moves.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Goals, Index, Int32s, Ints, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, WORDS, any_lane, item, load, lowest_bit, splat, store
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import transpose


@inner
def note_choices(args: KernelArgs, wires: Words, choosing: Words, lanes: Vector, chosen: Words) -> None:
    """Note the moves just made in these lanes by the roles that had several legal ones;
    ``choosing`` (roles, 8) says where."""
    sizes = sizes_of(args)
    out = 1 + sizes.bases
    for role in range(sizes.roles):
        first = np.int64(item(args.role_moves, role))
        last = np.int64(item(args.role_moves, role + 1))
        noted = load(choosing, role * BYTES) & lanes
        if last - first > 1 and any_lane(noted):
            for move in range(first, last):
                makers = load(wires, (out + move) * BYTES) & noted
                store(chosen, move * BYTES, load(chosen, move * BYTES) | makers)


@inner
def tally(
    args: KernelArgs,
    chosen: Words,
    ended: Vector,
    lane_of: Ints,
    count: Index,
    job: Int32s,
    per_row: Index,
    each: Index,
    counted: Index,
    goals: Goals,
    block: Words,
    tallies: Ints,
) -> None:
    """Count the moves of the playouts that have ended, and forget them in ``chosen``.

    The playouts are those in the lanes ``ended``, the first ``count`` lanes in ``lane_of``; their
    numbers are in ``job`` (512,), ``per_row`` of them share a row of ``tallies`` (rows, moves), and of
    each ``each`` of them the first ``counted`` count. A move that was made adds 1 to the lower half
    of its number, and the goal of its role to the upper half, if the role has one. ``block`` is
    scratch, (64, 8).
    """
    for role in range(sizes_of(args).roles):
        last = np.int64(item(args.role_moves, role + 1))
        for first in range(np.int64(item(args.role_moves, role)), last, 64):
            moves = min(np.int64(64), last - first)
            some = splat(0)
            for move in range(moves):
                at = (first + move) * BYTES
                makers = load(chosen, at)
                store(chosen, at, makers & ~ended)
                makers = makers & ended
                store(block, move * BYTES, makers)
                some = some | makers
            if not any_lane(some):
                continue
            for move in range(moves, 64):
                store(block, move * BYTES, splat(0))
            transpose(block)
            for i in range(count):
                lane = item(lane_of, i)
                moves_made = item(block, WORDS * (lane & 63) + (lane >> 6))
                playout = item(job, lane)
                if moves_made == 0 or playout % each >= counted:
                    continue
                goal = np.int64(goals[playout, role])
                if goal >= 0:
                    row = playout // per_row
                    add = (goal << np.int64(32)) + np.int64(1)
                    while moves_made != 0:
                        tallies[row, first + lowest_bit(moves_made)] += add
                        moves_made &= moves_made - np.uint64(1)
