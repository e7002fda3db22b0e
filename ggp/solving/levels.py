"""Solves Sokoban levels without rules, one or all of a file, and shows the solutions."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeGuard

import orjson
from rich.table import Table
from rich.text import Text

from gdl.errors import GdlError, or_error, sound
from gdl.words import counted
from ggp.solving.view import ProgressView
from ggp.stopwatch import Stopwatch
from players.portfolio import time_to_shorten
from players.processes.lifeline import Lifeline
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.search.few_positions import FewPositions
from players.puzzles.sokoban.search.portfolio import Entry, SearchPortfolio, entries_named
from players.puzzles.sokoban.search.solve_level import shortened, solve_level, warm_up
from players.puzzles.sokoban.solution import GDL_MOVES, LevelSolution, Metric, Outcome
from players.solvers import Solution
from propnet.jit.parts import compile_together, missing

_OVERTIME_SECONDS = 60.0
"""Seconds after the time limit at which a silent process counts as dead. It may have had kernels to
compile."""

_ENDS = (Outcome.SOLVED, Outcome.UNSOLVABLE)
"""Final outcomes, which further search cannot change."""

if TYPE_CHECKING:
    from players.portfolio import Watcher

_LevelShow = Callable[[int, SearchPortfolio | None], None]
"""Called with the number of the level, and its search if that runs in this process."""


@dataclass(frozen=True, slots=True)
class LevelRequest:
    """The options for solving each level.

    Attributes:
        seconds: wall time for a level, after kernels are compiled.
        memory: bytes for all processes together.
        only: the name of the only search to use; None for all.
        workers: number of processes.
        shorter: the metric by which a solution is shortened in all the remaining time; None for fewer
            pushes as long as :func:`players.portfolio.time_to_shorten` says, or if there are several levels
            for the first solution.
    """

    seconds: float
    memory: int
    only: str | None = None
    workers: int = 1
    shorter: Metric | None = None


def solve_levels(
    levels: dict[int, Level | GdlError], request: LevelRequest, show: _LevelShow
) -> Iterator[tuple[int, LevelSolution | GdlError]]:
    """The number of each level and its solution, in order; an error for a level that has one, or cannot be
    played.

    Several processes work on levels of their own; a single level is solved in this process.

    Raises:
        GdlError: there is no such search, or a process has died.
    """
    entries = entries_named(request.only)
    if len(levels) == 1 and entries[0].search is FewPositions:
        # If a level is solved before the portfolio, no kernel is loaded and no process started.
        [(number, level)] = levels.items()
        found = _here(number, sound(level), request, entries[:1], show, True)
        if found.outcome in _ENDS or len(entries) == 1:
            yield number, found
            return
        entries = entries[1:]
    if request.workers == 1 or len(levels) == 1:
        _compile(request, entries)
        alone = len(levels) == 1
        for number, level in levels.items():
            yield number, or_error(lambda: _here(number, sound(level), request, entries, show, alone))  # noqa: B023
    else:
        yield from _side_by_side(levels, request, entries, show)


def solve_as_line(level: Level, seconds: float, memory: int, watch: Watcher) -> tuple[Solution, str, str]:
    """A level's solution as a line of its rules, the solution as LURD, and the reason if there is none."""

    def show(_: int, search: SearchPortfolio | None) -> None:
        if search is not None:
            watch(Solution(-1, (), False, "", search.positions, 0.0), list(search.at_work))

    [(_, found)] = solve_levels({1: level}, LevelRequest(seconds, memory), show)
    if isinstance(found, GdlError):
        raise found
    solved = found.outcome is Outcome.SOLVED
    moves = tuple(GDL_MOVES[letter] for letter in found.steps.lower())
    line = Solution(100 if solved else -1, moves, solved, found.solver, found.positions, 0.0)
    return line, found.steps, "" if solved else _failed(found)


def _compile(request: LevelRequest, entries: Sequence[Entry]) -> None:
    """Compile missing kernels. Kernels of searches that never begin need not even be loaded."""
    if request.only is not None:
        warm_up(entries)
        return
    from players.puzzles.sokoban.solver import Sokoban
    from players.warm_kernels import solver_parts

    compile_together(missing(solver_parts(Sokoban)))


def _here(
    number: int,
    level: Level,
    request: LevelRequest,
    entries: Sequence[Entry],
    show: _LevelShow,
    alone: bool,
) -> LevelSolution:
    began = time.monotonic()
    end = began + request.seconds
    solution = solve_level(
        level,
        request.seconds,
        memory=request.memory,
        clock=time.monotonic,
        entries=entries,
        watch=lambda search: show(number, search),
    )
    if request.shorter is not None:
        left, metric = end - time.monotonic(), request.shorter
    elif alone:
        left, metric = time_to_shorten(began, end), Metric.PUSHES
    else:
        return solution
    return shortened(level, solution, metric, left, request.memory, time.monotonic)


def _there(level: Level, request: LevelRequest, entries: Sequence[Entry]) -> LevelSolution:
    """Solve a level in a process of the pool."""
    warm_up(entries)
    return _here(0, level, request, entries, lambda number, search: None, False)


