"""A tournament's standing as rows for every kind of table, as tables in the terminal, and as one HTML page,
which needs nothing else."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from gdl.visible import visible
from gdl.words import counted
from ggp.answers.catalogue import title_of
from ggp.report_page import standalone
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

_LONGEST_TITLE = 80
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
    return f"not sure yet: with {100 * sure:.1f} % {first.label} is stronger than {others[0][0].label}"


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


def _titles(settings: TournamentSettings) -> dict[str, str]:
    """The title of each game with its size, ``Hex 11``, or its name if its rules have no title or if another
    game has the same."""
    titles = {game.name: visible(title_of(game.rules)[0])[:_LONGEST_TITLE] for game in settings.games}
    titles = {name: title and f"{title} {name.partition(':')[2]}".strip() for name, title in titles.items()}
    counts = Counter(titles.values())
    return {name: title if title and counts[title] == 1 else name for name, title in titles.items()}


def tables_json(
    settings: TournamentSettings,
    results: Sequence[Result],
    failures: Sequence[Failure] = (),
    faults: Sequence[FaultLine] = (),
    sprt: Sprt | None = None,
    most: int = 500,
) -> dict[str, Any]:
    """All tables, ready for JSON, with the test only for two players, and the newest ``most`` matches."""
    labels = settings.labels
    games = {game.name: game.roles for game in settings.games}
    titles = _titles(settings)
    standing = standing_of(results, labels, failures, faults)
    test = None
    if sprt is not None and len(labels) == 2:
        scores = block_scores(standing.results, *labels)
        test = {
            "line": test_line(sprt, scores),
            "bounds": sprt.bounds,
            "history": sprt.history(scores)[-most:],
        }
    rated = rating_rows(standing)
    return {
        "name": settings.name,
        "clocks": [settings.startclock, settings.playclock],
        "rounds": settings.rounds,
        "played": len(results),
        "total": settings.matches,
        "players": labels,
        "ratings": [
            {
                "player": one.label,
                "elo": round(one.elo, 1),
                "low": round(one.low, 1),
                "high": round(one.high, 1),
                "sure": None if sure is None else round(100 * sure, 1),
            }
            for one, sure in rated
        ],
        "verdict": verdict_line(rated) if rated else "",
        "rated": standing.labels,
        "unrated": standing.reasons,
        "cross": [row[1:] for row in cross_rows(standing)],
        "games": [[titles[name], *row] for name, *row in game_rows(standing, games)],
        "conduct": conduct_rows(results),
        "faults": [[f.label, f.text, f.times, f.match, titles.get(f.game, f.game), f.when] for f in faults],
        "failures": standing.failure_lines(failures),
        "test": test,
        "matches": [
            {
                "number": number,
                "game": titles[result.fixture.game],
                "round": result.fixture.round,
                "seats": result.fixture.seats,
                "goals": result.goals,
                "steps": result.steps,
                "seconds": round(result.seconds, 1),
                "faults": sum(map(sum, result.faults)),
                "completed": result.completed,
            }
            for number, result in list(enumerate(results, 1))[-most:]
        ],
    }


def html_report(
    settings: TournamentSettings,
    results: Sequence[Result],
    failures: Sequence[Failure] = (),
    sprt: Sprt | None = None,
    faults: Sequence[FaultLine] = (),
) -> str:
    """The tables of the page, with all matches, as one HTML file that needs nothing else."""
    turns = ", one local player at a time" if settings.take_turns else ""
    about = (
        f"{counted(settings.plies, 'random move')} to begin with (seed {settings.seed}){turns}; machine"
        f" {settings.level}; {sum(result.seconds for result in results) / 3600:.1f} hours of play"
    )
    told = tables_json(settings, results, failures, faults, sprt, most=max(1, len(results)))
    styles = ("style.css", "replay.css", "dashboard.css")
    call = "main.append(...tables(data));"
    return standalone(settings.name, {**told, "about": about}, "tournament_tables.js", styles, call)
