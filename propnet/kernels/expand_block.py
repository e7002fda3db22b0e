"""Blocks of states in the lanes for batched expansion: their joint moves and rows, and what holds in them.

The passes over a block are in :mod:`propnet.kernels.expand_kernel`, which defines the terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Goals, Index, Int32s, Octets, Words
from propnet.jit.decorators import inner
from propnet.jit.planes import add_carry
from propnet.jit.vector512 import BYTES, LANES, WORDS, any_lane, item, load, lowest_bit, put, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs
from propnet.kernels.records import get_lane, set_lane, transpose
from propnet.kernels.scratch import BlockScratch
from propnet.kernels.step import evaluate_goals, read_goals, terminal_lanes

MOST = 1 << 36
"""Joint moves of one state that are counted at most; no search gets through as many."""


class Rows(NamedTuple):
    """Where successors are written: ``parents`` (m,), ``moves`` (m, roles), ``records`` (m, words), and if
    they are judged ``terminal`` (m,), 0 or 1, and ``goals`` (m, roles)."""

    parents: Int32s
    moves: Int32s
    records: Words
    terminal: Octets
    goals: Goals


class ExpandArgs(NamedTuple):
    """What the parts of the kernel share, as bare pointers, and numbers: ``words`` of a record,
    ``roles``, and whether successors are ``judged``."""

    args: KernelArgs
    wires: Words
    scratch: BlockScratch
    rows: Rows
    words: Index
    roles: Index
    judged: bool


@inner
def judge(given: ExpandArgs, wires: Words, count: Index, terminal: Octets, goals: Goals) -> None:
    """Write to the rows of the first ``count`` listed lanes which are terminal, and the goals of those."""
    scratch = given.scratch
    store(scratch.masks, 0, terminal_lanes(given.args, wires))
    ended = np.int64(0)
    for i in range(count):
        lane = item(scratch.lanes, i)
        row = item(scratch.rows, lane)
        bit = get_lane(scratch.masks, lane)
        put(terminal, row, bit)
        put(scratch.ended, ended, lane)
        ended += np.int64(bit)
        for role in range(given.roles):
            put(goals, row * given.roles + role, -1)
    if ended > 0:
        evaluate_goals(given.args, wires)
        read_goals(given.args, wires, scratch.ended, ended, scratch.rows, scratch.masks, goals)


@inner
def count_moves(given: ExpandArgs) -> None:
    """List the moves legal in some lane, and count each role's legal moves in every lane."""
    args, wires, scratch = given.args, given.wires, given.scratch
    block = scratch.block
    live = np.int64(0)
    for role in range(given.roles):
        put(scratch.live_from, role, live)
        for plane in range(64):
            store(block, plane * BYTES, splat(0))
        for move in range(item(args.role_moves, role), item(args.role_moves, role + 1)):
            legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
            if any_lane(legal):
                put(scratch.live, live, move)
                store(scratch.legal, live * BYTES, legal)
                live += 1
            add_carry(block, np.int64(0), legal)
        transpose(block)
        most = np.uint64(0)
        for row in range(64):
            for word in range(WORDS):
                number = item(block, WORDS * row + word)
                most = max(most, number)
                put(scratch.counts, LANES * role + 64 * word + row, number)
        put(scratch.chooses, role, most > 1)
    put(scratch.live_from, given.roles, live)


@inner
def count_joints(given: ExpandArgs, count: Index) -> int:
    """Count the joint moves of the first ``count`` lanes, none in terminal states; returns their sum."""
    scratch = given.scratch
    store(scratch.masks, 0, terminal_lanes(given.args, given.wires))
    for lane in range(LANES):
        ended = np.int64(get_lane(scratch.masks, lane))
        put(scratch.joints, lane, np.int64(1) - ended if lane < count else np.int64(0))
    for back in range(given.roles):
        at = LANES * (given.roles - 1 - back)
        for lane in range(LANES):
            joints = item(scratch.joints, lane)
            put(scratch.strides, at + lane, joints)
            put(scratch.joints, lane, min(joints * item(scratch.counts, at + lane), MOST))
    total = 0
    for lane in range(LANES):
        total += item(scratch.joints, lane)
    return total


@inner
def share(
    scratch: BlockScratch, count: int, state: int, skip: int, filled: int, capacity: int
) -> tuple[int, int, int]:
    """Give rows to the joint moves of the lanes, from joint move ``skip`` of lane 0 on, as long as there are
    rows; further lanes want none. Returns how many rows are filled then, and the state and joint move to
    go on from."""
    low = skip
    end, rest = count, 0
    for lane in range(LANES):
        joints: int = item(scratch.joints, lane) if lane < end else 0
        high = min(joints, low + capacity - filled)
        put(scratch.begin, lane, filled - low)
        put(scratch.low, lane, low)
        put(scratch.high, lane, high)
        put(scratch.joints, lane, joints)
        filled += high - low
        low = 0
        if high < joints:
            end, rest = lane, high
    return filled, state + end, rest


@inner
def name_moves(given: ExpandArgs, count: Index) -> None:
    """Write the moves of the rows of the first ``count`` lanes."""
    scratch = given.scratch
    store(scratch.masks, 0, splat(0))
    for lane in range(count):
        if item(scratch.high, lane) > item(scratch.low, lane):
            set_lane(scratch.masks, lane)
    wanted = load(scratch.masks, 0)
    for role in range(given.roles):
        counts, strides = scratch.counts, scratch.strides
        for lane in range(LANES):
            # Where no other role has a choice, each move has one row: the next one.
            joints = item(scratch.joints, lane)
            alone = item(counts, LANES * role + lane) == joints == item(scratch.high, lane)
            alone = alone and item(scratch.low, lane) == 0
            put(scratch.seen, lane, item(scratch.begin, lane) if alone else np.int64(-1))
        for i in range(item(scratch.live_from, role), item(scratch.live_from, role + 1)):
            number = item(scratch.live, i) - item(given.args.role_moves, role)
            store(scratch.masks, 0, load(scratch.legal, i * BYTES) & wanted)
            for word in range(WORDS):
                left = item(scratch.masks, word)
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    row = item(scratch.seen, lane)
                    if row >= 0:
                        put(scratch.seen, lane, row + 1)
                        put(given.rows.moves, row * given.roles + role, number)
                    else:
                        put(scratch.seen, lane, row - 1)
                        stride = item(strides, LANES * role + lane)
                        period = stride * item(counts, LANES * role + lane)
                        low, high = item(scratch.low, lane), item(scratch.high, lane)
                        at, step = item(scratch.begin, lane) * given.roles + role, given.roles
                        joint = (-1 - row) * stride
                        _repeat(given.rows.moves, at, step, number, joint, stride, period, low, high)


@inner
def _repeat(
    moves: Int32s,
    at: Index,
    step: Index,
    number: Index,
    joint: Index,
    length: Index,
    period: Index,
    low: Index,
    high: Index,
) -> None:
    """Write a move to ``length`` joint moves from ``joint`` on, again after every ``period``, as far as they
    are wanted. Joint move j stands at ``at + j * step``."""
    if joint < low and joint < high:
        joint += (low - joint) // period * period
    while joint < high:
        for j in range(max(joint, low), min(joint + length, high)):
            put(moves, at + j * step, number)
        joint += period
