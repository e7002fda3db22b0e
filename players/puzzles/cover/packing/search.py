"""`PackingSearch`: the solutions of a packing puzzle in slices of time. `Duplicates` keeps one of the
solutions that are rotations or reflections of each other.

The symmetries of the result act on placements. A reflection maps a piece to its mirror image: the same piece,
its partner in the puzzle, or none, and then the reflected solution does not count. If a single piece has
placements that no symmetry keeps, it breaks all symmetries: the search sees only one placement of each class
of that piece (the others are forbidden) and finds each solution once. Otherwise a solution is kept if it is
the least, as a sorted list of options, of those of its images that the search also finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from players.companions import Stepwise
from players.puzzles.cover.outcome import MOST_OPEN, CoverOptions, CoverResult, solutions
from players.puzzles.cover.packing.assembly import Packing, orientations, restricted, symmetries
from players.puzzles.cover.packing.puzzle import MOST_COLOURS, PackingPuzzle
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import CoverSearch

_AT_ONCE = 20_000_000
"""The most numbers in the images of solutions that are compared at once."""
_LIKE = 1.1
"""Shares of placements that differ by a smaller factor count as equal."""


@dataclass(frozen=True, eq=False, slots=True)
class Duplicates:
    """The symmetries of a packing, and a filter for its duplicate solutions.

    Attributes:
        packing: the packing.
        images: int32[symmetries, options]: the image of each option, -1 if it has none; without the identity.
        allowed: bool[options]: the options that the search needs.
        broken: whether every solution with allowed options is the only one of its class, so that no
            comparison is needed.
        problem: the packing's problem with the allowed options alone.
        numbers: int32[its options]: the numbers of its options in the packing.
    """

    packing: Packing
    images: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    broken: bool
    problem: CoverProblem
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, packing: Packing) -> Duplicates:
        """Find the symmetries, and a piece that breaks them if there is one."""
        images = _images(packing)
        allowed, broken = _breaker(packing, images)
        numbers = np.flatnonzero(allowed).astype(np.int32)
        return cls(packing, images, allowed, broken, restricted(packing.problem, allowed), numbers)

    def kept(self, solutions: Sequence[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
        """Return one solution of each class, from solutions of `problem` (ascending options).

        They keep their order and become ascending options of the packing.
        """
        ours = [self.numbers[solution] for solution in solutions]
        if self.broken or not ours:
            return ours
        keep = np.ones(len(ours), np.bool_)
        lengths = np.array([len(each) for each in ours])
        for length in np.unique(lengths[lengths > 0]):
            rows = np.flatnonzero(lengths == length)
            for some in np.array_split(rows, 1 + len(rows) * len(self.images) * int(length) // _AT_ONCE):
                keep[some] = self._least_of_their_classes(np.stack([ours[row] for row in some]))
        return [each for each, stays in zip(ours, keep, strict=True) if stays]

    def _least_of_their_classes(self, ours: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these solutions, int32[solutions, options], are less than all their other
        images."""
        images = self.images[:, ours].reshape(-1, ours.shape[1])
        owner = np.tile(np.arange(len(ours)), len(self.images))
        good = (images >= 0).all(axis=1)
        images, owner = np.sort(images[good], axis=1), owner[good]
        different = images != ours[owner]
        where = different.argmax(axis=1)
        rows = np.arange(len(images))
        less = images[rows, where] < ours[owner, where]
        images, owner = images[less], owner[less]
        good = np.all(self.allowed[images], axis=1)
        images, owner = images[good], owner[good]
        keep = np.ones(len(ours), np.bool_)
        keep[owner[self._within_bounds(images)]] = False
        return keep

    def _within_bounds(self, images: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which images have an allowed number of copies of each piece: the bounds of partners may
        differ."""
        pieces = self.packing.puzzle.pieces
        counts = np.zeros((len(images), len(pieces)), np.int64)
        rows = np.arange(len(images))[:, None]
        np.add.at(counts, (rows, self.packing.pieces[images]), 1)
        low = np.array([piece.minimum for piece in pieces])
        high = np.array([piece.maximum for piece in pieces])
        within: NDArray[np.bool_] = np.all((counts >= low) & (counts <= high), axis=1)
        return within


def partners(puzzle: PackingPuzzle) -> list[int]:
    """Return for each piece its mirror image among the pieces: itself, another piece, or -1 for none.

    Identical pieces are paired, in order, with the pieces that are their mirror images.
    """
    rotations = puzzle.grid.rotations
    here: dict[bytes, list[int]] = {}
    there: list[bytes] = []
    for number, piece in enumerate(puzzle.pieces):
        ways = range(rotations) if piece.ways is None else piece.ways
        own = min(way.key for way in orientations(puzzle.grid, piece.shape, ways))
        here.setdefault(own, []).append(number)
        mirrored = [rotations + way for way in ways]
        there.append(min((way.key for way in orientations(puzzle.grid, piece.shape, mirrored)), default=b""))
    found = [-1] * len(there)
    for alike in here.values():
        for ours, theirs in zip(alike, here.get(there[alike[0]], []), strict=False):
            found[ours] = theirs
    return found


def _images(packing: Packing) -> NDArray[np.int32]:
    """Return the image of each option under each symmetry of the result but the identity, int32[symmetries,
    options]."""
    puzzle = packing.puzzle
    moves = symmetries(puzzle.grid, puzzle.result)[1:]
    images = np.full((len(moves), packing.problem.options), -1, np.int32)
    if not len(moves):
        return images
    partner = partners(puzzle)
    for piece, (rows, tints) in enumerate(zip(packing.placed, packing.tints, strict=True)):
        columns = slice(packing.first[piece], packing.first[piece + 1])
        tinted = _sorted(moves[:, rows], tints[None])
        images[:, columns] = _looked_up(packing, piece, tinted)
        other = partner[piece]
        if other not in (piece, -1):
            missing = images[:, columns] < 0
            through = _looked_up(packing, other, tinted)
            images[:, columns] = np.where(missing, through, images[:, columns])
    return images


def _sorted(cells: NDArray[np.integer], tints: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return cells and their colours as one number each, ascending along the last axis."""
    return np.sort(cells * MOST_COLOURS + tints, axis=-1)


def _looked_up(packing: Packing, piece: int, wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the options of a piece that fill exactly these cells with these colours, -1 for none."""
    rows = _sorted(packing.placed[piece], packing.tints[piece])
    if wanted.shape[-1] != rows.shape[1]:
        return np.full(wanted.shape[:-1], -1, np.int32)
    option = dict(zip(_keys(rows), range(packing.first[piece], packing.first[piece + 1]), strict=True))
    found = [option.get(key, -1) for key in _keys(wanted.reshape(-1, rows.shape[1]))]
    return np.array(found, np.int32).reshape(wanted.shape[:-1])


def _keys(rows: NDArray[np.int64]) -> list[bytes]:
    """Return the bytes of each row: equal if and only if the rows are equal."""
    whole = np.ascontiguousarray(rows)
    return cast(
        list[bytes], whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel().tolist()
    )


def _breaker(packing: Packing, images: NDArray[np.int32]) -> tuple[NDArray[np.bool_], bool]:
    """Return the options that the search needs, and whether it then finds each solution once.

    A piece that every solution contains once is chosen. Pieces that break all symmetries come first, then
    those that keep the fewest of their placements. Of pieces with similar shares, the one with the fewest
    placements left wins, then the one whose placements collide with the most others.
    """
    options = packing.problem.options
    chosen = np.ones(options, np.bool_)
    if not len(images):
        return chosen, True
    whole = np.array([_always_applies(packing, image) for image in images])
    never = np.array([_never_applies(packing, image) for image in images])
    candidates = []
    for piece, spec in enumerate(packing.puzzle.pieces):
        first, last = packing.first[piece : piece + 2]
        if (spec.minimum, spec.maximum) != (1, 1) or first == last:
            continue
        own = images[:, first:last]
        here = np.arange(first, last)
        to_itself = whole & ((own >= first) & (own < last)).all(axis=1)
        needed = here <= own[to_itself].min(axis=0, initial=options)
        broken = bool(never[~to_itself].all()) and not (own[to_itself][:, needed] == here[needed]).any()
        candidates.append((not broken, needed, piece))
    if not candidates:
        return chosen, False
    surely = min(loose for loose, _, _ in candidates)
    left = [(needed, piece) for loose, needed, piece in candidates if loose == surely]
    fewest = min(needed.mean() for needed, _ in left)
    crowd = np.bincount(np.concatenate([rows.ravel() for rows in packing.placed]))
    needed, piece = min(
        ((needed, piece) for needed, piece in left if needed.mean() <= _LIKE * fewest),
        key=lambda pair: (pair[0].sum(), -crowd[packing.placed[pair[1]][pair[0]]].sum() / pair[0].sum()),
    )
    chosen[packing.first[piece] : packing.first[piece + 1]] = needed
    return chosen, not surely


def _always_applies(packing: Packing, image: NDArray[np.int32]) -> bool:
    """Whether a symmetry maps every solution to a solution."""
    if (image < 0).any():
        return False
    pieces = packing.puzzle.pieces
    for number, piece in enumerate(pieces):
        first, last = packing.first[number : number + 2]
        for target in np.unique(packing.pieces[image[first:last]]):
            other = pieces[target]
            if (piece.minimum, piece.maximum) != (other.minimum, other.maximum):
                return False
    return True


def _never_applies(packing: Packing, image: NDArray[np.int32]) -> bool:
    """Whether a symmetry maps no solution to a solution: a piece that is in all of them has no image."""
    for number, piece in enumerate(packing.puzzle.pieces):
        first, last = packing.first[number : number + 2]
        if piece.minimum > 0 and (image[first:last] < 0).all():
            return True
    return False


class PackingSearch(Stepwise):
    """A `CoverSearch` of a puzzle that keeps one of the solutions that are rotations or reflections of each
    other.

    Args:
        puzzle: the puzzle.
        options: the options of the search; `first` counts the solutions that are kept.
        every: whether to keep rotated and reflected solutions too.

    Raises:
        CoverError: the puzzle contradicts itself or is too large, or there is no engine for it.
    """

    def __init__(
        self,
        puzzle: PackingPuzzle,
        options: CoverOptions = CoverOptions(),
        *,
        every: bool = False,
    ) -> None:
        self._begin(puzzle, options, every)
        self._search = CoverSearch(self._problem, self._inner)

    def _begin(self, puzzle: PackingPuzzle, options: CoverOptions, every: bool) -> None:
        self.packing = Packing.of(puzzle)
        self.options = options
        self._duplicates = None if every else Duplicates.of(self.packing)
        self._sieved = self._duplicates is not None and not self._duplicates.broken
        self._problem = self.packing.problem if self._duplicates is None else self._duplicates.problem
        self._inner = replace(options, delivers=True, first=None) if self._sieved else options
        self._count = 0
        self._ready: list[NDArray[np.int32]] = []
        self._waiting: list[NDArray[np.int32]] = []
        """Solutions found beyond the number asked for."""

    @property
    def over(self) -> bool:
        """Whether the search is complete."""
        return (self._search.over and not self._waiting) or self._enough()

    def _enough(self) -> bool:
        return self._sieved and self.options.first is not None and self._count >= self.options.first

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds). Returns whether nothing is left to
        search."""
        if not self._enough():
            self._search.step(deadline)
            self._sift()
        return self.over

    def _sift(self) -> None:
        found = self._search.taken()
        unique = found if self._duplicates is None else self._duplicates.kept(found)
        if self._sieved:
            unique = self._waiting + unique
            room = None if self.options.first is None else self.options.first - self._count
            unique, self._waiting = unique[:room], [] if room is None else unique[room:]
            self._count += len(unique)
        if self.options.delivers:
            self._ready += unique

    def taken(self) -> list[NDArray[np.int32]]:
        """Return the solutions found since the last call, each as ascending options of `packing`; none if
        they are only counted."""
        ready, self._ready = self._ready, []
        return ready

    def result(self) -> CoverResult:
        """The current result; `solutions` counts the solutions that are kept."""
        result = self._search.result()
        if not self._sieved:
            return result
        complete = result.complete and not self._waiting
        progress = result.progress if complete else min(result.progress, MOST_OPEN)
        return replace(result, solutions=self._count, complete=complete, progress=progress)

    def saved(self) -> dict[str, Any]:
        """Return the state a later process needs to continue, for JSON. Take the solutions first."""
        waiting = [each.tolist() for each in self._waiting]
        head = {"kept": self._count, "sieved": self._sieved, "waiting": waiting}
        return {"packing": head, "search": self._search.saved()}

    @classmethod
    def resumed(
        cls,
        puzzle: PackingPuzzle,
        saved: dict[str, Any],
        options: CoverOptions = CoverOptions(),
        *,
        every: bool = False,
    ) -> Self:
        """Return the saved search of the same puzzle. Raises CoverError if it is damaged or belongs to
        another puzzle."""
        search = cls.__new__(cls)
        search._begin(puzzle, options, every)
        head, inner = saved.get("packing"), saved.get("search")
        if not isinstance(head, dict) or not isinstance(inner, dict):
            raise CoverError("the saved search is not of a packing puzzle", remedy="start a new search")
        count = head.get("kept")
        if head.get("sieved") is not search._sieved or type(count) is not int or count < 0:
            raise CoverError("the saved search is of another puzzle, or damaged", remedy="start a new search")
        search._search = CoverSearch.resumed(search._problem, inner, search._inner)
        search._count = count
        search._waiting = solutions(head, "waiting", search.packing.problem.options)
        return search
