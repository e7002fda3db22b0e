"""Squares that no proposition speaks of, because no box ever gets there and the keeper never stops there.

Where a move is a push the keeper only walks over them. What is known is which squares he can walk between
when boxes are on all others; squares are put in that make just that possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from players.puzzles.sokoban.recognition.directions import Step
from propnet.jit.arrays import Int32s


def with_hidden(neighbours: Int32s, links: Iterable[Step], linked: set[Step]) -> Int32s | None:
    """Neighbours with more squares, over which the keeper can walk along all links.

    Args:
        neighbours: int32, shape (squares + 1, 4): as far as they are known.
        links: pairs of squares, both ways, that have to be joined by hidden squares.
        linked: all pairs that can be walked between, these included.

    Returns the neighbours, the new squares after the old ones; None where a square has no room for one more.
    """
    squares = len(neighbours) - 1
    rows: list[list[int]] = np.where(neighbours[:-1] == squares, -1, neighbours[:-1]).tolist()
    for group in _groups(links, linked):
        doors: dict[int, list[int]] = {0: [], 1: []}
        for square in group:
            free = [d for d in range(4) if rows[square][d] < 0 and rows[square][d ^ 2] < 0]
            if not free:
                return None
            rows[square][free[0]] = len(rows)
            row = [-1] * 4
            row[free[0] ^ 2] = square
            doors[free[0] % 2].append(len(rows))
            rows.append(row)
        _join(rows, doors)
    found = np.full((len(rows) + 1, 4), -1, np.int32)
    found[:-1] = rows
    return np.where(found < 0, len(rows), found).astype(np.int32)


def _groups(links: Iterable[Step], linked: set[Step]) -> list[list[int]]:
    """Sets of squares, all linked to each other, that hold all the links."""
    wanted: dict[int, set[int]] = defaultdict(set)
    for one, other in links:
        wanted[one].add(other)
    groups: list[list[int]] = []
    done: set[Step] = set()
    for one in sorted(wanted):
        for other in sorted(wanted[one]):
            if (one, other) in done:
                continue
            group = [one, other]
            for member in group:  # which grows
                for more in sorted(wanted[member]):
                    if more not in group and all((more, each) in linked for each in group):
                        group.append(more)
            done |= {(a, b) for a in group for b in group}
            groups.append(group)
    return groups


def _join(rows: list[list[int]], doors: dict[int, list[int]]) -> None:
    """Have the doors of a group in a row: first those that lead up or down, from left to right, and then the
    others, upwards."""
    for axis, forth in ((0, 1), (1, 0)):
        for one, other in zip(doors[axis], doors[axis][1:], strict=False):
            rows[one][forth], rows[other][forth ^ 2] = other, one
    if doors[0] and doors[1]:
        one, other = doors[0][-1], doors[1][0]
        corner = len(rows)
        rows.append([other, -1, -1, one])
        rows[one][1], rows[other][2] = corner, corner
