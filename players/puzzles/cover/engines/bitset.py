"""`Bitset`: options as bits, for all problems with at most :data:`_MOST_OPTIONS` options.

The item with the fewest branches comes first (D. E. Knuth, The Art of Computer Programming 4B, 7.2.2.1).
Counting bits finds it. Then the options stay that agree with the pick: a table says which, as far as colours
and items that take one option decide. Items that take several options keep sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import (
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
    CoverEngine,
)
from players.puzzles.cover.problem import CoverProblem
from propnet.jit.arrays import Words
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, aligned, count_lanes, load, lowest_bit, store

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

_FRESH, _NONE = -1, -2
"""Placeholders for the option of a path: none was tried yet; none of those left is chosen."""
_NEED, _ROOM, _HEAVIEST, _CLASSES = range(4)
"""Rows of ``sums``: see :func:`search`."""
_PLAIN, _SINGLE, _SEVERAL = range(3)
"""Kinds of problems: see :func:`search`."""


@inlined
def _count(alive: Words, row: int, masks: Words, mask: int, bands: Longs, enough: int) -> int:
    """Return the number of possible options in a mask; stop counting at ``enough``."""
    found = 0
    for at in range(bands[0, mask], bands[1, mask], BYTES):
        found += count_lanes(load(alive, row + at) & load(masks, mask * bands[2, 0] + at))
        if found >= enough:
            break
    return found


@inlined
def _choose(
    row: int,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    sums: Longs,
    classes: Longs,
    scalars: Longs,
) -> tuple[int, int, int]:
    """Return the open item with the fewest branches (-1 for none), that number (0 if an item cannot be
    satisfied), and the number of open items that nothing can cover."""
    best, least, empty = -1, 1 << 30, 0
    for k in range(scalars[OPEN]):
        item = items[0, k]
        need = sums[_NEED, item]
        if need <= 1:
            ways = _count(alive, row, masks, item, bands, least)
            if need <= 0:
                if ways == 0:
                    empty += 1
                    continue
                ways += 1
        else:
            ways, weight = 0, 0
            for which in range(sums[_CLASSES, item], sums[_CLASSES, item + 1]):
                own = _count(alive, row, masks, classes[0, which], bands, 1 << 30)
                ways += own
                weight += own * classes[1, which]
            ways = max(0, min(ways, weight - need + 1))
        if ways < least:
            best, least = item, ways
            if ways <= 1:
                break
    return best, least, empty


@inlined
def _go_down(
    branch: int,
    option: int,
    level: int,
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    sums: Longs,
    classes: Longs,
    scalars: Longs,
    kind: int,
) -> None:
    """Choose an option of a branch's item, or none: the options still possible then go to the next level."""
    size = bands[2, 0]
    here, there = level * size, (level + 1) * size
    if option < 0:
        for at in range(0, size, BYTES):
            store(alive, there + at, load(alive, here + at) & ~load(masks, branch * size + at))
        return
    for at in range(0, size, BYTES):
        store(alive, there + at, load(alive, here + at) & load(agree, option * size + at))
    if kind != _PLAIN:
        # The options tried before are no longer possible.
        for word in range(bands[0, branch] >> 3, option >> 6):
            alive[level + 1, word] &= ~masks[branch, word]
        lower = (np.uint64(1) << np.uint64(option & 63)) - np.uint64(1)
        alive[level + 1, option >> 6] &= ~(masks[branch, option >> 6] & lower)
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        if kind == _SEVERAL:
            sums[_NEED, item] -= weights[node]
            sums[_ROOM, item] -= weights[node]
            if sums[_ROOM, item] < sums[_HEAVIEST, item]:
                for which in range(sums[_CLASSES, item], sums[_CLASSES, item + 1]):
                    if classes[1, which] > sums[_ROOM, item]:
                        mask = classes[0, which]
                        for at in range(bands[0, mask], bands[1, mask], BYTES):
                            store(alive, there + at, load(alive, there + at) & ~load(masks, mask * size + at))
            if sums[_NEED, item] > 0:
                continue
        place, last = items[1, item], scalars[OPEN] - 1
        if place <= last:
            other = items[0, last]
            items[0, last], items[0, place] = item, other
            items[1, item], items[1, other] = last, place
            scalars[OPEN] = last


