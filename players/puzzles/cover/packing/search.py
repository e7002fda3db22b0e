"""`PackingSearch`: the solutions of a packing puzzle in slices of time; of those that are turns or
reflections of each other, one is kept (`Duplicates`).

The symmetries of the result act on placements. A reflection takes a piece to its mirror image: that is the
same piece, or its partner in the puzzle, or none, and then the reflected solution does not count. Where a
single piece has placements that no symmetry keeps, it breaks them all: the search sees only one placement
of each class of it (its others are forbidden) and finds each solution once. Else a solution is kept if it
is the least, as a sorted list of options, of those images that the search finds too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.outcome import MOST_OPEN, CoverOptions, CoverResult, solutions
from players.puzzles.cover.packing.assembly import Packing, orientations, restricted, symmetries
from players.puzzles.cover.packing.puzzle import MOST_COLOURS, PackingPuzzle
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import CoverSearch

_AT_ONCE = 20_000_000
"""Numbers in the images of solutions that are compared at once."""
_LIKE = 1.1
"""Shares of placements that differ by less are alike."""


@dataclass(frozen=True, eq=False, slots=True)
class Duplicates:
    """The symmetries of a packing, and how its duplicates are kept out.

    Attributes:
        packing: of which.
        images: int32[symmetries, options]: where each option goes, -1 if to none; the identity is left out.
        allowed: bool[options]: which options the search needs.
        broken: whether every solution with allowed options is the only one of its class: nothing to compare.
        problem: the packing's, of the allowed options alone.
        numbers: int32[its options]: their numbers in the packing.
    """

    packing: Packing
    images: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    broken: bool
    problem: CoverProblem
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, packing: Packing) -> Duplicates:
        """Finds the symmetries, and a piece that breaks them if there is one."""
        images = _images(packing)
        allowed, broken = _breaker(packing, images)
        numbers = np.flatnonzero(allowed).astype(np.int32)
        return cls(packing, images, allowed, broken, restricted(packing.problem, allowed), numbers)

    def kept(self, solutions: Sequence[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
        """Of solutions of `problem` (ascending options) those that are the ones of their classes that are
        kept.

        In the order they came in, as ascending options of the packing.
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
        """Which of these solutions, int32[solutions, options], are less than all their other images."""
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
        """Which images have as many copies of each piece as there may be: partners may differ in that."""
        pieces = self.packing.puzzle.pieces
        counts = np.zeros((len(images), len(pieces)), np.int64)
        rows = np.arange(len(images))[:, None]
        np.add.at(counts, (rows, self.packing.pieces[images]), 1)
        low = np.array([piece.minimum for piece in pieces])
        high = np.array([piece.maximum for piece in pieces])
        within: NDArray[np.bool_] = np.all((counts >= low) & (counts <= high), axis=1)
        return within


def partners(puzzle: PackingPuzzle) -> list[int]:
    """For each piece the piece that is its mirror image: itself, another, or -1 for none.

    Pieces drawn alike are paired in their order with those drawn as their mirror images.
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
    """Where each symmetry of the result but the identity takes each option, int32[symmetries, options]."""
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
    """Cells and their colours as one number each, ascending along the last axis."""
    return np.sort(cells * MOST_COLOURS + tints, axis=-1)


def _looked_up(packing: Packing, piece: int, wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """The options of a piece that fill exactly these cells with these colours, -1 for none."""
    rows = _sorted(packing.placed[piece], packing.tints[piece])
    if wanted.shape[-1] != rows.shape[1]:
        return np.full(wanted.shape[:-1], -1, np.int32)
    option = dict(zip(_keys(rows), range(packing.first[piece], packing.first[piece + 1]), strict=True))
    found = [option.get(key, -1) for key in _keys(wanted.reshape(-1, rows.shape[1]))]
    return np.array(found, np.int32).reshape(wanted.shape[:-1])


def _keys(rows: NDArray[np.int64]) -> list[bytes]:
    """The bytes of each row: equal if and only if the rows are."""
    whole = np.ascontiguousarray(rows)
    return cast(
        list[bytes], whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel().tolist()
    )


def _breaker(packing: Packing, images: NDArray[np.int32]) -> tuple[NDArray[np.bool_], bool]:
    """Which options the search needs, and whether it then finds each solution once.

    Of the pieces that are in every solution once: rather one that breaks all symmetries, then one that keeps
    few of its placements, of the like the one with the fewest left, and of those the one in whose way most
    others lie.
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
        kept = here <= own[to_itself].min(axis=0, initial=options)
        broken = bool(never[~to_itself].all()) and not (own[to_itself][:, kept] == here[kept]).any()
        candidates.append((not broken, kept, piece))
    if not candidates:
        return chosen, False
    surely = min(loose for loose, _, _ in candidates)
    left = [(kept, piece) for loose, kept, piece in candidates if loose == surely]
    fewest = min(kept.mean() for kept, _ in left)
    crowd = np.bincount(np.concatenate([rows.ravel() for rows in packing.placed]))
    kept, piece = min(
        ((kept, piece) for kept, piece in left if kept.mean() <= _LIKE * fewest),
        key=lambda pair: (pair[0].sum(), -crowd[packing.placed[pair[1]][pair[0]]].sum() / pair[0].sum()),
    )
    chosen[packing.first[piece] : packing.first[piece + 1]] = kept
    return chosen, not surely


