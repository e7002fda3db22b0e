"""What people see of a puzzle being solved, and of its solution."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gdl.words import counted
from ggp.console import new_console
from players.puzzles.solution import Solution


class SolveView:
    """Shows the search while it goes on (in a terminal), then its line. A context manager. ``name`` is the
    game's, ``seconds`` what the search may take."""

    def __init__(self, name: str, seconds: float) -> None:
        self.console = new_console(soft_wrap=not sys.stdout.isatty())
        self._progress = new_console(stderr=True)
        self._name, self._seconds = name, seconds
        self._began = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> SolveView:
        if self._progress.is_terminal:
            self._live = Live(self._picture(None, []), console=self._progress, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, solution: Solution, at_work: list[str]) -> None:
        """What is known so far, and the solvers at work."""
        if self._live is not None:
            self._live.update(self._picture(solution, at_work))

    def _picture(self, solution: Solution | None, at_work: list[str]) -> Spinner:
        elapsed = time.monotonic() - self._began
        parts = [f"{self._name}: {elapsed:.0f} of {self._seconds:.0f} s"]
        if solution is None:
            parts.append("loading or compiling kernels, building the network")
        else:
            parts.append(counted(solution.states, "state"))
            line = f"goal {solution.value} in {counted(len(solution.moves), 'move')}"
            parts.append(line if solution.moves else "no line yet")
            parts.append(" + ".join(at_work))
        return Spinner("dots", Text(", ".join(filter(None, parts))))

    def show(self, solution: Solution, cpu: float, wall: float, doubt: str = "") -> None:
        """The line, move by move, and how it was found; ``doubt`` is what is odd about it."""
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
        table.add_row("time", f"{cpu:.2f} CPU seconds, {wall:.2f} s by the clock")
        console.print(table)


def show_moves(console: Console, moves: Sequence[str]) -> None:
    """The moves of a line with their numbers: in columns in a terminal, else one a line."""
    width = len(str(len(moves)))
    texts = [Text(f"{number:>{width}} {move}") for number, move in enumerate(moves, 1)]
    if texts:
        console.print(Columns(texts, padding=(0, 3), column_first=True) if console.is_terminal else "")
    if not console.is_terminal:
        for text in texts:
            console.print(text)
