"""`Bitset`: options as bits, for dense problems: each item once, or at most once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines import bitset_kernel as kernel
from players.puzzles.cover.engines import layout as at
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverError, CoverProblem
from propnet.jit.vector512 import BYTES, LANES, WORDS, aligned

MOST_OPTIONS = 1 << 14
"""A bit for each pair of options: 32 MB."""


class Bitset(CoverEngine):
    """The options still possible are a set of bits; to pick one is an AND with those that agree with it.

    At each node the item with the fewest possible options is taken, found by counting bits.
    """

    name = "bitset"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        primary = problem.minimum == 1
        count = int(primary.sum())
        super().__init__(problem, delivers=delivers)
        self._path = np.zeros((count + 1, 4), np.int32)
        options, owner = problem.options, np.repeat(np.arange(problem.options), np.diff(problem.starts))
        # Options whose items are near each other get numbers near each other: an item's mask is short then.
        middle = np.bincount(owner, problem.nodes, options) / np.maximum(np.diff(problem.starts), 1)
        self._order = np.argsort(middle, kind="stable").astype(np.int32)
        rank = np.empty(options, np.int64)
        rank[self._order] = np.arange(options)
        self._rank = rank
        words = max(1, -(-options // LANES)) * WORDS
        numbers = np.cumsum(primary) - 1
        own = primary[problem.nodes]
        holders, held = rank[owner[own]], numbers[problem.nodes[own]]
        by_option = np.argsort(holders, kind="stable")
        self._nodes = held[by_option].astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(holders, minlength=options))]).astype(
            np.int32
        )
        self._masks = aligned(max(count, 1), words)
        _set_bits(self._masks, held, holders)
        every = aligned(problem.items, words)
        _set_bits(every, problem.nodes, rank[owner])
        self._agree = aligned(max(options, 1), words)
        self._agree[:] = ~np.uint64(0)
        kernel.agree_with(self._agree, every, problem.nodes, rank[owner])
        self._bands = np.zeros((3, max(count, 1)), np.int64)
        used: NDArray[np.bool_] = (self._masks.reshape(len(self._masks), -1, WORDS) != 0).any(axis=2)
        self._bands[0] = used.argmax(axis=1) * BYTES
        self._bands[1] = np.where(used.any(axis=1), (used.shape[1] - used[:, ::-1].argmax(axis=1)) * BYTES, 0)
        self._bands[2] = words * 8
        self._alive = aligned(count + 2, words)
        _set_bits(self._alive, np.zeros(options, np.int64), np.arange(options))
        self._items = np.array([np.arange(count), np.arange(count)], np.int32).reshape(2, count)
        self._opens = np.zeros(count + 1, np.int64)
        self._scalars[at.OPEN] = count

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Exact covers with optional items and without colours, if each option has an item that must be
        covered."""
        if problem.options > MOST_OPTIONS:
            return False
        if problem.holes is not None and problem.holes < problem.may_be_hole.sum():
            return False
        if (problem.maximum != 1).any() or (problem.weights != 1).any() or problem.colours.any():
            return False
        mandatory = np.zeros(problem.options, np.bool_)
        owner = np.repeat(np.arange(problem.options), np.diff(problem.starts))
        mandatory[owner[problem.minimum[problem.nodes] == 1]] = True
        return bool(mandatory.all())

    def _search(self, budget: int) -> int:
        return int(kernel.search(*self._arrays(), self.delivers, budget))

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self._starts, self._nodes, self._agree, self._masks, self._bands, self._alive, self._items,
            self._opens, self._path, self._found, self._ends, self._scalars,
        )  # fmt: skip

    def _numbered(self, options: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._order[options]

    def each(self, given: Sequence[NDArray[np.int32]], most: int = 2) -> list[tuple[int, NDArray[np.int32]]]:
        """The same problem once for each list of options that must be chosen: many sudokus, say.

        Returns for each how many solutions it has, `most` at most, and the first, which has the given
        options: sorted, empty if there is none. It is of no use for this engine's own search.
        Raises CoverError for a number that is no option.

        >>> problem = CoverProblem.of("abcd", ["ab", "cd", "ac", "bd"])
        >>> [(count, first.tolist()) for count, first in Bitset(problem).each([np.array([3], np.int32)])]
        [(1, [2, 3])]
        """
        begins = np.concatenate([[0], np.cumsum([len(options) for options in given])]).astype(np.int64)
        flat = np.concatenate([np.zeros(0, np.int64), *given]).astype(np.int64)
        if len(flat) and not (flat.min() >= 0 and flat.max() < self.problem.options):
            raise CoverError("a given option is none", remedy=f"options are 0 to {self.problem.options - 1}")
        counts = np.zeros(len(given), np.int64)
        first = np.empty((len(given), max(self._items.shape[1], 1)), np.int32)
        arrays = list(self._arrays())
        depth, words = self._alive.shape
        arrays[5] = aligned(depth + 1, words)
        _set_bits(arrays[5], np.full(self.problem.options, depth), np.arange(self.problem.options))
        arrays[-2], arrays[-1] = np.empty(most, np.int64), np.zeros(10, np.int64)
        arrays[-3] = np.empty(most * (self._items.shape[1] + 1), np.int32)
        kernel.solve_each(begins, self._rank[flat].astype(np.int32), counts, first, *arrays)
        told = []
        for which, row in enumerate(first):
            own = flat[begins[which] : begins[which + 1]]
            chosen = np.concatenate([self._order[row[row >= 0]], own])
            told.append(
                (int(counts[which]), np.sort(chosen if counts[which] else chosen[:0]).astype(np.int32))
            )
        return told

    def try_each(
        self, possible: NDArray[np.bool_], covered: NDArray[np.bool_], begin: int, stride: int
    ) -> int:
        """Pick every `stride`-th option from `begin` on, alone: it is not possible if then an item that is
        not covered has no option left. It is of no use for this engine's own search.

        Args:
            possible: bool[options], which is written.
            covered: bool[items].

        Returns how many vectors of options were looked at.
        """
        alive = aligned(2, self._alive.shape[1])
        inside = self._rank[possible]
        _set_bits(alive, np.zeros(len(inside), np.int64), inside)
        open_items = ~covered[self.problem.minimum == 1]
        looked = int(kernel.try_each(begin, stride, open_items, self._agree, self._masks, self._bands, alive))
        left = np.unpackbits(alive[0].view(np.uint8), bitorder="little")[: self.problem.options]
        possible[:] = left[self._rank] > 0
        return looked

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: self._scalars[at.DEPTH]].tolist()
        return {"path": path, "entering": bool(self._scalars[at.ENTERING])} | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        scalars = self._scalars
        for level, row in enumerate(saved["path"]):
            item, option, tried, width = (int(entry) for entry in row)
            position = int(self._items[1, item]) if item >= 0 else -1
            if not 0 <= position < scalars[at.OPEN] or not 0 <= option < self.problem.options:
                raise ValueError("an item that is covered, or no option")
            there = self._alive[level, option >> 6] & self._masks[item, option >> 6]
            if not int(there) >> (option & 63) & 1:
                raise ValueError("an option that is not possible here")
            self._path[level] = item, option, tried, width
            self._opens[level] = scalars[at.OPEN]
            self._alive[level + 1] = self._alive[level] & self._agree[option]
            kernel.covered(option, self._starts, self._nodes, self._items, scalars)
            scalars[at.DEPTH] = level + 1
        scalars[at.ENTERING] = bool(saved["entering"])


def _set_bits(rows: NDArray[np.uint64], row: NDArray[np.integer], bit: NDArray[np.integer]) -> None:
    """Set bits of rows of words."""
    np.bitwise_or.at(rows, (row, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
