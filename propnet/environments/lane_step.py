"""The kernels of vector environments: one step of n matches, a lane of 512 for each, by moves from outside.

Between two calls every block of 512 lanes keeps wires of its own, in which the gates that need no move are
evaluated for the lanes' present states. A step checks whether all moves are legal and makes them. It gives
the base propositions their next values, evaluates again, and returns the states and the legal moves as rows
of bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.arrays import Goals, Index, Int32s, Ints, Octets, Offsets, Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import BYTES, LANES, any_lane, item, load, put, raw, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import get_lane, list_lanes, read_lanes, set_lane
from propnet.kernels.step import (
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    next_states,
    read_goals,
    terminal_lanes,
)

NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""When a finished match restarts: with the next step, within the last step, or at a call of
:func:`begin_lanes`."""


class MatchLanes(NamedTuple):
    """The data kept between two steps, and scratch.

    ``wires`` (blocks, wires, 8). ``used`` and ``over`` (blocks, 8): lanes that are environments, and those
    whose match is over. ``lengths`` (n,): steps since the match began. ``start`` (bases,): the initial state,
    -1 for true. ``base_*`` (bases,) and ``mask_*`` (64 * mask words,): the places of the rows' bits, as
    in :func:`propnet.kernels.records.read_lanes`. Scratch: ``following`` (bases, 8), ``marks`` (3, 8),
    ``lane_of`` and ``rows`` (512), ``goals`` (512, roles).
    """

    wires: NDArray[np.uint64]
    used: Words
    over: Words
    lengths: Int32s
    start: Ints
    base_offsets: Offsets
    base_signs: Ints
    mask_offsets: Offsets
    mask_signs: Ints
    following: Words
    marks: Words
    lane_of: Ints
    rows: Int32s
    goals: Goals


class MatchRows(NamedTuple):
    """The output of a step, a row for each environment: ``bits`` (n, words) and ``masks`` (n, mask words),
    ``rewards`` float32 (n, roles), ``done``, ``terminated``, ``truncated`` (n,; 0 or 1), and ``final_bits``
    (n, words), the last states of finished matches if a new one begins within the step."""

    bits: Words
    masks: Words
    rewards: NDArray[np.float32]
    done: Octets
    terminated: Octets
    truncated: Octets
    final_bits: Words


@kernel(nogil=True)
def step_lanes(
    args: KernelArgs, lanes: MatchLanes, rows: MatchRows, actions: Int32s, autoreset: int, max_steps: int
) -> Index:
    """Step all matches by move ids (n, roles), -1 for a role's only move. Returns -1, or, if some move is not
    legal, ``environment * roles + role`` of the first such move; nothing is then changed. ``max_steps=0``
    means no limit."""
    n = actions.shape[0]
    bare = raw(args)
    buffers = raw(lanes)
    moves = raw(actions)
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        bad = _first_illegal(
            bare,
            raw(wires),
            buffers,
            moves,
            block * LANES,
            min(LANES, n - block * LANES),
            block,
            autoreset,
        )
        if bad >= 0:
            return bad
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        first, count = block * LANES, min(LANES, n - block * LANES)
        _step_block(args, wires, lanes, rows, moves, first, count, block, autoreset, max_steps)
    return -1


@kernel(nogil=True)
def begin_lanes(args: KernelArgs, lanes: MatchLanes, rows: MatchRows, which: Words) -> None:
    """Restart the matches in the lanes ``which`` (blocks, 8), and write all rows."""
    n = rows.bits.shape[0]
    bare = raw(args)
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        first, count = block * LANES, min(LANES, n - block * LANES)
        begun = load(which, block * BYTES)
        _begin(bare, raw(wires), raw(lanes), begun)
        evaluate_play(bare, raw(wires))
        store(lanes.over, block * BYTES, load(lanes.over, block * BYTES) & ~begun)
        store(lanes.marks, 0, begun)
        for lane in range(count):
            if get_lane(lanes.marks, lane) != 0:
                rows.done[first + lane] = rows.terminated[first + lane] = rows.truncated[first + lane] = 0
                rows.rewards[first + lane] = 0.0
                lanes.lengths[first + lane] = 0
        read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.bits, first, count)
        read_lanes(wires, lanes.mask_offsets, lanes.mask_signs, rows.masks, first, count)


