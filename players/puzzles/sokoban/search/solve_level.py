"""Solves a level as people draw it, without rules in between; the solution is replayed by the level's rules.

>>> from players.puzzles.sokoban.levels.level import Level
>>> found = solve_level(Level(("#####", "#@$.#", "#####")), seconds=10.0)
>>> found.outcome.value, found.steps
('solved', 'R')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import LETTERS, Push, steps_of
from players.puzzles.sokoban.optimizer import Metric, Optimizer
from players.puzzles.sokoban.search.portfolio import ENTRIES, Entry, SearchPortfolio
from players.puzzles.sokoban.search.push_search import LevelKnowledge, Outcome, PushTask
from players.puzzles.solution import Solution, replayed

MEMORY_BYTES = 600 * 1024**2
GDL_MOVES = dict(zip(LETTERS, ("(move up)", "(move right)", "(move down)", "(move left)"), strict=True))
"""The move of the rules that each letter of a solution stands for."""
_STEP_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class LevelSolution:
    """What came of a level.

    Attributes:
        outcome: SOLVED, UNSOLVABLE (proven), MEMORY_FULL, GAVE_UP, or GOING_ON where time was up.
        pushes: the solution.
        steps: the same as letters, see :mod:`players.puzzles.sokoban.lines`.
        optimal: whether no solution is known to have fewer pushes, by proof.
        solver: the search that found it; empty where none was needed or none did.
        positions: how many positions were made.
        seconds: CPU seconds of this thread, replaying included.
        full: the searches whose memory was full.
    """

    outcome: Outcome
    pushes: tuple[Push, ...]
    steps: str
    optimal: bool
    solver: str
    positions: int
    seconds: float
    full: tuple[str, ...] = ()


_WARM_UP = Level(("######", "#    #", "#@$ .#", "#    #", "######"))

LevelWatcher = Callable[[SearchPortfolio], None]
"""Is shown the search about ten times a second."""


def warm_up(entries: Sequence[Entry] | None = None) -> None:
    """Have the kernels of all searches compiled or loaded; by default those of the portfolio."""
    geometry, start = from_level(_WARM_UP)
    for entry in ENTRIES if entries is None else entries:
        search = entry.kind(PushTask(LevelKnowledge(geometry), start, 1 << 20))
        search.step(0.01)
        search.close()


def solve_level(
    level: Level,
    seconds: float,
    *,
    memory: int = MEMORY_BYTES,
    clock: Callable[[], float] = time.thread_time,
    entries: Sequence[Entry] | None = None,
    watch: LevelWatcher | None = None,
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


def replay(level: Level, steps: str, solver: str = "") -> None:
    """Play the steps on the prover, by the rules that the level is written as.

    Raises:
        GdlError: they do not solve it. That is an error of the solver.
    """
    rules = parse_rules(level_to_gdl(level, solution=len(steps)), "the level's rules")
    moves = tuple(GDL_MOVES[letter] for letter in steps.lower())
    try:
        replayed(rules, Solution(100, moves, False, solver or "the level as it is", 0, 0.0))
    except GdlError as error:
        raise GdlError(f"a solution does not solve the level: {error.message}") from None
