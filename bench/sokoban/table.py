"""``python -m bench.sokoban.table``: one picture of the levels that are solved over time, ours and others'.

It reads files that ``python -m bench.sokoban ... --out`` has written. Parts of a collection (``--levels``)
are put together, and of several runs of a level the one that had the longest limit counts. ``--plot`` draws
a panel for each collection, all its parts together: our curve, on a logarithmic axis of CPU seconds a level,
and points of other solvers as their authors have published them. A table says how many levels are solved
within each limit. ``--keep`` writes the data of the picture to one file, which can be read in their place::

    python -m bench.sokoban.table docs/measurements/sokoban.json --plot docs/pictures/sokoban_solved.svg
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LIMITS = (1, 10, 60, 600)
"""Seconds a level."""


class Point(NamedTuple):
    """Levels of a collection that another solver is known to solve within so many seconds each."""

    solver: str
    seconds: float
    solved: int


OTHERS: dict[str, tuple[Point, ...]] = {
    "XSokoban": (
        Point("Festival", 10, 86), Point("Festival", 60, 88), Point("Festival", 600, 90),
        Point("Sokolution", 600, 90), Point("Takaken", 600, 90),
    ),
    "Microban": (Point("sokoban-ai", 10, 488),),
}  # fmt: skip
"""By the first word of a collection's name. Festival is Y. Shoham's, Sokolution F. Diedler's, Takaken K.
Takahashi's."""


class Curve(NamedTuple):
    """A collection as far as it was measured: its ``levels``, and the seconds of the solved ones, sorted;
    ``limit`` is the longest that a level had."""

    name: str
    levels: int
    times: list[float]
    limit: float

    def within(self, seconds: float) -> int:
        """The levels solved within so many seconds each."""
        return bisect_right(self.times, seconds)


def curves(results: Iterable[Mapping[str, Any]]) -> list[Curve]:
    """The curves of all collections in some results, as ``bench.sokoban`` writes them."""
    found: dict[str, dict[int, tuple[float, float | None]]] = defaultdict(dict)
    for result in sorted(results, key=lambda one: one["seconds"]):
        for row in result["levels"]:
            solved = row["seconds"] if row["result"] == "solved" else None
            found[result["collection"]][row["level"]] = result["seconds"], solved
    return [
        Curve(
            name,
            len(rows),
            sorted(seconds for _, seconds in rows.values() if seconds is not None),
            max(limit for limit, _ in rows.values()),
        )
        for name, rows in sorted(found.items())
    ]


def kept(results: Iterable[Mapping[str, Any]]) -> str:
    """Return results as JSON, one line each, with only the fields that curves need."""

    def some(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
        return {name: fields[name] for name in names}

    lines = []
    for one in results:
        rows = [some(row, "level", "result", "seconds") for row in one["levels"]]
        lines.append(json.dumps({**some(one, "collection", "seconds"), "levels": rows}))
    return "[" + ",\n".join(lines) + "]\n"


def table(some: Sequence[Curve]) -> str:
    """Solved levels within each limit that was measured, in Markdown."""
    lines = ["| collection | levels | " + " | ".join(f"{limit} s" for limit in LIMITS) + " |"]
    lines.append("|---" * (2 + len(LIMITS)) + "|")
    for curve in some:
        cells = [str(curve.within(limit)) if limit <= curve.limit else "" for limit in LIMITS]
        lines.append(f"| {curve.name} | {curve.levels} | {' | '.join(cells)} |")
    return "\n".join(lines)


def joined(some: Iterable[Curve]) -> list[Curve]:
    """Join the parts of a collection, whose names have the same first word."""
    parts: dict[str, list[Curve]] = defaultdict(list)
    for curve in some:
        parts[curve.name.partition("_")[0]].append(curve)
    found = []
    for name, curves_of_it in parts.items():
        names = [curve.name.replace("_", " ") for curve in curves_of_it]
        last = names[-1].removeprefix(name).strip()
        found.append(
            Curve(
                names[0] if len(names) == 1 else f"{names[0]} to {last}",
                sum(curve.levels for curve in curves_of_it),
                sorted(seconds for curve in curves_of_it for seconds in curve.times),
                min(curve.limit for curve in curves_of_it),
            )
        )
    return found


def plot(some: Sequence[Curve], path: Path) -> None:
    """Draw a panel for each collection, its parts joined."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "levels", "svg.fonttype": "none", "font.size": 9})
    panels = joined(some)
    figure = Figure(figsize=(4.2 * len(panels), 3.6), layout="constrained")
    for axes, curve in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        times = [min(curve.times, default=0.1), *curve.times, curve.limit]
        axes.step(
            times, [0, *range(1, len(curve.times) + 1), len(curve.times)], where="post", label="Kaskade"
        )
        others = OTHERS.get(curve.name.split()[0], ())
        # A point of all parts of a collection together is left out if some were not measured.
        fitting = [one for one in others if one.solved <= curve.levels]
        for point, marker in zip(fitting, "osd^v<>", strict=False):
            label = f"{point.solver}: {point.solved} in {point.seconds:g} s"
            axes.plot([point.seconds], [point.solved], marker, linestyle="", label=label)
        axes.axhline(curve.levels, color="0.8", linewidth=1, zorder=0)
        title = f"{curve.name}: {curve.levels} levels"
        axes.set(xscale="log", ylim=(0, curve.levels * 1.04), title=title)
        axes.set(xlabel="CPU seconds a level", ylabel="solved")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", nargs="+", type=Path, help="files that bench.sokoban has written")
    parser.add_argument("--plot", type=Path, help="draw to this .svg or .png file (needs matplotlib)")
    parser.add_argument("--keep", type=Path, help="write the data of the picture to one .json file")
    options = parser.parse_args(arguments)
    results = [json.loads(path.read_text()) for path in options.results]
    results = [one for part in results for one in (part if isinstance(part, list) else [part])]
    some = curves(results)
    if options.keep is not None:
        options.keep.write_text(kept(results))
    print(table(some))
    if options.plot is not None:
        plot(some, options.plot)


if __name__ == "__main__":
    main()
