"""The kernel of batched expansion: all successors of many records, 512 lanes at a time.

A block of up to 512 states is loaded and evaluated once; then pass k plays the k-th joint move of
every lane, for which only the gates behind the moves run. Passes that too few lanes have a move
for are not worth it: such (state, joint move) pairs wait and fill all lanes of dense passes, in
which the states are loaded again. Moves are chosen bit-sliced, by one walk over the legal moves.

Arrays: those of :class:`propnet.kernels.plan.Plan` as ``Code``, wires as in :mod:`propnet.kernels.gates`,
records as in :mod:`propnet.kernels.records`. Successors are *rows* of the caller's arrays, states in order,
joint moves of a state in the order of ``itertools.product``: the last role's move changes first.

The gates behind the moves run several times after those before them: they may overwrite neither
what they read nor the legality of moves, unless that is in the moves' own wires.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, Index, any_lane, item, load, put, raw, splat, store
from propnet.kernels.expand_block import (
    Rows,
    Scratch,
    Work,
    count_joints,
    count_moves,
    judge,
    name_moves,
    share,
    uncounted_scratch,
)
from propnet.kernels.kernel_args import Code, uncounted
from propnet.kernels.records import collect, spread, write_lanes
from propnet.kernels.step import evaluate_moves, evaluate_play


@kernel
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
    over: NDArray[np.uint8],
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
    ``waiting`` is room for as many rows. Returns how many rows were written, and the state and
    joint move to go on from.
    """
    work = Work(
        uncounted(code),
        raw(wires),
        raw(after),
        uncounted_scratch(scratch),
        raw(out.parents),
        raw(out.moves),
        raw(out.records),
        raw(out.terminal),
        np.int64(records.shape[1]),
        item(code.sizes, 9),
        judged,
    )
    n = records.shape[0]
    capacity = out.parents.size
    filled = 0
    while state < n and filled < capacity:
        count = min(LANES, n - state)
        write_lanes(records, np.int64(state), np.int64(count), wires, np.int64(1), item(code.sizes, 0))
        evaluate_play(work.code, work.wires)
        if over.size > 0:
            for lane in range(count):
                put(work.scratch.lanes, lane, lane)
                put(work.scratch.rows, lane, state + lane)
            judge(work, work.wires, count, raw(over), goals)
        count_moves(work)
        total = count_joints(work, count) - skip
        if 2 * filled >= capacity and filled + total > capacity:
            break
        block, first = state, filled
        filled, state, skip = share(work.scratch, count, state, skip, filled, capacity)
        if filled == first:
            continue
        name_moves(work, state - block + (skip > 0))
        pending = _sparse(work, block, costs, raw(waiting), out.goals)
        for at in range(0, pending, LANES):
            _dense(work, raw(records), raw(waiting), at, min(LANES, pending - at), out.goals)
    return filled, state, skip


@inner
def _sparse(
    work: Work, state: int, costs: NDArray[np.int64], waiting: NDArray[np.int32], goals: NDArray[np.int16]
) -> int:
    """Play joint move 0, 1, ... of all lanes, the first of which is this state, as long as it pays.
    Lists the rows that are left. Writes the parents of all rows."""
    scratch = work.scratch
    walked = np.int64(0)
    for role in range(work.roles):
        if item(scratch.chooses, role) != 0:
            walked += item(scratch.live_from, role + 1) - item(scratch.live_from, role)
    cost = LANES * (item(costs, 0) + item(costs, 1) * walked)
    dense = item(costs, 2)
    found = 0
    for lane in range(LANES):
        # A lane that begins or ends in the midst of its joint moves waits: lanes move in step.
        low, high = item(scratch.low, lane), item(scratch.high, lane)
        put(scratch.lanes, found, lane)
        found += high > 0 and low == 0 and high == item(scratch.joints, lane)
    passes = 0
    if found > 0 and found * dense >= cost:
        _clear(work)
        for role in range(work.roles):
            _advance(work, role, ~splat(0), splat(0))
        while found > 0 and found * dense >= cost:
            evaluate_moves(work.code, work.wires)
            for i in range(found):
                lane = item(scratch.lanes, i)
                row = item(scratch.begin, lane) + passes
                put(scratch.rows, lane, row)
                put(work.parents, row, state + lane)
            _put(work, found, goals)
            passes += 1
            kept = 0
            for i in range(found):
                lane = item(scratch.lanes, i)
                put(scratch.lanes, kept, lane)
                kept += item(scratch.high, lane) > passes
            found = kept
            _next_joint(work)
    pending = 0
    for lane in range(LANES):
        low, high = item(scratch.low, lane), item(scratch.high, lane)
        whole = low == 0 and high == item(scratch.joints, lane)
        for joint in range(max(low, passes if whole else 0), high):
            row = item(scratch.begin, lane) + joint
            put(waiting, pending, row)
            put(work.parents, row, state + lane)
            pending += 1
    return pending


