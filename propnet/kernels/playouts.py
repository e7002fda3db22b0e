"""The playout kernel: random playouts in 512 asynchronous lanes.

A lane whose playout is over is parked, and its state is kept. It waits until the parked lanes' idle time has
cost as much as the gates that only goals need and the start of new playouts. Then the goals of all parked
lanes are evaluated at once, and these lanes take the next playouts that wait. They do so only at every second
step (every third with three roles, and so on). So in games with alternating turns the same role is to move in
all lanes, and the others' choice costs nothing. A lane in whose start another role is to move waits for a
step. Which playouts are reported does not depend on their length.

A call may also stop as soon as too few lanes are busy: their playouts continue in the next call. Then no
lanes idle while the longest playouts end.

Tallies count the moves that 512 playouts have made, and sum their results: for the all-moves-as-first
heuristic (Gelly and Silver 2007) and for policies learnt from playouts.

``chosen`` is (moves, 8) uint64, a vector per move: the lanes whose playout has made the move when its role
had several legal moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Goals, Index, Int32s, Ints, Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
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
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import (
    get_lane,
    list_lanes,
    read_lanes,
    record_mask,
    set_lane,
    transpose,
    write_lanes,
)
from propnet.kernels.scratch import HEAVIEST, Scratch
from propnet.kernels.step import (
    choose_moves,
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    load_records,
    next_states,
    read_goals,
    terminal_lanes,
)
from propnet.kernels.uniform_choice import awake, can_rest
from propnet.kernels.weighted_choice import Policy, choose_by_policy


@inner
def _note_choices(args: KernelArgs, wires: Words, choosing: Words, lanes: Vector, chosen: Words) -> None:
    """Record the moves just made in these lanes by the roles that had several legal moves: in the lanes of
    ``choosing`` (roles, 8)."""
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
    each: Index,
    counted: Index,
    goals: Goals,
    block: Words,
    tallies: Ints,
) -> None:
    """Count the moves of the playouts that have ended, and clear them in ``chosen``.

    The playouts are those in the lanes ``ended``, the first ``count`` lanes in ``lane_of``. Their numbers are
    in ``job`` (512,). Of each ``each`` playouts the first ``counted`` count. A move that was made adds 1 to
    the lower half of its number in ``tallies`` (moves,), and the goal of its role to the upper half, if the
    role has one. ``block`` is scratch, (64, 8).
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
                    add = (goal << np.int64(32)) + np.int64(1)
                    while moves_made != 0:
                        tallies[first + lowest_bit(moves_made)] += add
                        moves_made &= moves_made - np.uint64(1)


class _LaneNotes(NamedTuple):
    """Notes about the lanes while playouts run. Per lane the playout in it (``job``) and the step at which
    that began (``since``); a list of lanes (``lane_of``); two vectors for access to single lanes (``lanes``);
    the lanes in which each role has several legal moves (``choosing``); scratch for counting moves
    (``block``); the one record from which all playouts start, -1 for true, if there is one (``start``). For
    ``widths`` see :mod:`propnet.kernels.weighted_choice`."""

    job: Int32s
    since: Ints
    lane_of: Ints
    lanes: Words
    choosing: Words
    widths: Ints
    block: Words
    start: Ints


