"""Sokoban levels are solved without rules in between, one of a file or all of them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.pool import Pool

from gdl.errors import GdlError
from gdl.processes import end_with_parent
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.optimizer import Metric
from players.puzzles.sokoban.search.portfolio import Entry, SearchPortfolio, entries_named
from players.puzzles.sokoban.search.push_search import Outcome
from players.puzzles.sokoban.search.solve_level import LevelSolution, shortened, solve_level, warm_up

_OVERTIME_SECONDS = 60.0
"""A process that says nothing for so long after the end has died. It may have had kernels to compile."""

LevelShow = Callable[[int, SearchPortfolio | None], None]
"""Is shown the number of the level, and the search for it where it goes on in this process."""


@dataclass(frozen=True, slots=True)
class LevelOrder:
    """What is to be done with each level.

    Attributes:
        seconds: wall time for a level, after kernels are compiled.
        memory: bytes for all processes together.
        only: the name of the one search that is wanted; None for all.
        workers: how many processes.
        shorter: what a solution is to have fewer of, in the time that is left; None for the first solution.
    """

    seconds: float
    memory: int
    only: str | None = None
    workers: int = 1
    shorter: Metric | None = None


def solve_levels(
    levels: dict[int, Level], order: LevelOrder, show: LevelShow
) -> Iterator[tuple[int, LevelSolution]]:
    """The numbers of the levels and what came of them, in their order.

    Several processes work on levels of their own, or on a single level with different searches.

    Raises:
        GdlError: there is no such search, a level cannot be played, or a process has died.
    """
    entries = entries_named(order.only)
    if order.workers == 1:
        warm_up(entries)
    if order.workers == 1:
        for number, level in levels.items():
            yield number, _here(number, level, order, entries, show)
    elif len(levels) == 1:
        [(number, level)] = levels.items()
        show(number, None)
        yield number, _race(level, order, entries)
    else:
        yield from _side_by_side(levels, order, entries, show)


def _here(
    number: int, level: Level, order: LevelOrder, entries: list[Entry], show: LevelShow
) -> LevelSolution:
    began = time.monotonic()
    solution = solve_level(
        level,
        order.seconds,
        memory=order.memory,
        clock=time.monotonic,
        entries=entries,
        watch=lambda search: show(number, search),
    )
    return _shortened(level, solution, order, began, order.memory)


def _shortened(
    level: Level, solution: LevelSolution, order: LevelOrder, began: float, memory: int
) -> LevelSolution:
    """The solution made shorter in what is left of the time since ``began``, if that is wanted."""
    if order.shorter is None:
        return solution
    left = began + order.seconds - time.monotonic()
    return shortened(level, solution, order.shorter, left, memory, time.monotonic)


def _there(level: Level, order: LevelOrder, entries: list[Entry], memory: int) -> LevelSolution | str:
    """In a process of the pool. Errors come back as text."""
    try:
        warm_up(entries)
        began = time.monotonic()
        solution = solve_level(level, order.seconds, memory=memory, clock=time.monotonic, entries=entries)
        return _shortened(level, solution, order, began, memory)
    except GdlError as error:
        return error.message


def _race(level: Level, order: LevelOrder, entries: list[Entry]) -> LevelSolution:
    """Deal the searches out to processes; the first that ends the matter counts."""
    began = time.monotonic()
    count = min(order.workers, len(entries))
    alone = replace(order, shorter=None)
    with _pool(count) as pool:
        memory = order.memory // count
        waiting = [pool.apply_async(_there, (level, alone, entries[i::count], memory)) for i in range(count)]
        end = began + order.seconds + _OVERTIME_SECONDS
        done: list[LevelSolution] = []
        while waiting and time.monotonic() < end:
            ready = [one for one in waiting if one.ready()]
            waiting = [one for one in waiting if one not in ready]
            done += [_heard(one.get()) for one in ready]
            if any(one.outcome in (Outcome.SOLVED, Outcome.UNSOLVABLE) for one in done):
                break
            time.sleep(0.01)
    if not done:
        raise GdlError("the processes of the search have died")
    ended = [one for one in done if one.outcome in (Outcome.SOLVED, Outcome.UNSOLVABLE)]
    best = ended[0] if ended else max(done, key=lambda one: one.positions)
    return _shortened(level, best, order, began, order.memory)


def _side_by_side(
    levels: dict[int, Level], order: LevelOrder, entries: list[Entry], show: LevelShow
) -> Iterator[tuple[int, LevelSolution]]:
    with _pool(order.workers) as pool:
        memory = order.memory // order.workers
        waiting = {
            number: pool.apply_async(_there, (level, order, entries, memory))
            for number, level in levels.items()
        }
        for number, one in waiting.items():
            show(number, None)
            try:
                # All levels before it have been told: it is at work, or next.
                yield number, _heard(one.get(2 * order.seconds + _OVERTIME_SECONDS))
            except multiprocessing.TimeoutError:
                raise GdlError(f"the process that worked on level {number} has died") from None


def _heard(said: LevelSolution | str) -> LevelSolution:
    if isinstance(said, str):
        raise GdlError(said)
    return said


def _pool(count: int) -> Pool:
    return multiprocessing.get_context("spawn").Pool(count, end_with_parent)
