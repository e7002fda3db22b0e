"""`Bitset`: options as bits, for dense problems that cover each item once, or at most once.

The inner loop of option bitsets: count bits to choose an item, then keep the options that agree with the
pick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.layout import (
    DELIVERED,
    DEPTH,
    ENTERING,
    FILLED,
    FOUND,
    FULL,
    ITEM,
    NODES,
    OPEN,
    OPTION,
    OVER,
    TRIED,
    UNDERWAY,
    WIDTH,
)
from players.puzzles.cover.problem import CoverError, CoverProblem
from propnet.jit.arrays import Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, aligned, count_lanes, load, lowest_bit, store

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@inner
def count(alive: Words, row: int, masks: Words, item: int, bands: Longs, enough: int) -> int:
    """Return the number of possible options of an item; stop counting at ``enough``."""
    found = 0
    for at in range(bands[0, item], bands[1, item], BYTES):
        found += count_lanes(load(alive, row + at) & load(masks, item * bands[2, 0] + at))
        if found >= enough:
            break
    return found


@inner
def cover(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs) -> None:
    """Remove an option's items from the uncovered ones, which stand before ``items[0]``."""
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        here, there = items[1, item], scalars[OPEN] - 1
        if here > there:
            continue
        other = items[0, there]
        items[0, there], items[0, here] = item, other
        items[1, item], items[1, other] = there, here
        scalars[OPEN] = there


@kernel(**ARENA)
def search(
    starts: Ints,
    nodes: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    opens: Longs,
    path: Ints,
    found: Ints,
    ends: Longs,
    scalars: Longs,
    deliver: bool,
    budget: int,
) -> int:
    """Continue the search by about ``budget`` nodes.

    Args:
        starts, nodes: the options' primary items: int32[options + 1], int32[nodes].
        agree: uint64[options, words]: the options that share no item with each, one bit each.
        masks: uint64[items, words]: the options of each primary item.
        bands: int64[3, items]: the bytes of a mask from its first to behind its last bit, in whole vectors;
            in the third row the bytes of a row.
        alive: uint64[depth, words]: the options still possible at each node of the path.
        items: int32[2, items]: the primary items, uncovered ones first; the place of each item in that order.
        opens: int64[depth]: the number of uncovered items at each node.
        path: int32[depth, 4]: see `layout` for its columns.
        found, ends: int32[room], int64[room]: options of the solutions found, and the end of each solution.
        scalars: int64[10]: see `layout`.

    Returns UNDERWAY, FULL (the buffer must be emptied) or OVER.
    """
    limit = scalars[NODES] + budget
    size = bands[2, 0]
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[ENTERING]:
            scalars[ENTERING] = 0
            if scalars[OPEN] == 0:
                if deliver:
                    if scalars[FILLED] + depth > len(found) or scalars[DELIVERED] == len(ends):
                        scalars[ENTERING] = 1
                        return FULL
                    for level in range(depth):
                        found[scalars[FILLED]] = path[level, OPTION]
                        scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
                continue
            row = depth * size
            best, least = -1, 1 << 30
            for k in range(scalars[OPEN]):
                item = items[0, k]
                ways = count(alive, row, masks, item, bands, least)
                if ways < least:
                    best, least = item, ways
                    if ways <= 1:
                        break
            if least == 0:
                continue
            path[depth, ITEM] = best
            path[depth, OPTION] = -1
            path[depth, TRIED] = 0
            path[depth, WIDTH] = least
            opens[depth] = scalars[OPEN]
            scalars[DEPTH] = depth + 1
            depth += 1
        if depth == 0:
            return OVER
        level = depth - 1
        item, before = path[level, ITEM], path[level, OPTION]
        scalars[OPEN] = opens[level]
        if before >= 0:
            path[level, TRIED] += 1
        word = max(bands[0, item] >> 3, (before + 1) >> 6)
        option = -1
        while word < bands[1, item] >> 3:
            bits = alive[level, word] & masks[item, word]
            if word == (before + 1) >> 6:
                bits = (bits >> np.uint64((before + 1) & 63)) << np.uint64((before + 1) & 63)
            if bits:
                option = (word << 6) + lowest_bit(bits)
                break
            word += 1
        if option < 0:
            scalars[DEPTH] = level
            continue
        path[level, OPTION] = option
        scalars[NODES] += 1
        for at in range(0, size, BYTES):
            store(
                alive,
                (level + 1) * size + at,
                load(alive, level * size + at) & load(agree, option * size + at),
            )
        cover(option, starts, nodes, items, scalars)
        scalars[ENTERING] = 1
    return UNDERWAY


