"""What people see of a frontier search: how far it is, and what came of it."""

from __future__ import annotations

import sys
import time

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gdl.words import counted
from ggp.console import new_console
from ggp.solving.frontier.column_chart import column_chart
from ggp.solving.frontier.estimate import states_to_come
from ggp.solving.frontier.order import FRONTIER
from ggp.solving.view import show_moves
from players.puzzles.frontier.outcome import FrontierProgress, FrontierResult
from players.puzzles.frontier.storage.errors import as_size

_LOOK_SECONDS = 0.2
_CHART_WIDTH, _CHART_HEIGHT = 72, 6


class FrontierView:
    """Shows the search while it goes on (in a terminal), then what came of it. A context manager. ``name`` is
    the game's."""

    def __init__(self, name: str) -> None:
        self.console = new_console(soft_wrap=not sys.stdout.isatty())
        self._progress = new_console(stderr=True)
        self._name = name
        self._live: Live | None = None
        self._layers: list[int] = []
        self._looked = 0.0
        self._first: FrontierProgress | None = None

    def __enter__(self) -> FrontierView:
        if self._progress.is_terminal:
            picture = Spinner(
                "dots", Text(f"{self._name}: building the network, loading or compiling kernels")
            )
            self._live = Live(picture, console=self._progress, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def is_live(self) -> bool:
        """Whether anyone sees how the search goes on."""
        return self._live is not None

    def watch(self, progress: FrontierProgress) -> None:
        """How far the search is; may be called often."""
        layers = self._layers
        del layers[progress.layer :]
        layers.extend([0] * (progress.layer - len(layers)))  # of a search that was resumed
        layers.append(progress.layer_states)
        first = self._first = self._first or progress
        now = time.monotonic()
        if self._live is not None and now >= self._looked + _LOOK_SECONDS:
            self._looked = now
            text = progress_line(progress, layers, first)
            self._live.update(Spinner("dots", Text(f"{self._name}: {text}")))

    def show(self, result: FrontierResult, moves: list[str], cpu: float, wall: float, doubt: str) -> None:
        """The line, move by move, and what the search has found out. ``moves``: the line as GDL; ``doubt``:
        what is odd about the rules."""
        console = self.console
        if result.value < 0:
            console.print(Text("no line found", "yellow"))
        if doubt:
            console.print(Text(doubt, "yellow"), soft_wrap=True)
        show_moves(console, moves)
        table = Table.grid(padding=(0, 2))
        table.add_row("solver", FRONTIER)
        if result.value >= 0:
            table.add_row("goal", f"{result.value} in {counted(len(moves), 'move')}, {_proof(result)}")
            lines = sorted(result.lines.items(), reverse=True)
            told = ", ".join(f"{value} in {len(line)}" for value, line in lines)
            table.add_row("shortest" if result.shortest else "lines", f"{told} moves")
            table.add_row("replayed", "by the prover, each line, move by move")
        else:
            table.add_row("goal", "none: no line comes to an end" if result.proven else "not known")
        whole = "all that there are" if result.complete else "not all that there are"
        table.add_row("states", f"{result.states:,} in {counted(len(result.layers), 'layer')}, {whole}")
        if result.symmetries > 1:
            table.add_row("symmetries", f"{result.symmetries}: one state stands for all that they make of it")
        table.add_row("a state", f"{result.key_bits} bits, {result.bytes_per_state:.3f} bytes coded")
        table.add_row("memory", f"{as_size(result.peak_rss)} at most")
        table.add_row("time", f"{cpu:.2f} CPU seconds, {wall:.2f} s by the clock")
        spent = sum(result.seconds_by_stage.values())
        if spent > 0:
            shares = sorted(result.seconds_by_stage.items(), key=lambda stage: -stage[1])
            table.add_row(
                "spent on", ", ".join(f"{stage} {seconds / spent:.0%}" for stage, seconds in shares)
            )
        console.print(table)
        self._show_layers(result.layers)

    def _show_layers(self, layers: list[int]) -> None:
        if len(layers) < 2:
            return
        chart = column_chart(layers, _CHART_WIDTH, _CHART_HEIGHT)
        largest = max(layers)
        self.console.print(f"\nstates by depth, at most {largest:,} at depth {layers.index(largest)}")
        for line in chart:
            self.console.print(Text(line, "cyan"))
        self.console.print(f"0 .. {len(layers) - 1}")


def progress_line(progress: FrontierProgress, layers: list[int], first: FrontierProgress) -> str:
    """How far a search is, in one line. ``layers``: the states of each layer, the present one included;
    ``first``: what was told first, maybe of a search that was resumed."""
    rate = (_expanded(progress) - _expanded(first)) / max(progress.seconds - first.seconds, 1e-9)
    coded = progress.visited_bytes / max(1, progress.states)
    parts = [
        f"{_clock(progress.seconds)}",
        f"depth {progress.layer} with {counted(progress.layer_states, 'state')}",
        f"{progress.done / max(1, progress.layer_states):.0%} of it",
        f"{counted(progress.states, 'state')}, {rate:,.0f}/s, {coded:.2f} bytes each",
        f"{as_size(progress.memory)} of memory",
    ]
    if progress.disk:
        parts.append(f"{as_size(progress.disk)} of disk")
    more = states_to_come(layers)
    if more is not None and rate > 0:
        left = (progress.layer_states - progress.done + more) / rate
        parts.append(f"all may be seen in {_clock(left)}")
    return ", ".join(parts)


def _expanded(progress: FrontierProgress) -> int:
    return progress.states - progress.layer_states + progress.done


def _proof(result: FrontierResult) -> str:
    if not result.proven:
        return "not proven to be the best"
    if not result.shortest:
        return "proven: none is higher"
    return "proven: none is higher, none shorter"


def _clock(seconds: float) -> str:
    """``1:02:03`` or ``2:03`` or ``3 s``."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = f"{whole // 60 % 60}:{whole % 60:02}"
    return f"{whole // 3600}:{minutes:0>5}" if whole >= 3600 else minutes
