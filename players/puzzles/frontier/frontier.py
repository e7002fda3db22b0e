"""The frontier: all states of a one-player game, layer by layer, and a shortest line to each goal value."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

import numpy as np

from players.puzzles.frontier.budget import Budget, peak_bytes, resident_bytes
from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.puzzles.frontier.line import line_to
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult, Progress
from players.puzzles.frontier.search import LayeredSearch
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE
from propnet.recoding.find import find_coding
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import sample_states

Watch = Callable[[Progress], None]


class FrontierSearch:
    """Searches from one state of a game of one role.

    Clocks that only count steps are left out of the keys at first: of two states that differ in nothing else
    the earlier one can still do all that the other can. When that ends without the highest goal, and some
    state was met at several depths, all is done again with clocks in the keys: only the clock may have
    ended a line with a goal.

    Attributes:
        lines: goal value -> a shortest line of move ids.
        best: the highest goal value found, -1 for none.
        proven: whether no line has a higher one.
        complete: whether all states were visited.
        states: how many were visited so far, in all passes.
    """

    def __init__(
        self, machine: PropnetMachine, start: Words, options: FrontierOptions, watch: Watch | None = None
    ) -> None:
        """``start``: uint64, shape (1, words), the record of a state that is not terminal."""
        self._machine, self._options, self._watch = machine, options, watch
        self._start = start
        self._samples = np.concatenate([sample_states(machine), start])
        self._began, self._clock = time.monotonic(), time.process_time()
        self._earlier = 0
        self._search: LayeredSearch | None = None
        self.lines: dict[int, list[int]] = {}
        self.best = -1
        self.proven = self.complete = False
        self._perfect = _highest_goal(machine)
        self._steps = self._work()

    def step(self, deadline: float) -> bool:
        """Work until about the deadline (time.monotonic() seconds). Returns whether there is more to do."""
        while time.monotonic() < deadline:
            if next(self._steps, 0) is not None:
                return False
        return True

    def close(self) -> None:
        """End the work of threads."""
        self._steps.close()
        if self._search is not None:
            self._search.close()

    @property
    def states(self) -> int:
        """States visited so far, in all passes."""
        return self._earlier + (self._search.found.states if self._search else 0)

    def _work(self) -> Generator[None]:
        clocks = False
        while True:
            recoded = Recoded.of(self._machine, find_coding(self._machine, self._samples))
            space = KeySpace.of(recoded, clocks)
            try:
                yield from self._visit(space)
            except CodingBrokenError as broken:
                self._learn(recoded, broken.records)
                continue
            finally:
                assert self._search is not None
                self._earlier += self._search.found.states
            if self.best >= self._perfect:
                break
            if clocks or not self._search.found.merged or not space.clock_mask.any():
                self.complete = True
                break
            clocks = True
        self.proven = True

    def _visit(self, space: KeySpace) -> Iterator[None]:
        """Visit all states, or as many as it takes to reach the highest goal."""
        budget = Budget.of(self._options.memory, self._options.workers)
        start = space.recoded.encode(self._start)[0]
        self._search = search = LayeredSearch(space, start, self._options.workers, budget)
        while True:
            for value, (depth, key) in list(search.found.ends.items()):
                if value not in self.lines or len(self.lines[value]) > depth:
                    yield from self._rebuild(space, search, value, depth, key)
            if search.over or self.best >= self._perfect:
                return
            for _ in search.advance():
                self._tell(search)
                yield

    def _rebuild(
        self, space: KeySpace, search: LayeredSearch, value: int, depth: int, key: int
    ) -> Iterator[None]:
        found = search.found
        for line in line_to(space, found.layers, found.clocks, depth, key):
            if line is not None:
                self.lines[value] = line
                self.best = max(self.best, value)
            yield

    def _learn(self, recoded: Recoded, records: Words) -> None:
        """Take what the coding could not write as samples."""
        from propnet.expander import Expander

        after = Expander(self._machine).expand(recoded.decode(records))
        self._samples = np.concatenate([self._samples, after.records])

    def _tell(self, search: LayeredSearch) -> None:
        if self._watch is not None:
            found = search.found
            self._watch(
                Progress(
                    layer=len(found.layers) - 1,
                    layer_states=found.layers[-1].count,
                    done=search.done,
                    states=found.states,
                    visited_bytes=found.visited_bytes,
                    memory=resident_bytes(),
                    disk=0,
                    seconds=time.monotonic() - self._began,
                )
            )

    def result(self) -> FrontierResult:
        """What is known so far."""
        assert self._search is not None
        found = self._search.found
        return FrontierResult(
            value=self.best,
            moves=self.lines.get(self.best, []),
            proven=self.proven,
            lines=dict(sorted(self.lines.items())),
            layers=[layer.count for layer in found.layers if layer.count],
            states=found.states,
            key_bits=self._search.space.key_bits,
            bytes_per_state=found.visited_bytes / max(1, found.states),
            peak_rss=peak_bytes(),
            seconds_cpu=time.process_time() - self._clock,
            seconds_wall=time.monotonic() - self._began,
            complete=self.complete,
            seconds_by_stage=self._search.seconds_by_stage(),
        )


def _highest_goal(machine: PropnetMachine) -> int:
    """The highest goal value that the network can have."""
    goals = machine.network.goals.tolist()
    return max((value for _, value, literal in goals if literal != FALSE), default=0)
