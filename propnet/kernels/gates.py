"""The bit-sliced gate kernel: walks a plan's gate arrays for 512 lanes at once.

Compiled once for all games: nothing of a game is a constant here. Wires are a ``(wires, 8)``
uint64 array; lane i of a wire is bit ``i % 64`` of its word ``i // 64``. The other arrays
are those of :class:`propnet.kernels.plan.Plan`.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Offsets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, any_lane, call, item, load, splat, store
from propnet.kernels.kernel_args import KernelArgs, Segment
from propnet.kernels.plan import BLOCK, RUN, GateBlock, GateRun


@inner
def read_wire(wires: Words, offsets: Offsets, signs: Ints, k: Index) -> Vector:
    """The wire at the k-th offset, negated if the k-th sign is -1."""
    return load(wires, item(offsets, k)) ^ splat(item(signs, k))


@inner
def evaluate_segments(args: KernelArgs, wires: Words, first: Index, last: Index) -> None:
    """Evaluate the segments ``first <= s < last``."""
    for s in range(first, last):
        segment = _segment(args.segments, s)
        if segment.function != 0:
            call(segment.function, wires)
        else:
            low, high = segment.first_block, segment.end_block
            evaluate_blocks(wires, args.blocks, args.runs, args.inputs, args.init, low, high)


@inner
def evaluate_blocks(
    wires: Words, blocks: Int32s, runs: Int32s, inputs: Offsets, init: Octets, first: Index, last: Index
) -> None:
    """Evaluate the gates of the blocks ``first <= b < last``, loops to their least fixpoint."""
    for b in range(first, last):
        block = _block(blocks, b)
        if block.end_wire != 0:
            for wire in range(block.first_wire, block.end_wire):
                store(wires, wire * BYTES, splat(-np.int64(item(init, wire))))
            forward = True
            while _evaluate_loop(wires, runs, inputs, block.first_run, block.end_run, forward):
                forward = not forward
        elif block.first_wire == 0:
            _evaluate_runs(wires, runs, inputs, block.first_run, block.end_run)
        else:
            _evaluate_listed(wires, runs, inputs, block.first_run, block.end_run)


@inner
def _evaluate_runs(wires: Words, runs: Int32s, inputs: Offsets, first: Index, last: Index) -> None:
    """Evaluate runs of gates. Common shapes are unrolled; the rest are loops."""
    for r in range(first, last):
        run = _run(runs, r)
        plain, negated, at = run.plain, run.negated, run.inputs_at
        out = run.first_wire * BYTES
        end = out + run.gates * np.int64(BYTES)
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
                    store(wires, out, _and(load(wires, item(inputs, at)), wires, inputs, at + 1, at + plain))
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
                    store(
                        wires, out, ~_or(load(wires, item(inputs, at)), wires, inputs, at + 1, at + negated)
                    )
                    at += negated
                    out += BYTES
        elif plain == 1 and negated == 1:
            while out < end:
                store(wires, out, load(wires, item(inputs, at)) & ~load(wires, item(inputs, at + 1)))
                at += 2
                out += BYTES
        else:
            while out < end:
                every = _and(load(wires, item(inputs, at)), wires, inputs, at + 1, at + plain)
                at += plain
                some = _or(load(wires, item(inputs, at)), wires, inputs, at + 1, at + negated)
                at += negated
                store(wires, out, every & ~some)
                out += BYTES


@inner
def _evaluate_listed(wires: Words, runs: Int32s, inputs: Offsets, first: Index, last: Index) -> None:
    """As :func:`_evaluate_runs` for scattered gates: the offset of each gate's wire precedes its inputs."""
    for r in range(first, last):
        run = _run(runs, r)
        plain, negated, at = run.plain, run.negated, run.inputs_at
        end = at + np.int64(run.gates) * (1 + plain + negated)
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
                value = load(wires, item(inputs, at + 1)) & ~load(wires, item(inputs, at + 2))
                store(wires, item(inputs, at), value)
                at += 3
        else:
            while at < end:
                store(wires, item(inputs, at), _gate(wires, inputs, at + 1, plain, negated))
                at += 1 + plain + negated


@inner
def _evaluate_loop(
    wires: Words, runs: Int32s, inputs: Offsets, first: Index, last: Index, forward: bool
) -> bool:
    """Evaluate a loop's gates once. Returns whether a wire changed in some lane. Rounds alternate their
    direction, so that values spread as fast against the order of the gates as along it."""
    changed = splat(0)
    for step in range(last - first):
        run = _run(runs, first + step if forward else last - 1 - step)
        at = run.inputs_at
        out = run.first_wire * BYTES
        end = out + run.gates * np.int64(BYTES)
        while out < end:
            value = _gate(wires, inputs, at, run.plain, run.negated)
            at += run.plain + run.negated
            changed = changed | (value ^ load(wires, out))
            store(wires, out, value)
            out += BYTES
    return any_lane(changed)


@inner
def _gate(wires: Words, inputs: Offsets, at: Index, plain: Index, negated: Index) -> Vector:
    """The value of a gate of any shape whose inputs begin at ``at``."""
    every = _and(splat(-1), wires, inputs, at, at + plain)
    at += plain
    return every & ~_or(splat(0), wires, inputs, at, at + negated)


@inner
def _and(value: Vector, wires: Words, inputs: Offsets, first: Index, last: Index) -> Vector:
    """The AND of a value and of the wires that the inputs ``first <= i < last`` name."""
    for i in range(first, last):
        value = value & load(wires, item(inputs, i))
    return value


@inner
def _or(value: Vector, wires: Words, inputs: Offsets, first: Index, last: Index) -> Vector:
    """The OR of a value and of the wires that the inputs ``first <= i < last`` name."""
    for i in range(first, last):
        value = value | load(wires, item(inputs, i))
    return value


@inner
def _segment(segments: Ints, number: Index) -> Segment:
    at = 3 * number
    return Segment(item(segments, at), item(segments, at + 1), item(segments, at + 2))


@inner
def _block(blocks: Int32s, number: Index) -> GateBlock:
    at = BLOCK * number
    return GateBlock(item(blocks, at), item(blocks, at + 1), item(blocks, at + 2), item(blocks, at + 3))


@inner
def _run(runs: Int32s, number: Index) -> GateRun:
    at = RUN * number
    inputs_at, first_wire = np.int64(item(runs, at + 3)), np.int64(item(runs, at + 4))
    return GateRun(item(runs, at), item(runs, at + 1), item(runs, at + 2), inputs_at, first_wire)
