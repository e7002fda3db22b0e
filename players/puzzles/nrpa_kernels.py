"""Kernels of nested rollout policy adaptation (Rosin 2011): 512 playouts by a softmax policy, and its change.

Gates are evaluated bit-sliced; the choice walks over the legal moves of each lane and draws one by
weighted reservoir sampling (Chao 1982). One-player games only.

A *policy* is ``weights``, float64 (entries,): e to the power of a move's logit. The *coding* says which
entry belongs to a move: it depends on the move alone, or also on the step at which it is made, or on the
move made before. Moves share entries where there are fewer than that would take.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Floats, Goals, Index, Int32s, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, any_lane, load, lowest_bit, splat, store
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import list_lanes, set_lane
from propnet.kernels.scratch import Scratch
from propnet.kernels.step import (
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    load_records,
    next_states,
    read_goals,
    terminal_lanes,
)
from propnet.kernels.uniform_choice import legal_wires

BY_MOVE, BY_STEP, BY_PAIR = range(3)
"""Codings."""

_LEAST, _MOST = 1e-30, 1e30


@inner
def _first_entry(coding: int, moves: Index, step: Index, before: Index, entries: Index) -> Index:
    """The entry of move 0; move m's is m further, modulo the number of entries."""
    if coding == BY_STEP:
        return (step * moves) % entries
    if coding == BY_PAIR:
        return (before + 1) * moves % entries
    return np.int64(0)


@kernel
def policy_playouts(
    args: KernelArgs,
    scratch: Scratch,
    start: Words,
    weights: Floats,
    coding: int,
    random: Words,
    goals: Goals,
    lengths: Int32s,
    trace: Int32s,
) -> int:
    """Play 512 playouts from one record (1, words), each move with a chance in proportion to its weight.

    ``goals`` (512, 1; -1 on entry) and ``lengths`` (512,) take how each ended; ``trace`` (steps, 512) the
    moves, and its length is how many there may be. A playout that is cut by that, or is left without a
    move, gets length -1. ``random`` (1,) is the state of the random numbers. Returns how many
    steps were made.
    """
    sizes = sizes_of(args)
    moves, wires = sizes.moves, scratch.wires
    lanes = np.zeros((2, WORDS), np.uint64)
    none = np.zeros(0, np.int64)
    lane_of = np.zeros(LANES, np.int64)
    rows = np.arange(LANES).astype(np.int32)
    chosen = np.full(LANES, -1, np.int32)
    total = np.zeros(LANES)
    steps, entries = trace.shape[0], weights.size
    seed = random[0]
    load_records(wires, start, np.int64(0), np.int64(1), sizes.bases)
    active = ~splat(0)
    parked = splat(0)
    step = 0
    while True:
        evaluate_play(args, wires)
        over = terminal_lanes(args, wires) & active
        if any_lane(over):
            for i in range(list_lanes(over, lanes, lane_of)):
                lengths[lane_of[i]] = step
            active = active & ~over
            parked = parked | over
        if step == steps or not any_lane(active):
            break
        first, _ = legal_wires(args, wires, np.int64(0))
        store(lanes, 0, active)
        total[:] = 0.0
        same = _first_entry(coding, moves, step, np.int64(-1), entries)
        for move in range(moves):
            if not any_lane(load(wires, (first + move) * BYTES) & active):
                continue
            shared = (same + move) % entries
            for word in range(WORDS):
                left = wires[first + move, word] & lanes[0, word]
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    entry = shared
                    if coding == BY_PAIR:
                        before = np.int64(trace[step - 1, lane]) if step > 0 else np.int64(-1)
                        entry = (_first_entry(coding, moves, step, before, entries) + move) % entries
                    total[lane] += weights[entry]
                    seed ^= seed << np.uint64(13)
                    seed ^= seed >> np.uint64(7)
                    seed ^= seed << np.uint64(17)
                    drawn = np.float64(seed >> np.uint64(11)) * (1.0 / (1 << 53))
                    if drawn * total[lane] < weights[entry]:
                        chosen[lane] = move
        for move in range(moves):
            store(wires, (first + move) * BYTES, splat(0))
        for i in range(list_lanes(active, lanes, lane_of)):
            lane = lane_of[i]
            if total[lane] > 0:
                trace[step, lane] = chosen[lane]
                set_lane(wires, LANES * (first + chosen[lane]) + lane)
            else:
                lengths[lane] = -1
                lanes[0, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))
        left_over = load(lanes, 0)
        parked = parked | (active & ~left_over)
        active = left_over
        evaluate_moves(args, wires)
        next_states(args, wires, scratch.following, parked, splat(0), False, none)
        step += 1
    for i in range(list_lanes(active, lanes, lane_of)):
        lengths[lane_of[i]] = -1
    evaluate_goals(args, wires)
    count = list_lanes(parked, lanes, lane_of)
    read_goals(args, wires, lane_of, count, rows, lanes, goals)
    random[0] = seed
    return step


@kernel
def legal_along(
    args: KernelArgs, scratch: Scratch, start: Words, line: Int32s, firsts: Int32s, options: Int32s
) -> int:
    """The legal moves at each step of a line from one record (1, words).

    Those of step i are written to ``options[firsts[i]:firsts[i + 1]]``; ``firsts`` is (steps + 1,). Returns
    how many there are, or -1 where ``options`` has no room for them."""
    sizes = sizes_of(args)
    wires = scratch.wires
    none = np.zeros(0, np.int64)
    load_records(wires, start, np.int64(0), np.int64(1), sizes.bases)
    used = 0
    for step in range(line.size):
        evaluate_play(args, wires)
        first, _ = legal_wires(args, wires, np.int64(0))
        firsts[step] = used
        for move in range(sizes.moves):
            if wires[first + move, 0] & np.uint64(1) != 0:
                if used == options.size:
                    return -1
                options[used] = move
                used += 1
            store(wires, (first + move) * BYTES, splat(-np.int64(move == line[step])))
        evaluate_moves(args, wires)
        next_states(args, wires, scratch.following, splat(0), splat(0), False, none)
    firsts[line.size] = used
    return used


@kernel
def adapt(
    weights: Floats, coding: int, moves: int, line: Int32s, firsts: Int32s, options: Int32s, rate: float
) -> None:
    """Make the moves of a line more likely: the logit of each move made grows by ``rate``,
    those of all legal ones fall by ``rate`` times their chances. ``options`` as from :func:`legal_along`;
    ``moves`` is how many the game has."""
    entries = weights.size
    before = np.int64(-1)
    for step in range(line.size):
        base = _first_entry(coding, moves, step, before, entries)
        total = 0.0
        for i in range(firsts[step], firsts[step + 1]):
            total += weights[(base + options[i]) % entries]
        for i in range(firsts[step], firsts[step + 1]):
            entry = (base + options[i]) % entries
            change = np.exp(rate * (np.float64(options[i] == line[step]) - weights[entry] / total))
            weights[entry] = min(_MOST, max(_LEAST, weights[entry] * change))
        before = np.int64(line[step])