@inner
def _step_block(
    args: KernelArgs,
    wires: Words,
    lanes: MatchLanes,
    rows: MatchRows,
    moves: Int32s,
    first: Index,
    count: Index,
    block: Index,
    autoreset: int,
    max_steps: int,
) -> None:
    """Step the ``count`` matches from ``first`` on; their lanes are in ``wires``."""
    bare, at, buffers, out = raw(args), raw(wires), raw(lanes), raw(rows)
    used, waiting = load(buffers.used, block * BYTES), load(buffers.over, block * BYTES)
    _make_moves(bare, at, buffers, moves, first, count, used & ~waiting)
    evaluate_moves(bare, at)
    renewed, parked = splat(0), ~used
    if autoreset == NEXT_STEP:
        renewed = waiting
    else:
        parked = parked | waiting
    next_states(bare, at, buffers.following, parked, renewed, True, buffers.start)
    evaluate_play(bare, at)
    playing = used & ~parked
    terminal = terminal_lanes(bare, at) & playing
    stopped = _count_steps(buffers, first, count, renewed, playing, max_steps)
    stopped = (stopped | _stuck_lanes(bare, at)) & playing & ~terminal
    ended = terminal | stopped
    roles = sizes_of(bare).roles
    for cell in range(first * roles, (first + count) * roles):
        put(out.rewards, cell, np.float32(0.0))
    if any_lane(terminal):
        evaluate_goals(bare, at)
        _reward(bare, at, buffers, out, terminal, first, roles)
    _flag(buffers, out, terminal, stopped, playing, first, count)
    if autoreset == SAME_STEP:
        if any_lane(ended):
            read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.final_bits, first, count)
            _begin(bare, at, buffers, ended)
            evaluate_play(bare, at)
            store(buffers.marks, 0, ended)
            for lane in range(count):
                if get_lane(buffers.marks, lane) != 0:
                    put(buffers.lengths, first + lane, 0)
    elif autoreset == NEXT_STEP:
        store(buffers.over, block * BYTES, ended)
    else:
        store(buffers.over, block * BYTES, waiting | ended)
    read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.bits, first, count)
    read_lanes(wires, lanes.mask_offsets, lanes.mask_signs, rows.masks, first, count)


@inner
def _first_illegal(
    args: KernelArgs,
    wires: Words,
    lanes: MatchLanes,
    moves: Int32s,
    first: Index,
    count: Index,
    block: Index,
    autoreset: int,
) -> Index:
    """The first move of these matches that is not legal, coded as in :func:`step_lanes`; -1 if all are legal.
    Moves of finished matches are ignored."""
    sizes = sizes_of(args)
    bad: Index = np.int64(-1)
    for role in range(sizes.roles):
        low, high = np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))
        store(lanes.marks, 0, splat(0))
        left_out = False
        for lane in range(count):
            cell = (first + lane) * sizes.roles + role
            asked = np.int64(item(moves, cell))
            if asked == -1:
                set_lane(lanes.marks, lane)
                left_out = True
                continue
            wrong = asked < 0 or asked >= high - low
            if not wrong:
                # A lane's bit in the wire of the move's legality, which may be any wire.
                at = np.int64(item(args.legal_offsets, low + asked)) * LANES // BYTES + lane
                wrong = (get_lane(wires, at) != 0) == (item(args.legal_signs, low + asked) != 0)
            if wrong and get_lane(lanes.over, LANES * block + lane) == 0 and (bad < 0 or cell < bad):
                bad = cell
        if left_out:
            once, twice = splat(0), splat(0)
            for move in range(low, high):
                legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
                twice = twice | (once & legal)
                once = once | legal
            unclear = load(lanes.marks, 0) & ~(once & ~twice) & ~load(lanes.over, block * BYTES)
            if any_lane(unclear):
                store(lanes.marks, 0, unclear)
                for lane in range(count):
                    cell = (first + lane) * sizes.roles + role
                    if get_lane(lanes.marks, lane) != 0 and (bad < 0 or cell < bad):
                        bad = cell
    return bad


