"""A tournament as one self-contained HTML page: it loads no script, style or picture. matplotlib draws
its plots: ratings with intervals, scores by game, a test's course."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from gdl.words import counted
from ggp.report_page import check_installed, new_figure, page, plot, table
from ggp.tournament.settings import TournamentSettings
from ggp.tournament.statistics.ratings import Sprt, rate
from ggp.tournament.statistics.scores import block_scores, by_game, comparisons
from ggp.tournament.statistics.standing import FaultLine, TournamentStanding, standing_of
from ggp.tournament.statistics.tables import (
    CONDUCT_HEADS,
    CROSS_HEAD,
    GAME_HEADS,
    conduct_rows,
    cross_rows,
    game_rows,
    rating_rows,
    test_line,
    verdict_line,
)
from ggp.tournament.store import Failure, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html_report(
    settings: TournamentSettings,
    results: Sequence[Result],
    failures: Sequence[Failure] = (),
    sprt: Sprt | None = None,
    faults: Sequence[FaultLine] = (),
) -> str:
    """The page. Raises GdlError if matplotlib is missing."""
    labels = settings.labels
    standing = standing_of(results, labels, failures, faults)
    pictures = figures(standing, labels, sprt)
    drawn = {name: plot(figure) for name, figure in pictures.items()}
    parts = [
        _about(settings, results),
        "<h2>Ratings</h2>",
        _ratings(standing),
        *(f'<p class="bad">{escape(reason)}</p>' for reason in standing.reasons),
        drawn.get("ratings", ""),
    ]
    if sprt is not None:
        scores = block_scores(standing.results, *labels)
        parts += [
            "<h2>Sequential test</h2>",
            f"<p>{escape(labels[0])} against {escape(labels[1])}. {escape(test_line(sprt, scores))}.</p>",
            drawn["sprt"],
        ]
    games = game_rows(standing, {game.name: game.roles for game in settings.games})
    parts += [
        "<h2>Crosstable</h2>",
        table((CROSS_HEAD, *standing.labels), cross_rows(standing)),
        "<h2>By game</h2>",
        drawn.get("games", ""),
        table(GAME_HEADS, games),
        "<h2>Conduct</h2>",
        table(CONDUCT_HEADS, conduct_rows(results)),
        "<p>A late, illegal or missing answer is replaced by a random legal move.</p>",
    ]
    if faults:
        heads = ("player", "fault", "times", "first in match", "game", "when")
        lines = [(f.label, f.text, f.times, f.match, f.game, f.when) for f in faults]
        parts += ["<h2>Faults</h2>", table(heads, lines)]
    if rows := [(line,) for line in standing.failure_lines(failures)]:
        parts += ["<h2>Matches that could not be run</h2>", table(("match and error",), rows)]
    parts += ["<h2>Matches</h2>", _matches(results)]
    return page(settings.name, parts)


def _about(settings: TournamentSettings, results: Sequence[Result]) -> str:
    hours = sum(result.seconds for result in results) / 3600
    turns = ", one local player at a time" if settings.take_turns else ""
    return (
        f"<p>{counted(len(results), 'match', 'matches')} of"
        f" {counted(len(settings.games), 'game')}, {counted(settings.rounds, 'round')};"
        f" startclock {settings.startclock:g} s, playclock {settings.playclock:g} s{turns};"
        f" {counted(settings.plies, 'random move')} to begin with (seed {settings.seed});"
        f" machine {escape(settings.level)}; {hours:.1f} hours of play.</p>"
    )


def _ratings(standing: TournamentStanding) -> str:
    if not standing.labels:
        return ""
    rows: list[Sequence[object]] = []
    rated = rating_rows(standing)
    for rank, (one, sure) in enumerate(rated, 1):
        reach = f"{one.low:+.0f} to {one.high:+.0f}"
        rows.append(
            (one.label, rank, f"{one.elo:+.0f}", reach, "" if sure is None else f"{100 * sure:.1f} %")
        )
    note = (
        f"<p>{escape(verdict_line(rated))}.</p>"
        "<p>Bradley-Terry with draws (Davidson), fitted to all comparisons; 0 is the mean of the players."
        " Two players are compared by their goals in the same match (one-player games: in the same round)."
        " The last column says how likely it is that a player is stronger than the next one.</p>"
    )
    return table(("player", "rank", "Elo", "95 % interval", "stronger than next"), rows) + note


def _matches(results: Sequence[Result]) -> str:
    rows: list[Sequence[object]] = []
    for number, result in enumerate(results, 1):
        fixture, faults = result.fixture, sum(map(sum, result.faults)) or ""
        seats = " - ".join(fixture.seats)
        goals = " - ".join(map(str, result.goals)) + ("" if result.completed else " (cut)")
        length = (result.steps, f"{result.seconds:.1f}")
        rows.append((fixture.game, number, fixture.round, seats, goals, *length, faults))
    matches = table(("game", "match", "round", "players", "goals", "steps", "seconds", "faults"), rows)
    return f"<details><summary>{counted(len(rows), 'match', 'matches')}</summary>{matches}</details>"


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
        pictures["ratings"] = _ratings_plot(standing)
        pictures["games"] = _games_plot(standing)
    if sprt is not None:
        pictures["sprt"] = _test_plot(sprt, block_scores(standing.results, *labels))
    return pictures


def _ratings_plot(standing: TournamentStanding) -> Figure:
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


def _games_plot(standing: TournamentStanding) -> Figure:
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


def _test_plot(sprt: Sprt, scores: Sequence[float]) -> Figure:
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
