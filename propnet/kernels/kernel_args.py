"""A plan as the kernels take it: one named tuple of arrays, which numba passes as one typed value."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, aligned, raw
from propnet.kernels.plan import Plan

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
    """The same with bare pointers (:func:`propnet.jit.vector512.raw`); ``code`` must outlive it."""
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