def _side_by_side(
    levels: dict[int, Level | GdlError], request: LevelRequest, entries: Sequence[Entry], show: _LevelShow
) -> Iterator[tuple[int, LevelSolution | GdlError]]:
    with _processes(request.workers) as pool:
        part = replace(request, memory=request.memory // request.workers)
        waiting = {
            number: pool.submit(_there, level, part, entries)
            for number, level in levels.items()
            if isinstance(level, Level)
        }
        for number, level in levels.items():
            if isinstance(level, GdlError):
                yield number, level
                continue
            show(number, None)
            try:
                # All levels before it have been returned, so its process is at work, or next.
                yield number, waiting[number].result(2 * request.seconds + _OVERTIME_SECONDS)
            except GdlError as error:
                yield number, error
            except (TimeoutError, BrokenExecutor):
                raise GdlError(f"the process that worked on level {number} has died") from None


def _bound(_: Lifeline) -> None:
    """A process of a pool ends with this one."""


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of ``count`` processes, which are killed at the end. (A pool of multiprocessing hangs if one of
    its processes is killed while idle.)"""
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _bound, (Lifeline(),))
    try:
        yield pool
    finally:
        processes = list(pool._processes.values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


def is_solved(solution: LevelSolution | GdlError) -> TypeGuard[LevelSolution]:
    """Whether a level was solved."""
    return isinstance(solution, LevelSolution) and solution.outcome is Outcome.SOLVED


_WORDS = {
    Outcome.SOLVED: "solved",
    Outcome.UNSOLVABLE: "proven unsolvable",
    Outcome.MEMORY_FULL: "memory full",
    Outcome.GAVE_UP: "gave up: no search has anything left to try",
    Outcome.GOING_ON: "time is up",
}


def as_line(name: str, number: int, title: str, solution: LevelSolution | GdlError) -> bytes:
    """The outcome of a level, as a line of JSON."""
    if isinstance(solution, GdlError):
        fields = {"game": name, "level": number, "title": title, "outcome": "error", "error": str(solution)}
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
    solved = solution.outcome is Outcome.SOLVED
    return orjson.dumps(
        {
            "game": name,
            "level": number,
            "title": title,
            "outcome": solution.outcome.value,
            "value": 100 if solved else None,
            "moves": [GDL_MOVES[letter] for letter in solution.steps.lower()],
            "steps": solution.steps,
            "pushes": len(solution.pushes) if solved else None,
            "proven": solution.optimal,
            "solver": solution.solver or None,
            "memory_full": list(solution.full),
            "seconds_cpu": round(solution.seconds, 3),
            "states": solution.positions,
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _failed(solution: LevelSolution) -> str:
    """The reason why there is no solution, in words."""
    words = _WORDS[solution.outcome]
    if solution.outcome is Outcome.UNSOLVABLE or not solution.full:
        return words
    full = ", ".join(solution.full)
    return f"{words}: {full}" if solution.outcome is Outcome.MEMORY_FULL else f"{words} (memory full: {full})"


class LevelView(ProgressView):
    """Shows the search while it runs, then its result. ``seconds`` is the time limit of each level."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(name, "loading or compiling kernels")
        self._seconds = seconds
        self._level, self._began = 0, time.monotonic()
        self._headed = False

    def watch(self, number: int, search: SearchPortfolio | None) -> None:
        """Show the current level, and its search if that runs in this process."""
        if number != self._level:
            self._level, self._began = number, time.monotonic()
        parts = [f"level {number}", f"{time.monotonic() - self._began:.0f} of {self._seconds:g} s"]
        if search is not None:
            parts.append(f"{search.positions:,} positions")
            if search.bound >= 0:
                parts.append(f"nearest: {counted(search.bound, 'push', 'pushes')} to go")
            parts += [" + ".join(search.at_work)]
        self.tell(parts)

    def row(self, number: int, title: str, solution: LevelSolution | GdlError) -> None:
        """One line of the table of all levels."""
        if not self._headed:
            self._headed = True
            self.console.print(f"{'level':>5} {'pushes':>6} {'moves':>6} {'CPU s':>7}  solver")
        if isinstance(solution, GdlError):
            self.console.print(Text(f"{number:>5} {solution}", "yellow"))
            return
        solved = solution.outcome is Outcome.SOLVED
        pushes, moves = (len(solution.pushes), len(solution.steps)) if solved else ("", "")
        note = solution.solver or "none was needed" if solved else _failed(solution)
        text = f"{number:>5} {pushes:>6} {moves:>6} {solution.seconds:>7.2f}  {note}"
        title = f"  ({title})" if title and title != str(number) else ""
        self.console.print(Text(text + title, "" if solved else "yellow"))

    def totals(self, solutions: Sequence[LevelSolution | GdlError], watch: Stopwatch) -> None:
        """Print the totals of all levels."""
        solved = [one for one in solutions if is_solved(one)]
        pushes, moves = sum(len(one.pushes) for one in solved), sum(len(one.steps) for one in solved)
        self.console.print(
            f"{len(solved)} of {counted(len(solutions), 'level')} solved in "
            f"{counted(pushes, 'push', 'pushes')} and {counted(moves, 'move')}, all "
            f"replayed by the prover; {watch}"
        )

    def show(self, solution: LevelSolution, watch: Stopwatch) -> None:
        """Print the solution of a single level."""
        table = Table.grid(padding=(0, 2))
        if solution.outcome is Outcome.SOLVED:
            self.console.print(solution.steps, soft_wrap=not self.console.is_terminal)
            best = ", proven: none has fewer pushes" if solution.optimal else ""
            table.add_row(
                "solved",
                f"{counted(len(solution.pushes), 'push', 'pushes')},"
                f" {counted(len(solution.steps), 'move')}{best}",
            )
            table.add_row("solver", solution.solver or "none was needed")
            table.add_row("replayed", "by the prover, move by move")
        else:
            self.console.print(Text(_failed(solution), "yellow"))
        table.add_row("positions", f"{solution.positions:,}")
        table.add_row("time", str(watch))
        self.console.print(table)