@inner
def _clear(work: Work) -> None:
    """No move is made in any lane."""
    sizes = work.code.sizes
    for wire in range(1 + item(sizes, 0), 1 + item(sizes, 0) + item(sizes, 1)):
        store(work.wires, wire * BYTES, splat(0))


@inner
def _advance(work: Work, role: Index, looking: Any, leaving: Any) -> Any:
    """Choose a role's first legal move in the lanes that look for one, and the next one in those
    that leave theirs. Returns the lanes that found none."""
    scratch, wires = work.scratch, work.wires
    first_move = 1 + item(work.code.sizes, 0)
    for i in range(item(scratch.live_from, role), item(scratch.live_from, role + 1)):
        at = (first_move + item(scratch.live, i)) * BYTES
        made = load(wires, at)
        left = made & leaving
        found = load(scratch.legal, i * BYTES) & looking
        store(wires, at, (made ^ left) | found)
        looking = (looking ^ found) | left
    return looking


@inner
def _next_joint(work: Work) -> None:
    """Choose the next joint move in all lanes; after the last one comes the first."""
    leaving = ~splat(0)
    for back in range(work.roles):
        role = work.roles - 1 - back
        if item(work.scratch.chooses, role) != 0:
            leaving = _advance(work, role, splat(0), leaving)
            if not any_lane(leaving):
                return
            _advance(work, role, leaving, splat(0))


@inner
def _dense(
    work: Work,
    records: NDArray[np.uint64],
    waiting: NDArray[np.int32],
    first: Index,
    count: Index,
    goals: NDArray[np.int16],
) -> None:
    """Play the joint moves of ``count`` rows that wait, whatever states they belong to."""
    scratch, wires = work.scratch, work.wires
    bases = item(work.code.sizes, 0)
    block = scratch.block
    for lane in range(count):
        put(scratch.lanes, lane, lane)
        put(scratch.rows, lane, item(waiting, first + lane))
    for lane in range(count, LANES):
        put(scratch.rows, lane, item(waiting, first))
    for word in range(work.words):
        for row in range(64):
            for column in range(WORDS):
                parent = item(work.parents, item(scratch.rows, 64 * column + row))
                put(block, WORDS * row + column, item(records, parent * work.words + word))
        spread(block, wires, 1 + 64 * word, min(64, bases - 64 * word))
    evaluate_play(work.code, wires)
    _clear(work)
    for lane in range(count):
        row = item(scratch.rows, lane)
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(work.roles):
            move = item(work.code.role_moves, role) + item(work.moves, row * work.roles + role)
            at = WORDS * (1 + bases + move) + (lane >> 6)
            put(wires, at, item(wires, at) | bit)
    evaluate_moves(work.code, wires)
    _put(work, count, goals)


@inner
def _put(work: Work, count: Index, goals: NDArray[np.int16]) -> None:
    """Write what follows in the first ``count`` lanes of the list to their rows."""
    code, wires, scratch, block = work.code, work.wires, work.scratch, work.scratch.block
    bases = item(code.sizes, 0)
    for word in range(work.words):
        bits = min(64, bases - 64 * word)
        collect(wires, code.next_offsets, code.next_signs, 64 * word, bits, block)
        for i in range(count):
            lane = item(scratch.lanes, i)
            true = item(block, WORDS * (lane & 63) + (lane >> 6))
            put(work.records, item(scratch.rows, lane) * work.words + word, true)
    if work.judged:
        for base in range(bases):
            value = load(wires, item(code.next_offsets, base)) ^ splat(item(code.next_signs, base))
            store(work.after, (1 + base) * BYTES, value)
        evaluate_play(code, work.after)
        judge(work, work.after, count, work.terminal, goals)
