"""What people see of Sokoban levels being solved, and what came of them."""

from __future__ import annotations

import sys
import time

import orjson
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gdl.words import counted
from ggp.console import new_console
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.search.portfolio import SearchPortfolio
from players.puzzles.sokoban.search.push_search import Outcome
from players.puzzles.sokoban.search.solve_level import GDL_MOVES, LevelSolution

_WORDS = {
    Outcome.SOLVED: "solved",
    Outcome.UNSOLVABLE: "proven unsolvable",
    Outcome.MEMORY_FULL: "memory full",
    Outcome.GAVE_UP: "gave up: no search has anything left to try",
    Outcome.GOING_ON: "time is up",
}


def as_line(name: str, number: int, level: Level, solution: LevelSolution) -> bytes:
    """What came of a level, as a line of JSON."""
    solved = solution.outcome is Outcome.SOLVED
    return orjson.dumps(
        {
            "game": name,
            "level": number,
            "title": level.title,
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
    """Why there is no solution."""
    said = _WORDS[solution.outcome]
    if solution.outcome is Outcome.UNSOLVABLE or not solution.full:
        return said
    full = ", ".join(solution.full)
    return f"{said}: {full}" if solution.outcome is Outcome.MEMORY_FULL else f"{said} (memory full: {full})"


class LevelView:
    """Shows the search while it goes on (in a terminal), then its result. A context manager. ``name`` is the
    file's, ``seconds`` what each level may take, ``table`` whether there is a row for each level."""

    def __init__(self, name: str, seconds: float, table: bool) -> None:
        self.console = new_console(soft_wrap=not sys.stdout.isatty())
        self._progress = new_console(stderr=True)
        self._name, self._seconds, self._table = name, seconds, table
        self._live: Live | None = None
        self._level, self._began = 0, time.monotonic()
        self._headed = False

    def __enter__(self) -> LevelView:
        if self._progress.is_terminal:
            spinner = Spinner("dots", Text("loading or compiling kernels"))
            self._live = Live(spinner, console=self._progress, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, number: int, search: SearchPortfolio | None) -> None:
        """The level at work, and its search where it is in this process."""
        if number != self._level:
            self._level, self._began = number, time.monotonic()
        if self._live is None:
            return
        elapsed = time.monotonic() - self._began
        parts = [f"{self._name} {number}: {elapsed:.0f} of {self._seconds:g} s"]
        if search is not None:
            parts.append(f"{search.progress.positions:,} positions")
            if search.progress.bound >= 0:
                parts.append(f"nearest: {counted(search.progress.bound, 'push', 'pushes')} to go")
            parts += [" + ".join(search.at_work)]
        self._live.update(Spinner("dots", Text(", ".join(filter(None, parts)))))

    def row(self, number: int, level: Level, solution: LevelSolution) -> None:
        """One line of the table of all levels."""
        if not self._headed:
            self._headed = True
            self.console.print(f"{'level':>5} {'pushes':>6} {'moves':>6} {'CPU s':>7}  solver")
        solved = solution.outcome is Outcome.SOLVED
        pushes, moves = (len(solution.pushes), len(solution.steps)) if solved else ("", "")
        said = solution.solver or "none was needed" if solved else _failed(solution)
        text = f"{number:>5} {pushes:>6} {moves:>6} {solution.seconds:>7.2f}  {said}"
        title = f"  ({level.title})" if level.title and level.title != str(number) else ""
        self.console.print(Text(text + title, "" if solved else "yellow"))

    def totals(self, solutions: list[LevelSolution], cpu: float, wall: float) -> None:
        """What came of all levels."""
        solved = [one for one in solutions if one.outcome is Outcome.SOLVED]
        pushes, moves = sum(len(one.pushes) for one in solved), sum(len(one.steps) for one in solved)
        self.console.print(
            f"{len(solved)} of {counted(len(solutions), 'level')} solved in "
            f"{counted(pushes, 'push', 'pushes')} and {counted(moves, 'move')}, all "
            f"replayed by the prover; {cpu:.1f} CPU seconds, {wall:.1f} s by the clock"
        )

    def show(self, solution: LevelSolution, cpu: float, wall: float) -> None:
        """The solution of a single level."""
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
        table.add_row("time", f"{cpu:.2f} CPU seconds, {wall:.2f} s by the clock")
        self.console.print(table)
