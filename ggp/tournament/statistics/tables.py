"""A tournament's standing as rows for every kind of table, as tables in the terminal, and as one HTML page,
which loads no script, style or picture. matplotlib draws its plots: ratings with intervals, a test's
course."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import product
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from gdl.words import counted
from ggp.report_page import check_installed, new_figure, page, plot, table
from ggp.tournament.schedule import Fixture
from ggp.tournament.settings import TournamentSettings
from ggp.tournament.statistics.ratings import Rating, Sprt, rate
from ggp.tournament.statistics.scores import (
    Tally,
    block_scores,
    by_game,
    comparisons,
    conduct,
    crosstable,
    percent,
)
from ggp.tournament.statistics.standing import FaultLine, TournamentStanding, standing_of
from ggp.tournament.store import FAULTS, Failure, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SURE = 0.9
"""The probability that the first player is stronger than the second from which it is said to lead."""


def standings(results: Sequence[Result], standing: TournamentStanding) -> Table:
    """Ratings, scores and the faults in all results, the strongest first."""
    compared = list(comparisons(standing.results))
    pairs = crosstable(compared)
    conducts = conduct(results)
    table = Table(box=None, header_style="bold")
    for name in ("player", "Elo", "95 %", "score", "of", "+ = -", "late", "illegal", "crashed"):
        table.add_column(name, justify="left" if name == "player" else "right", no_wrap=name != "player")
    for rating in rate(compared, standing.labels).table:
        tallies = [tally for (first, _), tally in pairs.items() if first == rating.label]
        total = Tally(*(sum(getattr(t, key) for t in tallies) for key in ("wins", "draws", "losses")))
        _, _, *faults = conducts[rating.label]
        table.add_row(
            rating.label,
            f"{rating.elo:+.0f}",
            Text(f"{rating.low:+.0f}..{rating.high:+.0f}", "dim"),
            percent(total),
            f"{total.games:g}",
            str(total),
            *(Text(f"{count}", "red" if count else "") for count in faults),
        )
    return table


def rows_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Rows as a table in the terminal."""
    table = Table(*heads, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(cell or Text("-", "dim") for cell in row))
    return table


def rating_rows(standing: TournamentStanding) -> list[tuple[Rating, float | None]]:
    """The ratings, the strongest first; each with the probability that the player is stronger than the next
    one, None for the last."""
    if not standing.labels:
        return []
    ratings = rate(comparisons(standing.results), standing.labels)
    following = [*ratings.table[1:], None]
    return [
        (one, ratings.superiority(one.label, below.label) if below else None)
        for one, below in zip(ratings.table, following, strict=True)
    ]


def verdict_line(rows: Sequence[tuple[Rating, float | None]]) -> str:
    """The leading player, from :func:`rating_rows`; none leads before that is at least :data:`SURE`."""
    (first, sure), *others = rows
    if sure is None:
        return first.label
    if sure >= SURE:
        return f"{first.label} leads, {100 * sure:.1f} % sure"
    return f"no difference yet: {first.label} is stronger than {others[0][0].label} with {100 * sure:.1f} %"


CROSS_HEAD = "score of, against"
GAME_HEADS = ("game", "player", "score", "won, drawn, lost", "mean goal in each role")
CONDUCT_HEADS = ("player", "matches", "steps", *FAULTS)


def cross_rows(standing: TournamentStanding) -> list[list[str]]:
    """The score of each rated player (a row, which begins with its name) against each (a column), with wins,
    draws and losses."""
    pairs, labels = crosstable(comparisons(standing.results)), standing.labels
    tallies = {first: [pairs.get((first, second)) for second in labels] for first in labels}
    return [
        [first, *(f"{percent(one)} ({one})" if one else "" for one in row)] for first, row in tallies.items()
    ]


def game_rows(standing: TournamentStanding, roles: Mapping[str, int]) -> list[list[str]]:
    """Game, player, score, wins with draws and losses, mean goal in each role; ``roles`` is the number of
    roles of each game."""
    lines = by_game(standing.results)
    rows = []
    for game, label in product(roles, standing.labels):
        line = lines.get((game, label))
        if line is not None:
            every = [line.goals.get(role) for role in range(roles[game])]
            goals = [f"{sum(values) / len(values):.1f}" if values else "" for values in every]
            counts = str(line.tally) if line.tally.games else ""
            rows.append([game, label, percent(line.tally), counts, " / ".join(goals)])
    return rows


def conduct_rows(results: Iterable[Result]) -> list[tuple[object, ...]]:
    """Player, matches, steps, late, illegal and crashed answers."""
    return [(label, *line) for label, line in conduct(results).items()]


def _fault_counts(counts: Sequence[int]) -> str:
    """The numbers of a player's late, illegal and crashed answers; empty if there are none."""
    return ", ".join(f"{number} {name}" for name, number in zip(FAULTS, counts, strict=True) if number)


