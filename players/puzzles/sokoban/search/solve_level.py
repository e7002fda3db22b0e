"""Solves a level as people draw it, without rules in between; the solution is replayed by the level's rules.

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
from players.puzzles.sokoban.search.portfolio import ENTRIES, Entry, SearchPortfolio
from players.puzzles.sokoban.search.push_search import LevelKnowledge, PushTask
from players.puzzles.sokoban.solution import LevelSolution, Metric, Outcome, replay

MEMORY_BYTES = 600 * 1024**2
_STEP_SECONDS = 0.1


_WARM_UP = Level(("######", "#    #", "#@$ .#", "#    #", "######"))

_LevelWatcher = Callable[[SearchPortfolio], None]
"""Is shown the search about ten times a second."""


def warm_up(entries: Sequence[Entry] | None = None) -> None:
    """Have the kernels of all searches compiled or loaded; by default those of the portfolio."""
    geometry, start = from_level(_WARM_UP)
    for entry in ENTRIES if entries is None else entries:
        search = entry.search(PushTask(LevelKnowledge(geometry), start, 1 << 20))
        search.step(0.01)
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
        level: a level that was read.
        seconds: how long, by the clock.
        memory: bytes for what the searches keep.
        clock: what tells the time; by default the CPU seconds of this thread.
        entries: the searches to use; by default all.
        watch: is shown the search as it goes on.

    Raises:
        GdlError: the level cannot be played, or a search has made an error.
    """
    began, used = clock(), time.thread_time()
    geometry, start = from_level(level)
    search = SearchPortfolio(PushTask(LevelKnowledge(geometry), start, memory), entries)
    while search.outcome is Outcome.GOING_ON and (left := began + seconds - clock()) > 0:
        search.step(min(left, _STEP_SECONDS))
        if watch is not None:
            watch(search)
    steps = ""
    if search.outcome is Outcome.SOLVED:
        steps = steps_of(geometry, start, search.pushes)
        replay(level, steps, search.winner)
    found = LevelSolution(
        search.outcome, tuple(search.pushes), steps, search.optimal, search.winner,
        search.progress.positions, time.thread_time() - used, tuple(search.full),
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
    """A solution with fewer pushes or moves, if one is found; it is replayed as the first one was.

    Args:
        level: the level.
        solution: of it; one that is none comes back as it is.
        metric: what it is to have few of.
        seconds: how long, by the clock.
        memory: bytes for the search.
        clock: what tells the time.
    """
    if solution.outcome is not Outcome.SOLVED or seconds <= 0:
        return solution
    from players.puzzles.sokoban.optimizer import Optimizer  # brings kernels along

    began, used = clock(), time.thread_time()
    geometry, start = from_level(level)
    optimizer = Optimizer(geometry, start, solution.pushes, metric, memory)
    while optimizer.step(_STEP_SECONDS) and clock() < began + seconds:
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
