"""The kernel of batched expansion: all successors of many records, 512 lanes at a time.

A block of up to 512 states is loaded and evaluated once; then pass k plays the k-th joint move of
every lane, for which only the gates behind the moves run. Passes that too few lanes have a move
for are not worth it: such (state, joint move) pairs wait and fill all lanes of dense passes, in
which the states are loaded again. Moves are chosen bit-sliced, by one walk over the legal moves.

Arrays: those of :class:`propnet.plan.Plan` as ``Code``, wires as in :mod:`propnet.kernel`,
records as in :mod:`propnet.pack`. Successors are *rows* of the caller's arrays, states in order,
joint moves of a state in the order of ``itertools.product``: the last role's move changes first.

The gates behind the moves run several times after those before them: they may overwrite neither
what they read nor the legality of moves, unless that is in the moves' own wires.

numba's cache file of :func:`expand` holds the functions of other modules that it calls and does
not notice when they change: ``touch propnet/expand_kernel.py`` after editing these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.lanes import (
    Code,
    _evaluate_goals,
    _evaluate_moves,
    _evaluate_play,
    _read_goals,
    uncounted,
)
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
    put,
    raw,
    splat,
    store,
)

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
        _uncounted(scratch),
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
        _evaluate_play(work.code, work.wires)
        if over.size > 0:
            for lane in range(count):
                put(work.scratch.lanes, lane, lane)
                put(work.scratch.rows, lane, state + lane)
            _judge(work, work.wires, count, raw(over), goals)
        _count(work)
        total = _joints(work, count) - skip
        if 2 * filled >= capacity and filled + total > capacity:
            break
        block, first = state, filled
        filled, state, skip = _share(work.scratch, count, state, skip, filled, capacity)
        if filled == first:
            continue
        _name(work, state - block + (skip > 0))
        pending = _sparse(work, block, costs, raw(waiting), out.goals)
        for at in range(0, pending, LANES):
            _dense(work, raw(records), raw(waiting), at, min(LANES, pending - at), out.goals)
    return filled, state, skip


@inner
def _uncounted(scratch: Scratch) -> Scratch:
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
def _judge(
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
        _evaluate_goals(code, wires)
        _read_goals(code, wires, scratch.ended, ended, scratch.rows, scratch.masks, goals)


@inner
def _count(work: Work) -> None:
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
def _joints(work: Work, count: Index) -> int:
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
def _share(
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
def _name(work: Work, count: Index) -> None:
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
            _evaluate_moves(work.code, work.wires)
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
    _evaluate_play(work.code, wires)
    _clear(work)
    for lane in range(count):
        row = item(scratch.rows, lane)
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(work.roles):
            move = item(work.code.role_moves, role) + item(work.moves, row * work.roles + role)
            at = WORDS * (1 + bases + move) + (lane >> 6)
            put(wires, at, item(wires, at) | bit)
    _evaluate_moves(work.code, wires)
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
        _evaluate_play(code, work.after)
        _judge(work, work.after, count, work.terminal, goals)
