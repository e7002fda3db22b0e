"""Packing puzzles: grids, text, known numbers, placements and classes by brute force; taking them apart."""

from __future__ import annotations

import json
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.truth.covers import is_solution
from bench.truth.disassembly import Cell, box, replay, separation
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing import assembly, disassembly
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.disassembly import (
    CUBES,
    PRISMS,
    Assembly,
    AssemblyError,
    TooManyArrangementsError,
    separate,
    straight,
    take_apart,
)
from players.puzzles.cover.packing.grids import GRIDS, CellGrid, grid
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.packing.search import Duplicates, PackingSearch
from players.puzzles.cover.packing.text import FAMILIES, is_packing_text, packing_of_text
from players.puzzles.cover.problem import CoverError
from tests.examples import examples
from tests.places import GAMES
from tests.players.puzzles.cover.packing.plain_search import images_of, kept_of, neighbours, solutions

CUBE_GRID = grid("cubes")


def block(x: int, y: int, z: int) -> CellShape:
    return CellShape.of([["#" * x] * y] * z)


def puzzle(pieces: list[Piece], result: CellShape, **more: object) -> PackingPuzzle:
    return PackingPuzzle(CUBE_GRID, tuple(pieces), result, **more)  # type: ignore[arg-type]


def different(packing: Packing) -> int:
    """How many solutions without duplicates."""
    duplicates, found, kept = kept_of(packing)
    for each in found:
        images = images_of(duplicates, duplicates.numbers[each])
        assert sum(tuple(one.tolist()) in images for one in kept) == 1
    return len(kept)


def test_copies_alike_are_one_item() -> None:
    packing = Packing.of(puzzle([Piece(CellShape.of([["##"]]), 18, 18)], block(6, 6, 1)))
    assert packing.problem.options == 60
    assert packing.problem.maximum[0] == 18


def test_dominoes_of_4x4() -> None:
    packing = Packing.of(puzzle([Piece(CellShape.of([["##"]]), 8, 8)], block(4, 4, 1)))
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
            CUBE_GRID, (domino, Piece(CellShape.at([(0, 0, 0)]), 2, 2)), result, frozenset(allowed)
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
    some = puzzle([Piece(block(2, 1, 1), 8, 8)], block(4, 4, 1))
    assert Packing.of(some).problem.options == 24
    monkeypatch.setattr(assembly, "MOST_PLACED", 47)
    with pytest.raises(CoverError, match="too many placements"):
        Packing.of(some)


def test_puzzles_that_cannot_be_say_why() -> None:
    with pytest.raises(CoverError, match="3 cells more"):
        Packing.of(puzzle([Piece(block(4, 1, 1), 3, 3)], block(3, 3, 1)))
    with pytest.raises(CoverError, match="too few"):
        Packing.of(puzzle([Piece(block(4, 1, 1))], block(3, 3, 1)))
    with pytest.raises(CoverError, match="no pieces"):
        Packing.of(puzzle([], block(3, 3, 1)))
    with pytest.raises(CoverError, match="variable"):
        Packing.of(puzzle([Piece(CellShape.of([["#+"]]))], block(2, 1, 1)))
    with pytest.raises(CoverError, match="far apart"):
        Packing.of(puzzle([Piece(block(1, 1, 1), 2, 2)], CellShape.at([(0, 0, 0), (1000, 1000, 1000)])))
    with pytest.raises(CoverError, match="twice"):
        Packing.of(puzzle([Piece(block(1, 1, 1), 2, 2)], CellShape.at([(0, 0, 0), (0, 0, 0)])))
    with pytest.raises(CoverError, match="no cell of rhombic"):
        Packing.of(PackingPuzzle(grid("rhombic"), (Piece(block(1, 1, 1)),), block(1, 1, 1)))


# --- Known numbers of packing puzzles by the real search; slices, saved searches and limits change nothing
PUZZLE_FOLDER = GAMES / "puzzles"
SLICE = 0.005


def ours(name: str) -> PackingPuzzle:
    return packing_of_text((PUZZLE_FOLDER / f"{name}.packing").read_text())


