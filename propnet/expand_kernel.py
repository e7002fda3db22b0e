"""The kernel of batched expansion: all successors of many records, 512 lanes at a time.

A block of up to 512 states is loaded and evaluated once; then pass k plays the k-th joint move of
every lane, for which only the gates behind the moves run. Passes that too few lanes have a move
for are not worth it: such (state, joint move) pairs wait and fill all lanes of dense passes, in
which the states are loaded again. Moves are chosen bit-sliced, by one walk over the legal moves.

Arrays: those of :class:`propnet.plan.Plan` as ``Code``, wires as in :mod:`propnet.kernel`,
records as in :mod:`propnet.pack`. Successors are *rows* of the caller's arrays, states in order,
joint moves of a state in the order of ``itertools.product``: the last role's move changes first.

numba's cache file of :func:`expand` holds the functions of other modules that it calls and does
not notice when they change: ``touch propnet/expand_kernel.py`` after editing these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.lanes import Code, _evaluate_goals, _evaluate_moves, _evaluate_play, _read_goals
from propnet.pack import collect, spread, transpose, write_lanes
from propnet.vector import (
    BYTES,
    LANES,
    WORDS,
    Index,
    aligned,
    any_lane,
    inner,
    item,
    load,
    lowest_bit,
    splat,
    store,
)

MOST = 1 << 36
"""Joint moves of one state that are counted; nobody lives to see more of them."""


class Scratch(NamedTuple):
    """What the kernel works in; made by :func:`new_scratch`.

    ``block`` (64, 8) and ``masks`` (2, 8) are vectors on 64-byte borders. Per lane of a block of
    states: ``counts`` and ``strides`` (roles, 512), each role's legal moves and how many joint
    moves pass before its move changes; ``seen`` (512,), moves met; ``joints`` (512,), its joint
    moves; ``begin`` (512,), row of joint move 0; ``low`` and ``high`` (512,), the joint moves
    wanted. ``lanes`` (512,) lists lanes, ``rows`` (512,) says the row of a lane. ``live`` (moves,)
    lists the moves that are legal in some lane, role r's being ``live_from[r] .. live_from[r + 1]``;
    ``chooses`` (roles,) says whether a role has a choice in some lane.
    """

    block: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    strides: NDArray[np.int64]
    seen: NDArray[np.int64]
    joints: NDArray[np.int64]
    begin: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    lanes: NDArray[np.int64]
    rows: NDArray[np.int32]
    live: NDArray[np.int64]
    live_from: NDArray[np.int64]
    chooses: NDArray[np.bool_]


def new_scratch(roles: int, moves: int) -> Scratch:
    """Room for a game of so many roles and moves."""
    counts, strides = np.zeros((2, roles, LANES), np.int64)
    seen, joints, begin, low, high, lanes = np.zeros((6, LANES), np.int64)
    live, live_from = np.zeros(moves, np.int64), np.zeros(roles + 1, np.int64)
    rows, chooses = np.zeros(LANES, np.int32), np.zeros(roles, np.bool_)
    block, masks = aligned(64), aligned(2)
    return Scratch(
        block, masks, counts, strides, seen, joints, begin, low, high, lanes, rows, live, live_from, chooses
    )


class Rows(NamedTuple):
    """Where successors are written: arrays of ``capacity`` rows. ``terminal`` and
    ``goals`` are written only where successors are judged."""

    parents: NDArray[np.int32]
    moves: NDArray[np.int32]
    records: NDArray[np.uint64]
    terminal: NDArray[np.bool_]
    goals: NDArray[np.int16]


@njit(cache=True)
def expand(
    code: Code,
    wires: NDArray[np.uint64],
    after: NDArray[np.uint64],
    scratch: Scratch,
    costs: NDArray[np.int64],
    waiting: NDArray[np.int32],
    records: NDArray[np.uint64],
    state: int,
    skip: int,
    over: NDArray[np.bool_],
    goals: NDArray[np.int16],
    judged: bool,
    out: Rows,
) -> tuple[int, int, int]:
    """Write successors of the records (n, words) from joint move ``skip`` of record ``state`` on,
    until all are written or the rows are full; where more than half of the rows are, no block of
    states is begun that does not fit.

    ``over`` (n,) and ``goals`` (n, roles) take what holds in the records themselves, as
    ``out`` does for successors; they may have no rows. ``after`` are wires for looking at successors.
    ``costs`` (3,): of a pass over a block, of that for each live move, of a dense pass, in one unit.
    ``waiting`` is room for as many rows.
    Returns how many rows were written, and the state and joint move to go on from.
    """
    n = records.shape[0]
    capacity = out.parents.size
    filled = 0
    while state < n and filled < capacity:
        count = min(LANES, n - state)
        write_lanes(records, np.int64(state), np.int64(count), wires, np.int64(1), code.sizes[0])
        _evaluate_play(code, wires)
        ended = load(wires, code.terminal[0]) ^ splat(code.terminal[1])
        if over.size > 0:
            _judge(code, wires, ended, scratch, state, count, over, goals)
        store(scratch.masks, 0, ended)
        _count(code, wires, scratch)
        total = _joints(scratch, count) - skip
        if 2 * filled >= capacity and filled + total > capacity:
            break
        block, first = state, filled
        filled, state, skip = _share(scratch, count, state, skip, filled, capacity)
        if filled == first:
            continue
        _name(code, wires, scratch, block, state - block + (skip > 0), out)
        pending = _sparse(code, wires, after, scratch, costs, waiting, judged, out)
        for at in range(0, pending, LANES):
            _dense(code, wires, after, scratch, records, waiting, at, min(LANES, pending - at), judged, out)
    return filled, state, skip


@inner
def _judge(
    code: Code,
    wires: NDArray[np.uint64],
    ended: Any,
    scratch: Scratch,
    first: Index,
    count: Index,
    over: NDArray[np.bool_],
    goals: NDArray[np.int16],
) -> None:
    """Note which of the lanes ``0 .. count - 1``, rows from ``first`` on, are terminal, and the
    goals of those."""
    for lane in range(count):
        scratch.lanes[lane] = lane
        scratch.rows[lane] = first + lane
    _judge_rows(code, wires, ended, scratch, count, over, goals)


@inner
def _judge_rows(
    code: Code,
    wires: NDArray[np.uint64],
    ended: Any,
    scratch: Scratch,
    count: Index,
    over: NDArray[np.bool_],
    goals: NDArray[np.int16],
) -> None:
    """The same for the first ``count`` lanes of the list of lanes."""
    masks = scratch.masks
    store(masks, 0, ended)
    store(masks, BYTES, splat(0))
    for i in range(count):
        lane = scratch.lanes[i]
        bit = masks[0, lane >> 6] & (np.uint64(1) << np.uint64(lane & 63))
        row = scratch.rows[lane]
        over[row] = bit != 0
        for role in range(goals.shape[1]):
            goals[row, role] = -1
        masks[1, lane >> 6] |= bit
    wanted = load(masks, BYTES)
    if any_lane(wanted):
        _evaluate_goals(code, wires)
        _read_goals(code, wires, wanted, masks, scratch.rows, goals)


@inner
def _count(code: Code, wires: NDArray[np.uint64], scratch: Scratch) -> None:
    """List the moves legal in some lane, and count each role's legal moves in every lane."""
    block = scratch.block
    live = 0
    for role in range(scratch.counts.shape[0]):
        scratch.live_from[role] = live
        for plane in range(64):
            store(block, plane * BYTES, splat(0))
        for move in range(code.role_moves[role], code.role_moves[role + 1]):
            carry = load(wires, item(code.legal_offsets, move)) ^ splat(item(code.legal_signs, move))
            if any_lane(carry):
                scratch.live[live] = move
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
                scratch.counts[role, 64 * word + row] = np.int64(number)
        scratch.chooses[role] = most > 1
    scratch.live_from[scratch.counts.shape[0]] = live


