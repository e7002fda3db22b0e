"""A tournament as one self-contained HTML page: it loads no script, style or picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gdl.words import counted
from ggp.report_page import page, plot, table
from ggp.tournament.settings import TournamentSettings
from ggp.tournament.statistics.plots import figures
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.scores import block_scores
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
