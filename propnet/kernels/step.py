"""The parts of a step of 512 lanes, which the kernels combine.

A step evaluates the gates that need no move, chooses or sets the moves, evaluates the gates that need them,
and gives the base propositions their next values. ``args`` and ``wires`` may be arrays or bare pointers
(:func:`propnet.jit.vector512.raw`); wires are as in :mod:`propnet.kernels.gates`. Constants are passed as
``np.int64(0)``: a bare ``0`` is a type of its own to numba, which would compile the function again.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Goals, Index, Int32s, Ints, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, any_lane, item, load, put, splat, store
from propnet.kernels.gates import evaluate_segments, read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import get_lane, record_mask, write_lanes
from propnet.kernels.uniform_choice import choose_of_role


@inner
def evaluate_play(args: KernelArgs, wires: Words) -> None:
    """Evaluate the gates that every step needs and that need no move."""
    evaluate_segments(args, wires, np.int64(0), sizes_of(args).play_end)


@inner
def evaluate_goals(args: KernelArgs, wires: Words) -> None:
    """Evaluate the gates that only goals need, after :func:`evaluate_play` and before moves are made."""
    sizes = sizes_of(args)
    evaluate_segments(args, wires, sizes.play_end, sizes.goals_end)


@inner
def evaluate_moves(args: KernelArgs, wires: Words) -> None:
    """Evaluate the gates that need the moves."""
    sizes = sizes_of(args)
    evaluate_segments(args, wires, sizes.goals_end, sizes.moves_end)


@inner
def terminal_lanes(args: KernelArgs, wires: Words) -> Vector:
    """The lanes whose states are terminal, after :func:`evaluate_play`."""
    return load(wires, item(args.terminal, 0)) ^ splat(item(args.terminal, 1))


@inner
def clear_moves(args: KernelArgs, wires: Words) -> None:
    """Clear the moves in all lanes."""
    sizes = sizes_of(args)
    for wire in range(1 + sizes.bases, 1 + sizes.bases + sizes.moves):
        store(wires, wire * BYTES, splat(0))


@inner
def choose_moves(
    args: KernelArgs,
    wires: Words,
    planes: Words,
    groups: Words,
    depth: Index,
    lanes: Vector,
    streams: Words,
    choosing: Words,
) -> Vector:
    """Choose a move for every role in all ``lanes``, and some or none in others. Returns the lanes in which
    some role has no legal move.

    ``choosing`` is (roles, 8): the lanes in which each role has several legal moves. It is undefined for
    roles with a single move."""
    stuck = splat(0)
    for role in range(sizes_of(args).roles):
        some, several = choose_of_role(args, wires, planes, groups, depth, role, lanes, streams)
        stuck = stuck | ~some
        store(choosing, role * BYTES, several)
    return stuck


@inner
def next_states(
    args: KernelArgs,
    wires: Words,
    following: Words,
    parked: Vector,
    renewed: Vector,
    one_start: bool,
    first: Ints,
) -> None:
    """Give the base propositions their next values. Parked lanes keep theirs. Renewed lanes take those of the
    one start, ``first`` (bases,; -1 for true), or false if starts differ. ``following`` is scratch,
    (bases, 8)."""
    sizes = sizes_of(args)
    if sizes.direct == 0:
        for base in range(sizes.bases):
            store(following, base * BYTES, read_wire(wires, args.next_offsets, args.next_signs, base))
    any_renewed = any_lane(renewed)
    any_parked = any_lane(parked)
    for base in range(sizes.bases):
        if sizes.direct != 0:
            value = read_wire(wires, args.next_offsets, args.next_signs, base)
        else:
            value = load(following, base * BYTES)
        if any_parked:
            value = (value & ~parked) | (load(wires, (1 + base) * BYTES) & parked)
        if any_renewed:
            value = value & ~renewed
            if one_start:
                value = value | (renewed & splat(item(first, base)))
        store(wires, (1 + base) * BYTES, value)


@inner
def load_records(wires: Words, records: Words, first: Index, count: Index, bases: Index) -> None:
    """Load records into the first lanes of the bases' wires; a single one into all lanes."""
    if count == 1:
        for base in range(bases):
            store(wires, (1 + base) * BYTES, splat(record_mask(records, first, base)))
    else:
        write_lanes(records, first, count, wires, np.int64(1), bases)


@inner
def read_goals(
    args: KernelArgs,
    wires: Words,
    lane_of: Ints,
    count: Index,
    rows: Int32s,
    scratch: Words,
    goals: Goals,
    single: bool = False,
) -> None:
    """Write the goals of the first ``count`` lanes in ``lane_of`` to ``goals[rows[lane]]`` (-1 on entry): the
    highest that holds; with ``single`` only if exactly one does. ``scratch`` is (1, 8)."""
    roles = sizes_of(args).roles
    for role in range(roles):
        low, high = item(args.role_goals, role), item(args.role_goals, role + 1)
        clear = ~splat(0)
        if single:
            once = splat(0)
            twice = splat(0)
            for goal in range(low, high):
                holds = read_wire(wires, args.goal_offsets, args.goal_signs, goal)
                twice = twice | (once & holds)
                once = once | holds
            clear = once & ~twice
        for goal in range(low, high):
            holds = read_wire(wires, args.goal_offsets, args.goal_signs, goal) & clear
            if any_lane(holds):
                store(scratch, 0, holds)
                value = item(args.goal_values, goal)
                for i in range(count):
                    lane = item(lane_of, i)
                    if get_lane(scratch, lane) != 0:
                        at = item(rows, lane) * roles + role
                        put(goals, at, max(item(goals, at), value))
