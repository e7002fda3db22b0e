"""`Packing`: a packing puzzle as a cover problem, and the placements that its options stand for.

The first items are the pieces: equal copies are one item, chosen minimum to maximum times. Then come the
cells of the result: variable cells are optional, and holes while empty. If the number of pieces is open,
there is one more item, whose weights are the cells of the open pieces. Its bounds say how many of these cells
fit (BurrTools' range column).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids import CellGrid, Cells
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.problem import CoverError, CoverProblem


@dataclass(frozen=True, eq=False, slots=True)
class _Orientation:
    """A shape after an isometry, in normal form.

    Attributes:
        cells: int64[cells, 3], ascending, the first at its representative.
        colours: int64[cells], their colours.
        origin: int64[cells]: the number of each of these cells in the shape.
    """

    cells: Cells
    colours: NDArray[np.int64]
    origin: NDArray[np.int64]

    @property
    def key(self) -> bytes:
        """Equal if and only if the orientations are."""
        return self.cells.tobytes() + self.colours.tobytes()


def orientation(grid: CellGrid, shape: CellShape, number: int) -> _Orientation | None:
    """Return a shape after one isometry; None if it then no longer fits the grid."""
    turned = grid.turned(shape.cells, number)
    if turned is None:
        return None
    cells, order = grid.settled(turned)
    return _Orientation(cells, shape.colours[order], order)


def orientations(
    grid: CellGrid, shape: CellShape, numbers: Iterable[int] | None = None
) -> list[_Orientation]:
    """Return all different orientations of a shape under these isometries (None: all rotations), each with
    the first isometry that gives it."""
    found: dict[bytes, _Orientation] = {}
    for number in range(grid.rotations) if numbers is None else numbers:
        way = orientation(grid, shape, number)
        if way is not None:
            found.setdefault(way.key, way)
    return list(found.values())


def symmetries(grid: CellGrid, shape: CellShape) -> NDArray[np.int64]:
    """Return the isometries that map a shape to itself, as permutations of its cells: int64[symmetries,
    cells].

    Cell c goes to [s, c]; the identity comes first. Fixed, variable and coloured cells map to cells of the
    same kind. The permutations form a group; each occurs once.
    """
    size = len(shape)
    home = orientation(grid, shape, 0)
    assert home is not None
    found = {tuple(range(size)): None}
    for number in range(1, len(grid.matrices)):
        way = orientation(grid, shape, number)
        if (
            way is not None
            and way.key == home.key
            and (shape.fixed[way.origin] == shape.fixed[home.origin]).all()
        ):
            permutation = np.empty(size, np.int64)
            permutation[way.origin] = home.origin
            found.setdefault(tuple(permutation.tolist()))
    permutations = np.array(list(found), np.int64)
    return permutations if grid.closed else _closure(permutations)


def _closure(permutations: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group that these permutations generate."""
    group = dict.fromkeys(map(tuple, permutations.tolist()))
    fresh = list(permutations)
    while fresh:
        last, fresh = fresh, []
        for member in last:
            for product in permutations[:, member]:
                if tuple(product.tolist()) not in group:
                    group[tuple(product.tolist())] = None
                    fresh.append(product)
    return np.array(list(group), np.int64)


MOST_OPTIONS = 5_000_000
_MOST_VOLUME = 50_000_000
MOST_PLACED = 20_000_000
"""The most cells of all placements together."""


@dataclass(frozen=True, eq=False, slots=True)
class Packing:
    """The placements of all pieces, and the cover problem whose options they are.

    Attributes:
        puzzle: the packing puzzle.
        problem: its solutions are the puzzle's, including rotated copies.
        pieces: int32[options]: the piece that each option places.
        placed: for each piece, int32[its options, its cells]: the cells of the result it fills, in the
            order of the orientation's cells; the options of a piece are consecutive.
        tints: for each piece, int64[its options, its cells]: the colours of the piece on these cells.
        first: int32[pieces + 1]: the first option of each piece.
    """

    puzzle: PackingPuzzle
    problem: CoverProblem
    pieces: NDArray[np.int32]
    placed: list[NDArray[np.int32]]
    tints: list[NDArray[np.int64]]
    first: NDArray[np.int32]

    @classmethod
    def of(cls, puzzle: PackingPuzzle) -> Packing:
        """Return all placements of all pieces. Raises CoverError for a puzzle that contradicts itself or is
        too large."""
        puzzle.check()
        finder = _Finder(puzzle)
        placed, tints = [], []
        total = 0
        for piece in puzzle.pieces:
            rows, colours = finder.placements(piece)
            total += rows.size
            if total > MOST_PLACED:
                raise CoverError("the pieces have too many placements", remedy="make the result smaller")
            placed.append(rows)
            tints.append(colours)
        counts = [len(rows) for rows in placed]
        return cls(
            puzzle,
            _problem(puzzle, placed),
            np.repeat(np.arange(len(counts), dtype=np.int32), counts),
            placed,
            tints,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        )

    def cells(self, option: int) -> NDArray[np.int32]:
        """Return the cells of the result that an option fills, int32[cells]."""
        piece = int(self.pieces[option])
        cells: NDArray[np.int32] = self.placed[piece][option - self.first[piece]]
        return cells

    def drawn(self, solution: Iterable[int]) -> NDArray[np.int32]:
        """Return the option that fills each cell of the result, int32[cells]; -1 for an empty cell."""
        filled = np.full(len(self.puzzle.result), -1, np.int32)
        for option in solution:
            filled[self.cells(option)] = option
        return filled


