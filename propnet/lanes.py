"""The bit-sliced step kernels: evaluate states, make moves, play playouts in asynchronous lanes.

Arrays are those of :class:`propnet.plan.Plan`, with ``wires`` as in :mod:`propnet.kernel` and
records as in :mod:`propnet.pack`. Where many arrays are needed they come as the named tuple
``Code`` (numba passes it as one typed value). Constants are handed on as ``np.int64(0)``: a bare
``0`` is a literal type to numba, for which it would compile a function again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.choice import choose
from propnet.kernel import evaluate_blocks
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
    splat,
    store,
)

PARKING_PAYS = 0.25
"""Share of a step's cost from which on goals are evaluated for many ended lanes together."""


class Code(NamedTuple):
    """A plan as the kernels take it; the fields are the plan's. ``sizes`` holds its numbers of
    bases, moves, blocks without moves, blocks, blocks before those that only goals need, and
    the cost of the latter and of a step without them, in gate inputs."""

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
    sizes: NDArray[np.int64]


def code_of(plan: Plan) -> Code:
    """The plan's arrays as one value for the kernels."""
    # A move costs a step about as much as four gate inputs, a base proposition as two.
    step = len(plan.inputs) - plan.goal_inputs + 4 * plan.moves + 2 * plan.bases
    blocks = plan.base_blocks, len(plan.blocks), plan.play_blocks
    # Where goals cost little, parking lanes costs more than it saves.
    goals = plan.goal_inputs if plan.goal_inputs >= step * PARKING_PAYS else 0
    sizes = np.array([plan.bases, plan.moves, *blocks, goals, step], np.int64)
    fields = {name: getattr(plan, name) for name in Code._fields if name != "sizes"}
    return Code(sizes=sizes, **{k: np.ascontiguousarray(v) for k, v in fields.items()})


def new_wires(plan: Plan) -> NDArray[np.uint64]:
    """Wires for the kernels to work on, the constant set."""
    wires = aligned(plan.wires)
    wires[0] = np.iinfo(np.uint64).max
    return wires


