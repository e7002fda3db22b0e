"""Shows a puzzle being solved, its solution, and doubts about its rules."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from rich.columns import Columns
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gdl.ends import no_goal, stuck_in_play
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.words import counted
from ggp.console import new_console
from ggp.stopwatch import Stopwatch
from players.solvers import Solution

_SLICE_SECONDS = 0.25


class ProgressView:
    """Shows the search while it runs, in a terminal. A context manager. ``name`` is the puzzle's, ``first``
    the text shown at first.

    Attributes:
        console: for results.
        is_live: whether the progress is visible.
    """

    def __init__(self, name: str, first: str) -> None:
        self.console = new_console(soft_wrap=not sys.stdout.isatty())
        self._name = name
        progress = new_console(stderr=True)
        self.is_live = progress.is_terminal
        self._live = Live(self._picture([first]), console=progress, transient=True) if self.is_live else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def tell(self, parts: Iterable[str]) -> None:
        """Show the progress of the search; empty parts are left out."""
        if self._live is not None:
            self._live.update(self._picture(parts))

    def _picture(self, parts: Iterable[str]) -> Spinner:
        return Spinner("dots", Text(f"{self._name}: " + ", ".join(filter(None, parts))))


def in_slices(
    step: Callable[[float], bool],
    seconds: float | None,
    interrupted: Callable[[], bool],
    after: Callable[[], object] = lambda: None,
) -> str | None:
    """Call the ``step`` of a :class:`~players.companions.Stepwise` until the work is finished, and ``after``
    after each slice of time. Returns why this was stopped; None if it is finished.

    Args:
        seconds: the longest time for all; None for no limit.
        interrupted: whether to stop.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    while True:
        now = time.monotonic()
        if interrupted():
            return "interrupted"
        if now >= end:
            return "time is up"
        finished = step(min(end, now + _SLICE_SECONDS))
        after()
        if finished:
            return None


class SolveView(ProgressView):
    """Shows the search while it runs, then its line. ``seconds`` is the time limit."""

    def __init__(self, name: str, seconds: float) -> None:
        self._seconds, self._began = seconds, time.monotonic()
        super().__init__(name, "loading or compiling kernels, building the network")

    def watch(self, solution: Solution, at_work: list[str]) -> None:
        """Show the solution so far, and the solvers at work."""
        line = f"goal {solution.value} in {counted(len(solution.moves), 'move')}"
        elapsed = f"{time.monotonic() - self._began:.0f} of {self._seconds:.0f} s"
        states = counted(solution.states, "state")
        self.tell([elapsed, states, line if solution.moves else "no line yet", " + ".join(at_work)])

    def show(self, solution: Solution, watch: Stopwatch, doubt: str = "") -> None:
        """Print the line, move by move, and how it was found; ``doubt`` is a doubt about it."""
        console = self.console
        if solution.value < 0:
            none = "proven: no line comes to an end" if solution.proven else "no line found"
            console.print(Text(none, "yellow"))
        if doubt:
            console.print(Text(doubt, "yellow"), soft_wrap=True)
        show_moves(console, solution.moves)
        table = Table.grid(padding=(0, 2))
        best = "proven: no line has a higher goal" if solution.proven else "not proven to be the best"
        if solution.value >= 0:
            table.add_row("goal", f"{solution.value} in {counted(len(solution.moves), 'move')}, {best}")
            table.add_row("solver", solution.solver or "none was needed")
            table.add_row("replayed", "by the prover, move by move")
        table.add_row("states", f"{solution.states:,}")
        table.add_row("time", str(watch))
        console.print(table)


def as_json_object(name: str, solution: Solution, watch: Stopwatch, doubt: str) -> dict[str, object]:
    """The solution of a game for ``--json``. ``watch`` is the total time, ``doubt`` a doubt about it."""
    return {
        "game": name,
        "value": solution.value if solution.value >= 0 else None,
        "moves": solution.moves,
        "proven": solution.proven,
        "solver": solution.solver or None,
        "seconds_cpu": round(watch.cpu, 3),
        "seconds_wall": round(watch.wall, 3),
        "states": solution.states,
        "doubt": doubt,
    }


def show_moves(console: Console, moves: Sequence[str]) -> None:
    """The moves of a line with their numbers: in columns in a terminal, else one a line."""
    width = len(str(len(moves)))
    texts = [Text(f"{number:>{width}} {move}") for number, move in enumerate(moves, 1)]
    if texts:
        console.print(Columns(texts, padding=(0, 3), column_first=True) if console.is_terminal else "")
    if not console.is_terminal:
        for text in texts:
            console.print(text)


def doubt_of(rules: Rules, last: State | None) -> str:
    """A doubt about the goal value where the line ends, or the reason why there may be no line; empty if
    there is no doubt.

    Args:
        rules: rules of the puzzle.
        last: the last state of the line; None if no line was found.
    """
    if last is None:
        return stuck_in_play(ProverMachine(rules))
    if last.machine.goal(last, 0) is not None:
        return ""
    counts = last.machine.result(last, 0)
    return f"{no_goal(last, 0)}; {'the highest counts' if counts is not None else 'it counts as 0'}"
