"""Assemblies of cubes, taken apart: the fewest moves, and what never comes apart, against all single steps.

The assemblies are odd: one piece, pieces in several parts, cages, empty cells, groups that may stay together,
slanted ways of sliding.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from itertools import combinations

from bench.truth.field import Case, Field
from players.puzzles.cover.packing.disassembly import (
    CUBES,
    Assembly,
    Disassembly,
    Motion,
    straight,
    take_apart,
)

MOST_ARRANGEMENTS = 20_000
_SLANTED = straight([(1, 1, 0), (1, -1, 0), (0, 0, 1)])
FAR = 100
"""Steps after which pieces are out of each other's reach."""

Cell = tuple[int, int, int]


def box(x: int, y: int, z: int) -> set[Cell]:
    """The cells of a box at the origin."""
    return {(i, j, k) for i in range(x) for j in range(y) for k in range(z)}


def _plus(one: Cell, other: Cell, times: int = 1) -> Cell:
    return one[0] + times * other[0], one[1] + times * other[1], one[2] + times * other[2]


def separation(pieces: Sequence[set[Cell]], motion: Motion = CUBES) -> tuple[int, set[int]] | None:
    """The fewest moves that free a group of pieces, and the group, by trying every group, way and number of
    steps; None where nothing ever comes free. For motions whose ways pass through no cell between. Raises
    OverflowError with too many arrangements."""
    count = len(pieces)
    start: tuple[Cell, ...] = ((0, 0, 0),) * count
    seen, waiting = {start}, deque([(start, 0)])
    groups = [set(group) for size in range(1, count) for group in combinations(range(count), size)]
    forth: list[Cell] = [(int(x), int(y), int(z)) for x, y, z in motion.ways]
    ways = [*forth, *(_plus((0, 0, 0), way, -1) for way in forth)]
    reach = 2 * max(abs(part) for piece in pieces for cell in piece for part in cell) + 3

    def taken(places: tuple[Cell, ...], group: set[int]) -> set[Cell]:
        return {_plus(cell, places[piece]) for piece in group for cell in pieces[piece]}

    while waiting:
        places, depth = waiting.popleft()
        for group in groups:
            others = taken(places, set(range(count)) - group)
            for way in ways:
                now = places
                for step in range(1, reach + 20):
                    now = tuple(_plus(place, way) if i in group else place for i, place in enumerate(now))
                    if taken(now, group) & others:
                        break
                    normal = tuple(_plus(place, now[0], -1) for place in now)
                    if normal not in seen and step <= reach:
                        seen.add(normal)
                        waiting.append((normal, depth + 1))
                else:
                    return depth + 1, group
        if len(seen) > MOST_ARRANGEMENTS:
            raise OverflowError
    return None


def comes_apart(pieces: Sequence[set[Cell]], groups: Sequence[frozenset[int]], motion: Motion) -> bool:
    """Whether all pieces that share no group come apart. What pieces can do beside others they can do without
    them, and back, so it matters neither which come free first nor how they lie then."""
    if len(pieces) == 1 or (groups and frozenset.intersection(*groups)):
        return True
    found = separation(pieces, motion)
    if found is None:
        return False
    sides = [[i for i in range(len(pieces)) if (i in found[1]) is out] for out in (True, False)]
    return all(
        comes_apart([pieces[i] for i in side], [groups[i] for i in side] if groups else [], motion)
        for side in sides
    )


def replay(assembly: Assembly, claimed: Disassembly) -> bool:
    """Whether the moves can be made: nothing overlaps on its way, and each part ends out of reach."""
    cells = [{(int(x), int(y), int(z)) for x, y, z in assembly.piece(i)} for i in range(assembly.pieces)]
    for part in claimed.separations():
        for move in part.steps:
            x, y, z = move.way
            steps = FAR if move.out else max(map(abs, move.way))
            way = move.way if move.out else (x // steps, y // steps, z // steps)
            others = set[Cell]().union(*(cells[i] for i in part.pieces if i not in move.pieces))
            for i in move.pieces:
                moved = cells[i]
                for _ in range(steps):
                    moved = {_plus(cell, way) for cell in moved}
                    if moved & others:
                        return False
                cells[i] = cells[i] if move.out else moved
    return True


def random_assembly(rng: random.Random) -> Assembly:
    """Up to four pieces that a small box is dealt out among, some cells left empty; or a cage."""
    cells = sorted(box(rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)))
    count = rng.choice((1, 2, 2, 3, 3, 4))
    empty = rng.choice((0.0, 0.1, 0.3))
    owners = [-1 if rng.random() < empty else rng.randrange(count) for _ in cells]
    if rng.random() < 0.15:  # what stands in the middle is held by the first
        cells = sorted(box(3, 3, 3))
        owners = [0 if cell != (1, 1, 1) else 1 for cell in cells]
        for place in rng.sample(range(len(cells)), rng.randint(0, 6)):
            owners[place] = rng.choice((-1, 1, 2))
    dealt = [
        [cell for cell, owner in zip(cells, owners, strict=True) if owner == piece] for piece in range(count)
    ]
    pieces = [piece for piece in dealt if piece] or [[(0, 0, 0)]]
    groups = [frozenset(rng.sample(range(3), rng.randint(0, 2))) for _ in pieces]
    return Assembly.of(pieces, rng.choice((CUBES, CUBES, _SLANTED)), groups if rng.random() < 0.4 else [])


def _examine(rng: random.Random, case: Case) -> None:
    assembly = random_assembly(rng)
    pieces = [{(int(x), int(y), int(z)) for x, y, z in assembly.piece(i)} for i in range(assembly.pieces)]
    case.text = f"{pieces}, groups {assembly.groups}, ways {assembly.motion.ways.tolist()}"
    claimed = take_apart(assembly)
    case.check("moves can be made", replay(assembly, claimed))
    try:
        true = separation(pieces, assembly.motion)
        apart = comes_apart(pieces, assembly.groups, assembly.motion)
    except OverflowError:
        return
    if not assembly.may_stay_together():
        case.equal("fewest moves", len(claimed.steps) or None, true and true[0])
    case.equal("comes apart", claimed.apart, apart)


FIELD = Field("disassembly", _examine)