@kernel(**ARENA)
def search(
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    sums: Longs,
    classes: Longs,
    opens: Longs,
    path: Ints,
    found: Ints,
    ends: Longs,
    scalars: Longs,
    kind: int,
    holes: int,
    deliver: bool,
    budget: int,
) -> int:
    """Continue the search by about ``budget`` nodes.

    Args:
        starts, nodes, weights: int32[options + 1], int32[nodes], int32[nodes]: the nodes of the options in
            items that must be covered, may be holes, or take several options.
        agree: uint64[options, words]: the other options that may be chosen together with each, one bit each,
            as far as colours and items that take one option decide.
        masks: uint64[masks, words]: the options of each of these items, all options, and the options of equal
            weight in an item that takes several.
        bands: int64[3, masks]: the bytes of a mask from its first to behind its last bit, in whole vectors;
            in the third row the bytes of a row.
        alive: uint64[depth, words]: the options still possible at each node of the path.
        items: int32[2, items]: the items, open ones first; the place of each item in that order.
        sums: int64[4, items + 1]: the weight that each item still needs (0: it may be a hole) and still
            takes, its heaviest weight, its first column in `classes`. The last column is for all options.
        classes: int64[2, classes]: a mask of options of equal weight in one item, and that weight.
        opens: int64[depth]: the number of open items at each node.
        path: int32[depth, 4]: see `engine` for its columns.
        found, ends: int32[room], int64[room]: options of the solutions found, and the end of each solution.
        scalars: int64[10]: see `engine`.
        kind: _PLAIN if each item is covered once; _SINGLE if some may be holes, or options may stay free to
            choose; _SEVERAL if items take several options.
        holes: the most open items that nothing covers.

    Returns UNDERWAY, FULL (the buffer must be emptied) or OVER.
    """
    limit = scalars[NODES] + budget
    size = bands[2, 0]
    every = items.shape[1]
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[ENTERING]:
            scalars[ENTERING] = 0
            row = depth * size
            best, least, empty = -1, 1 << 30, 0
            if kind == _PLAIN:
                for k in range(scalars[OPEN]):
                    item = items[0, k]
                    ways = _count(alive, row, masks, item, bands, least)
                    if ways < least:
                        best, least = item, ways
                        if ways <= 1:
                            break
            else:
                best, least, empty = _choose(row, masks, bands, alive, items, sums, classes, scalars)
            if least == 0 or empty > holes:
                continue
            if best < 0 and kind != _PLAIN:
                # All bounds hold: all options that are left are free to choose.
                ways = _count(alive, row, masks, every, bands, 1 << 30)
                if ways:
                    best, least = every, ways + 1
            if best < 0:
                if deliver:
                    if scalars[FILLED] + depth > len(found) or scalars[DELIVERED] == len(ends):
                        scalars[ENTERING] = 1
                        return FULL
                    for level in range(depth):
                        if path[level, OPTION] >= 0:
                            found[scalars[FILLED]] = path[level, OPTION]
                            scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
                continue
            path[depth, ITEM] = best
            path[depth, OPTION] = _FRESH
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
            if kind == _SEVERAL:
                for node in range(starts[before], starts[before + 1]):
                    sums[_NEED, nodes[node]] += weights[node]
                    sums[_ROOM, nodes[node]] += weights[node]
        option = _NONE
        word = bands[1, item] if before == _NONE else max(bands[0, item] >> 3, (before + 1) >> 6)
        while word < bands[1, item] >> 3:
            bits = alive[level, word] & masks[item, word]
            if word == (before + 1) >> 6:
                bits = (bits >> np.uint64((before + 1) & 63)) << np.uint64((before + 1) & 63)
            if bits:
                option = (word << 6) + lowest_bit(bits)
                break
            word += 1
        if option == _NONE and (before == _NONE or sums[_NEED, item] > 0):
            scalars[DEPTH] = level
            continue
        path[level, OPTION] = option
        scalars[NODES] += 1
        scalars[ENTERING] = 1
        _go_down(
            item, option, level, starts, nodes, weights, agree, masks, bands, alive, items, sums, classes,
            scalars, kind,
        )  # fmt: skip
    return UNDERWAY


