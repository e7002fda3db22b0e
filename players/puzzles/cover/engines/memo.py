"""`MemoCounter`: counts exact covers by dynamic programming over sets of covered items.

Items come in a fixed order. The work that remains depends only on which of the items from the current one on
are covered. So all partial covers that agree on those items are one state with a count: a layer of the
zero-suppressed decision diagram of all solutions (S. Minato 1993; M. Nishino et al., Dancing with decision
diagrams, AAAI 2017). Only one layer is stored. Sets are compared in full; counts have as many digits as
they need.

The order of the items keeps few of them half done at any time. The reversed order of Cuthill and McKee
(Reducing the bandwidth of sparse symmetric matrices, 1969) suits boards.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from players.companions import Stepwise
from players.puzzles.cover.problem import CoverError, CoverProblem
from propnet.jit.decorators import ARENA, kernel

_HUB = 4
"""An item in this many times the median number of options, like a piece, does not count as a neighbour."""


def item_order(items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a permutation of the items, int32: of several orders the one with the smallest widths."""
    sizes = np.bincount(nodes, minlength=items)
    hubs = sizes > _HUB * max(float(np.median(sizes)) if items else 0.0, 1.0)
    natural = np.arange(items, dtype=np.int32)
    spread = _cuthill_mckee(items, starts, nodes, hubs)
    best, best_cost = natural, np.inf
    for order in (natural, natural[::-1], spread, spread[::-1]):
        cost = _order_cost(order, starts, nodes)
        if cost < best_cost:
            best, best_cost = order, cost
    return best.astype(np.int32)


def _order_cost(order: NDArray[np.int32], starts: NDArray[np.int32], nodes: NDArray[np.int32]) -> float:
    """Return the sum of 2 ** width over all places of the order, a bound on the number of states."""
    return float(np.exp2(np.minimum(widths(order, starts, nodes), 1000)).sum())


def widths(
    order: NDArray[np.int32], starts: NDArray[np.int32], nodes: NDArray[np.int32]
) -> NDArray[np.int64]:
    """For each place, return how many later items an option that begins before it may have covered:
    int64[items]."""
    items = len(order)
    if not items or not len(nodes):
        return np.zeros(items, np.int64)
    place = np.empty(items, np.int64)
    place[order] = np.arange(items)
    places = place[nodes]
    firsts = np.minimum.reduceat(places, starts[:-1])
    reach = np.arange(items)
    np.minimum.at(reach, places, np.repeat(firsts, np.diff(starts)))
    # The item at a place may be covered from just after the first option that reaches it up to its own place.
    change = np.zeros(items + 1, np.int64)
    open_ones = np.flatnonzero(reach < np.arange(items))
    np.add.at(change, reach[open_ones] + 1, 1)
    np.add.at(change, open_ones + 1, -1)
    return np.cumsum(change)[:items]


def _cuthill_mckee(
    items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32], hubs: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return the order of Cuthill and McKee. Neighbours are items that share an option; hubs have none."""
    neighbours = _neighbours(items, starts, nodes, hubs)
    degree = [len(found) for found in neighbours]
    seen = [False] * items
    order: list[int] = []
    for root in sorted(range(items), key=degree.__getitem__):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for item in queue:
            for other in sorted(neighbours[item], key=lambda k: (degree[k], k)):
                if not seen[other]:
                    seen[other] = True
                    queue.append(other)
        order += queue
    return np.array(order, np.int32)


def _neighbours(
    items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32], hubs: NDArray[np.bool_]
) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(items)]
    bounds = starts.tolist()
    all_nodes = nodes.tolist()
    is_hub = hubs.tolist()
    for begin, end in pairwise(bounds):
        members = [item for item in all_nodes[begin:end] if not is_hub[item]]
        for item in members:
            found[item].update(members)
    return found


FULL = -1
"""There is no space for more states."""
_TOO_LONG = -2
"""A count needs another limb."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HALF = np.uint64(32)