@kernel
def playouts(
    args: KernelArgs,
    scratch: Scratch,
    streams: Words,
    starts: Words,
    max_steps: int,
    goals: Goals,
    lengths: Int32s,
    watched: int,
    trace: Int32s,
    policy: Policy,
    tallies: Ints,
    counted: int,
    fewest: int,
    most: int,
    going_on: Words,
    playout_in: Int32s,
) -> int:
    """Play one playout per row of ``lengths`` (n,) and ``goals`` (n, roles; -1 on entry, which remains if a
    role has no legal move). On entry ``lengths`` are the steps that playouts have already made.

    The same number of playouts starts from each record of ``starts`` (the number of records divides n), in
    their order. The first moves of playout ``watched`` (-1 for none) are written to ``trace``, shape (steps,
    roles). Moves are chosen by the policy, if it has classes. ``tallies`` (moves,) grows as in
    :func:`propnet.kernels.playouts.tally`, by the first ``counted`` playouts of each start, unless it is
    empty. Returns the number of playouts cut by ``max_steps`` or for lack of a legal move.

    With ``fewest`` above 0 the call ends early: when no playout waits and, besides, fewer lanes are busy or
    ``most`` steps were made. The numbers of the unended playouts are then in ``playout_in`` (512,; -1 on
    entry), by lane, their states in the same rows of ``going_on`` (512, words), their steps in ``lengths``.
    """
    sizes = sizes_of(args)
    # Created here and used in _play: the arrays must outlive the bare pointers to them.
    notes = _LaneNotes(
        np.zeros(LANES, np.int32),
        np.zeros(LANES, np.int64),
        np.zeros(LANES, np.int64),
        np.zeros((2, WORDS), np.uint64),
        np.zeros((sizes.roles, WORDS), np.uint64),
        np.zeros(HEAVIEST + 1, np.int64),
        np.zeros((64, WORDS), np.uint64),
        np.zeros(sizes.bases if starts.shape[0] == 1 else 0, np.int64),
    )
    cut = _play(
        args, scratch, notes, streams, starts, max_steps, goals, lengths, watched, trace, policy, tallies,
        counted, fewest, most, playout_in,
    )  # fmt: skip
    if fewest > 0:
        _read_states(scratch.wires, going_on, sizes.bases)
    return cut


@inner
def _read_states(wires: Words, records: Words, bases: Index) -> None:
    """Write the states of all lanes to ``records`` (512, words)."""
    offsets = np.zeros(bases, np.uint32)
    signs = np.zeros(bases, np.int64)
    for base in range(bases):
        offsets[base] = (1 + base) * BYTES
    read_lanes(wires, offsets, signs, records, np.int64(0), np.int64(LANES))


