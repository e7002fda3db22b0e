"""Breadth-first search by sorting and merging (delayed duplicate detection: K. Munagala and A. Ranade, 1999;
R. Korf, 2003), compressed as in J. Snellman's snakebird solver (2018)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from players.puzzles.frontier.budget import Budget
from players.puzzles.frontier.crew import Crew
from players.puzzles.frontier.expansion import Expansion
from players.puzzles.frontier.fresh_run import FreshRun
from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.merging import Merged, Merging
from players.puzzles.frontier.runs import Block, Run
from propnet.jit.arrays import Words

_REWRITE = 5.0
"""What it costs to write a visited state anew, in steps of a merge."""


@dataclass
class Layers:
    """The layers of a search that goes on, or is over.

    Attributes:
        layers: the states at each depth, by a shortest way.
        clocks: uint64, shape (words,) each: the clock at each depth.
        visited: all states, in runs without a state in common.
        ends: goal value -> depth and lowest key of the nearest terminal state that has it.
        merged: whether some state was met again at a greater depth.
        states: how many states there are in all layers.
    """

    layers: list[Run] = field(default_factory=list)
    clocks: list[Words] = field(default_factory=list)
    visited: list[Run] = field(default_factory=list)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    merged: bool = False
    states: int = 0

    @property
    def visited_bytes(self) -> int:
        """Size of the coded visited set."""
        return sum(run.key_bytes for run in self.visited)


class LayeredSearch:
    """Visits the states of a key space layer by layer."""

    def __init__(self, space: KeySpace, start: Words, workers: int, budget: Budget) -> None:
        """``start`` (words,) is the first state's record."""
        self.space = space
        self.found = Layers()
        self._range_keys = budget.range_keys
        self._crew = Crew(workers)
        self._expansions = [Expansion(space, budget.room) for _ in range(workers)]
        self._mergings = [Merging(space) for _ in range(workers)]
        key = np.array([start[0] & space.key_mask])
        clock = start & space.clock_mask
        merged = Merged()
        self._mergings[0]._judge(key, clock, merged)
        first = Run.of([Block(int(key[0]), int(key[0]), 1, False, *_single(key))])
        self._extra = 0.0
        self._main = 0
        self._note(first, clock, merged.ends)
        self.found.visited = [first]

    def _note(self, layer: Run, clock: Words, ends: dict[int, int]) -> None:
        found = self.found
        for value, key in ends.items():
            found.ends.setdefault(value, (len(found.layers), key))
        found.layers.append(layer)
        found.clocks.append(clock)
        found.states += layer.count

    @property
    def over(self) -> bool:
        """Whether all states were visited."""
        return self.found.layers[-1].count == 0

    @property
    def done(self) -> int:
        """How many states of the last layer are expanded."""
        return sum(one.done for one in self._expansions)

    def close(self) -> None:
        """Let threads go."""
        self._crew.close()

    def seconds_by_stage(self) -> dict[str, float]:
        """CPU seconds of all workers by what they went to."""
        total: dict[str, float] = defaultdict(float)
        for seconds in [one.seconds for one in self._expansions] + [one.seconds for one in self._mergings]:
            for stage, spent in seconds.items():
                total[stage] += spent
        return dict(total)

    def advance(self) -> Iterator[None]:
        """Make the next layer; yields now and then. Given up (``close``), it leaves everything as it was."""
        found = self.found
        layer, clock = found.layers[-1], found.clocks[-1]
        fences = self._fences(layer)
        for expansion in self._expansions:
            expansion.begin(fences)
        blocks = iter(layer.blocks)
        yield from self._crew.run([self._expand(one, blocks, clock) for one in self._expansions])
        runs = [run for one in self._expansions for run in one.runs]
        clock = next((one.clock for one in self._expansions if one.generated), clock)
        generated = int(sum(run.counts.sum() for run in runs))
        smaller = sum(run.count for run in found.visited[1:])
        self._extra += generated * (len(found.visited) - 1)
        rewrite = self._extra > _REWRITE * (found.visited[0].count + smaller) and len(found.visited) > 1
        edges = [0, *fences.tolist(), 1 << self.space.key_bits]
        ranges = iter(enumerate(itertools.pairwise(edges)))
        results: list[Merged | None] = [None] * (len(edges) - 1)
        yield from self._crew.run(
            [self._merge(one, ranges, runs, clock, rewrite, results) for one in self._mergings]
        )
        following, visited, ends = Run(), Run(), dict[int, int]()
        for result in results:
            assert result is not None
            for block in result.layer:
                following.add(block)
            for block in result.visited:
                visited.add(block)
            for value, key in result.ends.items():
                ends.setdefault(value, key)
            found.merged |= result.known > 0
        self._note(following, clock, ends)
        if rewrite:
            found.visited = [visited]
            self._extra = 0.0
        elif following.count:
            found.visited.append(following)
        for one in self._expansions:
            one.begin(fences[:0])

    def _expand(self, expansion: Expansion, blocks: Iterator[Block], clock: Words) -> Iterator[None]:
        for block in blocks:
            yield from expansion.expand(block.read(), clock)
        expansion.flush()

    def _merge(
        self,
        merging: Merging,
        ranges: Iterator[tuple[int, tuple[int, int]]],
        runs: list[FreshRun],
        clock: Words,
        rewrite: bool,
        results: list[Merged | None],
    ) -> Iterator[None]:
        for number, (low, high) in ranges:
            results[number] = merging.merge(number, low, high, runs, self.found.visited, clock, rewrite)
            yield

    def _fences(self, layer: Run) -> Words:
        """Keys at which the key space is cut, so that all ranges have about as much to merge."""
        blocks = [block for run in self.found.visited for block in run.blocks]
        blocks += 3 * layer.blocks
        first = np.array([block.first for block in blocks], np.uint64)
        counts = np.array([block.count for block in blocks], np.int64)
        order = np.argsort(first, kind="stable")
        parts = np.cumsum(counts[order]) // self._range_keys
        new = np.flatnonzero(np.diff(parts)) + 1
        fences = first[order][new]
        return fences[np.flatnonzero(np.diff(fences, prepend=np.uint64(0)))] if len(fences) else fences


def _single(key: Words) -> tuple[bytes, bytes]:
    from players.puzzles.frontier.gap_code import encode

    return encode(key, 0), bytes(1)