@kernel(**ARENA)
def advance(
    states: NDArray[np.uint64],
    counts: NDArray[np.uint64],
    begin: int,
    end: int,
    bit: int,
    optional: bool,
    masks: NDArray[np.uint64],
    table: NDArray[np.int32],
    next_states: NDArray[np.uint64],
    next_counts: NDArray[np.uint64],
    filled: int,
) -> int:
    """Process the states from begin to end. Returns the number of states in the next layer, FULL or TOO_LONG.

    Args:
        states, counts: of this layer, uint64[states, words] and uint64[states, limbs].
        bit: of the layer's item in word 0.
        optional: whether the item may stay uncovered.
        masks: the options that begin with the item, uint64[options, words].
        table: int32[a power of two], the state with each hash, -1 if empty.
        next_states, next_counts: of the next layer; one row more than can be filled.
        filled: how many of its rows are in use.
    """
    words, limbs, room = states.shape[1], counts.shape[1], next_states.shape[0] - 1
    last = np.uint64(table.shape[0] - 1)
    own = _ONE << np.uint64(bit)
    for state in range(begin, end):
        covered = states[state, 0] & own != _ZERO
        first = -1 if covered or optional else 0
        for option in range(first, 0 if covered else masks.shape[0]):
            free = True
            if option >= 0:
                for word in range(words):
                    if states[state, word] & masks[option, word] != _ZERO:
                        free = False
                        break
            if not free:
                continue
            hashed = _ZERO
            for word in range(words):
                part = states[state, word]
                if option >= 0:
                    part |= masks[option, word]
                if word == 0:
                    part &= ~own
                next_states[filled, word] = part
                hashed = (hashed ^ part) * _MIX
                hashed ^= hashed >> _HALF
            slot = hashed & last
            found = filled
            while table[slot] >= 0:
                found = table[slot]
                for word in range(words):
                    if next_states[found, word] != next_states[filled, word]:
                        found = filled
                        break
                if found != filled:
                    break
                slot = (slot + _ONE) & last
            if found == filled:
                if filled == room:
                    return FULL
                table[slot] = filled
                for limb in range(limbs):
                    next_counts[filled, limb] = counts[state, limb]
                filled += 1
                continue
            carry = _ZERO
            for limb in range(limbs):
                old = next_counts[found, limb]
                total = old + counts[state, limb]
                over = _ONE if total < old else _ZERO
                whole = total + carry
                if whole < total:
                    over = _ONE
                next_counts[found, limb] = whole
                carry = over
            if carry != _ZERO:
                return _TOO_LONG
    return filled


_AT_ONCE = 100_000
"""Transitions in one call of the kernel: less than a millisecond."""
_GUESSED, _TRANSITION = 0.5, 1e-8
"""Estimates before anything is counted: the logarithm of a layer's number of states relative to that of its
bound, and the seconds per transition."""
_MOST_ITEMS, _MOST_PAIRS = 20_000, 5_000_000
"""The most items, and pairs of items in an option, for which an order is computed."""