@inner
def _play(
    counted_args: KernelArgs,
    counted_scratch: Scratch,
    counted_notes: _LaneNotes,
    stream_array: Words,
    starts: Words,
    max_steps: int,
    goals: Goals,
    length_array: Int32s,
    watched: int,
    trace: Int32s,
    counted_policy: Policy,
    tallies: Ints,
    counted: int,
    fewest: int,
    most: int,
    playout_in: Int32s,
) -> int:
    """:func:`playouts`, with bare pointers in place of most arrays."""
    args, scratch, notes = raw(counted_args), raw(counted_scratch), raw(counted_notes)
    policy, streams, lengths = raw(counted_policy), raw(stream_array), raw(length_array)
    wires = scratch.wires
    depth = counted_scratch.planes.shape[0] // 3
    weighted = counted_policy.classes.size > 0
    tallied = tallies.size > 0
    n = length_array.size
    sizes = sizes_of(args)
    flush = LANES * sizes.flush_cost
    one_start = starts.shape[0] == 1
    each = n // max(1, starts.shape[0])
    waiting = np.int64(min(n, LANES))
    active = _begin(counted_scratch.wires, counted_notes, starts, waiting, each, sizes.bases, lengths)
    cut = 0
    step = np.int64(0)
    turn = np.int64(0)
    deadline: Index = np.int64(0 if fewest > 0 else max_steps)
    parked = splat(0)
    stuck = splat(0)  # the parked lanes in which a role has no legal move: their goals stay -1
    idle = np.int64(0)
    fresh = active
    while any_lane(active):
        evaluate_play(args, wires)
        over = terminal_lanes(args, wires)
        going = active & ~parked
        held = splat(0)
        if any_lane(fresh):
            held = _out_of_turn(args, wires, going, fresh)
            for i in range(list_lanes(held, notes.lanes, notes.lane_of)):
                lane = item(notes.lane_of, i)
                put(notes.since, lane, item(notes.since, lane) + 1)
            going = going & ~held
            fresh = splat(0)
        if weighted:
            stopped = choose_by_policy(
                args, policy, scratch, depth, notes.widths, going, streams, notes.choosing
            )
        else:
            stopped = choose_moves(
                args, wires, scratch.planes, scratch.groups, depth, going, streams, notes.choosing
            )
        if watched >= 0:
            _note_moves(args, wires, notes, going, step, watched, trace)
        moveless = stopped
        if step >= deadline:
            deadline = _find_overdue(notes, step, max_steps)
            stopped = stopped | load(notes.lanes, 0)
            moveless = moveless & ~load(notes.lanes, 0)
        ended = (over | stopped) & going
        if any_lane(ended):
            cut += count_lanes(ended & ~over)
            parked = parked | ended
            stuck = stuck | (ended & moveless & ~over)
            for i in range(list_lanes(ended, notes.lanes, notes.lane_of)):
                lane = item(notes.lane_of, i)
                put(lengths, item(notes.job, lane), step - item(notes.since, lane))
        if tallied:
            _note_choices(args, wires, notes.choosing, going & ~parked, scratch.chosen)
        turn += 1
        renewed = splat(0)
        leaving = False
        if turn == sizes.roles:
            turn = np.int64(0)
            if fewest > 0 and waiting == n:
                leaving = bool(step + 1 >= most or count_lanes(active & ~parked) < fewest)
            if any_lane(parked):
                idle += sizes.roles * count_lanes(parked) * sizes.step_cost
                if idle >= flush or leaving or not any_lane(active & ~parked):
                    idle = np.int64(0)
                    evaluate_goals(args, wires)
                    count = list_lanes(parked & ~stuck, notes.lanes, notes.lane_of)
                    read_goals(args, wires, notes.lane_of, count, notes.job, notes.lanes, goals)
                    count = list_lanes(parked, notes.lanes, notes.lane_of)
                    if tallied:
                        tally(
                            args, scratch.chosen, parked, notes.lane_of, count, notes.job, each, counted,
                            goals, notes.block, tallies,
                        )  # fmt: skip
                    count = min(count, n - waiting)
                    renewed = _take_up(notes, count, waiting, step + 1, lengths)
                    waiting += count
                    active = (active & ~parked) | renewed
                    parked = splat(0)
                    stuck = splat(0)
                    fresh = renewed
        evaluate_moves(args, wires)
        next_states(
            args, wires, scratch.following, parked | (held & ~renewed), renewed, one_start, notes.start
        )
        if not one_start and any_lane(renewed):
            _scatter(wires, starts, notes, each)
        step += 1
        if leaving:
            for i in range(list_lanes(active, notes.lanes, notes.lane_of)):
                lane = item(notes.lane_of, i)
                put(lengths, item(notes.job, lane), step - item(notes.since, lane))
                put(playout_in, lane, item(notes.job, lane))
            break
    return cut


@inner
def _out_of_turn(args: KernelArgs, wires: Words, going: Vector, fresh: Vector) -> Vector:
    """The new lanes in which another role is to move than in most lanes: they wait for a step. Then one role
    rests in all lanes, whatever states playouts start from. Only for two roles, if the rest of the first is
    known."""
    if sizes_of(args).roles != 2 or not can_rest(args, np.int64(0)):
        return splat(0)
    first = awake(args, wires, np.int64(0))
    others = going & ~fresh
    if not any_lane(others):
        others = fresh
    if 2 * count_lanes(others & first) >= count_lanes(others):
        return fresh & ~first
    return fresh & first