def ranged(family: str, most: int, x: int, y: int) -> PackingPuzzle:
    """Any of a family's pieces, each up to so often, in a rectangle."""
    pieces = tuple(Piece(CellShape.of(drawing, name), 0, most) for name, drawing in FAMILIES[family].items())
    return PackingPuzzle(grid("cubes"), pieces, CellShape.of([["#" * x] * y]))


def counted(puzzle: PackingPuzzle, *, every: bool = False, delivers: bool = True) -> int:
    search = PackingSearch(puzzle, CoverOptions(delivers=delivers), every=every)
    while not search.step(time.monotonic() + 1):
        pass
    result = search.result()
    assert result.complete and (not delivers or len(search.taken()) == result.solutions)
    return result.solutions


@pytest.mark.parametrize("delivers", [True, False])
@pytest.mark.parametrize(
    ("puzzle", "all_of_them", "different"),
    [
        (ours("soma"), 11_520, 240),
        (ours("burr"), 12, 1),
        (ranged("tetrominoes", 5, 5, 4), 454, None),
        (ranged("pentominoes", 1, 5, 5), 856, 107),
        (ranged("pentominoes", 5, 5, 5), 4_006, None),
    ],
    ids=["soma", "burr", "tetrominoes in 4x5", "pentominoes in 5x5, each once", "pentominoes in 5x5"],
)
def test_known_numbers(
    puzzle: PackingPuzzle, all_of_them: int, different: int | None, delivers: bool
) -> None:
    assert counted(puzzle, every=True, delivers=delivers) == all_of_them
    if different is not None:
        assert counted(puzzle, delivers=delivers) == different


def test_pentominoes_come_in_slices_and_as_many_as_are_asked_for() -> None:
    search = PackingSearch(ours("pentominoes6x10"), CoverOptions(first=7))
    found: list[np.ndarray] = []
    while not search.step(time.monotonic() + SLICE):
        found += search.taken()
    found += search.taken()
    assert len(found) == search.result().solutions == 7
    for each in found:
        assert is_solution(search.packing.problem, each.tolist())
        assert (search.packing.drawn(each) >= 0).all()


def test_a_saved_search_goes_on() -> None:
    puzzle = ours("soma")
    search = PackingSearch(puzzle)
    whole = set()
    steps = 0
    while not search.step(time.monotonic()):
        whole |= {tuple(each.tolist()) for each in search.taken()}
        steps += 1
        search = PackingSearch.resumed(puzzle, json.loads(json.dumps(search.saved())))
    whole |= {tuple(each.tolist()) for each in search.taken()}
    assert steps and len(whole) == search.result().solutions == 240


def test_a_search_that_has_enough_goes_on_for_more() -> None:
    puzzle, found = ours("soma"), []
    search = PackingSearch(puzzle, CoverOptions(first=100))
    while not search.step(time.monotonic() + 1):
        pass
    found += search.taken()
    assert len(found) == search.result().solutions == 100 and not search.result().complete
    search = PackingSearch.resumed(puzzle, json.loads(json.dumps(search.saved())))
    while not search.step(time.monotonic() + 1):
        pass
    found += search.taken()
    assert len({tuple(each.tolist()) for each in found}) == len(found) == search.result().solutions == 240
    assert search.result().complete


def test_a_search_of_another_puzzle_is_refused() -> None:
    saved = PackingSearch(ours("soma")).saved()
    for damage in ({}, {"packing": {}}, {**saved, "packing": {"kept": -1, "sieved": True}}):
        with pytest.raises(CoverError):
            PackingSearch.resumed(ours("soma"), damage)
    with pytest.raises(CoverError):
        PackingSearch.resumed(ours("pentominoes6x10"), saved)


# --- Packing puzzles as text: what they say, what is refused, and that what is written is read again
PUZZLE_FILES = sorted((GAMES / "puzzles").glob("*.packing"))
COLOURED = """; a remark
packing cubes
title Two colours
allow 1 1
allow 2 2
holes 1
piece bar x1-2
12
piece corner
##
-
..
.#
result
1a+
##.
-
...
.#.
"""


