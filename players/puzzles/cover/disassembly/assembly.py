"""`Assembly`: pieces that lie in space, each a set of cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError

MOST_PIECES = 64
"""A group of pieces is a set of bits in one word."""


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """How pieces slide in a grid.

    Attributes:
        ways: int32[ways, 3]: translations of one step; each goes there and back.
        swept: int32[ways, kinds, most, 3]: the cells that one of each kind passes through on its way,
            relative to it; those that are not needed repeat another.
        slant: int32[3]: the kind of cell c is (slant . c) modulo the number of kinds.
    """

    ways: NDArray[np.int32]
    swept: NDArray[np.int32]
    slant: NDArray[np.int32]

    def kinds(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """The kind of each cell, int32[cells]."""
        kinds: NDArray[np.int32] = ((cells @ self.slant) % self.swept.shape[1]).astype(np.int32)
        return kinds


def straight(ways: Sequence[Sequence[int]]) -> Motion:
    """Cells of one kind that touch none but the next cell when they move."""
    steps = np.array(ways, np.int32)
    return Motion(steps, steps[:, None, None].copy(), np.zeros(3, np.int32))


CUBES = straight([(1, 0, 0), (0, 1, 0), (0, 0, 1)])
"""Cubes slide along the axes."""

PRISMS = Motion(
    np.array([[0, 0, 1], [2, 0, 0], [1, 1, 0], [-1, 1, 0]], np.int32),
    np.array(
        [
            [[[0, 0, 1], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]],
            [[[1, 0, 0], [2, 0, 0]], [[1, 0, 0], [2, 0, 0]]],
            [[[1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 1, 0]]],
            [[[-1, 0, 0], [-1, 1, 0]], [[0, 1, 0], [-1, 1, 0]]],
        ],
        np.int32,
    ),
    np.array([1, 1, 0], np.int32),
)
"""Prisms over triangles slide along z and along the three edges; a prism that slides along an edge passes
through the one beside it, which stands the other way."""

MOTIONS = {"cubes": CUBES, "prisms": PRISMS}
"""How pieces slide, by the name of the grid; in the other grids they are not taken apart."""


class AssemblyError(GdlError):
    """An assembly that cannot be: what is wrong, and what to do about it."""


@dataclass(frozen=True, eq=False, slots=True)
class Assembly:
    """Pieces in their places.

    Attributes:
        cells: int32[cells, 3]: the cells of all pieces, piece by piece.
        starts: int32[pieces + 1]: where each piece's cells begin.
        motion: how pieces slide.
        groups: for each piece the groups that it is of: pieces that share a group need not come apart.
        names: of the pieces, for people.

    >>> two = Assembly.of([[(0, 0, 0)], [(1, 0, 0), (2, 0, 0)]])
    >>> two.pieces
    2
    """

    cells: NDArray[np.int32]
    starts: NDArray[np.int32]
    motion: Motion = field(default_factory=lambda: CUBES)
    groups: tuple[frozenset[int], ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        pieces: Sequence[Sequence[tuple[int, int, int]]],
        motion: Motion = CUBES,
        groups: Sequence[frozenset[int]] = (),
        names: Sequence[str] = (),
    ) -> Assembly:
        """Of pieces that are lists of cells. Raises AssemblyError for none or more than 64 of them, for one
        without cells, and for a cell that two have."""
        if not 0 < len(pieces) <= MOST_PIECES:
            raise AssemblyError(
                f"an assembly of {len(pieces)} pieces cannot be taken apart",
                remedy=f"take apart 1 to {MOST_PIECES} pieces at a time",
            )
        taken: dict[tuple[int, int, int], int] = {}
        for number, piece in enumerate(pieces):
            if not piece:
                raise AssemblyError(f"piece {number} has no cells", remedy="leave it out")
            for cell in piece:
                if taken.setdefault(cell, number) != number or piece.count(cell) > 1:
                    raise AssemblyError(f"cell {cell} is taken twice", remedy="give it to one piece")
        starts = np.cumsum([0, *(len(piece) for piece in pieces)]).astype(np.int32)
        cells = np.array([cell for piece in pieces for cell in piece], np.int32).reshape(-1, 3)
        return cls(cells, starts, motion, tuple(groups), tuple(names))

    @property
    def pieces(self) -> int:
        """How many pieces there are."""
        return len(self.starts) - 1

    def piece(self, number: int) -> NDArray[np.int32]:
        """The cells of a piece, int32[its cells, 3]."""
        return self.cells[self.starts[number] : self.starts[number + 1]]

    def part(self, members: Sequence[int]) -> Assembly:
        """Some of the pieces alone, in this order."""
        starts = np.cumsum([0, *(len(self.piece(number)) for number in members)]).astype(np.int32)
        cells = np.concatenate([self.piece(number) for number in members])
        groups = tuple(self.groups[number] for number in members) if self.groups else ()
        names = tuple(self.names[number] for number in members) if self.names else ()
        return Assembly(cells, starts, self.motion, groups, names)

    def may_stay_together(self) -> bool:
        """Whether nothing need come apart: one piece, or a group that all share."""
        if self.pieces == 1:
            return True
        return bool(self.groups) and bool(frozenset.intersection(*self.groups))