def test_line(sprt: Sprt, scores: Sequence[float]) -> str:
    """The state of a sequential test."""
    low, high = sprt.bounds
    verdict = {
        "H1": f"H1 accepted: {sprt.elo1:g} Elo stronger rather than {sprt.elo0:g}",
        "H0": f"H0 accepted: {sprt.elo0:g} Elo stronger rather than {sprt.elo1:g}",
        "": "undecided",
    }[sprt.verdict(scores)]
    return (
        f"SPRT {sprt.elo0:g}..{sprt.elo1:g} Elo: LLR {sprt.llr(scores):.2f} ({low:.2f}, {high:.2f})"
        f" after {counted(len(scores), 'opening')}, {verdict}"
    )


class LiveTable:
    """The display of a tournament in a terminal: a :class:`ggp.tournament.runner.Watcher`.

    Args:
        console: the terminal.
        results: grows as matches end.
        labels: the players.
        total: matches in all.
        sprt: the sequential test, if there is one.
    """

    def __init__(
        self, console: Console, results: list[Result], labels: Sequence[str], total: int, sprt: Sprt | None
    ) -> None:
        self._console = console
        self._results = results
        self._labels = labels
        self._total = total
        self._sprt = sprt
        self._running: dict[Fixture, tuple[float, int]] = {}
        self._failures: list[Failure] = []
        self._began = time.monotonic()
        self._before = len(results)
        self._standing: RenderableType = ""
        self._standing_at = 0.0
        self._standing_cost = 0.0
        self._standing_of = -1

    def began(self, fixture: Fixture) -> None:
        """A match begins."""
        self._running[fixture] = (time.monotonic(), 0)

    def waits(self, fixture: Fixture, text: str) -> None:
        """Show which player a match waits for."""
        self._console.print(Text(f"{_match(fixture)}: {text}", "yellow"), soft_wrap=True)

    def step(self, fixture: Fixture, number: int) -> None:
        """A match has reached this step."""
        self._running[fixture] = (self._running[fixture][0], number)

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        """Handle the end of a match: print a line if there is no terminal, or if the match could not be
        run."""
        self._running.pop(fixture, None)
        match = _match(fixture)
        if result is None:
            # A player that cannot be created fails in each of its matches: one line is enough.
            if all(error != earlier for _, earlier in self._failures):
                self._console.print(Text(f"{match}: {error}", "red"), soft_wrap=True)
            self._failures.append((fixture, error))
        elif not self._console.is_terminal:
            goals = " - ".join(map(str, result.goals))
            faults = "".join(
                f", {label}: {what}"
                for label, counts in zip(fixture.seats, result.faults, strict=True)
                if (what := _fault_counts(counts))
            )
            length = f"{counted(result.steps, 'step')}, {result.seconds:.1f} s"
            text = f"{len(self._results)}/{self._total} {match}  {goals}  {length}{faults}"
            self._console.print(Text(text), soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now = time.monotonic()
        # Ratings of thousands of matches take a while: at most a twentieth of the time.
        pause = max(0.5, 20 * self._standing_cost)
        ended = len(self._results) + len(self._failures)
        if ended != self._standing_of and now - self._standing_at > pause:
            standing = standing_of(self._results, self._labels, self._failures)
            reasons = Text("\n".join(standing.reasons), "yellow")
            table = [standings(self._results, standing)] if standing.labels else []
            self._standing = Group(*table, reasons, self._test(standing))
            self._standing_of = ended
            self._standing_at = time.monotonic()
            self._standing_cost = self._standing_at - now
        played = f"{len(self._results)} of {counted(self._total, 'match', 'matches')}"
        yield Text.assemble((played, "bold"), self._eta(now))
        yield self._standing
        for fixture, (began, step) in self._running.items():
            yield Text(f"{_match(fixture)}, step {step}, {now - began:.0f} s", "dim")

    def _eta(self, now: float) -> str:
        done = len(self._results) - self._before
        if not done:
            return ""
        minutes = (now - self._began) / done * (self._total - len(self._results)) / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", nearly done"

    def _test(self, standing: TournamentStanding) -> str:
        if self._sprt is None:
            return ""
        return test_line(self._sprt, block_scores(standing.results, *self._labels))


def _match(fixture: Fixture) -> str:
    return f"{fixture.game} {fixture.round}: {' - '.join(fixture.seats)}"


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
        _rating_list(standing),
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
    parts += ["<h2>Matches</h2>", _match_list(results)]
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


def _rating_list(standing: TournamentStanding) -> str:
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


def _match_list(results: Sequence[Result]) -> str:
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
    """Name -> picture: ``ratings`` of the rated players, and ``sprt`` of the two ``labels`` if
    there is a test."""
    check_installed()
    pictures = {}
    if standing.labels:
        pictures["ratings"] = _ratings_plot(standing)
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
