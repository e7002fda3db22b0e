"""A plan as the argument of kernels: one named tuple of arrays, which numba passes as one typed value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Goals, Index, Int32s, Ints, Octets, Offsets
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, item
from propnet.kernels.plan import Plan
from propnet.rests import MOST_KEYS, Rest

FLUSH = 1_000
"""The cost of starting the next playouts, in gate inputs (see docs/measurements.md)."""


class Segment(NamedTuple):
    """A part of the gates that is evaluated in one go: a row of :attr:`KernelArgs.segments`."""

    function: Index
    """Address of a native function, or 0: the blocks ``first_block <= b < end_block`` are interpreted."""
    first_block: Index
    end_block: Index


class Sizes(NamedTuple):
    """Numbers of a plan, from :attr:`KernelArgs.sizes`.

    The segments that every step needs before moves are made end at ``play_end``, those that only goals need
    at ``goals_end``, those that need the moves at ``moves_end``. Starting new playouts costs ``flush_cost``
    gate inputs, a step ``step_cost``. ``legal_in_place``: whether the segments leave the moves' legality in
    the moves' own wires. ``direct``: whether no base proposition's next value is read from another's wire.
    """

    bases: Index
    moves: Index
    play_end: Index
    goals_end: Index
    moves_end: Index
    flush_cost: Index
    step_cost: Index
    legal_in_place: Index
    direct: Index
    roles: Index


class KernelArgs(NamedTuple):
    """A plan as the argument of kernels: the arrays of :class:`propnet.kernels.plan.Plan`, and three more.

    ``segments``, int64 (segments, 3), has rows of :class:`Segment`. ``sizes``, int64 (10,), holds the fields
    of :class:`Sizes`. ``rests``, int64 (roles, 10), holds the condition under which each role rests
    (:class:`propnet.rests.Rest`): its waiting move, the number of its keys (0 if these are unknown), and for
    each key the wire offset and the sign. Kernels pass the tuple on as bare pointers
    (:func:`propnet.jit.vector512.raw`).
    """

    inputs: Offsets
    runs: Int32s
    blocks: Int32s
    init: Octets
    next_offsets: Offsets
    next_signs: Ints
    legal_offsets: Offsets
    legal_signs: Ints
    role_moves: Int32s
    goal_offsets: Offsets
    goal_signs: Ints
    goal_values: Goals
    role_goals: Int32s
    terminal: Ints
    segments: Ints
    sizes: Ints
    rests: Ints


def kernel_args(plan: Plan) -> KernelArgs:
    """A plan for the kernels: one segment per section, all interpreted."""
    bounds = [0, plan.play_blocks, plan.base_blocks, len(plan.blocks)]
    segments = [Segment(0, low, high) for low, high in pairwise(bounds)]
    return with_segments(plan, segments, (1, 2, 3), legal_in_place=False)


def with_segments(
    plan: Plan, segments: list[Segment], bounds: tuple[int, int, int], *, legal_in_place: bool
) -> KernelArgs:
    """A plan for the kernels, evaluated by these segments; ``bounds`` are the ends of the sections
    among them."""
    # A move costs a step about as much as four gate inputs, a base proposition as two.
    step_cost = plan.step_inputs + 4 * plan.moves + 2 * plan.bases
    read = plan.next_offsets // BYTES
    own = np.arange(1, plan.bases + 1)
    direct = not ((read > 0) & (read <= plan.bases) & (read != own)).any()
    roles = len(plan.role_moves) - 1
    sizes = Sizes(
        plan.bases, plan.moves, *bounds, plan.goal_inputs + FLUSH, step_cost, legal_in_place, direct, roles
    )
    rows = np.array(segments, np.int64).reshape(-1, len(Segment._fields))
    arrays = {name: np.ascontiguousarray(getattr(plan, name)) for name in KernelArgs._fields[:-3]}
    unknown = np.zeros((roles, 2 + 2 * MOST_KEYS), np.int64)
    return KernelArgs(**arrays, segments=rows, sizes=np.array(sizes, np.int64), rests=unknown)


def with_rests(args: KernelArgs, known: Sequence[Rest | None]) -> KernelArgs:
    """The arguments with the conditions under which roles rest, as far as these are known."""
    rows = np.zeros_like(args.rests)
    for row, rest in zip(rows, known, strict=True):
        if rest is not None:
            places = [(literal // 2 * BYTES, -(literal & 1)) for literal in rest.keys]
            row[: 2 + 2 * len(places)] = rest.waiting, len(places), *chain.from_iterable(places)
    return args._replace(rests=rows)


@inner
def sizes_of(args: KernelArgs) -> Sizes:
    """The sizes by name."""
    n = args.sizes
    return Sizes(
        item(n, 0), item(n, 1), item(n, 2), item(n, 3), item(n, 4),
        item(n, 5), item(n, 6), item(n, 7), item(n, 8), item(n, 9),
    )  # fmt: skip
