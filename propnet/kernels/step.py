"""The parts of a step of 512 lanes, for the kernels to put together.

Arrays are those of :class:`propnet.kernels.kernel_args.Code`, counted by numba or bare pointers
(:func:`propnet.kernels.kernel_args.uncounted`), with ``wires`` as in :mod:`propnet.kernels.gates`. A step
evaluates what needs no move, chooses or sets the moves, evaluates what needs them, and gives the base
propositions their next values. Constants are handed on as ``np.int64(0)``: a bare ``0`` is a literal type
to numba, for which it would compile a function again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, WORDS, Index, any_lane, item, load, lowest_bit, put, splat, store
from propnet.kernels.gates import evaluate_segments
from propnet.kernels.kernel_args import Code
from propnet.kernels.records import write_lanes
from propnet.kernels.uniform_choice import choose_in_place, copy_legal


@inner
def evaluate_play(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what every step needs and needs no move."""
    first, last = np.int64(0), item(code.sizes, 2)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def evaluate_goals(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what only goals need, after :func:`evaluate_play` and before moves are made."""
    first, last = item(code.sizes, 2), item(code.sizes, 3)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def evaluate_moves(code: Code, wires: NDArray[np.uint64]) -> None:
    """Evaluate what needs the moves."""
    first, last = item(code.sizes, 3), item(code.sizes, 4)
    evaluate_segments(wires, code.segments, code.blocks, code.runs, code.inputs, code.init, first, last)


@inner
def choose_moves(
    code: Code,
    wires: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    depth: Index,
    streams: NDArray[np.uint64],
    choosing: NDArray[np.uint64],
) -> Any:
    """Choose a move for every role; returns the lanes in which some role has no legal one.

    ``choosing`` is (roles, 8): the lanes in which each role has several legal moves, but in roles
    of a single move something without meaning."""
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
        store(choosing, role * BYTES, load(planes, depth * BYTES))
    return stuck


@inner
def next_states(
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
def load_records(
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
def read_goals(
    code: Code,
    wires: NDArray[np.uint64],
    lane_of: NDArray[np.int64],
    count: Any,
    rows: NDArray[np.int32],
    scratch: NDArray[np.uint64],
    goals: NDArray[np.int16],
    single: Any = False,
) -> None:
    """Write the goals of the first ``count`` lanes in ``lane_of`` to ``goals[rows[lane]]`` (-1 on entry):
    the highest that holds; with ``single`` only where exactly one does."""
    for role in range(item(code.sizes, 9)):
        clear = ~splat(0)
        if single:
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
                        row = item(rows, lane)
                        goals[row, role] = max(goals[row, role], value)


@inner
def set_lane(lanes: NDArray[np.uint64], lane: Index) -> None:
    """Set a lane's bit in the first vector of ``lanes``."""
    put(lanes, lane >> 6, item(lanes, lane >> 6) | (np.uint64(1) << np.uint64(lane & 63)))


@inner
def list_lanes(wanted: Any, scratch: NDArray[np.uint64], lane_of: NDArray[np.int64]) -> Any:
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