@kernel(**ARENA)
def _agree_with(agree: Words, every: Words, nodes: Ints, options: Longs) -> None:
    """For each option, clear the bits of the options that share an item with it.

    Args:
        agree: uint64[options, words]: one bit for each pair of options; updated in place.
        every: uint64[items, words]: the options of each item.
        nodes, options: the item and the option of each node.
    """
    for node in range(len(nodes)):
        item, option = nodes[node], options[node]
        for word in range(agree.shape[1]):
            agree[option, word] &= ~every[item, word]


@kernel(**ARENA)
def try_each(
    begin: int,
    stride: int,
    open_items: NDArray[np.bool_],
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
) -> int:
    """Pick every `stride`-th option from `begin` on, alone, and drop it from row 0 of ``alive`` if an
    uncovered item then has no option left. Returns the number of option vectors examined.

    Row 1 of ``alive`` is scratch space. For the other arguments see :func:`search`.
    """
    size, looked = bands[2, 0], 0
    for option in range(begin, len(agree), stride):
        word, bit = option >> 6, np.uint64(option & 63)
        if not alive[0, word] >> bit & np.uint64(1):
            continue
        for at in range(0, size, BYTES):
            store(alive, size + at, load(alive, at) & load(agree, option * size + at))
        looked += size // BYTES
        for item in range(len(open_items)):
            if not open_items[item] or masks[item, word] >> bit & np.uint64(1):
                continue
            looked += 1
            if count(alive, size, masks, item, bands, 1) == 0:
                alive[0, word] &= ~(np.uint64(1) << bit)
                break
    return looked


@kernel(**ARENA)
def covered(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs) -> None:
    """:func:`cover` for Python."""
    cover(option, starts, nodes, items, scalars)


@kernel(**ARENA)
def _solve_each(
    begins: Longs,
    given: Ints,
    counts: Longs,
    first: Ints,
    starts: Ints,
    nodes: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    opens: Longs,
    path: Ints,
    found: Ints,
    ends: Longs,
    scalars: Longs,
) -> None:
    """Solve the same problem once for each list of given options.

    Args:
        begins, given: int64[lists + 1], int32[options]: the lists.
        counts: int64[lists]: receives the number of solutions, at most the length of ``ends``.
        first: int32[lists, items]: receives the other options of the first solution, then -1.

    The other arguments are those of :func:`search`; the last row of ``alive`` has all options.
    """
    size = bands[2, 0]
    rows = len(alive) - 1
    for which in range(len(counts)):
        scalars[:] = 0
        scalars[ENTERING] = 1
        scalars[OPEN] = items.shape[1]
        for at in range(0, size, BYTES):
            store(alive, at, load(alive, rows * size + at))
        for k in range(begins[which], begins[which + 1]):
            option = given[k]
            if not alive[0, option >> 6] >> np.uint64(option & 63) & np.uint64(1):
                # Two of the given options contradict each other.
                scalars[ENTERING] = 0
                break
            for at in range(0, size, BYTES):
                store(alive, at, load(alive, at) & load(agree, option * size + at))
            cover(option, starts, nodes, items, scalars)
        search(
            starts, nodes, agree, masks, bands, alive, items, opens, path, found, ends, scalars, True, 1 << 60
        )
        counts[which] = scalars[DELIVERED]
        first[which] = -1
        if scalars[DELIVERED]:
            for k in range(ends[0]):
                first[which, k] = found[k]


MOST_OPTIONS = 1 << 14
"""One bit for each pair of options: 32 MB."""