def _always_applies(packing: Packing, image: NDArray[np.int32]) -> bool:
    """Whether a symmetry takes every solution to a solution."""
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
    """Whether a symmetry takes no solution to a solution: a piece that is in all of them has no image."""
    for number, piece in enumerate(packing.puzzle.pieces):
        first, last = packing.first[number : number + 2]
        if piece.minimum > 0 and (image[first:last] < 0).all():
            return True
    return False


Watch = Callable[[CoverResult], None]


class PackingSearch:
    """A `CoverSearch` of a puzzle, which keeps one of the solutions that are turns or reflections of each
    other.

    Args:
        puzzle: the puzzle.
        options: how to search; `first` counts the solutions that are kept.
        watch: called after each step with the result so far.
        every: keep turned and reflected solutions too.

    Raises:
        CoverError: the puzzle contradicts itself or is too large, or there is no engine for it.
    """

    def __init__(
        self,
        puzzle: PackingPuzzle,
        options: CoverOptions = CoverOptions(),
        watch: Watch | None = None,
        *,
        every: bool = False,
    ) -> None:
        self._begin(puzzle, options, watch, every)
        self._search = CoverSearch(self._problem, self._inner, self._watched)

    def _begin(self, puzzle: PackingPuzzle, options: CoverOptions, watch: Watch | None, every: bool) -> None:
        self.packing = Packing.of(puzzle)
        self.options = options
        self._watch = watch
        self._duplicates = None if every else Duplicates.of(self.packing)
        self._sieved = self._duplicates is not None and not self._duplicates.broken
        self._problem = self.packing.problem if self._duplicates is None else self._duplicates.problem
        self._inner = replace(options, delivers=True, first=None) if self._sieved else options
        self._kept = 0
        self._ready: list[NDArray[np.int32]] = []
        self._waiting: list[NDArray[np.int32]] = []
        """Solutions that were found after there were enough."""

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do."""
        return (self._search.over and not self._waiting) or self._enough()

    def _enough(self) -> bool:
        return self._sieved and self.options.first is not None and self._kept >= self.options.first

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds). Returns whether there is more to do."""
        if not self._enough():
            self._search.step(deadline)
            self._sift()
            if self._watch is not None and self._sieved:
                self._watch(self.result())
        return not self.over

    def _sift(self) -> None:
        found = self._search.taken()
        kept = found if self._duplicates is None else self._duplicates.kept(found)
        if self._sieved:
            kept = self._waiting + kept
            room = None if self.options.first is None else self.options.first - self._kept
            kept, self._waiting = kept[:room], [] if room is None else kept[room:]
            self._kept += len(kept)
        if self.options.delivers:
            self._ready += kept

    def _watched(self, result: CoverResult) -> None:
        if self._watch is not None and not self._sieved:
            self._watch(result)

    def taken(self) -> list[NDArray[np.int32]]:
        """The solutions found since the last call, each ascending options of `packing`; none if they are only
        counted."""
        ready, self._ready = self._ready, []
        return ready

    def result(self) -> CoverResult:
        """What is known now; `solutions` are those that are kept."""
        result = self._search.result()
        if not self._sieved:
            return result
        complete = result.complete and not self._waiting
        progress = result.progress if complete else min(result.progress, MOST_OPEN)
        return replace(result, solutions=self._kept, complete=complete, progress=progress)

    def saved(self) -> dict[str, Any]:
        """What a later process needs to go on from here, for JSON. Take the solutions first."""
        waiting = [each.tolist() for each in self._waiting]
        head = {"kept": self._kept, "sieved": self._sieved, "waiting": waiting}
        return {"packing": head, "search": self._search.saved()}

    @classmethod
    def resumed(
        cls,
        puzzle: PackingPuzzle,
        saved: dict[str, Any],
        options: CoverOptions = CoverOptions(),
        watch: Watch | None = None,
        *,
        every: bool = False,
    ) -> Self:
        """The search of the same puzzle that was saved; raises CoverError for another's, or a damaged one."""
        search = cls.__new__(cls)
        search._begin(puzzle, options, watch, every)
        head, inner = saved.get("packing"), saved.get("search")
        if not isinstance(head, dict) or not isinstance(inner, dict):
            raise CoverError("what was saved is no search of a packing puzzle", remedy="begin anew")
        kept = head.get("kept")
        if head.get("sieved") is not search._sieved or type(kept) is not int or kept < 0:
            raise CoverError("the saved search is of another puzzle, or damaged", remedy="begin anew")
        search._search = CoverSearch.resumed(search._problem, inner, search._inner, search._watched)
        search._kept = kept
        search._waiting = solutions(head, "waiting", search.packing.problem.options)
        return search
