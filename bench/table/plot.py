"""The plot of a run: rates of all games, and times to get ready."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from ggp.bench.results import Row, ready_seconds

_COLOURS = ["#7f7f7f", "#1f77b4", "#d62728", "#2ca02c", "#9467bd"]


def plot(rows: list[Row], machines: list[str], file: Path) -> None:
    """Draw two panels: rates per machine, and time to get ready.

    Args:
        rows: the results; those that failed are left out.
        machines: which machines, slowest first.
        file: where to write; its suffix says the format (.svg, .png).
    """
    good = {m: {r["game"]: r for r in rows if r["machine"] == m and r["status"] == "ok"} for m in machines}
    colours = dict(zip(machines, _COLOURS * len(machines), strict=False))
    # Text as text, and no random ids: the same results give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bench", "font.size": 9}):
        figure = Figure(figsize=(12, 4.5), layout="constrained")
        rates, ready = figure.subplots(1, 2)

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

        for axes in (rates, ready):
            if axes.has_data():
                axes.legend(loc="best")
            axes.grid(alpha=0.3)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
