"""The plot of a run: rates of all games, times to get ready, cost of a gate input, parts of a step."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from ggp.bench.results import Row, ready_seconds

_COLOURS = ["#7f7f7f", "#1f77b4", "#d62728", "#2ca02c", "#9467bd"]
_PARTS = {"logic_ns": "#17becf", "choice_ns": "#c452c4", "bookkeeping_ns": "#e0b000"}


def plot(rows: list[Row], machines: list[str], file: Path) -> None:
    """Draw four panels: rates per machine, time to get ready, ns per gate input, parts of a step.

    Args:
        rows: the results; those that failed are left out.
        machines: which machines, slowest first; the last one's steps are divided.
        file: where to write; its suffix says the format (.svg, .png).
    """
    good = {m: {r["game"]: r for r in rows if r["machine"] == m and r["status"] == "ok"} for m in machines}
    with_lanes = [m for m in machines if any(row["logic_ns"] for row in good[m].values())]
    colours = dict(zip(machines, _COLOURS * len(machines), strict=False))
    # Text as text, and no random ids: the same results give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bench", "font.size": 9}):
        figure = Figure(figsize=(12, 9), layout="constrained")
        rates, ready, inputs, steps = figure.subplots(2, 2).flat

        fastest = good[machines[-1]] if machines else {}
        order = sorted(fastest, key=lambda game: -fastest[game]["states_per_cpu_s"])
        order += sorted({row["game"] for row in rows} - set(order))
        for machine in machines:
            places = [place for place, game in enumerate(order) if game in good[machine]]
            values = [good[machine][order[place]]["states_per_cpu_s"] for place in places]
            rates.plot(places, values, ".", color=colours[machine], label=machine, markersize=4)
        rates.set(yscale="log", title="States per CPU second", xlabel="games, fastest first")

        for machine in machines:
            times = sorted(max(1e-3, ready_seconds(row)) for row in good[machine].values())
            ready.step(times, range(1, len(times) + 1), where="post", color=colours[machine], label=machine)
        ready.set(xscale="log", title="Games ready", xlabel="CPU seconds from the rules to the first playout")

        for machine in with_lanes:
            timed = [row for row in good[machine].values() if row["ns_per_gate_input"]]
            inputs.plot(
                [row["gate_inputs"] for row in timed], [row["ns_per_gate_input"] for row in timed],
                ".", color=colours[machine], label=machine, markersize=4,
            )  # fmt: skip
        inputs.set(
            xscale="log", yscale="log", xlabel="gate inputs", title="Nanoseconds per gate input, 512 lanes"
        )

        divided = [row for row in good[with_lanes[-1]].values() if row["logic_ns"]] if with_lanes else []
        divided.sort(key=lambda row: row["logic_ns"] / _whole(row))
        below = [0.0] * len(divided)
        for part, colour in _PARTS.items():
            shares = [row[part] / _whole(row) for row in divided]
            name = part.removesuffix("_ns")
            steps.bar(range(len(divided)), shares, 1.0, below, color=colour, label=name, linewidth=0)
            below = [low + share for low, share in zip(below, shares, strict=True)]
        steps.set(title=" ".join(["Parts of a step,", *with_lanes[-1:]]), xlabel="games", ylim=(0, 1))

        for axes in (rates, ready, inputs, steps):
            if axes.has_data():
                axes.legend(loc="best")
            if axes is not steps:
                axes.grid(alpha=0.3)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def _whole(row: Row) -> float:
    return float(sum(row[part] for part in _PARTS))
