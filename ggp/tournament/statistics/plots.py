"""Pictures of a tournament by matplotlib: ratings with intervals, scores by game, a test's course."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ggp.report_page import check_installed, new_figure
from ggp.tournament.statistics.ratings import Sprt, rate
from ggp.tournament.statistics.scores import block_scores, by_game, comparisons
from ggp.tournament.statistics.standing import TournamentStanding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABEL = 32
"""Longest name in a picture, in characters."""


def figures(
    standing: TournamentStanding, labels: Sequence[str], sprt: Sprt | None = None
) -> dict[str, Figure]:
    """Name -> picture: ``ratings`` and ``games`` of the rated players, and ``sprt`` of the two ``labels`` if
    there is a test."""
    check_installed()
    pictures = {}
    if standing.labels:
        pictures["ratings"] = _ratings(standing)
        pictures["games"] = _games(standing)
    if sprt is not None:
        pictures["sprt"] = _test(sprt, block_scores(standing.results, *labels))
    return pictures


def _ratings(standing: TournamentStanding) -> Figure:
    table = rate(comparisons(standing.results), standing.labels).table[::-1]
    figure = new_figure(8, 1.2 + 0.35 * len(table))
    axes = figure.subplots()
    points = [rating.elo for rating in table]
    reach = [[r.elo - r.low for r in table], [r.high - r.elo for r in table]]
    axes.errorbar(points, range(len(table)), xerr=reach, fmt="o", capsize=4)
    axes.set_yticks(range(len(table)), [_plain(rating.label) for rating in table])
    axes.set_ylim(-0.6, len(table) - 0.4)
    axes.set_xlabel("Elo, 95 % intervals; 0 is the mean")
    axes.grid(axis="x", alpha=0.3)
    return figure


def _games(standing: TournamentStanding) -> Figure:
    lines, labels = by_game(standing.results), standing.labels
    names = list(dict.fromkeys(result.fixture.game for result in standing.results))
    figure = new_figure(2 + 0.9 * len(labels), 1.5 + 0.35 * len(names))
    axes = figure.subplots()
    shares = [
        [lines[game, label].tally.score if (game, label) in lines else None for label in labels]
        for game in names
    ]
    # If there is no score the picture has no colour and no number.
    scores = [[math.nan if share is None else 100 * share for share in row] for row in shares]
    if names:
        image = axes.imshow(scores, cmap="RdYlGn", vmin=0, vmax=100, aspect="auto")
    for y, row in enumerate(scores):
        for x, score in enumerate(row):
            if not math.isnan(score):
                ink = ink_on(image.cmap(score / 100)[:3])
                axes.text(x, y, f"{score:.0f}", ha="center", va="center", color=ink)
    axes.set_xticks(range(len(labels)), list(map(_plain, labels)), rotation=30, ha="right")
    axes.set_yticks(range(len(names)), list(map(_plain, names)))
    axes.set_title("score in %, by game", fontsize=10)
    return figure


def ink_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has more contrast on this colour (red, green and blue, 0..1; sRGB)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # WCAG 2.2: (lighter + 0.05) / (darker + 0.05).
    return "black" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "white"


def _test(sprt: Sprt, scores: Sequence[float]) -> Figure:
    figure = new_figure(8, 3)
    axes = figure.subplots()
    axes.plot(range(1, len(scores) + 1), sprt.history(scores))
    for bound, name in zip(sprt.bounds, ("H0", "H1"), strict=True):
        axes.axhline(bound, linestyle="--", color="grey")
        axes.text(0, bound, f" {name}", va="bottom")
    axes.set_xlabel("openings played in all orders")
    axes.set_ylabel("log likelihood ratio")
    return figure


def _plain(label: str) -> str:
    """The text taken literally, not as a formula, and shortened: long names would leave no space for the
    picture."""
    return (label if len(label) <= _LABEL else label[: _LABEL - 1] + "…").replace("$", r"\$")
