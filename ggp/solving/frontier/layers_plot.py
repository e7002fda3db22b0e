"""A picture of the layers of a search by matplotlib."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import GdlError
from gdl.words import counted
from ggp.output_file import replacing
from ggp.tournament.statistics.plots import check_installed
from players.puzzles.frontier.outcome import FrontierResult

_KINDS = ".svg", ".png", ".pdf"


def check_plot(path: Path) -> None:
    """Raises GdlError where a picture cannot be written there: better before the search than after it."""
    if path.suffix.lower() not in _KINDS:
        raise GdlError(f"--plot {path}: no kind of picture", remedy=f"end its name in {', '.join(_KINDS)}")
    if not path.absolute().parent.is_dir():
        raise GdlError(f"--plot {path}: there is no such folder")
    check_installed()


def write_plot(path: Path, name: str, result: FrontierResult) -> None:
    """Draw how many states each depth has, on a logarithmic axis, and where the shortest lines end. Raises
    GdlError where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    axes.bar(range(len(result.layers)), result.layers, width=0.9)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    for value, line in result.lines.items():
        axes.axvline(len(line), linestyle="--", color="black", linewidth=0.8)
        axes.annotate(
            f"goal {value}",
            (len(line), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -4),
            textcoords="offset points",
            rotation=90,
            va="top",
            fontsize=8,
        )
    axes.set_xlabel("moves from the start")
    axes.set_ylabel("states")
    whole = "all" if result.complete else "so far"
    axes.set_title(f"{name}: {counted(result.states, 'state')}, {whole}".replace("$", r"\$"), fontsize=10)
    with replacing(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix[1:])