@njit(cache=True)
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
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        _load(wires, records, first, count, code.sizes[0])
        _evaluate_play(code, wires)
        _evaluate_goals(code, wires)
        store(lanes, 0, load(wires, code.terminal[0]) ^ splat(code.terminal[1]))
        for lane in range(count):
            terminal[first + lane] = (lanes[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1) != 0
            rows[lane] = first + lane
        for word in range(WORDS):
            here = min(64, max(0, count - 64 * word))
            lanes[0, word] = ~np.uint64(0) if here == 64 else (np.uint64(1) << np.uint64(here)) - np.uint64(1)
        _read_goals(code, wires, load(lanes, 0), lanes, rows, goals)
        read_lanes(wires, code.legal_offsets, code.legal_signs, legal, first, count)


@njit(cache=True)
def successors(
    code: Code,
    wires: NDArray[np.uint64],
    records: NDArray[np.uint64],
    moves: NDArray[np.int32],
    after: NDArray[np.uint64],
) -> None:
    """Fill in the records (n, words) of the states after one move id per role (n, roles)."""
    n = records.shape[0]
    bases = code.sizes[0]
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        _load(wires, records, first, count, bases)
        _evaluate_play(code, wires)
        for wire in range(1 + bases, 1 + bases + code.sizes[1]):
            store(wires, wire * BYTES, splat(0))
        for lane in range(count):
            bit = np.uint64(1) << np.uint64(lane & 63)
            for role in range(moves.shape[1]):
                move = code.role_moves[role] + moves[first + lane, role]
                wires[1 + bases + move, lane >> 6] |= bit
        _evaluate_moves(code, wires)
        read_lanes(wires, code.next_offsets, code.next_signs, after, first, count)


@njit(cache=True)
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

    Playout i starts from record i of ``starts``, or all from the only one. A lane whose playout
    is over is parked, its state held, until what the parked lanes idle away has cost as much as
    the gates that only goals need; these are then evaluated for all parked lanes at once, which
    take the next playouts that wait. So all but the last few passes use nearly all lanes, and
    which playouts are reported does not depend on how long they last. ``following`` is scratch,
    (bases, 8). The first moves of playout ``watched`` (-1 for none) are written to ``trace``, shape
    (steps, roles). Returns how many were cut by ``max_steps`` or for want of a legal move.
    """
    n = lengths.size
    bases = code.sizes[0]
    roles = code.role_moves.size - 1
    job = np.zeros(LANES, np.int32)
    since = np.zeros(LANES, np.int64)
    lanes = np.zeros((2, WORDS), np.uint64)
    waiting = min(n, LANES)
    for lane in range(waiting):
        job[lane] = lane
        lanes[0, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
    active = load(lanes, 0)
    if starts.shape[0] == 1:
        _load(wires, starts, np.int64(0), np.int64(1), bases)
    else:
        write_lanes(starts, np.int64(0), waiting, wires, np.int64(1), bases)
    cut = 0
    now = np.int64(0)
    deadline = np.int64(max_steps)
    parked = splat(0)
    idle = np.int64(0)
    while any_lane(active):
        _evaluate_play(code, wires)
        over = load(wires, code.terminal[0]) ^ splat(code.terminal[1])
        stopped = splat(0)
        for role in range(roles):
            first = code.role_moves[role]
            last = code.role_moves[role + 1]
            stopped = stopped | ~choose(
                wires, code.legal_offsets, code.legal_signs, first, last, 1 + bases, planes, streams
            )
        if watched >= 0:
            _note_moves(code, wires, active, job, since, now, watched, lanes, trace)
        if now >= deadline:
            deadline = now + max_steps
            for lane in range(LANES):
                if now - since[lane] >= max_steps:
                    lanes[0, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
                else:
                    lanes[0, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))
                    deadline = min(deadline, since[lane] + max_steps)
            stopped = stopped | load(lanes, 0)
        ended = (over | stopped) & active & ~parked
        if any_lane(ended):
            cut += count_lanes(ended & ~over)
            parked = parked | ended
            store(lanes, 0, ended)
            for word in range(WORDS):
                left = lanes[0, word]
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    lengths[job[lane]] = now - since[lane]
        renewed = splat(0)
        if any_lane(parked):
            idle += count_lanes(parked) * code.sizes[6]
            if idle >= LANES * code.sizes[5] or not any_lane(active & ~parked):
                idle = np.int64(0)
                _evaluate_goals(code, wires)
                _read_goals(code, wires, parked, lanes, job, goals)
                store(lanes, 0, parked)
                store(lanes, BYTES, splat(0))
                for word in range(WORDS):
                    left = lanes[0, word]
                    while left != 0 and waiting < n:
                        lane = 64 * word + lowest_bit(left)
                        left &= left - np.uint64(1)
                        job[lane] = waiting
                        since[lane] = now + 1
                        waiting += 1
                        lanes[1, word] |= np.uint64(1) << np.uint64(lane & 63)
                renewed = load(lanes, BYTES)
                active = (active & ~parked) | renewed
                parked = splat(0)
        _evaluate_moves(code, wires)
        for base in range(bases):
            value = load(wires, item(code.next_offsets, base)) ^ splat(item(code.next_signs, base))
            store(following, base * BYTES, value)
        if any_lane(renewed):
            for base in range(bases):
                value = load(following, base * BYTES) & ~renewed
                if starts.shape[0] == 1:
                    bit = (starts[0, base >> 6] >> np.uint64(base & 63)) & np.uint64(1)
                    value = value | (renewed & splat(-np.int64(bit)))
                store(wires, (1 + base) * BYTES, value)
            if starts.shape[0] > 1:
                _scatter(wires, starts, lanes[1], job)
        elif any_lane(parked):
            for base in range(bases):
                held = load(wires, (1 + base) * BYTES) & parked
                store(wires, (1 + base) * BYTES, (load(following, base * BYTES) & ~parked) | held)
        else:
            for base in range(bases):
                store(wires, (1 + base) * BYTES, load(following, base * BYTES))
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
            for move in range(code.role_moves[role], code.role_moves[role + 1]):
                if wires[1 + code.sizes[0] + move, word] & bit != 0:
                    trace[step, role] = move - code.role_moves[role]


@inner
def _evaluate_play(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what every step needs and needs no move."""
    evaluate_blocks(wires, code.blocks, code.runs, code.inputs, code.init, np.int64(0), code.sizes[4])


@inner
def _evaluate_goals(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what only goals need."""
    evaluate_blocks(wires, code.blocks, code.runs, code.inputs, code.init, code.sizes[4], code.sizes[2])


@inner
def _evaluate_moves(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what needs the moves."""
    evaluate_blocks(wires, code.blocks, code.runs, code.inputs, code.init, code.sizes[2], code.sizes[3])


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
    rows: NDArray[np.int32],
) -> None:
    """Set, in each of the lanes, the bases that are true in record ``rows[lane]``."""
    for word in range(WORDS):
        left = lanes[word]
        while left != 0:
            lane = lowest_bit(left)
            left &= left - np.uint64(1)
            bit = np.uint64(1) << np.uint64(lane)
            row = rows[64 * word + lane]
            for column in range(records.shape[1]):
                true = records[row, column]
                while true != 0:
                    base = 64 * column + lowest_bit(true)
                    true &= true - np.uint64(1)
                    wires[1 + base, word] |= bit


@inner
def _read_goals(
    code: Code,
    wires: NDArray[np.uint64],
    wanted: Any,
    scratch: NDArray[np.uint64],
    rows: NDArray[np.int32],
    goals: NDArray[np.int16],
) -> None:
    """Write the goals of the wanted lanes to ``goals[rows[lane]]`` where exactly one holds."""
    for role in range(code.role_goals.size - 1):
        once = splat(0)
        twice = splat(0)
        for goal in range(code.role_goals[role], code.role_goals[role + 1]):
            holds = load(wires, item(code.goal_offsets, goal)) ^ splat(item(code.goal_signs, goal))
            twice = twice | (once & holds)
            once = once | holds
        clear = wanted & once & ~twice
        for goal in range(code.role_goals[role], code.role_goals[role + 1]):
            holds = load(wires, item(code.goal_offsets, goal)) ^ splat(item(code.goal_signs, goal))
            holds = holds & clear
            if any_lane(holds):
                store(scratch, 0, holds)
                for word in range(WORDS):
                    left = scratch[0, word]
                    while left != 0:
                        lane = 64 * word + lowest_bit(left)
                        left &= left - np.uint64(1)
                        goals[rows[lane], role] = code.goal_values[goal]
