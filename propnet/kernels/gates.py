"""The bit-sliced gate kernel: walks a plan's gate arrays for 512 lanes at once.

Compiled once for all games: nothing of a game is a constant here. Wires are a ``(wires, 8)``
uint64 array, lane i of a wire being bit ``i % 64`` of its word ``i // 64``; the other arrays
are those of :class:`propnet.kernels.plan.Plan`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, Index, any_lane, call, item, load, splat, store


@inner
def evaluate_segments(
    wires: NDArray[np.uint64],
    segments: NDArray[np.int64],
    blocks: NDArray[np.int32],
    runs: NDArray[np.int32],
    inputs: NDArray[np.uint32],
    init: NDArray[np.uint8],
    first: Index,
    last: Index,
) -> None:
    """Evaluate the segments ``first <= s < last``: rows of an address of native code, or 0 for
    the blocks between the two numbers behind it."""
    for segment in range(first, last):
        function = item(segments, 3 * segment)
        if function != 0:
            call(function, wires)
        else:
            low = item(segments, 3 * segment + 1)
            high = item(segments, 3 * segment + 2)
            evaluate_blocks(wires, blocks, runs, inputs, init, low, high)


@inner
def evaluate_blocks(
    wires: NDArray[np.uint64],
    blocks: NDArray[np.int32],
    runs: NDArray[np.int32],
    inputs: NDArray[np.uint32],
    init: NDArray[np.uint8],
    first: Index,
    last: Index,
) -> None:
    """Evaluate the gates of the blocks ``first <= b < last``, loops to their least fixpoint."""
    for block in range(first, last):
        from_run = item(blocks, 4 * block)
        to_run = item(blocks, 4 * block + 1)
        low = item(blocks, 4 * block + 2)
        high = item(blocks, 4 * block + 3)
        if high == 0 and low == 0:
            _evaluate_runs(wires, runs, inputs, from_run, to_run)
        elif high == 0:
            _evaluate_listed(wires, runs, inputs, from_run, to_run)
        else:
            for wire in range(low, high):
                store(wires, wire * BYTES, splat(-np.int64(item(init, wire))))
            forward = True
            while _evaluate_loop(wires, runs, inputs, from_run, to_run, forward):
                forward = not forward


@inner
def _evaluate_runs(
    wires: NDArray[np.uint64],
    runs: NDArray[np.int32],
    inputs: NDArray[np.uint32],
    from_run: int,
    to_run: int,
) -> None:
    """Evaluate runs of gates. The shapes most gates have are written out, the rest are loops."""
    for run in range(from_run, to_run):
        plain = item(runs, 5 * run)
        negated = item(runs, 5 * run + 1)
        gates = item(runs, 5 * run + 2)
        at = np.int64(item(runs, 5 * run + 3))
        out = np.int64(item(runs, 5 * run + 4)) * BYTES
        end = out + gates * np.int64(BYTES)
        if negated == 0:
            if plain == 2:
                while out < end:
                    store(wires, out, load(wires, item(inputs, at)) & load(wires, item(inputs, at + 1)))
                    at += 2
                    out += BYTES
            elif plain == 3:
                while out < end:
                    low = load(wires, item(inputs, at)) & load(wires, item(inputs, at + 1))
                    store(wires, out, low & load(wires, item(inputs, at + 2)))
                    at += 3
                    out += BYTES
            else:
                while out < end:
                    every = load(wires, item(inputs, at))
                    for i in range(at + 1, at + plain):
                        every = every & load(wires, item(inputs, i))
                    store(wires, out, every)
                    at += plain
                    out += BYTES
        elif plain == 0:
            if negated == 2:
                while out < end:
                    store(wires, out, ~(load(wires, item(inputs, at)) | load(wires, item(inputs, at + 1))))
                    at += 2
                    out += BYTES
            elif negated == 3:
                while out < end:
                    low = load(wires, item(inputs, at)) | load(wires, item(inputs, at + 1))
                    store(wires, out, ~(low | load(wires, item(inputs, at + 2))))
                    at += 3
                    out += BYTES
            else:
                while out < end:
                    some = load(wires, item(inputs, at))
                    for i in range(at + 1, at + negated):
                        some = some | load(wires, item(inputs, i))
                    store(wires, out, ~some)
                    at += negated
                    out += BYTES
        elif plain == 1 and negated == 1:
            while out < end:
                store(wires, out, load(wires, item(inputs, at)) & ~load(wires, item(inputs, at + 1)))
                at += 2
                out += BYTES
        else:
            while out < end:
                every = load(wires, item(inputs, at))
                for i in range(at + 1, at + plain):
                    every = every & load(wires, item(inputs, i))
                at += plain
                some = load(wires, item(inputs, at))
                for i in range(at + 1, at + negated):
                    some = some | load(wires, item(inputs, i))
                at += negated
                store(wires, out, every & ~some)
                out += BYTES


@inner
def _evaluate_listed(
    wires: NDArray[np.uint64],
    runs: NDArray[np.int32],
    inputs: NDArray[np.uint32],
    from_run: int,
    to_run: int,
) -> None:
    """The same where the wires of a run's gates do not lie together: the offset of its wire stands
    before each gate's inputs."""
    for run in range(from_run, to_run):
        plain = item(runs, 5 * run)
        negated = item(runs, 5 * run + 1)
        at = np.int64(item(runs, 5 * run + 3))
        end = at + np.int64(item(runs, 5 * run + 2)) * (1 + plain + negated)
        if plain == 2 and negated == 0:
            while at < end:
                both = load(wires, item(inputs, at + 1)) & load(wires, item(inputs, at + 2))
                store(wires, item(inputs, at), both)
                at += 3
        elif plain == 0 and negated == 2:
            while at < end:
                some = load(wires, item(inputs, at + 1)) | load(wires, item(inputs, at + 2))
                store(wires, item(inputs, at), ~some)
                at += 3
        elif plain == 1 and negated == 1:
            while at < end:
                one = load(wires, item(inputs, at + 1)) & ~load(wires, item(inputs, at + 2))
                store(wires, item(inputs, at), one)
                at += 3
        else:
            while at < end:
                out = item(inputs, at)
                at += 1
                every = splat(-1)
                for i in range(at, at + plain):
                    every = every & load(wires, item(inputs, i))
                at += plain
                some = splat(0)
                for i in range(at, at + negated):
                    some = some | load(wires, item(inputs, i))
                at += negated
                store(wires, out, every & ~some)


@inner
def _evaluate_loop(
    wires: NDArray[np.uint64],
    runs: NDArray[np.int32],
    inputs: NDArray[np.uint32],
    from_run: int,
    to_run: int,
    forward: bool,
) -> bool:
    """One round through a loop's gates; whether a wire changed in some lane. Rounds go to and
    fro, so that what is reached spreads as fast against the order of the gates as along it."""
    changed = splat(0)
    for step in range(to_run - from_run):
        run = from_run + step if forward else to_run - 1 - step
        plain = item(runs, 5 * run)
        negated = item(runs, 5 * run + 1)
        gates = item(runs, 5 * run + 2)
        at = np.int64(item(runs, 5 * run + 3))
        out = np.int64(item(runs, 5 * run + 4)) * BYTES
        end = out + gates * np.int64(BYTES)
        while out < end:
            every = splat(-1)
            for i in range(at, at + plain):
                every = every & load(wires, item(inputs, i))
            at += plain
            some = splat(0)
            for i in range(at, at + negated):
                some = some | load(wires, item(inputs, i))
            at += negated
            value = every & ~some
            changed = changed | (value ^ load(wires, out))
            store(wires, out, value)
            out += BYTES
    again: bool = any_lane(changed)
    return again
