"""`CoverSearch`: reduce a cover problem, split it into branches, search them with engines in parallel, and
save the search."""

from __future__ import annotations

import heapq
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

import numpy as np

from players.companions import Stepwise
from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.memo import MemoCounter
from players.puzzles.cover.outcome import (
    FORMAT,
    MOST_OPEN,
    CoverOptions,
    CoverResult,
    damaged,
    digest,
    number,
    seconds,
    solutions,
)
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.reduction import BranchSearch, CoverBranch, Solution, branches, reduced

ENGINES: dict[str, type[CoverEngine]] = {kind.name: kind for kind in (Bitset, DancingCells)}
"""The engines by name."""
_PARTS_PER_WORKER = 32
_CUTTING = 10_000_000
"""Very large problems get fewer branches, because splitting them would take seconds."""
_MOST_WAITING = 200_000
"""The most solutions that wait for earlier branches; above this, workers pause."""
_MOST_PARTS = 100_000
_MOST_READY = 100_000
"""The most solutions that wait to be taken; above this, a step ends."""


_BUILD, _BUILD_NODE, _WORTH = 0.001, 1e-6, 10.0
"""Seconds to build a memo, and seconds per node of the problem. A memo is built if the engine still needs at
least _WORTH times as long."""
_TRIED = 0.08
"""The share of the engine's time that the memo may take before it must be clearly faster."""
_CLEARLY = 0.3
_SLICE, _LONGEST_SLICE = 0.0005, 0.25
_SHARE = 0.1
"""A slice lasts this share of the time already spent."""


class _MemoBeside(Stepwise):
    """Counts the solutions of a problem in place of an engine, once the engine would take long.

    Args:
        problem: a problem that the memo takes.

    Attributes:
        memo: the memo; None until it begins.
        gave_up: whether the memo needs too much memory, or is slower for good.
    """

    def __init__(self, problem: CoverProblem) -> None:
        self._problem = problem
        self.memo: MemoCounter | None = None
        self.gave_up = False
        self._spent = 0.0

    @property
    def over(self) -> bool:
        """Whether the memo has counted all solutions."""
        return self.memo is not None and self.memo.over

    def leads(self, spent: float, progress: float) -> bool:
        """Return whether the memo should continue rather than the engine.

        Args:
            spent: CPU seconds that the engine has used.
            progress: the part of the engine's work that is done, 0 to 1.
        """
        if self.gave_up or not spent:
            return False
        left = spent * (1 / progress - 1) if progress > 1e-12 else 1e12
        if self.memo is None:
            build_seconds = _BUILD + _BUILD_NODE * len(self._problem.nodes)
            # A young search may be wrong about the time left.
            if spent < build_seconds or left < _WORTH * build_seconds:
                return False
            began = time.thread_time()
            self.memo = MemoCounter(self._problem)
            self._spent = time.thread_time() - began
        rest = self.memo.seconds_left
        tried = self._spent + self.memo.seconds < _TRIED * (spent + left)
        return rest < left and (tried or rest < _CLEARLY * left)

    def slice(self, spent: float) -> float:
        """Return how many seconds the leader runs before the two are compared again."""
        every = spent + (self.memo.seconds if self.memo else 0.0)
        return min(max(_SLICE, _SHARE * every), _LONGEST_SLICE)

    def step(self, deadline: float) -> bool:
        """Let the memo count until about the deadline (time.monotonic() seconds). Returns whether it has
        counted all solutions, or gave up."""
        assert self.memo is not None
        finished = self.memo.step(deadline)
        if self.memo.gave_up:
            self.gave_up = True
            self.memo = None
        return finished


