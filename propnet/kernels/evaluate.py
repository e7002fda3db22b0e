"""The bit-sliced kernels for given states: what holds in them, and what follows a joint move.

Arrays are those of :class:`propnet.kernels.kernel_args.Code`, with ``wires`` as in
:mod:`propnet.kernels.gates` and records as in :mod:`propnet.kernels.records`. What evaluates is given bare
pointers, as by
:mod:`propnet.kernels.playouts`: numba then translates it once for all of these kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, item, load, raw, splat, store
from propnet.kernels.kernel_args import Code, uncounted
from propnet.kernels.records import read_lanes
from propnet.kernels.step import evaluate_goals, evaluate_moves, evaluate_play, load_records, read_goals


@kernel
def evaluate(
    code: Code,
    wires: NDArray[np.uint64],
    records: NDArray[np.uint64],
    terminal: NDArray[np.bool_],
    goals: NDArray[np.int16],
    legal: NDArray[np.uint64],
    single: bool,
) -> None:
    """Fill in whether each of n states is terminal (n,), its goals (n, roles; -1 on entry and
    where no value holds, or with ``single`` several do) and its legal moves as records (n, words)."""
    n = records.shape[0]
    lanes = np.empty((2, WORDS), np.uint64)
    rows = np.empty(LANES, np.int32)
    lane_of = np.empty(LANES, np.int64)
    bare, at = uncounted(code), raw(wires)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, item(code.sizes, 0))
        evaluate_play(bare, at)
        evaluate_goals(bare, at)
        store(lanes, 0, load(at, item(code.terminal, 0)) ^ splat(item(code.terminal, 1)))
        for lane in range(count):
            terminal[first + lane] = (lanes[0, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1) != 0
            rows[lane] = first + lane
            lane_of[lane] = lane
        read_goals(bare, at, raw(lane_of), count, raw(rows), raw(lanes), goals, single)
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
    bare, at = uncounted(code), raw(wires)
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, bases)
        evaluate_play(bare, at)
        for wire in range(1 + bases, 1 + bases + item(code.sizes, 1)):
            store(at, wire * BYTES, splat(0))
        for lane in range(count):
            bit = np.uint64(1) << np.uint64(lane & 63)
            for role in range(moves.shape[1]):
                move = item(code.role_moves, role) + moves[first + lane, role]
                wires[1 + bases + move, lane >> 6] |= bit
        evaluate_moves(bare, at)
        read_lanes(wires, code.next_offsets, code.next_signs, after, first, count)