class MemoCounter(Stepwise):
    """Counts the solutions of an exact cover with optional items, in slices of time.

    Args:
        problem: a problem for which :meth:`takes` is true.
        memory: the most bytes that two layers may take together.

    Attributes:
        count: the number of solutions, when it is over.
        nodes: the number of states processed.
        over: whether the count is complete.
        gave_up: whether the memory did not suffice; then there is no count.
        seconds: CPU seconds of all steps.
    """

    name = "memo"

    def __init__(self, problem: CoverProblem, memory: int = 1 << 28) -> None:
        if not self.takes(problem):
            raise CoverError(
                "the counting memo is for exact covers", remedy="without weights, colours, limits of holes"
            )
        self.count = self.nodes = 0
        self.over = self.gave_up = False
        self._memory = memory
        lengths = np.diff(problem.starts)
        owner = np.repeat(np.arange(problem.options), lengths)
        fits = lengths > 0
        fits[owner[problem.weights > problem.maximum[problem.nodes]]] = False
        free = int((lengths == 0).sum())
        nodes = problem.nodes[fits[owner]]
        starts = np.zeros(int(fits.sum()) + 1, np.int32)
        np.cumsum(lengths[fits], out=starts[1:])
        order = item_order(problem.items, starts, nodes)
        self._widths = widths(order, starts, nodes).astype(np.float64)
        place = np.empty(problem.items, np.int64)
        place[order] = np.arange(problem.items)
        self._optional = (problem.minimum == 0)[order]
        places = place[nodes]
        firsts = np.minimum.reduceat(places, starts[:-1]) if len(nodes) else np.zeros(0, np.int64)
        by_first = np.argsort(firsts, kind="stable")
        # The options' places, the earliest first; and the first place of each option.
        own = np.repeat(np.argsort(by_first), np.diff(starts))
        self._places = places[np.argsort(own, kind="stable")]
        self._begins = np.concatenate(([0], np.cumsum(np.diff(starts)[by_first])))
        self._ends = np.searchsorted(firsts[by_first], np.arange(problem.items + 1))
        ends = np.maximum.reduceat(places, starts[:-1]) if len(nodes) else firsts
        self._logs: list[float] = []
        self._transitions = np.diff(self._ends) + 1.0
        self.seconds = self._passed = 0.0
        self._words = int((ends // 64 - firsts // 64).max(initial=0)) + 1
        self._item = self._done = self._filled = 0
        self._masked, self._all_masks = -1, np.zeros((0, self._words), np.uint64)
        self._states = np.zeros((1, self._words), np.uint64)
        self._counts = np.zeros((1, 1), np.uint64)
        self._counts[0, 0] = 1
        self._next: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]] | None = None
        self._factor = 1 << free

    @staticmethod
    def takes(problem: CoverProblem) -> bool:
        """Return whether it can count the solutions of this problem."""
        if int((np.diff(problem.starts).astype(np.int64) ** 2).sum()) > _MOST_PAIRS:
            return False
        limited = problem.holes is not None and bool(problem.may_be_hole.any())
        exact = bool((problem.maximum <= 1).all())
        return exact and not limited and not problem.colours.any() and problem.items <= _MOST_ITEMS

    @property
    def progress(self) -> float:
        """The share of the items that is done, 0 to 1."""
        return self._item / max(len(self._optional), 1)

    @property
    def seconds_left(self) -> float:
        """The estimated CPU time of the rest in seconds, from the finished layers."""
        item, states = self._item, float(len(self._states))
        if self.over or item >= len(self._widths):
            return 0.0
        done = self._done / max(states, 1.0)
        sizes = self._expected(done)
        sizes[0] = (1 - done) * states
        each = self.seconds / self._passed if self._passed > _AT_ONCE / 10 else _TRANSITION
        return float((sizes * self._transitions[item:]).sum()) * each

    def _expected(self, done: float) -> NDArray[np.float64]:
        """Return the estimated number of states in the layers from this one on, float64[layers]; ``done`` is
        the share of the current layer that is done.

        The smaller of two estimates. One assumes that a layer of width w has 2 ** (c w) states, with c taken
        from the last layer. The other assumes that the logarithms of the numbers of states lie on a parabola.
        """
        logs = [*self._logs, np.log2(max(len(self._states), 1))]
        last = self._item
        if done > 0 and last + 1 < len(self._widths):
            logs.append(np.log2(max(self._filled / done, 1.0)))
            last += 1
        widths, latest = self._widths[self._item :], logs[last]
        exponent = latest / self._widths[last] if latest and self._widths[last] else _GUESSED * (not last)
        expected = exponent * widths
        half = last // 2
        if half:
            before, now = logs[last - half] / (last - half), (latest - logs[last - half]) / half
            bend = 2 * (now - before) / last
            later = np.arange(self._item - last, len(self._widths) - last)
            expected = np.minimum(expected, latest + (now + bend * half / 2) * later + bend / 2 * later**2)
        return np.exp2(np.clip(expected, 0.0, 1000.0))

    def step(self, deadline: float) -> bool:
        """Count until about the deadline (time.monotonic() seconds). Returns whether nothing is left to do:
        all is counted, or the memory does not suffice."""
        began = time.thread_time()
        while not self.over and not self.gave_up:
            if self._item == len(self._optional) or not len(self._states):
                self._finish()
            else:
                self._advance()
            if time.monotonic() >= deadline:
                break
        self.seconds += time.thread_time() - began
        return self.over or self.gave_up

    def _finish(self) -> None:
        self.over = True
        self._item = len(self._optional)
        for row in self._counts:
            self.count += sum(int(limb) << (64 * k) for k, limb in enumerate(row))
        self.count *= self._factor

    def _advance(self) -> None:
        """Process some states of the layer. After the last ones, the next layer takes its place."""
        masks = self._masks()
        states = len(self._states)
        if self._next is None and not self._make_room(2 * states + 64):
            return
        assert self._next is not None
        next_states, next_counts, table = self._next
        end = min(states, self._done + max(_AT_ONCE // (len(masks) + 1), 1))
        filled = advance(
            self._states,
            self._counts,
            self._done,
            end,
            self._item % 64,
            bool(self._optional[self._item]),
            masks,
            table,
            next_states,
            next_counts,
            self._filled,
        )
        if filled == FULL:
            self._make_room(4 * len(next_states))
            return
        if filled == _TOO_LONG:
            longer = np.zeros((states, 2 * self._counts.shape[1]), np.uint64)
            longer[:, : self._counts.shape[1]] = self._counts
            self._counts = longer
            self._make_room(len(next_states))
            return
        self._passed += (end - self._done) * (len(masks) + 1)
        self._done, self._filled = end, filled
        if end < states:
            return
        self.nodes += states
        self._logs.append(np.log2(states))
        self._states, self._counts = next_states[:filled].copy(), next_counts[:filled].copy()
        self._next, self._done, self._filled = None, 0, 0
        self._item += 1
        if self._item % 64 == 0:
            self._states[:, :-1] = self._states[:, 1:]
            self._states[:, -1] = 0

    def _make_room(self, rows: int) -> bool:
        """Begin the next layer with space for ``rows`` states. Returns whether the memory suffices."""
        row = 8 * (self._words + self._counts.shape[1])
        if (rows + len(self._states)) * row + 16 * rows > self._memory:
            self.gave_up = True
            self._next = None
            return False
        table = np.full(1 << (2 * rows - 1).bit_length(), -1, np.int32)
        self._next = (
            np.empty((rows, self._words), np.uint64),
            np.empty((rows, self._counts.shape[1]), np.uint64),
            table,
        )
        self._done = self._filled = 0
        return True

    def _masks(self) -> NDArray[np.uint64]:
        """The options that begin with the current item, uint64[options, words]."""
        if self._masked != self._item:
            begin, end = self._ends[self._item : self._item + 2]
            bits = self._places[self._begins[begin] : self._begins[end]] - self._item // 64 * 64
            rows = np.repeat(np.arange(end - begin), np.diff(self._begins[begin : end + 1]))
            self._all_masks = np.zeros((end - begin, self._words), np.uint64)
            np.bitwise_or.at(
                self._all_masks, (rows, bits // 64), np.uint64(1) << (bits % 64).astype(np.uint64)
            )
            self._masked = self._item
        return self._all_masks
