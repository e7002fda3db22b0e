"""The table of 4 by 4 patterns against plain search, and what it says of positions."""

from __future__ import annotations

import random

import pytest

from bench.sokoban.patterns import minimal_patterns, pack
from players.puzzles.sokoban.deadlocks.patterns import PATH, patterns_up_to_symmetry
from players.puzzles.sokoban.geometry import STEPS

Cells = frozenset[tuple[int, int]]
INNER = (1, 1), (1, 2), (2, 1), (2, 2)


def _cells(mask: int) -> Cells:
    return frozenset((cell // 4, cell % 4) for cell in range(16) if mask >> cell & 1)


def _can_be_emptied(walls: Cells, boxes: Cells, keeper: tuple[int, int]) -> bool:
    """Single steps of a keeper on a map of 6 by 6, the window in its middle; boxes that leave it are gone."""

    def is_open(place: tuple[int, int]) -> bool:
        return -1 <= place[0] < 5 and -1 <= place[1] < 5 and place not in walls

    seen = {(boxes, keeper)}
    waiting = [(boxes, keeper)]
    while waiting:
        boxes, (y, x) = waiting.pop()
        if not boxes:
            return True
        for dy, dx in STEPS:
            there, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
            if not is_open(there):
                continue
            after = boxes
            if there in boxes:
                if not is_open(beyond) or beyond in boxes:
                    continue
                after = boxes - {there}
                if 0 <= beyond[0] < 4 and 0 <= beyond[1] < 4:
                    after |= {beyond}
            if (after, there) not in seen:
                seen.add((after, there))
                waiting.append((after, there))
    return False


@pytest.mark.slow
def test_what_is_stored_is_what_the_solver_finds() -> None:
    found = minimal_patterns()
    assert len(found) == 1127
    assert (patterns_up_to_symmetry() == found).all()
    assert len(PATH.read_bytes()) == len(pack(found)) < 4000


def test_patterns_are_dead_and_minimal() -> None:
    rows = [row for row in patterns_up_to_symmetry().tolist() if row[1].bit_count() <= 6]
    for walls, boxes, parts in random.Random(1).sample(rows, 40):
        wall, box = _cells(walls), _cells(boxes)
        for part, keeper in enumerate([(-1, -1), *INNER]):
            if not parts >> part & 1:
                continue
            assert not _can_be_emptied(wall, box, keeper)
            for place in wall:
                assert _can_be_emptied(wall - {place}, box, keeper)
            for place in box:
                assert _can_be_emptied(wall, box - {place}, keeper)
