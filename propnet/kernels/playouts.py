"""The playout kernel: random playouts in 512 asynchronous lanes.

Arrays are those of :class:`propnet.kernels.kernel_args.Code`, with ``wires`` as in
:mod:`propnet.kernels.gates` and records as in :mod:`propnet.kernels.records`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
    Index,
    any_lane,
    count_lanes,
    item,
    load,
    lowest_bit,
    put,
    raw,
    splat,
    store,
)
from propnet.kernels.kernel_args import Code, uncounted
from propnet.kernels.move_weights import HEAVIEST, Policy, uncounted_policy
from propnet.kernels.records import write_lanes
from propnet.kernels.step import (
    choose_moves,
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    list_lanes,
    load_records,
    next_states,
    read_goals,
    set_lane,
)
from propnet.kernels.tally import note_choices, tally
from propnet.kernels.weighted_choice import choose_by_policy


@kernel
def playouts(
    code: Code,
    wires: NDArray[np.uint64],
    following: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    streams: NDArray[np.uint64],
    starts: NDArray[np.uint64],
    max_steps: int,
    goals: NDArray[np.int16],
    lengths: NDArray[np.int32],
    watched: int,
    trace: NDArray[np.int32],
    policy: Policy,
    weighted_planes: NDArray[np.uint64],
    tallies: NDArray[np.int64],
    counted: int,
    chosen: NDArray[np.uint64],
) -> int:
    """Play one playout per row of ``lengths`` (n,) and ``goals`` (n, roles; -1 on entry).

    As many playouts start from each record of ``starts`` (their number divides n), in their
    order. A lane whose playout is over is parked, its state held, until what the parked lanes
    idle away has cost as much as the gates that only goals need and the taking up of new
    playouts; then the goals of all parked lanes are evaluated at once, and these lanes take the
    next playouts that wait. They do so at every second step only (every third with three roles,
    and so on), so that in games where roles take turns the same role is to move in all lanes and
    the others' choice is free. Which playouts are reported does not depend on how long they
    last. ``following`` is scratch, (bases, 8). The first moves of playout ``watched`` (-1 for
    none) are written to ``trace``, shape (steps, roles). Moves are chosen by the policy, if it has
    classes. ``tallies`` (rows, moves) is added to as :func:`propnet.kernels.tally.tally` says, by the first
    ``counted`` playouts of each start, those of as many starts per row; it may have no rows.
    ``chosen`` is scratch for that, (moves, 8), all 0 before and after. Returns how many were cut by
    ``max_steps`` or for want of a legal move.
    """
    job = np.zeros(LANES, np.int32)
    since = np.zeros(LANES, np.int64)
    lane_of = np.zeros(LANES, np.int64)
    lanes = np.zeros((2, WORDS), np.uint64)
    choosing = np.zeros((item(code.sizes, 9), WORDS), np.uint64)
    widths = np.zeros(HEAVIEST + 1, np.int64)
    block = np.zeros((64, WORDS), np.uint64)
    first_bits = np.zeros(item(code.sizes, 0) if starts.shape[0] == 1 else 0, np.int64)
    cut: int = _play(
        code,
        wires,
        following,
        planes,
        streams,
        starts,
        max_steps,
        goals,
        lengths,
        watched,
        trace,
        job,
        since,
        lane_of,
        lanes,
        first_bits,
        policy,
        weighted_planes,
        widths,
        choosing,
        tallies,
        counted,
        chosen,
        block,
    )
    return cut


@inner
def _play(
    counted_code: Code,
    wire_array: NDArray[np.uint64],
    following: NDArray[np.uint64],
    plane_array: NDArray[np.uint64],
    stream_array: NDArray[np.uint64],
    starts: NDArray[np.uint64],
    max_steps: int,
    goals: NDArray[np.int16],
    length_array: NDArray[np.int32],
    watched: int,
    trace: NDArray[np.int32],
    jobs: NDArray[np.int32],
    begins: NDArray[np.int64],
    listed: NDArray[np.int64],
    scratch: NDArray[np.uint64],
    first_bits: NDArray[np.int64],
    counted_policy: Policy,
    weighted_array: NDArray[np.uint64],
    width_array: NDArray[np.int64],
    choosing_array: NDArray[np.uint64],
    tallies: NDArray[np.int64],
    counted: int,
    chosen_array: NDArray[np.uint64],
    block: NDArray[np.uint64],
) -> int:
    """:func:`playouts`, given arrays for what it notes: they outlive the bare pointers to them."""
    code = uncounted(counted_code)
    wires = raw(wire_array)
    next_wires = raw(following)
    planes = raw(plane_array)
    depth = plane_array.shape[0] // 3
    streams = raw(stream_array)
    lengths = raw(length_array)
    job = raw(jobs)
    since = raw(begins)
    lane_of = raw(listed)
    lanes = raw(scratch)
    first = raw(first_bits)
    policy = uncounted_policy(counted_policy)
    weighted_planes = raw(weighted_array)
    widths = raw(width_array)
    choosing = raw(choosing_array)
    chosen = raw(chosen_array)
    weighted = counted_policy.classes.size > 0
    tallied = tallies.shape[0] > 0
    n = length_array.size
    bases = item(code.sizes, 0)
    roles = item(code.sizes, 9)
    flush = LANES * item(code.sizes, 5)
    one_start = starts.shape[0] == 1
    each = n // max(1, starts.shape[0])
    for base in range(first_bits.size):
        first_bits[base] = -np.int64((starts[0, base >> 6] >> np.uint64(base & 63)) & np.uint64(1))
    waiting = np.int64(min(n, LANES))
    for lane in range(waiting):
        put(job, lane, lane)
        set_lane(lanes, lane)
    active = load(lanes, 0)
    if one_start:
        load_records(wire_array, starts, np.int64(0), np.int64(1), bases)
    elif each == 1:
        write_lanes(starts, np.int64(0), waiting, wire_array, np.int64(1), bases)
    else:
        for base in range(bases):
            store(wires, (1 + base) * BYTES, splat(0))
        _scatter(wire_array, starts, scratch, jobs, each)
    cut = 0
    now = np.int64(0)
    turn = np.int64(0)
    deadline = np.int64(max_steps)
    parked = splat(0)
    idle = np.int64(0)
    while any_lane(active):
        evaluate_play(code, wires)
        over = load(wires, item(code.terminal, 0)) ^ splat(item(code.terminal, 1))
        if weighted:
            stopped = choose_by_policy(
                code, policy, wires, weighted_planes, depth, widths, planes, streams, choosing
            )
        else:
            stopped = choose_moves(code, wires, planes, depth, streams, choosing)
        if watched >= 0:
            _note_moves(code, wire_array, active, jobs, begins, now, watched, scratch, trace)
        if now >= deadline:
            deadline = now + max_steps
            store(lanes, 0, splat(0))
            for lane in range(LANES):
                if now - item(since, lane) >= max_steps:
                    set_lane(lanes, lane)
                else:
                    deadline = min(deadline, item(since, lane) + max_steps)
            stopped = stopped | load(lanes, 0)
        ended = (over | stopped) & active & ~parked
        if any_lane(ended):
            cut += count_lanes(ended & ~over)
            parked = parked | ended
            for i in range(list_lanes(ended, lanes, lane_of)):
                lane = item(lane_of, i)
                put(lengths, item(job, lane), now - item(since, lane))
        if tallied:
            note_choices(code, wires, choosing, active & ~parked, chosen)
        turn += 1
        renewed = splat(0)
        if turn == roles:
            turn = np.int64(0)
            if any_lane(parked):
                idle += roles * count_lanes(parked) * item(code.sizes, 6)
                if idle >= flush or not any_lane(active & ~parked):
                    idle = np.int64(0)
                    evaluate_goals(code, wires)
                    count = list_lanes(parked, lanes, lane_of)
                    read_goals(code, wires, lane_of, count, job, lanes, goals)
                    if tallied:
                        per_row = n // tallies.shape[0]
                        tally(
                            code, chosen, parked, lane_of, count, job, per_row, each, counted, goals,
                            block, tallies,
                        )  # fmt: skip
                    taken = min(count, n - waiting)
                    store(lanes, 0, splat(0))
                    for i in range(taken):
                        lane = item(lane_of, i)
                        put(job, lane, waiting + i)
                        put(since, lane, now + 1)
                        set_lane(lanes, lane)
                    waiting += taken
                    renewed = load(lanes, 0)
                    active = (active & ~parked) | renewed
                    parked = splat(0)
        evaluate_moves(code, wires)
        next_states(code, wires, next_wires, parked, renewed, one_start, first)
        if not one_start and any_lane(renewed):
            _scatter(wire_array, starts, scratch, jobs, each)
        now += 1
    return cut


@inner
def _note_moves(
    code: Code,
    wires: NDArray[np.uint64],
    active: Any,
    job: NDArray[np.int32],
    since: NDArray[np.int64],
    now: Any,
    watched: int,
    scratch: NDArray[np.uint64],
    trace: NDArray[np.int32],
) -> None:
    """Write the moves just chosen in the lane that plays playout ``watched``, if any does."""
    store(scratch, 0, active)
    for lane in range(LANES):
        word = lane >> 6
        bit = np.uint64(1) << np.uint64(lane & 63)
        step = now - since[lane]
        if job[lane] != watched or scratch[0, word] & bit == 0 or step >= trace.shape[0]:
            continue
        for role in range(trace.shape[1]):
            for move in range(item(code.role_moves, role), item(code.role_moves, role + 1)):
                if wires[1 + item(code.sizes, 0) + move, word] & bit != 0:
                    trace[step, role] = move - item(code.role_moves, role)


@inner
def _scatter(
    wires: NDArray[np.uint64],
    records: NDArray[np.uint64],
    lanes: NDArray[np.uint64],
    jobs: NDArray[np.int32],
    each: Index,
) -> None:
    """Set, in each of the lanes of the first vector of ``lanes``, the bases that are true in the
    record that its playout starts from. Lanes that lie together mostly share it, and get it
    together; the second vector is scratch."""
    record = np.int64(-1)
    store(lanes, BYTES, splat(0))
    for word in range(WORDS):
        left = lanes[0, word]
        while left != 0:
            lane = lowest_bit(left)
            left &= left - np.uint64(1)
            wanted = jobs[64 * word + lane] // each
            if wanted != record:
                if record >= 0:
                    _set_bases(wires, records, record, load(lanes, BYTES))
                record = np.int64(wanted)
                store(lanes, BYTES, splat(0))
            lanes[1, word] |= np.uint64(1) << np.uint64(lane)
    if record >= 0:
        _set_bases(wires, records, record, load(lanes, BYTES))


@inner
def _set_bases(wires: NDArray[np.uint64], records: NDArray[np.uint64], record: Index, lanes: Any) -> None:
    """Set the bases that are true in a record in these lanes."""
    for column in range(records.shape[1]):
        true = records[record, column]
        while true != 0:
            at = (1 + 64 * column + lowest_bit(true)) * BYTES
            true &= true - np.uint64(1)
            store(wires, at, load(wires, at) | lanes)