class Bitset(CoverEngine):
    """Represents the possible options as a set of bits; picking an option is an AND with the options that
    agree with it.

    Each node branches on the item with the fewest possible options, found by counting bits.
    """

    name = "bitset"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        primary = problem.minimum == 1
        count = int(primary.sum())
        super().__init__(problem, delivers=delivers)
        self._path = np.zeros((count + 1, 4), np.int32)
        options, owner = problem.options, np.repeat(np.arange(problem.options), np.diff(problem.starts))
        # Give options whose items are close to each other close numbers: this keeps the masks of items short.
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
        _agree_with(self._agree, every, problem.nodes, rank[owner])
        self._bands = np.zeros((3, max(count, 1)), np.int64)
        used: NDArray[np.bool_] = (self._masks.reshape(len(self._masks), -1, WORDS) != 0).any(axis=2)
        self._bands[0] = used.argmax(axis=1) * BYTES
        self._bands[1] = np.where(used.any(axis=1), (used.shape[1] - used[:, ::-1].argmax(axis=1)) * BYTES, 0)
        self._bands[2] = words * 8
        self._alive = aligned(count + 2, words)
        _set_bits(self._alive, np.zeros(options, np.int64), np.arange(options))
        self._items = np.array([np.arange(count), np.arange(count)], np.int32).reshape(2, count)
        self._opens = np.zeros(count + 1, np.int64)
        self._scalars[OPEN] = count

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Return True for exact covers with optional items and without colours in which each option has an
        item that must be covered."""
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
        return int(search(*self._arrays(), self.delivers, budget))

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self._starts, self._nodes, self._agree, self._masks, self._bands, self._alive, self._items,
            self._opens, self._path, self._found, self._ends, self._scalars,
        )  # fmt: skip

    def _numbered(self, options: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._order[options]

    def each(self, given: Sequence[NDArray[np.int32]], most: int = 2) -> list[tuple[int, NDArray[np.int32]]]:
        """Solve the same problem once for each list of options that must be chosen, for example many sudokus.

        Does not change this engine's own search. Raises CoverError for a number that is not an option's.

        Returns:
            For each list the number of solutions, at most `most`, and the first solution: sorted, with the
            given options, empty if there is none.

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
        _solve_each(begins, self._rank[flat].astype(np.int32), counts, first, *arrays)
        solved = []
        for which, row in enumerate(first):
            own = flat[begins[which] : begins[which + 1]]
            chosen = np.concatenate([self._order[row[row >= 0]], own])
            solved.append(
                (int(counts[which]), np.sort(chosen if counts[which] else chosen[:0]).astype(np.int32))
            )
        return solved

    def try_each(
        self, possible: NDArray[np.bool_], covered: NDArray[np.bool_], begin: int, stride: int
    ) -> int:
        """Pick every `stride`-th option from `begin` on, alone. The option is impossible if an uncovered item
        then has no option left.

        Does not change this engine's own search.

        Args:
            possible: bool[options], updated in place.
            covered: bool[items].

        Returns the number of option vectors examined.
        """
        alive = aligned(2, self._alive.shape[1])
        inside = self._rank[possible]
        _set_bits(alive, np.zeros(len(inside), np.int64), inside)
        open_items = ~covered[self.problem.minimum == 1]
        looked = int(try_each(begin, stride, open_items, self._agree, self._masks, self._bands, alive))
        left = np.unpackbits(alive[0].view(np.uint8), bitorder="little")[: self.problem.options]
        possible[:] = left[self._rank] > 0
        return looked

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: self._scalars[DEPTH]].tolist()
        return {"path": path, "entering": bool(self._scalars[ENTERING])} | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        scalars = self._scalars
        for level, row in enumerate(saved["path"]):
            item, option, tried, width = (int(entry) for entry in row)
            position = int(self._items[1, item]) if item >= 0 else -1
            if not 0 <= position < scalars[OPEN] or not 0 <= option < self.problem.options:
                raise ValueError("an item that is covered, or no option")
            there = self._alive[level, option >> 6] & self._masks[item, option >> 6]
            if not int(there) >> (option & 63) & 1:
                raise ValueError("an option that is not possible here")
            self._path[level] = item, option, tried, width
            self._opens[level] = scalars[OPEN]
            self._alive[level + 1] = self._alive[level] & self._agree[option]
            covered(option, self._starts, self._nodes, self._items, scalars)
            scalars[DEPTH] = level + 1
        scalars[ENTERING] = bool(saved["entering"])


def _set_bits(rows: NDArray[np.uint64], row: NDArray[np.integer], bit: NDArray[np.integer]) -> None:
    """Set bits in rows of words."""
    np.bitwise_or.at(rows, (row, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
