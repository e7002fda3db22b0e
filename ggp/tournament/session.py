"""The work of ``ggp tournament``: settings added to the stored ones, matches, tables, files."""

from __future__ import annotations

import asyncio
import codecs
import csv
import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.visible import visible
from gdl.words import counted
from ggp.console import spinner
from ggp.game import Game
from ggp.output_file import replacing, write_file
from ggp.protocol.match_record import draw_seed
from ggp.server.newsroom import Newsroom
from ggp.tournament import bounds
from ggp.tournament.runner import Runner
from ggp.tournament.settings import GameSpec, TournamentSettings, parse_entrants
from ggp.tournament.sites import Sites
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.scores import block_scores
from ggp.tournament.statistics.standing import fault_lines, standing_of
from ggp.tournament.statistics.tables import (
    CROSS_HEAD,
    GAME_HEADS,
    LiveTable,
    cross_rows,
    game_rows,
    html_report,
    rows_table,
    standings,
    test_line,
)
from ggp.tournament.store import FAULTS, Store
from ggp.warm import compile_missing
from players.kaskade.kaskade import BOTTOM
from players.processes.limits import cores
from players.solvers import solvers_named
from players.warm_kernels import parts_for


def write_json(store: Store, path: Path) -> int:
    """Write all match records as one JSON array, each with ``game`` and ``round`` added to the public keys.
    Returns the number of matches."""
    count = 0
    with replacing(path) as file:
        file.write(b"[")
        for fixture, record in store.records():
            fields = {"game": fixture.game, "round": fixture.round, **record}
            line = visible(json.dumps(fields, ensure_ascii=False))
            file.write(f"{',' if count else ''}\n{line}".encode())
            count += 1
        file.write(b"\n]\n")
    return count


def write_csv(store: Store, path: Path) -> int:
    """Write a line for each role of each match. Returns the number of matches."""
    results = store.results()
    with replacing(path) as file:
        writer = csv.writer(codecs.getwriter("utf-8")(file))
        columns = ["match", "game", "round", "role", "player", "goal", "completed", "steps", "seconds"]
        writer.writerow((*columns, *FAULTS, "own moves"))
        for number, result in enumerate(results, 1):
            fixture = result.fixture
            match = (number, fixture.game, fixture.round)
            length = (int(result.completed), result.steps, f"{result.seconds:.2f}")
            for role, label in enumerate(fixture.seats):
                own = result.own[role] if result.own else ""
                row = (*match, role + 1, label, result.goals[role], *length, *result.faults[role], own)
                writer.writerow(row)
    return len(results)


def settings_of(
    store: Store, sources: Sequence[str], players: Sequence[str], name: str, given: dict[str, object]
) -> TournamentSettings:
    """The given settings, on top of those in the store.

    Args:
        sources: games, as :meth:`ggp.game.Game.load` reads them; those in the store if empty.
        players: as :func:`ggp.tournament.settings.parse_entrants` reads them; likewise.
        name: of the tournament, if it is new.
        given: other fields of the settings.

    Raises:
        GdlError: something is missing, unknown, or does not fit the settings in the store, or the store has
            impossible settings.
    """
    specs: dict[str, GameSpec] = {}
    for source in sources:
        game = Game.load(source)
        roles = len(playing(game.machine("prover").roles))
        if specs.setdefault(game.name, GameSpec(game.name, game.kif, roles)).rules != game.kif:
            raise GdlError(f"two games are called {game.name}", remedy="rename one of the files")
    entrants = tuple(parse_entrants(players))
    if (earlier := stored_settings(store)) is None:
        if not specs or not entrants:
            raise GdlError("the database has no tournament yet", remedy="give games and --players")
        # Players at addresses must not know the deals.
        seed = draw_seed() % (bounds.SEED["maximum"] + 1)
        fields = {"rounds": 2, "startclock": 2.0, "playclock": 1.0, "seed": seed, **given}
        return TournamentSettings(name=name, games=tuple(specs.values()), entrants=entrants, **fields)
    earlier.check_played([result.fixture for result in store.results()])
    for spec in earlier.games:
        _check_rules(spec, store.name)
    merged = replace(
        earlier,
        games=tuple(specs.values()) or earlier.games,
        entrants=entrants or earlier.entrants,
        **given,  # type: ignore[arg-type]
    )
    return merged.continues(earlier)


def _check_rules(game: GameSpec, database: str) -> None:
    """Raise GdlError if a file gives a game another number of roles than its rules do."""
    roles = len(playing(Game(game.name, game.rules).machine("prover").roles))
    if roles != game.roles:
        raise GdlError(f"{database} has {game.name[:80]} with {game.roles} roles, its rules have {roles}")


def stored_settings(store: Store) -> TournamentSettings | None:
    """The settings that a store was begun with; None for a new one. Raises GdlError if they are invalid."""
    fields = store.setting("settings")
    try:
        return None if fields is None else TournamentSettings.from_json(fields)
    except GdlError as error:
        raise GdlError(f"{store.name}: {error.message}", remedy=error.remedy) from None


