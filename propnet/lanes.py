"""The bit-sliced step kernels: evaluate states, make moves, play playouts in asynchronous lanes.

Arrays are those of :class:`propnet.plan.Plan`, with ``wires`` as in :mod:`propnet.kernel` and
records as in :mod:`propnet.pack`. Where many arrays are needed they come as the named tuple
``Code`` (numba passes it as one typed value). Constants are handed on as ``np.int64(0)``: a bare
``0`` is a literal type to numba, for which it would compile a function again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.choice import choose_in_place, copy_legal
from propnet.compiled import kernel
from propnet.kernel import evaluate_segments
from propnet.pack import read_lanes, write_lanes
from propnet.plan import Plan
from propnet.vector import (
    BYTES,
    LANES,
    WORDS,
    Index,
    aligned,
    any_lane,
    count_lanes,
    inner,
    item,
    load,
    lowest_bit,
    put,
    raw,
    splat,
    store,
)

FLUSH = 1_000
"""What taking up the next playouts costs, in gate inputs (about half a microsecond)."""


class Code(NamedTuple):
    """A plan as the kernels take it; the fields are the plan's, but for two.

    ``segments``, int64 (segments, 3), is what is evaluated, in order: address of a native
    function, or 0 for the blocks from the second number to before the third. ``sizes``, int64,
    holds the numbers of bases and of moves; of segments that every step needs before moves are
    made, of these and those that only goals need, and of all; the costs of taking up new playouts
    and of a step, in gate inputs; whether the segments leave the moves' legality in the
    moves' own wires; whether no base proposition's next value is read from another's wire; and of roles.
    """

    inputs: NDArray[np.uint32]
    runs: NDArray[np.int32]
    blocks: NDArray[np.int32]
    init: NDArray[np.uint8]
    next_offsets: NDArray[np.uint32]
    next_signs: NDArray[np.int64]
    legal_offsets: NDArray[np.uint32]
    legal_signs: NDArray[np.int64]
    role_moves: NDArray[np.int32]
    goal_offsets: NDArray[np.uint32]
    goal_signs: NDArray[np.int64]
    goal_values: NDArray[np.int16]
    role_goals: NDArray[np.int32]
    terminal: NDArray[np.int64]
    segments: NDArray[np.int64]
    sizes: NDArray[np.int64]


def code_of(plan: Plan) -> Code:
    """The plan's arrays as one value for the kernels: a segment per section, all interpreted."""
    bounds = [0, plan.play_blocks, plan.base_blocks, len(plan.blocks)]
    segments = np.array([(0, low, high) for low, high in pairwise(bounds)], np.int64)
    return assemble(plan, segments, (1, 2, 3), legal_in_place=False)


def assemble(
    plan: Plan, segments: NDArray[np.int64], bounds: tuple[int, int, int], *, legal_in_place: bool
) -> Code:
    """The plan's arrays and these segments as one value for the kernels; ``bounds`` are the ends
    of the sections among the segments."""
    # A move costs a step about as much as four gate inputs, a base proposition as two.
    step = plan.step_inputs + 4 * plan.moves + 2 * plan.bases
    read = plan.next_offsets // BYTES
    own = np.arange(1, plan.bases + 1)
    direct = not ((read > 0) & (read <= plan.bases) & (read != own)).any()
    sizes = np.array(
        [
            plan.bases,
            plan.moves,
            *bounds,
            plan.goal_inputs + FLUSH,
            step,
            legal_in_place,
            direct,
            len(plan.role_moves) - 1,
        ],
        np.int64,
    )
    fields = {name: getattr(plan, name) for name in Code._fields if name not in ("segments", "sizes")}
    fields = {name: np.ascontiguousarray(array) for name, array in fields.items()}
    return Code(segments=np.ascontiguousarray(segments), sizes=sizes, **fields)


@inner
def uncounted(code: Code) -> Code:
    """The same with bare pointers (:func:`propnet.vector.raw`); ``code`` must outlive it."""
    return Code(
        raw(code.inputs),
        raw(code.runs),
        raw(code.blocks),
        raw(code.init),
        raw(code.next_offsets),
        raw(code.next_signs),
        raw(code.legal_offsets),
        raw(code.legal_signs),
        raw(code.role_moves),
        raw(code.goal_offsets),
        raw(code.goal_signs),
        raw(code.goal_values),
        raw(code.role_goals),
        raw(code.terminal),
        raw(code.segments),
        raw(code.sizes),
    )


def new_wires(plan: Plan) -> NDArray[np.uint64]:
    """Wires for the kernels to work on, the constant set."""
    wires = aligned(plan.wires)
    wires[0] = np.iinfo(np.uint64).max
    return wires


