"""Packing puzzles: known numbers, and every placement and every class of solutions against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.cover.packing import assembly
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids import grid
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.packing.search import Duplicates
from players.puzzles.cover.problem import CoverError
from tests.examples import examples
from tests.players.puzzles.cover.packing.plain_search import images_of, neighbours, solutions

CUBES = grid("cubes")


def box(x: int, y: int, z: int) -> CellShape:
    return CellShape.of([["#" * x] * y] * z)


def puzzle(pieces: list[Piece], result: CellShape, **more: object) -> PackingPuzzle:
    return PackingPuzzle(CUBES, tuple(pieces), result, **more)  # type: ignore[arg-type]


def different(packing: Packing) -> int:
    """How many solutions without duplicates."""
    duplicates = Duplicates.of(packing)
    found = [np.array(each, np.int32) for each in solutions(duplicates.problem)]
    kept = duplicates.kept(found)
    for each in found:
        images = images_of(duplicates, duplicates.numbers[each])
        assert sum(tuple(one.tolist()) in images for one in kept) == 1
    return len(kept)


def test_copies_alike_are_one_item() -> None:
    packing = Packing.of(puzzle([Piece(CellShape.of([["##"]]), 18, 18)], box(6, 6, 1)))
    assert packing.problem.options == 60
    assert packing.problem.maximum[0] == 18


def test_dominoes_of_4x4() -> None:
    packing = Packing.of(puzzle([Piece(CellShape.of([["##"]]), 8, 8)], box(4, 4, 1)))
    assert len(solutions(packing.problem)) == 36
    assert different(packing) == 9


def test_a_mirror_image_counts_only_with_its_partner() -> None:
    """S fits in a corner of this result and in its mirror image; Z only in the other."""
    result = CellShape.of([["+++", "+++"]])
    s, z = CellShape.of([[".##", "##."]]), CellShape.of([["##.", ".##"]])
    flat = (0, 16, 10, 20)
    alone = Packing.of(puzzle([Piece(s, ways=flat)], result))
    assert len(solutions(alone.problem)) == 1
    both = Packing.of(puzzle([Piece(s, 0, 1, ways=flat), Piece(z, 0, 1, ways=flat)], result))
    assert len(solutions(both.problem)) == 3
    assert different(both) == 2


def test_colours_allow_what_they_say() -> None:
    result = CellShape.at([(x, 0, 0) for x in range(4)], colours=[1, 2, 0, 1])
    domino = Piece(CellShape.at([(0, 0, 0), (1, 0, 0)], colours=[1, 2]), 1, 1)

    def places(*allowed: tuple[int, int]) -> list[list[int]]:
        puzzle = PackingPuzzle(
            CUBES, (domino, Piece(CellShape.at([(0, 0, 0)]), 2, 2)), result, frozenset(allowed)
        )
        packing = Packing.of(puzzle)
        return sorted(packing.placed[0].tolist())

    assert places() == []
    assert places((1, 1)) == [[2, 3]]
    assert places((1, 1), (2, 2)) == [[0, 1], [1, 2], [2, 3]]
    assert places((1, 2), (2, 1)) == [[0, 1], [1, 2], [2, 3]]
    assert places((1, 2)) == [[1, 2]]


@st.composite
def small_puzzles(draw: st.DrawFn) -> PackingPuzzle:
    name = draw(st.sampled_from(["cubes", "cubes", "prisms", "rhombic", "tetra-octahedra"]))
    here = grid(name)
    reach = {"cubes": 3, "prisms": 3, "rhombic": 5, "tetra-octahedra": 4}[name]
    cells = np.array(list(product(range(reach), range(reach), range(2 if reach == 3 else reach))))
    cells = cells[here.valid(cells)]

    def shape(most: int, *, variable: bool) -> CellShape:
        start = tuple(cells[draw(st.integers(0, len(cells) - 1))].tolist())
        found = [start]
        for _ in range(draw(st.integers(0, most - 1))):
            near = [
                tuple(n)
                for c in found
                for n in neighbours(here, c).tolist()
                if tuple(n) not in found and max(map(abs, n)) < 12
            ]
            found.append(draw(st.sampled_from(sorted(set(near)))))
        fixed = [not variable or draw(st.booleans()) for _ in found]
        tints = [draw(st.sampled_from([0, 0, 0, 1, 2])) for _ in found]
        return CellShape.at(found, fixed, tints)

    result = shape(9, variable=draw(st.booleans()))
    pieces = []
    for _ in range(draw(st.integers(1, 3))):
        low = draw(st.integers(0, 2))
        pieces.append(Piece(shape(3, variable=False), low, low + draw(st.integers(0, 2))))
    allowed = draw(st.frozensets(st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2)])))
    holes = draw(st.sampled_from([None, 0, 1, 3]))
    return PackingPuzzle(here, tuple(pieces), result, allowed, holes)


Placement = tuple[int, frozenset[tuple[tuple[int, int, int], int]]]
"""The piece, and its cells with their colours."""


def brute_placements(puzzle: PackingPuzzle, piece: int) -> set[Placement]:
    """All that rotations and translations make of a piece inside the result: tried one by one."""
    shape, found = puzzle.pieces[piece].shape, set()
    rooms = dict(zip(map(tuple, puzzle.result.cells.tolist()), puzzle.result.colours.tolist(), strict=True))
    for number in range(puzzle.grid.rotations):
        turned = puzzle.grid.turned(shape.cells, number)
        assert turned is not None
        for room in rooms:
            step = np.array(room) - turned[0]
            if not (puzzle.grid.homes(turned[:1] + step) == puzzle.grid.homes(turned[:1]) + step).all():
                continue
            cells = [tuple(c) for c in (turned + step).tolist()]
            fits = all(
                c in rooms and (not tint or not rooms[c] or (tint, rooms[c]) in puzzle.allowed)
                for c, tint in zip(cells, shape.colours.tolist(), strict=True)
            )
            if fits:
                found.add((piece, frozenset(zip(cells, shape.colours.tolist(), strict=True))))
    return found


def brute_solutions(puzzle: PackingPuzzle) -> set[frozenset[Placement]]:
    """All sets of placements that obey the puzzle's words."""
    must = {tuple(c) for c in puzzle.result.cells[puzzle.result.fixed].tolist()}
    everything = sorted(
        (p for i in range(len(puzzle.pieces)) for p in brute_placements(puzzle, i)),
        key=lambda p: (p[0], sorted(p[1])),
    )
    found = set()

    def place(start: int, taken: frozenset[tuple[int, int, int]], chosen: list[Placement]) -> None:
        counts = [sum(1 for p in chosen if p[0] == i) for i in range(len(puzzle.pieces))]
        right = all(p.minimum <= n <= p.maximum for p, n in zip(puzzle.pieces, counts, strict=True))
        empty = len(puzzle.result) - len(taken)
        if right and must <= taken and (puzzle.holes is None or not puzzle.ranged or empty <= puzzle.holes):
            found.add(frozenset(chosen))
        for i in range(start, len(everything)):
            piece, tinted = everything[i]
            cells = frozenset(c for c, _ in tinted)
            if not cells & taken and counts[piece] < puzzle.pieces[piece].maximum:
                place(i + 1, taken | cells, [*chosen, everything[i]])

    place(0, frozenset(), [])
    return found