@inner
def _begin(
    wires: Words, notes: _LaneNotes, starts: Words, count: Index, each: Index, bases: Index, made: Int32s
) -> Vector:
    """Start the first ``count`` playouts, ``each`` from every start. Returns the lanes that play them."""
    for base in range(notes.start.size):
        notes.start[base] = record_mask(starts, 0, base)
    for lane in range(count):
        notes.lane_of[lane] = lane
    bare = raw(notes)
    active = _take_up(bare, count, np.int64(0), np.int64(0), made)
    if starts.shape[0] == 1:
        load_records(wires, starts, np.int64(0), np.int64(1), bases)
    elif each == 1:
        write_lanes(starts, np.int64(0), count, wires, np.int64(1), bases)
    else:
        for base in range(bases):
            store(wires, (1 + base) * BYTES, splat(0))
        _scatter(raw(wires), starts, bare, each)
    return active


@inner
def _take_up(notes: _LaneNotes, count: Index, job: Index, step: Index, made: Int32s) -> Vector:
    """Assign the playouts from ``job`` on, which have already made ``made`` steps, to the first ``count``
    lanes in the list. Returns these lanes."""
    store(notes.lanes, 0, splat(0))
    for i in range(count):
        lane = item(notes.lane_of, i)
        put(notes.job, lane, job + i)
        put(notes.since, lane, step - item(made, job + i))
        set_lane(notes.lanes, lane)
    return load(notes.lanes, 0)


@inner
def _find_overdue(notes: _LaneNotes, step: Index, max_steps: int) -> Index:
    """Leave in the first vector of ``notes.lanes`` the lanes that have made ``max_steps``. Returns the step
    of the next check."""
    deadline = step + max_steps
    store(notes.lanes, 0, splat(0))
    for lane in range(LANES):
        if step - item(notes.since, lane) >= max_steps:
            set_lane(notes.lanes, lane)
        else:
            deadline = min(deadline, item(notes.since, lane) + max_steps)
    return deadline


@inner
def _note_moves(
    args: KernelArgs,
    wires: Words,
    notes: _LaneNotes,
    active: Vector,
    step: Index,
    watched: int,
    trace: Int32s,
) -> None:
    """Write the moves just chosen in the lane that plays playout ``watched``, if any does."""
    first_move = 1 + sizes_of(args).bases
    store(notes.lanes, 0, active)
    for lane in range(LANES):
        played = step - item(notes.since, lane)
        if item(notes.job, lane) != watched or get_lane(notes.lanes, lane) == 0 or played >= trace.shape[0]:
            continue
        for role in range(trace.shape[1]):
            first = item(args.role_moves, role)
            for move in range(first, item(args.role_moves, role + 1)):
                if get_lane(wires, LANES * (first_move + move) + lane) != 0:
                    trace[played, role] = move - first


@inner
def _scatter(wires: Words, records: Words, notes: _LaneNotes, each: Index) -> None:
    """Set the bases of the start records in the lanes of the first vector of ``notes.lanes``, all neighbours
    with the same record together. The second vector is scratch."""
    lanes = notes.lanes
    record = np.int64(-1)
    store(lanes, BYTES, splat(0))
    for word in range(WORDS):
        left = item(lanes, word)
        while left != 0:
            lane = lowest_bit(left)
            left &= left - np.uint64(1)
            start = item(notes.job, 64 * word + lane) // each
            if start != record:
                if record >= 0:
                    _set_bases(wires, records, record, load(lanes, BYTES))
                record = np.int64(start)
                store(lanes, BYTES, splat(0))
            set_lane(lanes, LANES + 64 * word + lane)
    if record >= 0:
        _set_bases(wires, records, record, load(lanes, BYTES))


@inner
def _set_bases(wires: Words, records: Words, record: Index, lanes: Vector) -> None:
    """Set the bases that are true in a record in these lanes."""
    for column in range(records.shape[1]):
        true = records[record, column]
        while true != 0:
            at = (1 + 64 * column + lowest_bit(true)) * BYTES
            true &= true - np.uint64(1)
            store(wires, at, load(wires, at) | lanes)
