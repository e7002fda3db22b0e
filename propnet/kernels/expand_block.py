"""Blocks of states in the lanes for batched expansion: their joint moves, rows and judgement.

What :mod:`propnet.kernels.expand_kernel` is made of besides its passes; arrays and words as there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
    Index,
    aligned,
    any_lane,
    item,
    load,
    lowest_bit,
    put,
    raw,
    splat,
    store,
)
from propnet.kernels.kernel_args import Code
from propnet.kernels.records import transpose
from propnet.kernels.step import evaluate_goals, read_goals

MOST = 1 << 36
"""Joint moves of one state that are counted; nobody lives to see more of them."""


class Scratch(NamedTuple):
    """What the kernel works in; made by :func:`new_scratch`. Flat but for the vectors, which are
    on 64-byte borders: ``block`` (64, 8), ``masks`` (2, 8) and ``legal`` (moves, 8), the legality of
    the live moves.

    Per lane of a block of states: ``counts`` and ``strides`` (roles * 512), each role's legal moves
    and how many joint moves pass before its move changes; ``seen`` (512), moves met; ``joints``
    (512), joint moves; ``begin`` (512), row of joint move 0; ``low`` and ``high`` (512), the joint
    moves wanted. ``lanes`` and ``ended`` (512) list lanes, ``rows`` (512) says the row of a lane.
    ``live`` (moves) lists the moves that are legal in some lane, role r's from ``live_from[r]`` to
    before ``live_from[r + 1]``; ``chooses`` (roles) says whether a role has a choice in some lane.
    """

    block: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    counts: NDArray[np.int64]
    strides: NDArray[np.int64]
    seen: NDArray[np.int64]
    joints: NDArray[np.int64]
    begin: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    lanes: NDArray[np.int64]
    ended: NDArray[np.int64]
    rows: NDArray[np.int32]
    live: NDArray[np.int64]
    live_from: NDArray[np.int64]
    chooses: NDArray[np.int64]


def new_scratch(roles: int, moves: int) -> Scratch:
    """Room for a game of so many roles and moves."""
    counts, strides = np.zeros((2, roles * LANES), np.int64)
    rows = np.zeros(LANES, np.int32)
    lane = [np.zeros(LANES, np.int64) for _ in range(7)]
    live, live_from, chooses = (np.zeros(size, np.int64) for size in (moves, roles + 1, roles))
    vectors = aligned(64), aligned(2), aligned(max(1, moves))
    return Scratch(*vectors, counts, strides, *lane, rows, live, live_from, chooses)  # type: ignore[call-arg,arg-type]


class Rows(NamedTuple):
    """Where successors are written: ``parents`` (m,), ``moves`` (m, roles), ``records`` (m, words),
    and where successors are judged ``terminal`` (m,), 0 or 1, and ``goals`` (m, roles)."""

    parents: NDArray[np.int32]
    moves: NDArray[np.int32]
    records: NDArray[np.uint64]
    terminal: NDArray[np.uint8]
    goals: NDArray[np.int16]


class Work(NamedTuple):
    """What the parts of the kernel share, as bare pointers, and numbers: ``words`` of a record,
    ``roles``, and whether successors are ``judged``. ``after`` are wires for these."""

    code: Code
    wires: NDArray[np.uint64]
    after: NDArray[np.uint64]
    scratch: Scratch
    parents: NDArray[np.int32]
    moves: NDArray[np.int32]
    records: NDArray[np.uint64]
    terminal: NDArray[np.uint8]
    words: Index
    roles: Index
    judged: bool


@inner
def uncounted_scratch(scratch: Scratch) -> Scratch:
    """The same with bare pointers; ``scratch`` must outlive it."""
    return Scratch(
        raw(scratch.block),
        raw(scratch.masks),
        raw(scratch.legal),
        raw(scratch.counts),
        raw(scratch.strides),
        raw(scratch.seen),
        raw(scratch.joints),
        raw(scratch.begin),
        raw(scratch.low),
        raw(scratch.high),
        raw(scratch.lanes),
        raw(scratch.ended),
        raw(scratch.rows),
        raw(scratch.live),
        raw(scratch.live_from),
        raw(scratch.chooses),
    )


@inner
def judge(
    work: Work, wires: NDArray[np.uint64], count: Index, terminal: NDArray[np.uint8], goals: NDArray[np.int16]
) -> None:
    """Note which of the first ``count`` lanes of the list are terminal, and the goals of those, in
    the lanes' rows of ``terminal`` and ``goals``."""
    code, scratch = work.code, work.scratch
    store(scratch.masks, 0, load(wires, item(code.terminal, 0)) ^ splat(item(code.terminal, 1)))
    ended = np.int64(0)
    for i in range(count):
        lane = item(scratch.lanes, i)
        row = item(scratch.rows, lane)
        bit = (item(scratch.masks, lane >> 6) >> np.uint64(lane & 63)) & np.uint64(1)
        put(terminal, row, bit)
        put(scratch.ended, ended, lane)
        ended += np.int64(bit)
        for role in range(work.roles):
            put(raw(goals), row * work.roles + role, -1)
    if ended > 0:
        evaluate_goals(code, wires)
        read_goals(code, wires, scratch.ended, ended, scratch.rows, scratch.masks, goals)