class CoverSearch(Stepwise):
    """Finds all solutions of a problem, each once, in slices of time.

    They come in the order of the branches. This order depends on the problem, the engine, and whether there
    are several workers, but not on the speed of each.

    Args:
        problem: the problem; it must not change.
        options: the options of the search.

    Raises:
        CoverError: the problem contradicts itself, or there is no engine for it.
    """

    def __init__(
        self,
        problem: CoverProblem,
        options: CoverOptions = CoverOptions(),
    ) -> None:
        self._begin(problem, options, None)

    def _begin(self, problem: CoverProblem, options: CoverOptions, parts: int | None) -> None:
        if options.workers < 1:
            raise CoverError(f"there are {options.workers} workers", remedy="give at least one")
        if options.engine not in (None, MemoCounter.name, *ENGINES):
            raise CoverError(f"there is no engine {options.engine!r}", remedy="one of " + ", ".join(ENGINES))
        cpu, wall = time.process_time(), time.monotonic()
        problem.check()
        self.problem, self.options = problem, options
        self._lock = threading.Lock()
        self._reduced = reduced(problem)
        self._open: dict[int, BranchSearch] = {}
        """Branches that have begun, from the front on; branches before the front are finished and
        delivered."""
        self._idle: list[int] = []
        self._busy: set[int] = set()
        """Begun branches that wait for a thread (``_idle``, a heap), and branches that a thread is
        searching."""
        self._front = self._next = 0
        self._ready: list[Solution] = []
        self._solutions = self._nodes = 0
        self._engine: type[CoverEngine] | None = None
        self._branches: list[CoverBranch] = []
        if parts is None:
            parts = 1
            if options.workers > 1:
                parts = options.workers * max(4, min(_PARTS_PER_WORKER, _CUTTING // (len(problem.nodes) + 1)))
        self._parts = parts
        small = self._reduced.problem
        self._memo, self._beside = _memos_for(small, options)
        if small is not None and options.engine != MemoCounter.name:
            self._engine = _engine_for(small, options.engine)
            self._branches = branches(small, parts)
        self._share_done = max(0.0, 1.0 - sum(branch.share for branch in self._branches))
        self._cpu, self._wall = time.process_time() - cpu, time.monotonic() - wall
        self._engine_seconds = 0.0

    @property
    def over(self) -> bool:
        """Whether nothing is left to do: everything is searched, or as many solutions as requested are
        found."""
        if self._memo is not None:
            return self._memo.over
        return (
            (self._beside is not None and self._beside.over)
            or self._front == len(self._branches)
            or self._enough()
        )

    def _enough(self) -> bool:
        first = self.options.first
        return first is not None and self._found() >= first

    def _found(self) -> int:
        """Return the number of solutions delivered or, if they are only counted, found."""
        waiting = 0 if self.options.delivers else sum(one.count for one in self._open.values())
        return self._solutions + waiting

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds), or until many solutions wait to be
        taken. Returns whether nothing is left to search."""
        cpu, wall = time.process_time(), time.monotonic()
        if self._memo is not None:
            self._memo.step(deadline)
            if self._memo.gave_up:
                raise CoverError(
                    "the counting memo needs too much memory", remedy="leave the choice to the search"
                )
        elif self._beside is None:
            self._search(deadline)
        else:
            self._count(self._beside, deadline)
        self._cpu += time.process_time() - cpu
        self._wall += time.monotonic() - wall
        return self.over

    def _search(self, deadline: float) -> None:
        """Run the engine on all threads."""
        if self.over or self._engine is None:
            return
        began = time.process_time()
        workers = min(self.options.workers, len(self._branches) - self._front)
        if workers == 1:
            self._work(deadline)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(self._work, [deadline] * workers))
        self._engine_seconds += (time.process_time() - began) / workers

    def _count(self, beside: _MemoBeside, deadline: float) -> None:
        """Run the engine or the memo, whichever is expected to finish first."""
        while not self.over:
            spent = self._engine_seconds
            until = min(deadline, time.monotonic() + beside.slice(spent))
            if beside.leads(spent, self._progress()):
                beside.step(until)
            else:
                self._search(until)
            if time.monotonic() >= deadline:
                break

    def _work(self, deadline: float) -> None:
        """Search branches in one thread until the step ends."""
        while True:
            with self._lock:
                index = self._claimed()
            if index is None:
                return
            one = self._open[index]
            try:
                one.step(deadline)
            finally:
                with self._lock:
                    self._given_back(index)
            if len(self._ready) >= _MOST_READY or time.monotonic() >= deadline:
                return

    def _claimed(self) -> int | None:
        """Return the first branch that no thread searches; None if none can be searched now."""
        if self._enough():
            return None
        if self._idle:
            index = heapq.heappop(self._idle)
        elif self._next < len(self._branches):
            index = self._next
            assert self._engine is not None and self._reduced.problem is not None
            self._open[index] = BranchSearch(
                self._reduced, self._branches[index], self._engine, delivers=self.options.delivers
            )
            self._next += 1
        else:
            return None
        waiting = sum(len(one.found) for one in self._open.values())
        if index != self._front and waiting >= _MOST_WAITING:
            heapq.heappush(self._idle, index)
            return None
        self._busy.add(index)
        return index

    def _given_back(self, index: int) -> None:
        """Return a branch after some work on it, and deliver the solutions at the front of the order."""
        self._busy.remove(index)
        if not self._open[index].over:
            heapq.heappush(self._idle, index)
        while self._front < self._next and self._front not in self._busy:
            one = self._open[self._front]
            if self.options.delivers and not self._delivered(one):
                return
            if not one.over:
                return
            self._solutions += 0 if self.options.delivers else one.count
            self._nodes += one.nodes
            self._share_done += one.branch.share
            del self._open[self._front]
            self._front += 1

    def _delivered(self, one: BranchSearch) -> bool:
        """Deliver the solutions that a branch has found. Returns whether these were all."""
        first = self.options.first
        room = len(one.found) if first is None else first - self._solutions
        found, one.found = one.found[:room], one.found[room:]
        self._ready += found
        self._solutions += len(found)
        return not one.found

    def taken(self) -> list[Solution]:
        """Return the solutions found since the last call, each as sorted option numbers; none if they are
        only counted."""
        ready, self._ready = self._ready, []
        return ready

    def saved(self) -> dict[str, Any]:
        """Return the state a later process needs to continue, for JSON. It contains solutions that were not
        taken yet, but not those already taken."""
        with self._lock:
            return {
                "format": FORMAT,
                "digest": digest(self.problem),
                "engine": self._engine.name if self._engine else None,
                "reduce": True,
                "delivers": self.options.delivers,
                "parts": self._parts,
                "branches": len(self._branches),
                "front": self._front,
                "solutions": self._solutions,
                "nodes": self._nodes,
                "seconds_cpu": self._cpu,
                "seconds_wall": self._wall,
                "ready": [solution.tolist() for solution in self._ready],
                "open": [self._open[index].saved() for index in range(self._front, self._next)],
            }

    @classmethod
    def resumed(
        cls,
        problem: CoverProblem,
        saved: dict[str, Any],
        options: CoverOptions = CoverOptions(),
    ) -> Self:
        """Return the saved search of the same problem. `workers` and `first` may differ from the saved ones;
        the rest stays the same.

        Raises CoverError if the search belongs to another problem, or is damaged.
        """
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise damaged("it has another format, or none")
        if saved.get("digest") != digest(problem):
            raise CoverError(
                "the saved search is of another problem", remedy="give the problem it was saved for"
            )
        engine = saved.get("engine")
        if engine is not None and not isinstance(engine, str):
            raise damaged("the engine has no name")
        if saved.get("reduce") is not True or type(saved.get("delivers")) is not bool:
            raise damaged("its problem was not reduced, or delivers is neither true nor false")
        if saved["delivers"] != options.delivers:
            raise CoverError(
                "the saved search " + ("keeps solutions" if saved["delivers"] else "only counts solutions"),
                remedy="resume it in the same way",
            )
        parts = number(saved, "parts", 1)
        if parts > _MOST_PARTS:
            raise damaged("it has too many branches")
        search = cls.__new__(cls)
        search._begin(problem, replace(options, engine=engine), parts)
        search._go_on(saved)
        return search

    def _go_on(self, saved: dict[str, Any]) -> None:
        front, states = number(saved, "front"), saved.get("open")
        if number(saved, "branches") != len(self._branches) or not isinstance(states, list):
            raise damaged("its branches are not those of the problem")
        if front + len(states) > len(self._branches):
            raise damaged("it has more branches than there are")
        self._front, self._next = front, front + len(states)
        self._solutions, self._nodes = number(saved, "solutions"), number(saved, "nodes")
        self._cpu, self._wall = seconds(saved, "seconds_cpu"), seconds(saved, "seconds_wall")
        self._ready = solutions(saved, "ready", self.problem.options)
        self._share_done += sum(branch.share for branch in self._branches[:front])
        for index, state in enumerate(states, front):
            assert self._engine is not None
            if not isinstance(state, dict):
                raise damaged("a branch must be an object")
            self._open[index] = BranchSearch.resumed(
                self._reduced,
                self._branches[index],
                self._engine,
                state,
                options=self.problem.options,
                delivers=self.options.delivers,
            )
            heapq.heappush(self._idle, index)

    def _progress(self) -> float:
        """Return the share of the engine's work that is done, 0 to 1."""
        running = list(self._open.values())
        return self._share_done + sum(one.branch.share * one.progress for one in running)

    def result(self) -> CoverResult:
        """Return the current result."""
        with self._lock:
            running = list(self._open.values())
            complete = self._front == len(self._branches)
            waiting = sum(len(one.found) if self.options.delivers else one.count for one in running)
            found = self._solutions + waiting
            if self.options.delivers and self.options.first is not None:
                found = min(found, self.options.first)
        memo = self._beside.memo if self._beside is not None and self._beside.over else self._memo
        if memo is not None:
            return CoverResult(
                solutions=memo.count,
                complete=memo.over,
                nodes=memo.nodes,
                engine=memo.name,
                seconds_cpu=self._cpu,
                seconds_wall=self._wall,
                progress=memo.progress,
                reduction=self._reduced.statistics,
            )
        return CoverResult(
            solutions=found,
            complete=complete,
            nodes=self._nodes + sum(one.nodes for one in running),
            engine=self._engine.name if self._engine else "reduction",
            seconds_cpu=self._cpu,
            seconds_wall=self._wall,
            progress=1.0 if complete else min(self._progress(), MOST_OPEN),
            reduction=self._reduced.statistics,
        )


def solve(problem: CoverProblem, options: CoverOptions = CoverOptions()) -> list[Solution]:
    """Return the requested solutions, each as sorted option numbers, int32."""
    search = CoverSearch(problem, options)
    found: list[Solution] = []
    while not search.step(time.monotonic() + 1):
        found += search.taken()
    return found + search.taken()


def count(problem: CoverProblem, options: CoverOptions = CoverOptions()) -> int:
    """Return the exact number of solutions."""
    search = CoverSearch(problem, replace(options, delivers=False))
    while not search.step(time.monotonic() + 1):
        pass
    return search.result().solutions


def _memos_for(
    problem: CoverProblem | None, options: CoverOptions
) -> tuple[MemoCounter | None, _MemoBeside | None]:
    """Return the counting memo that was requested, or one to run beside an engine, if solutions are only
    counted."""
    asked, counts = options.engine == MemoCounter.name, not options.delivers and options.first is None
    if asked and not counts:
        raise CoverError("the counting memo finds no solutions, it counts them all", remedy="--count")
    if problem is None:
        return None, None
    if asked:
        return MemoCounter(problem), None
    chosen = counts and options.engine is None and MemoCounter.takes(problem)
    return None, _MemoBeside(problem) if chosen else None


def _engine_for(problem: CoverProblem, name: str | None) -> type[CoverEngine]:
    """Return the engine with this name, or for None the one with the lowest estimated time per node, in
    nanoseconds, as measured on queens, dominoes, sudokus and pentominoes (see docs/measurements.md).

    Bitsets cost some words in each item that must be covered. Dancing cells cost the nodes that are moved:
    all nodes of the options that collide with the chosen one. Raises CoverError if the engine does not take
    the problem.
    """
    sizes = np.bincount(problem.nodes, minlength=problem.items)
    length = len(problem.nodes) / max(problem.options, 1)
    moved = float(sizes[problem.nodes].sum()) / max(problem.options, 1) * length
    must = int((problem.minimum > 0).sum()) + int(problem.may_be_hole.sum()) * (problem.holes is not None)
    costs = {Bitset: 60 + 0.0025 * (problem.options / 64 + 1) * must, DancingCells: 250 + 0.7 * moved}
    able = [kind for kind in ENGINES.values() if name in (None, kind.name) and kind.takes(problem)]
    if not able:
        raise CoverError(
            f"the engine {name} cannot search this problem", remedy="leave the choice to the search"
        )
    return min(able, key=costs.__getitem__)
