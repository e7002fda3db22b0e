"""Measurements at a terminal: tables with bars, and comparisons in colour."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ggp.bench.results import Change, Row, geometric_mean, spread
from ggp.console import new_console

PARTS = {"logic_ns": "cyan", "choice_ns": "magenta", "bookkeeping_ns": "yellow"}
"""The parts of a step and their colours."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR = 12
_NARROW = 100
_NOTICED = 0.02
"""Changes below this share are not coloured even where the repetitions lie apart."""


def console() -> Console:
    """Standard output as wide as the terminal; wide where it is a file or a pipe."""
    output = new_console()
    return output if output.is_terminal else new_console(width=200)


def measurements(rows: list[Row], width: int = 200) -> RenderableType:
    """Two tables: how fast each game runs, and what it took to get there."""
    good = [row for row in rows if row["status"] == "ok"]
    rates = [row["playouts_per_cpu_s"] for row in good]
    wide = width >= _NARROW
    speed = _table(
        "game", "machine", "playouts/cpu s", "", "±", *(["states/cpu s"] if wide else []), "ns/step", ""
    )
    ready = _table(
        "game", "machine", *(["gates"] if wide else []), "inputs", *(["bases", "moves"] if wide else []),
        "steps", "ground s", "build s", "compile s", "first s", *(["MB"] if wide else []),
    )  # fmt: skip
    for row in good:
        name, network = [row["game"], row["machine"]], bool(row["moves"])
        speed.add_row(
            *name,
            number(row["playouts_per_cpu_s"]),
            bar(row["playouts_per_cpu_s"], min(rates), max(rates)),
            f"{spread(row):.0%}",
            *([number(row["states_per_cpu_s"])] if wide else []),
            number(row["ns_per_lane_step"]),
            parts(row),
        )
        sizes = ("gates", "gate_inputs", "base_propositions", "moves") if wide else ("gate_inputs",)
        ready.add_row(
            *name,
            *(f"{row[key]:,}" if network else "" for key in sizes),
            f"{row['mean_length']:.1f}",
            *(f"{row[key]:.2f}" for key in ("ground_s", "build_s", "compile_s", "first_playout_s")),
            *([f"{row['peak_mb']:,.0f}"] if wide else []),
        )
    legend = Text("CPU time of one thread, medians, ± half the range of the repetitions; a step: ", "dim")
    for part, colour in PARTS.items():
        legend.append("█ ", colour).append(f"{part.removesuffix('_ns')} ", "dim")
    doubts = [
        Text(f"{row['game']}: {row['doubt']}: playouts end there, without a result", "yellow")
        for row in good
        if row.get("doubt")
    ]
    return Group(speed, legend, Text(), ready, *dict.fromkeys(doubts))


def comparison(changes: list[Change]) -> RenderableType:
    """States per CPU second before and after, ratios in colour where they are not noise."""
    table = _table("game", "machine", "states/cpu s old", "new", "ratio", "ready old", "new s", "")
    table.columns[0].min_width = 12
    for change in changes:
        table.add_row(
            change.game,
            change.machine,
            number(change.old),
            number(change.new),
            ratio(change),
            f"{change.old_ready:.2f}" if change.old else "",
            f"{change.new_ready:.2f}" if change.new else "",
            Text(change.note, "red" if change.old else "dim") if change.note else _hint(change),
        )
    lines: list[RenderableType] = [table, Text()]
    for machine in dict.fromkeys(change.machine for change in changes):
        ratios = [change for change in changes if change.machine == machine and change.ratio]
        if not ratios:
            continue
        faster = sum(_noticed(change) and change.ratio > 1 for change in ratios)
        slower = sum(_noticed(change) and change.ratio < 1 for change in ratios)
        ready = geometric_mean(c.new_ready / c.old_ready for c in ratios if c.new_ready and c.old_ready)
        mean = geometric_mean(change.ratio for change in ratios)
        lines.append(
            Text.assemble(
                f"{machine}: ",
                (f"{mean:.3f}", "bold"),
                f" times the states per CPU second (geometric mean of {len(ratios)}; {faster} faster, "
                f"{slower} slower, {len(ratios) - faster - slower} within noise), "
                f"{ready:.2f} times the time to get ready",
            )
        )
    return Group(*lines)


def ratio(change: Change) -> Text:
    """New over old: green or red where it changed for sure."""
    if not change.ratio:
        return Text("")
    style = ("bold green" if change.ratio > 1 else "bold red") if _noticed(change) else "dim"
    return Text(f"{change.ratio:.2f}", style)


def _noticed(change: Change) -> bool:
    return change.sure and abs(math.log(change.ratio)) > _NOTICED


def _hint(change: Change) -> Text:
    return Text("") if _noticed(change) else Text("≈ noise" if not change.sure else "≈", "dim")


def bar(value: float, least: float, most: float) -> Text:
    """A bar on a logarithmic scale from a third of the least value to the most."""
    if value <= 0:
        return Text("")
    low = math.log(max(least, 1e-9) / 3)
    share = (math.log(value) - low) / (math.log(most) - low)
    eighths = max(1, round(share * 8 * _BAR))
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), "blue")


def parts(row: Row) -> Text:
    """A bar of fixed length, divided like a step's time; empty where that was not measured."""
    times = [row.get(name, 0.0) for name in PARTS]
    text = Text("")
    if not row.get("logic_ns"):
        return text
    ends = [round(time / sum(times) * _BAR) for time in accumulate(times, initial=0.0)]
    for (start, end), colour in zip(pairwise(ends), PARTS.values(), strict=True):
        text.append("█" * (end - start), colour)
    return text


def number(value: float) -> str:
    """A rate or a time with three digits that count; nothing for 0."""
    if not value:
        return ""
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < 2 or not column else "right", no_wrap=place > 0)
    return table