@kernel
def evaluate(
    code: Code,
    wires: NDArray[np.uint64],
    records: NDArray[np.uint64],
    terminal: NDArray[np.bool_],
    goals: NDArray[np.int16],
    legal: NDArray[np.uint64],
) -> None:
    """Fill in whether each of n states is terminal (n,), its goals (n, roles; -1 on entry and
    where not exactly one value holds) and its legal moves as records (n, words)."""
    n = records.shape[0]
    lanes = np.empty((2, WORDS), np.uint64)
    rows = np.empty(LANES, np.int32)
    lane_of = np.empty(LANES, np.int64)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        _load(wires, records, first, count, item(code.sizes, 0))
        _evaluate_play(code, wires)
        _evaluate_goals(code, wires)
        store(lanes, 0, load(wires, item(code.terminal, 0)) ^ splat(item(code.terminal, 1)))
        for lane in range(count):
            terminal[first + lane] = (lanes[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1) != 0
            rows[lane] = first + lane
            lane_of[lane] = lane
        _read_goals(code, wires, lane_of, count, rows, lanes, goals)
        read_lanes(wires, code.legal_offsets, code.legal_signs, legal, first, count)


@kernel
def successors(
    code: Code,
    wires: NDArray[np.uint64],
    records: NDArray[np.uint64],
    moves: NDArray[np.int32],
    after: NDArray[np.uint64],
) -> None:
    """Fill in the records (n, words) of the states after one move id per role (n, roles)."""
    n = records.shape[0]
    bases = item(code.sizes, 0)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        _load(wires, records, first, count, bases)
        _evaluate_play(code, wires)
        for wire in range(1 + bases, 1 + bases + item(code.sizes, 1)):
            store(wires, wire * BYTES, splat(0))
        for lane in range(count):
            bit = np.uint64(1) << np.uint64(lane & 63)
            for role in range(moves.shape[1]):
                move = item(code.role_moves, role) + moves[first + lane, role]
                wires[1 + bases + move, lane >> 6] |= bit
        _evaluate_moves(code, wires)
        read_lanes(wires, code.next_offsets, code.next_signs, after, first, count)


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
) -> int:
    """Play one playout per row of ``lengths`` (n,) and ``goals`` (n, roles; -1 on entry).

    As many playouts start from each record of ``starts`` (their number divides n), in their order.
    A lane whose playout
    is over is parked, its state held, until what the parked lanes idle away has cost as much as
    the gates that only goals need and the taking up of new playouts; then the goals of all
    parked lanes are evaluated at once, and these lanes take the next playouts that wait. They do
    so at every second step only (every third with three roles, and so on), so that in games
    where roles take turns the same role is to move in all lanes and the others' choice is free.
    Which playouts are reported does not depend on how long they last. ``following`` is scratch,
    (bases, 8). The first moves of playout ``watched`` (-1 for none) are written to ``trace``, shape
    (steps, roles). Returns how many were cut by ``max_steps`` or for want of a legal move.
    """
    job = np.zeros(LANES, np.int32)
    since = np.zeros(LANES, np.int64)
    lane_of = np.zeros(LANES, np.int64)
    lanes = np.zeros((2, WORDS), np.uint64)
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
    )
    return cut


@inner
def _play(
    counted: Code,
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
) -> int:
    """:func:`playouts`, given arrays for what it notes: they outlive the bare pointers to them."""
    code = uncounted(counted)
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
        _set_lane(lanes, lane)
    active = load(lanes, 0)
    if one_start:
        _load(wire_array, starts, np.int64(0), np.int64(1), bases)
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
        _evaluate_play(code, wires)
        over = load(wires, item(code.terminal, 0)) ^ splat(item(code.terminal, 1))
        stopped = _choose(code, wires, planes, depth, streams)
        if watched >= 0:
            _note_moves(code, wire_array, active, jobs, begins, now, watched, scratch, trace)
        if now >= deadline:
            deadline = now + max_steps
            store(lanes, 0, splat(0))
            for lane in range(LANES):
                if now - item(since, lane) >= max_steps:
                    _set_lane(lanes, lane)
                else:
                    deadline = min(deadline, item(since, lane) + max_steps)
            stopped = stopped | load(lanes, 0)
        ended = (over | stopped) & active & ~parked
        if any_lane(ended):
            cut += count_lanes(ended & ~over)
            parked = parked | ended
            for i in range(_list_lanes(ended, lanes, lane_of)):
                lane = item(lane_of, i)
                put(lengths, item(job, lane), now - item(since, lane))
        turn += 1
        renewed = splat(0)
        if turn == roles:
            turn = np.int64(0)
            if any_lane(parked):
                idle += roles * count_lanes(parked) * item(code.sizes, 6)
                if idle >= flush or not any_lane(active & ~parked):
                    idle = np.int64(0)
                    _evaluate_goals(code, wires)
                    count = _list_lanes(parked, lanes, lane_of)
                    _read_goals(code, wires, lane_of, count, job, lanes, goals)
                    taken = min(count, n - waiting)
                    store(lanes, 0, splat(0))
                    for i in range(taken):
                        lane = item(lane_of, i)
                        put(job, lane, waiting + i)
                        put(since, lane, now + 1)
                        _set_lane(lanes, lane)
                    waiting += taken
                    renewed = load(lanes, 0)
                    active = (active & ~parked) | renewed
                    parked = splat(0)
        _evaluate_moves(code, wires)
        _next_states(code, wires, next_wires, parked, renewed, one_start, first)
        if not one_start and any_lane(renewed):
            _scatter(wire_array, starts, scratch, jobs, each)
        now += 1
    return cut