@kernel(**ARENA)
def _replay(
    branch: int,
    option: int,
    level: int,
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    sums: Longs,
    classes: Longs,
    scalars: Longs,
    kind: int,
) -> None:
    """:func:`_go_down` for Python."""
    _go_down(
        branch, option, level, starts, nodes, weights, agree, masks, bands, alive, items, sums, classes,
        scalars, kind,
    )  # fmt: skip


@kernel(**ARENA)
def _agree_with(agree: Words, rivals: Words, rows: Ints, options: Longs) -> None:
    """For each option, clear the bits of the options that cannot be chosen with it.

    Args:
        agree: uint64[options, words]: one bit for each pair of options; updated in place.
        rivals: uint64[rows, words]: sets of options.
        rows, options: the set that excludes each node's option, and that option.
    """
    for node in range(len(rows)):
        row, option = rows[node], options[node]
        for word in range(agree.shape[1]):
            agree[option, word] &= ~rivals[row, word]


_MOST_OPTIONS = 1 << 14
"""One bit for each pair of options: 32 MB."""


class Bitset(CoverEngine):
    """Represents the possible options as a set of bits; picking an option is an AND with the options that
    agree with it.

    Each node branches on the item with the fewest possible options, found by counting bits. If an item can do
    without more options, the last branch chooses none of those that are left.
    """

    name = "bitset"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        super().__init__(problem, delivers=delivers)
        options, nodes = problem.options, problem.nodes
        owner = np.repeat(np.arange(options), np.diff(problem.starts))
        # Give options whose items are close to each other close numbers: this keeps the masks of items short.
        middle = np.bincount(owner, nodes, options) / np.maximum(np.diff(problem.starts), 1)
        self._order = np.argsort(middle, kind="stable").astype(np.int32)
        rank = np.empty(options, np.int64)
        rank[self._order] = np.arange(options)
        words = max(1, -(-options // LANES)) * WORDS
        coloured, minimum, holes = problem.coloured(), problem.minimum, problem.holes
        lightest = np.full(problem.items, 1 << 31)
        np.minimum.at(lightest, nodes, problem.weights)
        several = ~coloured & (2 * lightest <= problem.maximum)
        self._holes = problem.items if holes is None else holes
        must = (minimum > 0) | (problem.may_be_hole & (self._holes < problem.may_be_hole.sum()))
        kept = np.concatenate((np.flatnonzero(must), np.flatnonzero(several & ~must)))
        count = len(kept)
        number = np.full(problem.items, -1)
        number[kept] = np.arange(count)
        own = number[nodes] >= 0
        by_option = np.argsort(rank[owner[own]], kind="stable")
        self._nodes = number[nodes[own]][by_option].astype(np.int32)
        self._weights = np.where(several[nodes], problem.weights, 1)[own][by_option].astype(np.int32)
        self._starts = np.zeros(options + 1, np.int32)
        self._starts[1:] = np.cumsum(np.bincount(rank[owner[own]], minlength=options))
        self._sums = np.zeros((4, count + 1), np.int64)
        self._sums[_NEED, :count] = np.where(several, minimum, minimum > 0)[kept]
        self._sums[_ROOM, :count] = problem.maximum[kept]
        shared = several[nodes]
        (inside, weight), place = _distinct(number[nodes[shared]], problem.weights[shared])
        np.maximum.at(self._sums[_HEAVIEST], inside, weight)
        self._sums[_CLASSES] = np.searchsorted(inside, np.arange(count + 1))
        self._classes = np.array((count + 1 + np.arange(len(inside)), weight), np.int64)
        self._masks = aligned(count + 1 + len(inside), words)
        _set_bits(self._masks, number[nodes[own]], rank[owner[own]])
        _set_bits(self._masks, np.full(options, count), np.arange(options))
        _set_bits(self._masks, count + 1 + place, rank[owner[shared]])
        self._agree = _agreeing(problem, several, coloured, owner, rank, words)
        self._bands = np.zeros((3, len(self._masks)), np.int64)
        used: NDArray[np.bool_] = (self._masks.reshape(len(self._masks), -1, WORDS) != 0).any(axis=2)
        self._bands[0] = used.argmax(axis=1) * BYTES
        self._bands[1] = np.where(used.any(axis=1), (used.shape[1] - used[:, ::-1].argmax(axis=1)) * BYTES, 0)
        self._bands[2] = words * 8
        closes = np.zeros(options, np.bool_)
        closes[owner[~several[nodes] & (minimum[nodes] > 0)]] = True
        self._kind = _SEVERAL if several.any() else _PLAIN
        if self._kind == _PLAIN and not (closes.all() and (self._sums[_NEED, :count] == 1).all()):
            self._kind = _SINGLE
        depth = count if self._kind == _PLAIN else count + options + 1
        self._path = np.zeros((depth + 1, 4), np.int32)
        self._alive = aligned(depth + 2, words)
        # An option never fits whose weight exceeds a maximum, or is below the minimum of an item that takes
        # one option.
        unfit = problem.weights > problem.maximum[nodes]
        unfit |= ~several[nodes] & (problem.weights < minimum[nodes])
        fits = np.ones(options, np.bool_)
        fits[owner[unfit & ~coloured[nodes]]] = False
        _set_bits(self._alive, np.zeros(int(fits.sum()), np.int64), rank[fits])
        self._items = np.array([np.arange(count), np.arange(count)], np.int32).reshape(2, count)
        self._opens = np.zeros(depth + 1, np.int64)
        self._scalars[OPEN] = int(must.sum())

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Return whether the pairs of options fit into memory."""
        return problem.options <= _MOST_OPTIONS

    def _search(self, budget: int) -> int:
        buffers = self._opens, self._path, self._found, self._ends, self._scalars
        limits = self._kind, self._holes, self.delivers, budget
        return int(search(*self._problem_arrays(), *buffers, *limits))

    def _problem_arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self._starts, self._nodes, self._weights, self._agree, self._masks, self._bands, self._alive,
            self._items, self._sums, self._classes,
        )  # fmt: skip

    def _numbered(self, options: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._order[options]

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: self._scalars[DEPTH]].tolist()
        return {"path": path, "entering": bool(self._scalars[ENTERING])} | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        scalars, count = self._scalars, self._items.shape[1]
        for level, row in enumerate(saved["path"]):
            item, option, tried, width = (int(entry) for entry in row)
            if not (item == count or (item >= 0 and int(self._items[1, item]) < scalars[OPEN])):
                raise ValueError("an item that is covered")
            if option == _NONE:
                if self._sums[_NEED, item] > 0:
                    raise ValueError("an item that needs an option")
            elif not (
                0 <= option < self.problem.options
                and int(self._alive[level, option >> 6] & self._masks[item, option >> 6]) >> (option & 63) & 1
            ):
                raise ValueError("an option that is not possible here")
            self._path[level] = item, option, tried, width
            self._opens[level] = scalars[OPEN]
            _replay(item, option, level, *self._problem_arrays(), scalars, self._kind)
            scalars[DEPTH] = level + 1
        scalars[ENTERING] = bool(saved["entering"])


def _agreeing(
    problem: CoverProblem,
    several: NDArray[np.bool_],
    coloured: NDArray[np.bool_],
    owner: NDArray[np.int64],
    rank: NDArray[np.int64],
    words: int,
) -> Words:
    """Return the sets of options that may be chosen together, uint64[options, words], as far as colours and
    the items that take one option decide."""
    inside = np.flatnonzero(~several[problem.nodes])
    rows, options = problem.nodes[inside].astype(np.int64), rank[owner[inside]]
    shades = problem.colours[inside]
    (painted, _), place = _distinct(rows[shades > 0], shades[shades > 0])
    same = aligned(len(painted), words)
    _set_bits(same, place, options[shades > 0])
    whole = aligned(problem.items, words)
    _set_bits(whole, rows, options)
    rows[shades > 0] = problem.items + place
    agree = aligned(max(problem.options, 1), words)
    _set_bits(agree, rank, rank)
    agree ^= ~np.uint64(0)
    rivals = np.concatenate((whole, whole[painted] & ~same))
    _agree_with(agree, rivals, rows.astype(np.int32), options)
    return agree


def _distinct(
    first: NDArray[np.integer], second: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return the different pairs of two arrays, ascending, shape (2, pairs), and the place of each among
    them."""
    pairs, place = np.unique(np.stack((first, second)).astype(np.int64), axis=1, return_inverse=True)
    return pairs, place.reshape(-1)


def _set_bits(rows: NDArray[np.uint64], row: NDArray[np.integer], bit: NDArray[np.integer]) -> None:
    """Set bits in rows of words."""
    np.bitwise_or.at(rows, (row, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