@inner
def _make_moves(
    args: KernelArgs,
    wires: Words,
    lanes: MatchLanes,
    moves: Int32s,
    first: Index,
    count: Index,
    playing: Vector,
) -> None:
    """Set the wires of the moves to the lanes that make them, all of them among the lanes ``playing``."""
    sizes = sizes_of(args)
    for role in range(sizes.roles):
        low, high = np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))
        store(lanes.marks, 0, splat(0))
        left_out = False
        for lane in range(count):
            if item(moves, (first + lane) * sizes.roles + role) == -1:
                set_lane(lanes.marks, lane)
                left_out = True
        own = (1 + sizes.bases) * BYTES
        if left_out:
            only = load(lanes.marks, 0) & playing
            for move in range(low, high):
                legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
                store(wires, own + move * BYTES, legal & only)
        else:
            for move in range(low, high):
                store(wires, own + move * BYTES, splat(0))
        store(lanes.marks, 0, playing & ~load(lanes.marks, 0))
        for lane in range(count):
            if get_lane(lanes.marks, lane) != 0:
                chosen = low + np.int64(item(moves, (first + lane) * sizes.roles + role))
                set_lane(wires, LANES * (1 + sizes.bases + chosen) + lane)


@inner
def _stuck_lanes(args: KernelArgs, wires: Words) -> Vector:
    """The lanes in which some role has no legal move."""
    stuck = splat(0)
    for role in range(sizes_of(args).roles):
        some = splat(0)
        for move in range(np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))):
            some = some | read_wire(wires, args.legal_offsets, args.legal_signs, move)
        stuck = stuck | ~some
    return stuck


@inner
def _count_steps(
    lanes: MatchLanes, first: Index, count: Index, renewed: Vector, playing: Vector, max_steps: int
) -> Vector:
    """Count this step. Returns the lanes whose matches have lasted ``max_steps``."""
    store(lanes.marks, 0, renewed)
    store(lanes.marks, BYTES, splat(0))
    for lane in range(count):
        length = item(lanes.lengths, first + lane) + 1
        if get_lane(lanes.marks, lane) != 0:
            length = 0
        put(lanes.lengths, first + lane, length)
        if max_steps > 0 and length >= max_steps:
            set_lane(lanes.marks, LANES + lane)
    return load(lanes.marks, BYTES) & playing


@inner
def _reward(
    args: KernelArgs,
    wires: Words,
    lanes: MatchLanes,
    rows: MatchRows,
    terminal: Vector,
    first: Index,
    roles: Index,
) -> None:
    """Write the goals of terminal lanes as rewards 0 to 1, after :func:`evaluate_goals`."""
    count = list_lanes(terminal, lanes.marks, lanes.lane_of)
    for i in range(count):
        for role in range(roles):
            put(lanes.goals, i * roles + role, 0)
        put(lanes.rows, item(lanes.lane_of, i), i)
    read_goals(args, wires, lanes.lane_of, count, lanes.rows, lanes.marks, lanes.goals)
    for i in range(count):
        row = (first + item(lanes.lane_of, i)) * roles
        for role in range(roles):
            value = np.float32(item(lanes.goals, i * roles + role))
            put(rows.rewards, row + role, value / np.float32(100.0))


@inner
def _flag(
    lanes: MatchLanes,
    rows: MatchRows,
    terminal: Vector,
    stopped: Vector,
    playing: Vector,
    first: Index,
    count: Index,
) -> None:
    """Write which matches are over, and why; matches that were over before stay over."""
    store(lanes.marks, 0, terminal)
    store(lanes.marks, BYTES, stopped)
    store(lanes.marks, 2 * BYTES, playing)
    for lane in range(count):
        if get_lane(lanes.marks, 2 * LANES + lane) == 0:
            continue
        over = get_lane(lanes.marks, lane)
        cut = get_lane(lanes.marks, LANES + lane)
        put(rows.terminated, first + lane, over)
        put(rows.truncated, first + lane, cut)
        put(rows.done, first + lane, over | cut)


@inner
def _begin(args: KernelArgs, wires: Words, lanes: MatchLanes, begun: Vector) -> None:
    """Put the initial state into these lanes."""
    for base in range(sizes_of(args).bases):
        at = (1 + base) * BYTES
        store(wires, at, (load(wires, at) & ~begun) | (begun & splat(item(lanes.start, base))))