def test_a_text_is_read() -> None:
    puzzle = packing_of_text(COLOURED)
    assert (puzzle.name, puzzle.holes, puzzle.allowed) == ("Two colours", 1, {(1, 1), (2, 2)})
    bar, corner = puzzle.pieces
    assert (bar.minimum, bar.maximum, bar.shape.colours.tolist()) == (1, 2, [1, 2])
    assert corner.shape.cells.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 1]]
    result = puzzle.result
    assert result.cells.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert result.fixed.tolist() == [True, False, False, True, True, True]
    assert result.colours.tolist() == [1, 1, 0, 0, 0, 0]


def test_our_puzzles_are_there_and_known_as_such() -> None:
    assert {path.stem for path in PUZZLE_FILES} >= {"pentominoes6x10", "pentominoes3x4x5", "soma"}
    assert all(is_packing_text(path.read_text()) for path in PUZZLE_FILES)
    assert not is_packing_text("a b c\na\n") and not is_packing_text('{"packing": 1}')
    # An expression that could split these lines in many ways would never end.
    assert not is_packing_text("\n" * 100_000 + "x") and is_packing_text("\n;\n" * 1000 + " packing")


def test_soma_of_its_file() -> None:
    path = next(path for path in PUZZLE_FILES if path.stem == "soma")
    packing = Packing.of(packing_of_text(path.read_text()))
    assert len(Duplicates.of(packing).images) == 47
    assert different(packing) == 240


def test_flat_pieces_are_not_turned_over() -> None:
    """S- and L-tetrominoes alone: of a 2 x 4 rectangle two L make 2 tilings, which are reflections."""
    text = "packing cubes\n{}result 4 x 2\ntetrominoes LL\n"
    free = packing_of_text(text.format(""))
    flat = packing_of_text(text.format("flat\n"))
    assert len(solutions(Packing.of(free).problem)) == 2
    assert len(solutions(Packing.of(flat).problem)) == 1
    assert different(Packing.of(free)) == different(Packing.of(flat)) == 1


CELL = {
    "cubes": (0, 0, 0),
    "prisms": (0, 0, 0),
    "spheres": (0, 0, 0),
    "rhombic": (2, 1, 0),
    "tetra-octahedra": (1, 1, 1),
}


@pytest.mark.parametrize(
    ("grid", "cells", "places"),
    [
        ("cubes", 216, 216),
        ("prisms", 216, 216),
        ("spheres", 108, 108),
        ("rhombic", 24 + 3 * 4, 24 + 3 * 4),
        ("tetra-octahedra", 8 * 5, 8),
    ],
)
def test_boxes_of_every_grid(grid: str, cells: int, places: int) -> None:
    """A single cell fits wherever there is one of its kind: rotations take each to each, but in the last grid
    only tetrahedra to tetrahedra."""
    x, y, z = CELL[grid]
    drawing = "".join(".\n-\n" * z + ".\n" * y + "." * x + "#\n")
    puzzle = packing_of_text(f"packing {grid}\nresult 6 x 6 x 6\npiece a x0-300\n{drawing}")
    assert len(puzzle.result) == cells
    assert len(Packing.of(puzzle).placed[0]) == places


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^line 1, column 1: no packing puzzle"),
        ("packing hexagons\n", "^line 1, column 1: .*hexagons"),
        ("packing\n", "^line 1, column 1: .*no result"),
        ("packing\nresult 2 x 2\n", "no pieces"),
        ("packing\nresult 2 x q\n", "^line 2, column 1: .*not a size"),
        ("packing\nresult 9999 x 9999\n", "^line 2, column 1: .*too large"),
        ("packing\n\n; so\n  piece\n##\n", "^line 4, column 3: expected a name and how often, found ''"),
        ("packing\npiece a y3\n##\n", "^line 2, column 1: expected a name and how often, found 'a y3'"),
        ("packing\npiece a\nresult 2 x 2\n", "^line 2, column 1: 'a' has no drawing"),
        ("packing\npiece a\n #X#\nresult 2 x 2\n", "^line 3, column 3: 'X' is not a mark .*write # "),
        ("packing\npiece a\n##\n#*\nresult 2 x 2\n", r"^line 4, column 2: '\*' is not a mark"),
        ("packing\npentominoes Q\n", "^line 2, column 1: .*'Q' among"),
        ("packing\ncolour 3\n", "^line 2, column 1: 'colour' means nothing"),
        ("packing\nallow 3\n", "^line 2, column 1: expected 2 numbers, found '3'"),
        ("packing\nholes many\n", "^line 2, column 1: expected 1 number, found 'many'"),
        ("packing\npiece a x3-2\n#\nresult 2 x 2\n", "^line 2, column 1: 3 to 2 copies"),
        ("packing\npiece a x2\n##\nresult\n##\n##\n##\n", "^line 4, column 1: .* 2 cells too few .* as \\+"),
        ("packing\npiece a x3\n##\nresult 4 x 1\n", "^line 4, column 1: .* 2 cells more than the result"),
        ("packing prisms\nflat\npiece a x4\n#\nresult 2 x 2\n", "flat"),
        ("packing\npiece a\n+\nresult 2 x 2\n", "variable"),
        ("packing rhombic\npiece a\n#\nresult 5 x 5 x 5\n", "no cell"),
    ],
)
def test_what_is_no_puzzle_is_refused(text: str, message: str) -> None:
    with pytest.raises(CoverError, match=message) as caught:
        packing_of_text(text)
    assert caught.value.remedy