def brute_classes(puzzle: PackingPuzzle, found: set[frozenset[Placement]]) -> int:
    """How many classes of solutions, by trying each isometry on each solution's cells.

    Pieces drawn alike are the same to it: it is asked only where there are none.
    """
    result = puzzle.result
    home, order = puzzle.grid.settled(result.cells)
    anonymous = {frozenset(tinted for _, tinted in each) for each in found}
    moves = []
    for number in range(len(puzzle.grid.matrices)):
        turned = puzzle.grid.turned(result.cells, number)
        assert turned is not None
        there, way = puzzle.grid.settled(turned)
        like = (result.fixed[way] == result.fixed[order]).all() and (
            result.colours[way] == result.colours[order]
        ).all()
        if there.shape == home.shape and (there == home).all() and like:
            source, target = result.cells[way].tolist(), result.cells[order].tolist()
            moves.append(dict(zip(map(tuple, source), map(tuple, target), strict=True)))
    classes = set()
    for each in anonymous:
        images = [frozenset(frozenset((move[c], t) for c, t in piece) for piece in each) for move in moves]
        classes.add(frozenset(image for image in images if image in anonymous))
    return len(classes)


@examples(150)
@given(puzzle=small_puzzles())
def test_small_puzzles_against_brute_force(puzzle: PackingPuzzle) -> None:
    try:
        puzzle.check()
    except CoverError:
        assert not brute_solutions(puzzle)
        return
    packing = Packing.of(puzzle)
    known = brute_solutions(puzzle)

    def placement(option: int) -> Placement:
        piece = int(packing.pieces[option])
        row = option - packing.first[piece]
        cells = map(tuple, puzzle.result.cells[packing.placed[piece][row]].tolist())
        return piece, frozenset(zip(cells, packing.tints[piece][row].tolist(), strict=True))

    ours = [frozenset(map(placement, each)) for each in solutions(packing.problem)]
    assert len(ours) == len(set(ours))
    assert set(ours) == known
    if not _alike(puzzle):
        assert different(packing) == brute_classes(puzzle, known)


def _alike(puzzle: PackingPuzzle) -> bool:
    """Whether two pieces are the same thing drawn twice."""
    forms = []
    for piece in puzzle.pieces:
        keys = set()
        for number in range(puzzle.grid.rotations):
            turned = puzzle.grid.turned(piece.shape.cells, number)
            assert turned is not None
            cells, order = puzzle.grid.settled(turned)
            keys.add((cells.tobytes(), piece.shape.colours[order].tobytes()))
        forms.append(min(keys))
    return len(set(forms)) < len(forms)


def test_too_many_placements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    some = puzzle([Piece(box(2, 1, 1), 8, 8)], box(4, 4, 1))
    assert Packing.of(some).problem.options == 24
    monkeypatch.setattr(assembly, "MOST_PLACED", 47)
    with pytest.raises(CoverError, match="too many placements"):
        Packing.of(some)


def test_puzzles_that_cannot_be_say_why() -> None:
    with pytest.raises(CoverError, match="3 cells more"):
        Packing.of(puzzle([Piece(box(4, 1, 1), 3, 3)], box(3, 3, 1)))
    with pytest.raises(CoverError, match="too few"):
        Packing.of(puzzle([Piece(box(4, 1, 1))], box(3, 3, 1)))
    with pytest.raises(CoverError, match="no pieces"):
        Packing.of(puzzle([], box(3, 3, 1)))
    with pytest.raises(CoverError, match="variable"):
        Packing.of(puzzle([Piece(CellShape.of([["#+"]]))], box(2, 1, 1)))
    with pytest.raises(CoverError, match="far apart"):
        Packing.of(puzzle([Piece(box(1, 1, 1), 2, 2)], CellShape.at([(0, 0, 0), (1000, 1000, 1000)])))
    with pytest.raises(CoverError, match="twice"):
        Packing.of(puzzle([Piece(box(1, 1, 1), 2, 2)], CellShape.at([(0, 0, 0), (0, 0, 0)])))
    with pytest.raises(CoverError, match="no cell of rhombic"):
        Packing.of(PackingPuzzle(grid("rhombic"), (Piece(box(1, 1, 1)),), box(1, 1, 1)))
