"""The table of minimal deadlocks in windows of 4 by 4 squares, as it is stored in this package.

``python -m players.puzzles.sokoban.deadlocks.pattern_table`` computes it anew and writes it, in seconds.
"""

from __future__ import annotations

import functools
import zlib
from pathlib import Path

import numpy as np

from propnet.jit.arrays import Ints

PATH = Path(__file__).with_name("patterns_4x4.bin")
"""Columns of 16-bit numbers, packed by zlib."""


def pack(patterns: Ints) -> bytes:
    """What the file holds for these patterns."""
    return zlib.compress(np.ascontiguousarray(patterns.T, "<u2").tobytes(), 9)


@functools.cache
def patterns_up_to_symmetry() -> Ints:
    """int64, shape (patterns, 3): masks of walls and boxes, and the keeper's parts, as
    :func:`players.puzzles.sokoban.deadlocks.pattern_solver.minimal_patterns` finds them."""
    columns = np.frombuffer(zlib.decompress(PATH.read_bytes()), "<u2").reshape(3, -1)
    return np.ascontiguousarray(columns.T, np.int64)


if __name__ == "__main__":
    from players.puzzles.sokoban.deadlocks.pattern_solver import minimal_patterns

    PATH.write_bytes(pack(minimal_patterns()))