@given(at=st.integers(0, len(COLOURED) - 1), what=st.text(max_size=4), width=st.integers(0, 20))
def test_damage_gives_an_error_or_a_puzzle(at: int, what: str, width: int) -> None:
    try:
        puzzle = packing_of_text(COLOURED[:at] + what + COLOURED[at + width :])
    except CoverError:
        return
    Packing.of(puzzle)


def test_sizes_may_be_written_with_the_sign_of_times() -> None:
    assert len(packing_of_text("packing\npiece a x3\n##\nresult 3×2\n").result) == 6


def test_remarks_may_stand_behind_a_line_and_in_a_drawing() -> None:
    text = "packing cubes ; a remark\nresult 2 x 2 ; a size\npiece bar x2 ; two\n## ; marks\n"
    puzzle = packing_of_text(text)
    assert (puzzle.pieces[0].minimum, len(puzzle.pieces[0].shape), len(puzzle.result)) == (2, 2, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "packing\nholes 1\nresult\n+++\npiece a\n##\n",
            "fixed numbers of pieces each solution leaves 1 cell",
        ),
        ("packing\nholes 1\nresult 3 x 1\npiece a x0-2\n##\n", "no cell of the result may stay empty"),
        ("packing\nholes 1\nresult\n+++\npiece a x0-2\n##\n", ""),
        ("packing\nresult\n+++\npiece a\n##\n", ""),
    ],
)
def test_why_holes_change_nothing_is_said(text: str, why: str) -> None:
    remark = packing_of_text(text).remark
    assert why in remark and bool(remark) is bool(why)


def test_a_second_result_is_refused_with_the_line_of_the_first() -> None:
    with pytest.raises(CoverError, match="line 3, column 1: a second result, after that in line 2"):
        packing_of_text("packing\nresult 2 x 2\nresult 2 x 3\npiece a\n##\n##\n")


# --- The isometries of each grid are what they should be, and what touches what follows them
ROTATIONS = {"cubes": 24, "prisms": 12, "spheres": 120, "rhombic": 24, "tetra-octahedra": 24}
NEIGHBOURS = {"cubes": {6}, "prisms": {5}, "spheres": {12}, "rhombic": {4}, "tetra-octahedra": {4}}
GROUPS = [each for each in GRIDS if each.closed]


def cells_of(each: CellGrid, reach: int = 6) -> np.ndarray:
    line = np.arange(-reach, reach + 1)
    block = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    return block[each.valid(block)]


