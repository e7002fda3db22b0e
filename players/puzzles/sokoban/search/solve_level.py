"""Solve a level directly, without rules in between; the solution is replayed by the level's rules.

>>> from players.puzzles.sokoban.levels.level import Level
>>> found = solve_level(Level(("#####", "#@$.#", "#####")), seconds=10.0)
>>> found.outcome.value, found.steps
('solved', 'R')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import steps_of
from players.puzzles.sokoban.push_search import PushTask
from players.puzzles.sokoban.search.portfolio import ENTRIES, Entry, SearchPortfolio
from players.puzzles.sokoban.solution import LevelSolution, Metric, Outcome, replay

MEMORY_BYTES = 600 * 1024**2
_STEP_SECONDS = 0.1


SMALL = Level(("########", "#@ $  .#", "# $   .#", "#  $  .#", "########"))
"""A level to compile kernels with, of three boxes: dead sets of three have their own."""

_LevelWatcher = Callable[[SearchPortfolio], None]
"""A callback that receives the search about ten times a second."""


def warm_up(entries: Sequence[Entry] | None = None) -> None:
    """Compile or load the kernels of all given searches; by default those of the portfolio."""
    geometry, start = from_level(SMALL)
    for entry in ENTRIES if entries is None else entries:
        search = entry.search(PushTask(geometry, start, 1 << 20))
        while not search.step(time.monotonic() + _STEP_SECONDS):  # a slice may end before the last kernel
            pass
        search.close()


def solve_level(
    level: Level,
    seconds: float,
    *,
    memory: int = MEMORY_BYTES,
    clock: Callable[[], float] = time.thread_time,
    entries: Sequence[Entry] | None = None,
    watch: _LevelWatcher | None = None,
) -> LevelSolution:
    """Search for pushes that solve a level.

    Args:
        level: a valid level.
        seconds: the time limit, measured by ``clock``.
        memory: bytes for the data of the searches.
        clock: a function that returns the time; by default the CPU seconds of this thread.
        entries: the searches to use; by default all.
        watch: receives the search as it progresses.

    Raises:
        GdlError: the level cannot be played, or a search has an error.
    """
    began, used = clock(), time.thread_time()
    geometry, start = from_level(level)
    search = SearchPortfolio(PushTask(geometry, start, memory), entries)
    while not search.over and (left := began + seconds - clock()) > 0:
        search.step(time.monotonic() + min(left, _STEP_SECONDS))
        if watch is not None:
            watch(search)
    steps = ""
    if search.outcome is Outcome.SOLVED:
        steps = steps_of(geometry, start, search.pushes)
        replay(level, steps, search.winner)
    found = LevelSolution(
        search.outcome, tuple(search.pushes), steps, search.optimal, search.winner,
        search.positions, time.thread_time() - used, tuple(search.full),
    )  # fmt: skip
    search.close()
    return found


def shortened(
    level: Level,
    solution: LevelSolution,
    metric: Metric,
    seconds: float,
    memory: int = MEMORY_BYTES,
    clock: Callable[[], float] = time.thread_time,
) -> LevelSolution:
    """Return a solution with fewer pushes or moves if one is found; it is replayed like the first one.

    Args:
        level: the level.
        solution: its solution; a result without one is returned unchanged.
        metric: the quantity to minimise.
        seconds: the time limit, measured by ``clock``.
        memory: bytes for the search.
        clock: a function that returns the time.
    """
    fewest = solution.optimal and metric is Metric.PUSHES
    if solution.outcome is not Outcome.SOLVED or seconds <= 0 or fewest:
        return solution
    from players.puzzles.sokoban.optimizer import Optimizer  # loads kernels

    began, used = clock(), time.thread_time()
    geometry, start = from_level(level)
    optimizer = Optimizer(geometry, start, solution.pushes, metric, memory)
    while not optimizer.step(time.monotonic() + _STEP_SECONDS) and clock() < began + seconds:
        pass
    replay(level, optimizer.steps, "the optimizer")
    return replace(
        solution,
        pushes=tuple(optimizer.pushes),
        steps=optimizer.steps,
        optimal=solution.optimal or (metric is Metric.PUSHES and optimizer.optimal),
        positions=solution.positions + optimizer.states,
        seconds=solution.seconds + time.thread_time() - used,
    )