@inner
def count_moves(work: Work) -> None:
    """List the moves legal in some lane, and count each role's legal moves in every lane."""
    code, wires, scratch = work.code, work.wires, work.scratch
    block = scratch.block
    live = np.int64(0)
    for role in range(work.roles):
        put(scratch.live_from, role, live)
        for plane in range(64):
            store(block, plane * BYTES, splat(0))
        for move in range(item(code.role_moves, role), item(code.role_moves, role + 1)):
            carry = load(wires, item(code.legal_offsets, move)) ^ splat(item(code.legal_signs, move))
            if any_lane(carry):
                put(scratch.live, live, move)
                store(scratch.legal, live * BYTES, carry)
                live += 1
            at = 0
            while any_lane(carry):
                plane_now = load(block, at)
                store(block, at, plane_now ^ carry)
                carry = carry & plane_now
                at += BYTES
        transpose(block)
        most = np.uint64(0)
        for row in range(64):
            for word in range(WORDS):
                number = item(block, WORDS * row + word)
                most = max(most, number)
                put(scratch.counts, LANES * role + 64 * word + row, number)
        put(scratch.chooses, role, most > 1)
    put(scratch.live_from, work.roles, live)


@inner
def count_joints(work: Work, count: Index) -> int:
    """The first ``count`` lanes' numbers of joint moves, none in terminal states; their sum."""
    scratch, terminal = work.scratch, work.code.terminal
    store(scratch.masks, 0, load(work.wires, item(terminal, 0)) ^ splat(item(terminal, 1)))
    for lane in range(LANES):
        ended = (item(scratch.masks, lane >> 6) >> np.uint64(lane & 63)) & np.uint64(1)
        put(scratch.joints, lane, np.int64(1) - np.int64(ended) if lane < count else np.int64(0))
    for back in range(work.roles):
        at = LANES * (work.roles - 1 - back)
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
    scratch: Scratch, count: int, state: int, skip: int, filled: int, capacity: int
) -> tuple[int, int, int]:
    """Give rows to the joint moves of the lanes, from joint move ``skip`` of lane 0 on, as long
    as there are some. Returns the rows filled then, and the state and joint move that are next."""
    low = skip
    for lane in range(count):
        joints = int(item(scratch.joints, lane))
        high = min(joints, low + capacity - filled)
        put(scratch.begin, lane, filled - low)
        put(scratch.low, lane, low)
        put(scratch.high, lane, high)
        filled += high - low
        low = 0
        if high < joints:
            _idle(scratch, lane + 1)
            return filled, state + lane, high
    _idle(scratch, count)
    return filled, state + count, 0


@inner
def _idle(scratch: Scratch, first: Index) -> None:
    """Want nothing of the lanes from the first on."""
    for lane in range(first, LANES):
        put(scratch.low, lane, 0)
        put(scratch.high, lane, 0)
        put(scratch.joints, lane, 0)


@inner
def name_moves(work: Work, count: Index) -> None:
    """Write the moves of the rows that the first ``count`` lanes have."""
    scratch = work.scratch
    store(scratch.masks, 0, splat(0))
    for lane in range(count):
        bit = np.uint64(item(scratch.high, lane) > item(scratch.low, lane)) << np.uint64(lane & 63)
        put(scratch.masks, lane >> 6, item(scratch.masks, lane >> 6) | bit)
    wanted = load(scratch.masks, 0)
    for role in range(work.roles):
        counts, strides = scratch.counts, scratch.strides
        for lane in range(LANES):
            # Where no other role has a choice, each move has one row: the next one.
            joints = item(scratch.joints, lane)
            alone = item(counts, LANES * role + lane) == joints == item(scratch.high, lane)
            alone = alone and item(scratch.low, lane) == 0
            put(scratch.seen, lane, item(scratch.begin, lane) if alone else np.int64(-1))
        for i in range(item(scratch.live_from, role), item(scratch.live_from, role + 1)):
            number = item(scratch.live, i) - item(work.code.role_moves, role)
            store(scratch.masks, 0, load(scratch.legal, i * BYTES) & wanted)
            for word in range(WORDS):
                left = item(scratch.masks, word)
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    row = item(scratch.seen, lane)
                    if row >= 0:
                        put(scratch.seen, lane, row + 1)
                        put(work.moves, row * work.roles + role, number)
                    else:
                        put(scratch.seen, lane, row - 1)
                        stride = item(strides, LANES * role + lane)
                        period = stride * item(counts, LANES * role + lane)
                        low, high = item(scratch.low, lane), item(scratch.high, lane)
                        at = item(scratch.begin, lane) * work.roles + role
                        _repeat(
                            work.moves, at, work.roles, number, (-1 - row) * stride, stride, period, low, high
                        )


@inner
def _repeat(
    moves: NDArray[np.int32],
    at: Any,
    step: Any,
    number: Any,
    joint: Any,
    length: Any,
    period: Any,
    low: Any,
    high: Any,
) -> None:
    """Write a move to ``length`` joint moves from ``joint`` on, again after every ``period``, as far
    as they are wanted. Joint move j stands at ``at + j * step``."""
    if joint < low and joint < high:
        joint += (low - joint) // period * period
    while joint < high:
        for some in range(max(joint, low), min(joint + length, high)):
            put(moves, at + some * step, number)
        joint += period
