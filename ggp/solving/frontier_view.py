"""Shows a frontier search to people: its progress, an estimate of the remaining states, its result, and a
chart of its layers."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from gdl.words import counted, duration
from ggp.solving.view import ProgressView, show_moves
from ggp.stopwatch import Stopwatch
from players.puzzles.frontier.outcome import FrontierProgress, FrontierResult
from players.sorted_sets.files import as_size

FRONTIER = "frontier"
"""The name of the solver."""
_LOOK_SECONDS = 0.2
_CHART_WIDTH, _CHART_HEIGHT = 72, 6


class FrontierView(ProgressView):
    """Shows the search while it runs, then its result."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "building the network, loading or compiling kernels")
        self._layers: list[int] = []
        self._looked = 0.0
        self._first: FrontierProgress | None = None

    def watch(self, progress: FrontierProgress) -> None:
        """Update the display of progress; may be called often."""
        layers = self._layers
        del layers[progress.layer :]
        layers.extend([0] * (progress.layer - len(layers)))  # The search was resumed.
        layers.append(progress.layer_states)
        first = self._first = self._first or progress
        now = time.monotonic()
        if self.is_live and now >= self._looked + _LOOK_SECONDS:
            self._looked = now
            self.tell([progress_line(progress, layers, first)])

    def show(self, result: FrontierResult, moves: list[str], watch: Stopwatch, doubt: str) -> None:
        """Print the line, move by move, and the results of the search. ``moves``: the line as GDL; ``doubt``:
        doubts about the rules."""
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
            ends = ", ".join(f"{value} in {len(line)}" for value, line in lines)
            table.add_row("shortest" if result.shortest else "lines", f"{ends} moves")
            table.add_row("replayed", "by the prover, each line, move by move")
        else:
            table.add_row("goal", "none: no line comes to an end" if result.proven else "not known")
        whole = "all that there are" if result.complete else "not all that there are"
        table.add_row("states", f"{result.states:,} in {counted(len(result.layers), 'layer')}, {whole}")
        if result.symmetries > 1:
            table.add_row("symmetries", f"{result.symmetries}: one state stands for all that they make of it")
        table.add_row("a state", f"{result.key_bits} bits, {result.bytes_per_state:.3f} bytes coded")
        table.add_row("memory", f"{as_size(result.peak_rss)} at most")
        table.add_row("time", str(watch))
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
    """The progress of a search, in one line. ``layers``: the number of states of each layer, the present one
    included; ``first``: the first progress report, which may be of a resumed search."""
    rate = (_expanded(progress) - _expanded(first)) / max(progress.seconds - first.seconds, 1e-9)
    coded = progress.visited_bytes / max(1, progress.states)
    parts = [
        duration(progress.seconds),
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
        parts.append(f"all may be seen in {duration(left)}")
    return ", ".join(parts)


def _expanded(progress: FrontierProgress) -> int:
    return progress.states - progress.layer_states + progress.done


def _proof(result: FrontierResult) -> str:
    if not result.proven:
        return "not proven to be the best"
    if not result.shortest:
        return "proven: none is higher"
    return "proven: none is higher, none shorter"


_EIGHTHS = " ▁▂▃▄▅▆▇█"


def column_chart(values: Sequence[int], width: int, height: int) -> list[str]:
    """Lines of text with a column for each value, the first on the left; its height is the value's share of
    the largest. If ``width`` is too small, neighbours share a column, which shows the largest of them. Values
    above 0 are always visible."""
    if not values:
        return []
    columns = min(width, len(values))
    edges = [len(values) * column // columns for column in range(columns + 1)]
    heights = [max(values[low:high]) for low, high in itertools.pairwise(edges)]
    top = max(1, max(heights))
    eighths = [max(min(1, value), round(8 * height * value / top)) for value in heights]
    wide = max(1, min(3, width // columns))
    return [
        "".join(_EIGHTHS[min(8, max(0, part - 8 * row))] * wide for part in eighths).rstrip()
        for row in range(height - 1, -1, -1)
    ]


_SEEN = 7
"""Number of last layers used for the estimate."""
_FEWEST = 6
_GROWTH = 0.25
"""Largest logarithm of the growth per layer for which there is an estimate."""
_DEEPEST = 100_000


def states_to_come(layers: Sequence[int]) -> float | None:
    """Estimated number of states in all layers after the last one. None if the layers are too few, or still
    grow too fast."""
    sizes = np.array(layers[-_SEEN:], np.float64)
    if len(sizes) < _FEWEST or sizes.min() < 1:
        return None
    square, slope, _ = np.polyfit(np.arange(1 - len(sizes), 1), np.log(sizes), 2)
    if slope > _GROWTH or (square > -1e-6 and slope >= 0):
        return None
    total, last = 0.0, math.log(sizes[-1])
    for ahead in range(1, _DEEPEST):
        size = last + slope * ahead + min(square, 0.0) * ahead * ahead
        if size < 0:
            break
        if size > 60:
            return None
        total += math.exp(size)
    return total