class _Finder:
    """Finds the placements of pieces in one result."""

    def __init__(self, puzzle: PackingPuzzle) -> None:
        self.puzzle = puzzle
        cells = puzzle.result.cells
        self.low = cells.min(axis=0)
        self.size = cells.max(axis=0) - self.low + 1
        if np.prod(self.size.astype(object)) > _MOST_VOLUME:
            raise CoverError("the result's cells lie far apart", remedy=f"at most {_MOST_VOLUME} in its box")
        self.number = np.full(tuple(self.size), -1, np.int32)
        self.number[tuple((cells - self.low).T)] = np.arange(len(cells))
        self.homes = puzzle.grid.homes(cells)
        self.representatives = cells - self.homes
        most = 1 + max(
            [int(puzzle.result.colours.max())] + [int(p.shape.colours.max()) for p in puzzle.pieces]
        )
        self.fits = np.zeros((most, most), np.bool_)
        self.fits[0] = self.fits[:, 0] = True
        for ours, theirs in puzzle.allowed:
            if ours < most and theirs < most:
                self.fits[ours, theirs] = True

    def placements(self, piece: Piece) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the placements of a piece: cells int32[placements, cells], and their colours."""
        rows, tints = [], []
        for way in orientations(self.puzzle.grid, piece.shape, piece.ways):
            found = self.of_orientation(way)
            rows.append(found)
            tints.append(np.tile(way.colours, (len(found), 1)))
        return np.concatenate(rows), np.concatenate(tints)

    def of_orientation(self, way: _Orientation) -> NDArray[np.int32]:
        """Return the cells that an orientation fills at each place where it fits: int32[placements,
        cells]."""
        steps: Cells = self.homes[(self.representatives == way.cells[0]).all(axis=1)]
        low, high = way.cells.min(axis=0) - self.low, way.cells.max(axis=0) - self.low
        steps = steps[((steps + low >= 0) & (steps + high < self.size)).all(axis=1)]
        if len(steps) * len(way.cells) > _MOST_VOLUME:
            raise CoverError("the puzzle is too large", remedy="make the result or the pieces smaller")
        places = way.cells[None] + (steps - self.low)[:, None]
        found = self.number[tuple(np.moveaxis(places, 2, 0))]
        found = found[(found >= 0).all(axis=1)]
        good: NDArray[np.bool_] = self.fits[way.colours, self.puzzle.result.colours[found]].all(axis=1)
        fitting: NDArray[np.int32] = found[good]
        return fitting


def restricted(problem: CoverProblem, allowed: NDArray[np.bool_]) -> CoverProblem:
    """Return the problem with the same items and only the allowed options, bool[options]."""
    lengths = np.diff(problem.starts)
    nodes = np.repeat(allowed, lengths)
    starts = np.concatenate([[0], np.cumsum(lengths[allowed])]).astype(np.int32)
    return replace(
        problem,
        starts=starts,
        nodes=problem.nodes[nodes],
        weights=problem.weights[nodes],
        colours=problem.colours[nodes],
    )


def _problem(puzzle: PackingPuzzle, placed: list[NDArray[np.int32]]) -> CoverProblem:
    """Return the cover problem of these placements."""
    pieces, room = len(puzzle.pieces), len(puzzle.result)
    if sum(map(len, placed)) > MOST_OPTIONS:
        raise CoverError(f"more than {MOST_OPTIONS} placements", remedy="make the result smaller")
    fixed = puzzle.result.fixed
    minimum = [piece.minimum for piece in puzzle.pieces] + fixed.astype(int).tolist()
    maximum = [piece.maximum for piece in puzzle.pieces] + [1] * room
    if puzzle.ranged:
        taken = sum(p.minimum * len(p.shape) for p in puzzle.pieces if p.minimum == p.maximum)
        minimum.append(max(0, int(np.count_nonzero(fixed)) - taken))
        maximum.append(room - taken)
    nodes, weights, lengths = [], [], []
    for number, (piece, rows) in enumerate(zip(puzzle.pieces, placed, strict=True)):
        columns = [np.full((len(rows), 1), number), pieces + rows]
        heavy = [np.ones((len(rows), 1 + rows.shape[1]), np.int32)]
        if piece.minimum < piece.maximum:
            columns.append(np.full((len(rows), 1), pieces + room))
            heavy.append(np.full((len(rows), 1), len(piece.shape)))
        block = np.concatenate(columns, axis=1)
        nodes.append(block.ravel())
        weights.append(np.concatenate(heavy, axis=1).ravel())
        lengths += [block.shape[1]] * len(rows)
    everything = np.concatenate(nodes).astype(np.int32)
    may_be_hole = np.zeros(len(minimum), np.bool_)
    may_be_hole[pieces : pieces + room] = ~fixed
    names = [piece.shape.name or f"piece {i + 1}" for i, piece in enumerate(puzzle.pieces)]
    names += [",".join(map(str, cell)) for cell in puzzle.result.cells.tolist()]
    problem = CoverProblem(
        np.array(minimum, np.int32),
        np.array(maximum, np.int32),
        np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int32),
        everything,
        np.concatenate(weights).astype(np.int32),
        np.zeros(len(everything), np.int32),
        may_be_hole,
        puzzle.most_holes,
        tuple(names + ["cells of open pieces"][: len(minimum) - len(names)]),
    )
    problem.check()
    return problem
