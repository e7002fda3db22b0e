"""Kernels for given states: evaluation, and the successors after joint moves."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Flags, Goals, Index, Int32s, Ints, Offsets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import LANES, WORDS, item, raw, store
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import get_lane, read_lanes, set_lane
from propnet.kernels.step import (
    clear_moves,
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    load_records,
    read_goals,
    terminal_lanes,
)


@kernel
def evaluate(
    args: KernelArgs, wires: Words, records: Words, terminal: Flags, goals: Goals, legal: Words, single: bool
) -> None:
    """Fill in whether each of n states is terminal (n,), its goals (n, roles) and its legal moves as records
    (n, words). Goals are -1 on entry and stay so if no value holds, or with ``single`` if several do."""
    n = records.shape[0]
    lanes = np.empty((2, WORDS), np.uint64)
    rows = np.empty(LANES, np.int32)
    lane_of = np.empty(LANES, np.int64)
    bare, at = raw(args), raw(wires)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, sizes_of(args).bases)
        evaluate_play(bare, at)
        evaluate_goals(bare, at)
        store(lanes, 0, terminal_lanes(bare, at))
        for lane in range(count):
            terminal[first + lane] = get_lane(lanes, lane) != 0
            rows[lane] = first + lane
            lane_of[lane] = lane
        read_goals(bare, at, raw(lane_of), count, raw(rows), raw(lanes), goals, single)
        read_lanes(wires, args.legal_offsets, args.legal_signs, legal, first, count)


@kernel(nogil=True)
def ends(args: KernelArgs, wires: Words, records: Words, terminal: Flags, goals: Goals) -> None:
    """Fill in which of n states are terminal (n,), and the goals of those (n, roles; -1 on entry)."""
    n = records.shape[0]
    lanes = np.empty((2, WORDS), np.uint64)
    rows = np.empty(LANES, np.int32)
    lane_of = np.empty(LANES, np.int64)
    bare, at = raw(args), raw(wires)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, sizes_of(args).bases)
        evaluate_play(bare, at)
        store(lanes, 0, terminal_lanes(bare, at))
        ended = 0
        for lane in range(count):
            over = get_lane(lanes, lane) != 0
            terminal[first + lane] = over
            lane_of[ended] = lane
            rows[lane] = first + lane
            ended += over
        if ended > 0:
            evaluate_goals(bare, at)
            read_goals(bare, at, raw(lane_of), ended, raw(rows), raw(lanes), goals, False)


@kernel
def successors(
    args: KernelArgs,
    wires: Words,
    records: Words,
    moves: Int32s,
    offsets: Offsets,
    signs: Ints,
    after: Words,
    seen: Words,
) -> None:
    """Fill in the records (n, words) of the states after one move id per role (n, roles), and ``seen``
    (n, percept words; or no rows): bit p is the wire at ``offsets[p]``, negated if ``signs[p]`` is -1."""
    n = records.shape[0]
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, sizes_of(args).bases)
        _make_moves(raw(args), raw(wires), raw(moves), first, count)
        read_lanes(wires, args.next_offsets, args.next_signs, after, first, count)
        if seen.shape[0] > 0:
            read_lanes(wires, offsets, signs, seen, first, count)


@inner
def _make_moves(args: KernelArgs, wires: Words, moves: Int32s, first: Index, count: Index) -> None:
    """Evaluate the effects of the ``count`` joint moves from ``first`` on, each in a loaded lane."""
    sizes = sizes_of(args)
    evaluate_play(args, wires)
    clear_moves(args, wires)
    for lane in range(count):
        for role in range(sizes.roles):
            move = item(args.role_moves, role) + item(moves, (first + lane) * sizes.roles + role)
            set_lane(wires, LANES * (1 + sizes.bases + move) + lane)
    evaluate_moves(args, wires)