def by_name(each: CellGrid) -> str:
    return each.name


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
def test_isometries_are_distinct_and_half_of_them_rotations(each: CellGrid) -> None:
    assert each.rotations == ROTATIONS[each.name]
    assert len(np.unique(each.matrices.reshape(-1, 9), axis=0)) == len(each.matrices)
    unit = each.denominator**3
    determinants = np.rint(np.linalg.det(each.matrices.astype(float))).astype(int)
    assert determinants.tolist() == [unit] * each.rotations + [-unit] * each.rotations
    assert (each.matrices[0] == each.denominator * np.eye(3)).all()


@pytest.mark.parametrize("each", GROUPS, ids=by_name)
def test_isometries_are_a_group(each: CellGrid) -> None:
    members = {tuple(matrix.ravel()) for matrix in each.matrices}
    products = each.matrices[:, None] @ each.matrices[None]
    assert not (products % each.denominator).any()
    assert {tuple(row) for row in (products // each.denominator).reshape(-1, 9)} == members


def test_all_grids_but_spheres_have_groups() -> None:
    assert [each.name for each in GRIDS if not each.closed] == ["spheres"]


def test_the_isometries_of_spheres_hold_those_of_cubes() -> None:
    spheres, cubes = grid("spheres"), grid("cubes")
    members = {tuple(matrix.ravel()) for matrix in spheres.matrices}
    assert {tuple(3 * matrix.ravel()) for matrix in cubes.matrices} < members
    assert all(tuple(matrix.T.ravel()) in members for matrix in spheres.matrices)


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
def test_neighbours_are_mutual_and_of_the_right_number(each: CellGrid) -> None:
    cells = cells_of(each, 3)
    beside = {tuple(c): {tuple(n) for n in neighbours(each, tuple(c)).tolist()} for c in cells.tolist()}
    assert {len(near) for near in beside.values()} == NEIGHBOURS[each.name]
    for cell, near in beside.items():
        assert each.valid(np.array(sorted(near))).all()
        assert all(cell in beside[other] for other in near & beside.keys())


@pytest.mark.parametrize("each", GROUPS, ids=by_name)
def test_isometries_map_cells_to_cells_and_neighbours_to_neighbours(each: CellGrid) -> None:
    cells = cells_of(each, 4)
    middle = tuple(cells[len(cells) // 2].tolist())
    near = np.concatenate([[middle], neighbours(each, middle)])
    for number in range(len(each.matrices)):
        turned = each.turned(cells, number)
        assert turned is not None and each.valid(turned).all()
        assert len(np.unique(turned, axis=0)) == len(cells)
        star = each.turned(near, number)
        assert star is not None
        around = {tuple(c) for c in neighbours(each, tuple(star[0].tolist())).tolist()}
        assert around == {tuple(c) for c in star[1:].tolist()}


@pytest.mark.parametrize("each", GRIDS, ids=by_name)
@given(data=st.data())
def test_settled_cells_forget_translations_and_order(each: CellGrid, data: st.DataObject) -> None:
    cells = cells_of(each, 3)
    some = data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=8, unique=True))
    shape = cells[some]
    steps = each.homes(cells_of(each, 9))
    step = steps[data.draw(st.integers(0, len(steps) - 1))]
    assert each.valid(shape + step).all()
    settled, order = each.settled(shape)
    again, _ = each.settled((shape + step)[::-1])
    assert (settled == again).all()
    assert (each.homes(settled[:1]) == 0).all()
    assert len(np.unique(settled - shape[order], axis=0)) == 1


def test_an_unknown_grid_is_named_with_what_there_is() -> None:
    with pytest.raises(CoverError, match="hexagons") as caught:
        grid("hexagons")
    assert "prisms" in str(caught.value)


# --- Assemblies come apart with the fewest moves, as a plain search over all single steps finds
@st.composite
def assemblies(draw: st.DrawFn) -> list[set[Cell]]:
    """A small box whose cells are dealt out among two to four pieces, some left empty."""
    cells = sorted(box(draw(st.integers(2, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 2))))
    count = draw(st.integers(2, 3))
    owners = draw(st.lists(st.integers(-1, count - 1), min_size=len(cells), max_size=len(cells)))
    pieces = [{cell for cell, owner in zip(cells, owners, strict=True) if owner == i} for i in range(count)]
    pieces = [piece for piece in pieces if piece]
    return pieces or [{(0, 0, 0)}]


@examples(60)
@given(assemblies())
def test_the_first_separation_takes_the_fewest_moves(pieces: list[set[Cell]]) -> None:
    assembly = Assembly.of([sorted(piece) for piece in pieces])
    told = take_apart(assembly)
    true = separation(pieces)
    assert (len(told.steps) or None) == (true and true[0])
    assert replay(assembly, told)


def test_a_cube_in_a_cage_never_comes_out() -> None:
    cage = sorted(box(3, 3, 3) - {(1, 1, 1)})
    told = take_apart(Assembly.of([cage, [(1, 1, 1)]]))
    assert told.apart is False and told.level == ()


def test_pieces_of_one_group_may_stay_together() -> None:
    cage = sorted(box(3, 3, 3) - {(1, 1, 1)})
    kept = Assembly.of([cage, [(1, 1, 1)]], groups=[frozenset({1}), frozenset({1, 2})])
    assert take_apart(kept).apart is True


def test_a_bolt_must_go_before_what_it_holds() -> None:
    # A bar in a channel along x, closed at both ends, held by a bolt from above.
    bar = [(1, 1, 1), (2, 1, 1)]
    bolt = [(1, 1, 2)]
    frame = sorted(box(4, 3, 3) - set(bar) - set(bolt) - {(2, 1, 2)})
    told = take_apart(Assembly.of([frame, bar, bolt]))
    assert told.apart is True
    assert told.level == (1, 1)
    assert replay(Assembly.of([frame, bar, bolt]), told)


def test_ways_may_be_slanted() -> None:
    slanted = straight([(1, 1, 0), (1, -1, 0)])
    held = [[(0, 0, 0), (2, 0, 0), (0, 2, 0), (2, 2, 0)], [(1, 1, 0)]]
    assert take_apart(Assembly.of(held, slanted)).apart is False
    assert take_apart(Assembly.of(held, CUBES)).apart is True


def test_a_prism_slides_through_its_neighbours_only() -> None:
    # Of a ring of six triangles around a point each goes out where its own corner points from.
    ring = [[(0, 0, 0)], [(1, 0, 0)], [(2, 0, 0)], [(0, 1, 0)], [(1, 1, 0)], [(2, 1, 0)]]
    assert len(take_apart(Assembly.of(ring, PRISMS)).level) == 5
    # A triangle between two others in a row: out along an edge, not along the row.
    row = [[(0, 0, 0), (2, 0, 0)], [(1, 0, 0)]]
    told = take_apart(Assembly.of(row, PRISMS))
    assert told.level == (1,) and told.steps[0].way != (2, 0, 0)
    # All six around, and above and below: held.
    shell = [(x, y, 0) for x in range(-2, 5) for y in range(-2, 4) if (x, y) != (1, 0)]
    caps = [(x, y, z) for x, y, _ in [*shell, (1, 0, 0)] for z in (-1, 1)]
    assert take_apart(Assembly.of([shell + caps, [(1, 0, 0)]], PRISMS)).apart is False


def test_too_many_arrangements_are_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = [[(x, y, 0)] for x in range(3) for y in range(3)]
    frame = sorted(box(5, 5, 3))
    inside = [[(x + 1, y + 1, z + 1) for x, y, z in bar] for bar in bars[:-2]]
    taken = {cell for bar in inside for cell in bar} | {(2, 3, 1), (3, 3, 1), (3, 2, 1)}
    held = Assembly.of([sorted(set(frame) - taken), *inside])  # type: ignore[list-item]
    monkeypatch.setattr(disassembly, "MOST_PLACES", 1)
    with pytest.raises(TooManyArrangementsError):
        separate(held)
    assert take_apart(held).apart is None


def test_what_cannot_be_an_assembly_is_refused() -> None:
    for pieces in ([], [[]], [[(0, 0, 0)], [(0, 0, 0)]], [[(0, 0, i)] for i in range(65)]):
        with pytest.raises(AssemblyError) as error:
            Assembly.of(pieces)
        assert error.value.remedy
