"""The part of a straight-line layout that is interpreted: a block for each of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from propnet.jit.vector512 import BYTES
from propnet.kernels.plan import BLOCK, LISTED, RUN, GateBlock, GateRun, Plan
from propnet.native.layout import Straight


def interpreted(straight: Straight, pieces: Sequence[int]) -> Plan:
    """The layout's plan with a block for each of these pieces, in this order.

    Inside a piece gates are sorted by level, then by how many plain and negated inputs they
    have, so that the interpreter meets like gates one after another.
    """
    start, literals = straight.start.tolist(), straight.literals.tolist()
    out = straight.out.tolist()
    inputs: list[int] = []
    runs: list[GateRun] = []
    blocks: list[GateBlock] = []
    for piece in pieces:
        _, low, high = straight.pieces[piece].tolist()
        loop = bool(straight.loops[piece])
        first_run = len(runs)
        level: dict[int, int] = {}
        shaped: list[tuple[int, int, int, int, list[int]]] = []
        for gate in range(low, high):
            some = literals[start[gate] : start[gate + 1]]
            plain = [literal * (BYTES // 2) for literal in some if not literal & 1]
            negated = [literal // 2 * BYTES for literal in some if literal & 1]
            height = 1 + max((level.get(literal >> 1, 0) for literal in some), default=0)
            level[out[gate]] = height
            # A loop's gates keep their order: it settles fastest.
            shape = (0, 0, 0) if loop else (height, len(plain), len(negated))
            shaped.append((*shape, gate, [out[gate] * BYTES, *plain, *negated]))
            if loop:
                runs.append(GateRun(len(plain), len(negated), 1, len(inputs), out[gate]))
                inputs += shaped[-1][-1][1:]
        if loop:
            blocks.append(GateBlock(first_run, len(runs), out[low], out[high - 1] + 1))
            continue
        shaped.sort()
        for (_, plains, negations), alike in groupby(shaped, key=lambda g: g[:3]):
            run = [offsets for *_, offsets in alike]
            runs.append(GateRun(plains, negations, len(run), len(inputs), 0))
            for offsets in run:
                inputs += offsets
        blocks.append(GateBlock(first_run, len(runs), LISTED, 0))
    return replace(
        straight.plan,
        inputs=np.array(inputs, np.uint32),
        runs=np.array(runs, np.int32).reshape(-1, RUN),
        blocks=np.array(blocks, np.int32).reshape(-1, BLOCK),
    )