def parse_test(text: str) -> Sprt:
    """The sequential test written as ``ELO0,ELO1``. Raises GdlError."""
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise GdlError(
            f"--sprt {text} is not a pair of Elo differences", remedy="write --sprt 0,20"
        ) from None
    if not -1000 <= elo0 < elo1 <= 1000:
        raise GdlError("--sprt ELO0,ELO1 needs ELO0 below ELO1, both within 1000")
    return Sprt(elo0, elo1)


@dataclass(frozen=True, slots=True)
class Session:
    """A tournament at a terminal. Raises GdlError if a test is given and there are not exactly two
    players."""

    console: Console
    settings: TournamentSettings
    store: Store
    test: Sprt | None

    def __post_init__(self) -> None:
        if self.test is not None:
            self.settings.check_pair()

    def play(self, workers: int, events: int | None = None, sites: Sites | None = None) -> None:
        """Play the remaining matches, with a table that is kept up to date. ``events`` is the port on which
        it publishes its matches. ``sites`` are the computers that play, if not this one."""
        self.store.set("settings", self.settings.as_json())
        newsroom = Newsroom(self.settings.name)
        runner = Runner(self.settings, self.store, workers, self.test, newsroom, sites)
        table = LiveTable(self.console, runner.results, self.settings.labels, runner.total, self.test)
        done = runner.total - runner.left
        self.console.print(
            f"{counted(len(self.settings.games), 'game')}, {counted(len(self.settings.entrants), 'player')},"
            f" {counted(runner.total, 'match', 'matches')}"
            + (f", {done} of them played already" if done else "")
        )
        for label in runner.crowded:
            self.console.print(
                f"{label} has more workers than cores to itself: its matches run alone, and its players share"
                " the cores",
                style="yellow",
                soft_wrap=True,
            )
        if runner.left and sites is None:
            self._compile()
        shown = Live(table, console=self.console, refresh_per_second=4, transient=True)
        with shown if self.console.is_terminal else nullcontext():
            asyncio.run(self._run(runner, table, newsroom, events))

    def _compile(self) -> None:
        """Compile the machines that the local players need: no clock would wait for it."""
        if self.settings.level == BOTTOM:
            return
        specs = self.settings.games
        hidden = any(hides(Game(spec.name, spec.rules).rules) for spec in specs)
        local = [entrant.spec for entrant in self.settings.entrants if not entrant.remote]
        solvers = solvers_named(None, own=False) if any(spec.roles == 1 for spec in specs) else ()
        parts = parts_for(local, solvers=solvers, hidden=hidden)
        with spinner(self.console) as progress:
            compile_missing(parts, cores(), progress)

    async def _run(self, runner: Runner, table: LiveTable, newsroom: Newsroom, events: int | None) -> None:
        if events is None:
            await runner.run(table)
            return
        async with newsroom.open(events) as port:
            self.console.print(f"watch it: ggp web --watch http://127.0.0.1:{port}", soft_wrap=True)
            await runner.run(table)

    def show(self) -> None:
        """Print all tables."""
        results, failures = self.store.results(), self.store.failures()
        if not results and not failures:
            return
        faults = fault_lines(self.store.faulty())
        standing = standing_of(results, self.settings.labels, failures, faults)
        if standing.labels:
            self.console.print(standings(results, standing))
        for reason in standing.reasons:
            self.console.print(Text(reason, "red"), soft_wrap=True)
        if len(standing.labels) > 2:
            self.console.print(rows_table((CROSS_HEAD, *standing.labels), cross_rows(standing)))
        if len(self.settings.games) > 1 and standing.labels:
            roles = {game.name: game.roles for game in self.settings.games}
            self.console.print(rows_table(GAME_HEADS, game_rows(standing, roles)))
        if self.test is not None:
            scores = block_scores(standing.results, *self.settings.labels)
            self.console.print(test_line(self.test, scores))
        for line in [str(fault) for fault in faults]:
            self.console.print(Text(line, "yellow"), soft_wrap=True)
        for line in standing.failure_lines(failures):
            self.console.print(Text(f"not played: {line}", "red"), soft_wrap=True)

    def write(self, paths: Sequence[Path]) -> None:
        """Write each file, by its ending a report, all records or a table, and print its name."""
        for path in paths:
            match path.suffix.lower():
                case ".html":
                    self._write_report(path)
                case ".json":
                    write_json(self.store, path)
                case ".csv":
                    write_csv(self.store, path)
            self.console.print(f"written: {path}")

    def _write_report(self, path: Path) -> None:
        results, failures = self.store.results(), self.store.failures()
        faults = fault_lines(self.store.faulty())
        write_file(path, html_report(self.settings, results, failures, self.test, faults).encode())


def check_outputs(paths: Sequence[Path]) -> None:
    """Raise GdlError if :meth:`Session.write` does not know the kind of one of the files."""
    for path in paths:
        if path.suffix.lower() not in (".html", ".json", ".csv"):
            raise GdlError(f"--output {path}: not a known kind of file", remedy="write .html, .json or .csv")