@inner
def _choose(
    code: Code,
    wires: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    depth: Index,
    streams: NDArray[np.uint64],
) -> Any:
    """Choose a move for every role; returns the lanes in which some role has no legal one."""
    out = 1 + item(code.sizes, 0)
    in_place = item(code.sizes, 7) != 0
    offsets = code.legal_offsets
    signs = code.legal_signs
    stuck = splat(0)
    for role in range(item(code.sizes, 9)):
        first = np.int64(item(code.role_moves, role))
        last = np.int64(item(code.role_moves, role + 1))
        if not in_place:
            copy_legal(wires, offsets, signs, first, last, out)
        stuck = stuck | ~choose_in_place(wires, first, last, out, planes, depth, streams)
    return stuck


@inner
def _set_lane(lanes: NDArray[np.uint64], lane: Index) -> None:
    """Set a lane's bit in the first vector of ``lanes``."""
    put(lanes, lane >> 6, item(lanes, lane >> 6) | (np.uint64(1) << np.uint64(lane & 63)))


@inner
def _list_lanes(wanted: Any, scratch: NDArray[np.uint64], lane_of: NDArray[np.int64]) -> Any:
    """List the wanted lanes in ``lane_of`` (512,), ascending; how many they are."""
    store(scratch, 0, wanted)
    count = np.int64(0)
    for word in range(WORDS):
        left = item(scratch, word)
        while left != 0:
            put(lane_of, count, 64 * word + lowest_bit(left))
            left &= left - np.uint64(1)
            count += 1
    return count


@inner
def _next_states(
    code: Code,
    wires: NDArray[np.uint64],
    following: NDArray[np.uint64],
    parked: Any,
    renewed: Any,
    one_start: bool,
    first: NDArray[np.int64],
) -> None:
    """Give the base propositions their next values; parked lanes keep theirs, renewed ones take
    those of the one start, ``first`` (0 or -1 per base), or false where starts differ."""
    bases = item(code.sizes, 0)
    direct = item(code.sizes, 8) != 0
    if not direct:
        for base in range(bases):
            value = load(wires, item(code.next_offsets, base)) ^ splat(item(code.next_signs, base))
            store(following, base * BYTES, value)
    new = any_lane(renewed)
    held = any_lane(parked)
    for base in range(bases):
        if direct:
            value = load(wires, item(code.next_offsets, base)) ^ splat(item(code.next_signs, base))
        else:
            value = load(following, base * BYTES)
        if held:
            value = (value & ~parked) | (load(wires, (1 + base) * BYTES) & parked)
        if new:
            value = value & ~renewed
            if one_start:
                value = value | (renewed & splat(item(first, base)))
        store(wires, (1 + base) * BYTES, value)


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
def _evaluate_play(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what every step needs and needs no move."""
    first, last = np.int64(0), item(code.sizes, 2)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def _evaluate_goals(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what only goals need, after :func:`_evaluate_play` and before moves are made."""
    first, last = item(code.sizes, 2), item(code.sizes, 3)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def _evaluate_moves(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what needs the moves."""
    first, last = item(code.sizes, 3), item(code.sizes, 4)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def _load(
    wires: NDArray[np.uint64], records: NDArray[np.uint64], first: Index, count: Index, bases: Index
) -> None:
    """Bring records into the first lanes of the bases' wires; a single one into all lanes."""
    if count == 1:
        for base in range(bases):
            bit = (records[first, base >> 6] >> np.uint64(base & 63)) & np.uint64(1)
            store(wires, (1 + base) * BYTES, splat(-np.int64(bit)))
    else:
        write_lanes(records, first, count, wires, np.int64(1), bases)


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


@inner
def _read_goals(
    code: Code,
    wires: NDArray[np.uint64],
    lane_of: NDArray[np.int64],
    count: Any,
    rows: NDArray[np.int32],
    scratch: NDArray[np.uint64],
    goals: NDArray[np.int16],
) -> None:
    """Write the goals of the first ``count`` lanes in ``lane_of`` to ``goals[rows[lane]]`` where
    exactly one holds."""
    for role in range(item(code.sizes, 9)):
        once = splat(0)
        twice = splat(0)
        for goal in range(item(code.role_goals, role), item(code.role_goals, role + 1)):
            holds = load(wires, item(code.goal_offsets, goal)) ^ splat(item(code.goal_signs, goal))
            twice = twice | (once & holds)
            once = once | holds
        clear = once & ~twice
        for goal in range(item(code.role_goals, role), item(code.role_goals, role + 1)):
            holds = load(wires, item(code.goal_offsets, goal)) ^ splat(item(code.goal_signs, goal))
            holds = holds & clear
            if any_lane(holds):
                store(scratch, 0, holds)
                value = item(code.goal_values, goal)
                for i in range(count):
                    lane = item(lane_of, i)
                    if (item(scratch, lane >> 6) >> np.uint64(lane & 63)) & np.uint64(1) != 0:
                        goals[item(rows, lane), role] = value