@inner
def _joints(scratch: Scratch, count: Index) -> int:
    """Each lane's number of joint moves, none where the first mask says so; their sum."""
    joints = scratch.joints
    for lane in range(LANES):
        ended = (scratch.masks[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        joints[lane] = np.int64(1) - np.int64(ended) if lane < count else np.int64(0)
    for back in range(scratch.counts.shape[0]):
        role = scratch.counts.shape[0] - 1 - back
        for lane in range(LANES):
            scratch.strides[role, lane] = joints[lane]
            joints[lane] = min(joints[lane] * scratch.counts[role, lane], MOST)
    total = 0
    for lane in range(LANES):
        total += joints[lane]
    return total


@inner
def _share(
    scratch: Scratch, count: int, state: int, skip: int, filled: int, capacity: int
) -> tuple[int, int, int]:
    """Give rows to the joint moves of the lanes, from joint move ``skip`` of lane 0 on, as long
    as there are some. Returns the rows filled then, and the state and joint move that are next."""
    low = skip
    for lane in range(count):
        joints = scratch.joints[lane]
        high = min(int(joints), low + capacity - filled)
        scratch.begin[lane] = filled - low
        scratch.low[lane] = low
        scratch.high[lane] = high
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
        scratch.low[lane] = 0
        scratch.high[lane] = 0
        scratch.joints[lane] = 0


@inner
def _name(
    code: Code, wires: NDArray[np.uint64], scratch: Scratch, state: int, count: Index, out: Rows
) -> None:
    """Write the parents and the moves of the rows that the first ``count`` lanes have."""
    begin, low, high, seen = scratch.begin, scratch.low, scratch.high, scratch.seen
    for word in range(WORDS):
        scratch.masks[0, word] = 0
    for lane in range(count):
        for row in range(begin[lane] + low[lane], begin[lane] + high[lane]):
            out.parents[row] = state + lane
        if high[lane] > low[lane]:
            scratch.masks[0, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
    wanted = load(scratch.masks, 0)
    for role in range(scratch.counts.shape[0]):
        counts, strides = scratch.counts[role], scratch.strides[role]
        seen[:] = 0
        for i in range(scratch.live_from[role], scratch.live_from[role + 1]):
            move = scratch.live[i]
            number = np.int32(move - code.role_moves[role])
            legal = load(wires, item(code.legal_offsets, move)) ^ splat(item(code.legal_signs, move))
            store(scratch.masks, 0, legal & wanted)
            for word in range(WORDS):
                left = scratch.masks[0, word]
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    stride = strides[lane]
                    joint = seen[lane] * stride
                    seen[lane] += 1
                    if joint >= high[lane]:
                        continue
                    period = counts[lane] * stride
                    if joint < low[lane]:
                        joint += (low[lane] - joint) // period * period
                    while joint < high[lane]:
                        to = min(joint + stride, high[lane])
                        for row in range(begin[lane] + max(joint, low[lane]), begin[lane] + to):
                            out.moves[row, role] = number
                        joint += period


@inner
def _sparse(
    code: Code,
    wires: NDArray[np.uint64],
    after: NDArray[np.uint64],
    scratch: Scratch,
    costs: NDArray[np.int64],
    waiting: NDArray[np.int32],
    judged: bool,
    out: Rows,
) -> int:
    """Play joint move 0, 1, ... of all lanes as long as it pays. Lists the rows that are left."""
    lanes, rows, low, high = scratch.lanes, scratch.rows, scratch.low, scratch.high
    roles = scratch.counts.shape[0]
    walked = 0
    for role in range(roles):
        if scratch.chooses[role]:
            walked += scratch.live_from[role + 1] - scratch.live_from[role]
    cost = costs[0] + costs[1] * walked
    found = 0
    for lane in range(LANES):
        # A lane that begins or ends in the midst of its joint moves waits: lanes move in step.
        lanes[found] = lane
        found += high[lane] > 0 and low[lane] == 0 and high[lane] == scratch.joints[lane]
    passes = 0
    if found > 0 and found * costs[2] >= LANES * cost:
        _clear(code, wires)
        for role in range(roles):
            _advance(code, wires, scratch, role, ~splat(0), splat(0))
        while found > 0 and found * costs[2] >= LANES * cost:
            _evaluate_moves(code, wires)
            for i in range(found):
                rows[lanes[i]] = scratch.begin[lanes[i]] + passes
            _put(code, wires, after, scratch, found, judged, out)
            passes += 1
            kept = 0
            for i in range(found):
                lane = lanes[i]
                lanes[kept] = lane
                kept += high[lane] > passes
            found = kept
            _next_joint(code, wires, scratch)
    pending = 0
    for lane in range(LANES):
        whole = low[lane] == 0 and high[lane] == scratch.joints[lane]
        for joint in range(max(low[lane], passes if whole else 0), high[lane]):
            waiting[pending] = scratch.begin[lane] + joint
            pending += 1
    return pending


@inner
def _clear(code: Code, wires: NDArray[np.uint64]) -> None:
    """No move is made in any lane."""
    for wire in range(1 + code.sizes[0], 1 + code.sizes[0] + code.sizes[1]):
        store(wires, wire * BYTES, splat(0))


@inner
def _advance(
    code: Code, wires: NDArray[np.uint64], scratch: Scratch, role: Index, looking: Any, leaving: Any
) -> Any:
    """Choose a role's first legal move in the lanes that look for one, and the next one in those
    that leave theirs. Returns the lanes that found none."""
    for i in range(scratch.live_from[role], scratch.live_from[role + 1]):
        move = scratch.live[i]
        at = (1 + code.sizes[0] + move) * BYTES
        left = load(wires, at) & leaving
        found = (load(wires, item(code.legal_offsets, move)) ^ splat(item(code.legal_signs, move))) & looking
        store(wires, at, (load(wires, at) ^ left) | found)
        looking = (looking ^ found) | left
    return looking


@inner
def _next_joint(code: Code, wires: NDArray[np.uint64], scratch: Scratch) -> None:
    """Choose the next joint move in all lanes; after the last one comes the first."""
    leaving = ~splat(0)
    for back in range(scratch.chooses.size):
        role = scratch.chooses.size - 1 - back
        if scratch.chooses[role]:
            leaving = _advance(code, wires, scratch, role, splat(0), leaving)
            if not any_lane(leaving):
                return
            _advance(code, wires, scratch, role, leaving, splat(0))


@inner
def _dense(
    code: Code,
    wires: NDArray[np.uint64],
    after: NDArray[np.uint64],
    scratch: Scratch,
    records: NDArray[np.uint64],
    waiting: NDArray[np.int32],
    first: Index,
    count: Index,
    judged: bool,
    out: Rows,
) -> None:
    """Play the joint moves of ``count`` rows that wait, whatever states they belong to."""
    bases = code.sizes[0]
    block = scratch.block
    for lane in range(count):
        scratch.lanes[lane] = lane
        scratch.rows[lane] = waiting[first + lane]
    for word in range(records.shape[1]):
        for row in range(64):
            for column in range(WORDS):
                lane = 64 * column + row
                true = records[out.parents[scratch.rows[lane]], word] if lane < count else np.uint64(0)
                block[row, column] = true
        spread(block, wires, 1 + 64 * word, min(64, bases - 64 * word))
    _evaluate_play(code, wires)
    _clear(code, wires)
    for lane in range(count):
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(out.moves.shape[1]):
            move = code.role_moves[role] + out.moves[scratch.rows[lane], role]
            wires[1 + bases + move, lane >> 6] |= bit
    _evaluate_moves(code, wires)
    _put(code, wires, after, scratch, count, judged, out)


@inner
def _put(
    code: Code,
    wires: NDArray[np.uint64],
    after: NDArray[np.uint64],
    scratch: Scratch,
    count: Index,
    judged: bool,
    out: Rows,
) -> None:
    """Write what follows in the first ``count`` lanes of the list to their rows."""
    block, lanes, rows = scratch.block, scratch.lanes, scratch.rows
    for word in range(out.records.shape[1]):
        collect(wires, code.next_offsets, code.next_signs, np.int64(64 * word), block)
        for i in range(count):
            lane = lanes[i]
            out.records[rows[lane], word] = block[lane & 63, lane >> 6]
    if judged:
        for base in range(code.sizes[0]):
            value = load(wires, item(code.next_offsets, base)) ^ splat(item(code.next_signs, base))
            store(after, (1 + base) * BYTES, value)
        _evaluate_play(code, after)
        ended = load(after, code.terminal[0]) ^ splat(code.terminal[1])
        _judge_rows(code, after, ended, scratch, count, out.terminal, out.goals)
