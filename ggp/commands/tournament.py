"""``ggp tournament``: many matches between players, rated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ggp.tournament.settings import Settings
    from ggp.tournament.sprt import Sprt
    from ggp.tournament.store import Store


def command(
    games: list[str] = typer.Argument(None, help="Names of games that come along, or .kif files."),
    players: list[str] = typer.Option(
        None,
        "--players",
        "-p",
        help="By commas: uct:workers=1, random, module:Class, http://host:port; NAME@... gives a name.",
    ),
    database: Path = typer.Option(
        Path("tournament.sqlite"), "--database", "-d", help="Results are kept here; the same file resumes."
    ),
    rounds: int | None = typer.Option(None, "--rounds", "-r", min=1, help="Openings of each game. [2]"),
    startclock: float | None = typer.Option(None, "--startclock", min=0.0, help="Seconds. [2]"),
    playclock: float | None = typer.Option(None, "--playclock", min=0.01, help="Seconds. [1]"),
    workers: int = typer.Option(0, "--workers", "-w", min=0, help="Matches at once; by the cores if 0."),
    plies: int | None = typer.Option(None, "--plies", min=0, help="Random moves to begin with. [2]"),
    seed: int | None = typer.Option(None, "--seed", help="Of openings and players. [1]"),
    machine: str | None = typer.Option(None, "--machine", "-m", help="Machine of local players. [auto]"),
    max_steps: int | None = typer.Option(None, "--max-steps", min=1, help="Cut matches here. [1000]"),
    take_turns: bool | None = typer.Option(
        None,
        "--take-turns/--own-cores",
        help="Local players of a match think one after the other on the same cores. [own-cores]",
    ),
    sprt: str = typer.Option("", "--sprt", help="ELO0,ELO1: stop when it is known which is true."),
    alpha: float = typer.Option(0.05, "--alpha", min=0.0001, max=0.49, help="Error rates of that test."),
    name: str = typer.Option("", "--name", help="Of the tournament, for records and report."),
    resume: bool = typer.Option(True, "--resume/--no-resume", help="Go on where the database ends."),
    play: bool = typer.Option(True, "--play/--no-play", help="Play, or only show and write what there is."),
    report: Path | None = typer.Option(None, "--report", help="Write a self-contained HTML page."),
    plots: Path | None = typer.Option(None, "--plots", help="Write PNG and SVG plots into this folder."),
    json: Path | None = typer.Option(None, "--json", help="Write all match records."),
    csv: Path | None = typer.Option(None, "--csv", help="Write a line per match and role."),
) -> None:
    """Play games between players in every order and from random openings, and rate them.

    Every match is on the disk as soon as it is over. The same command again, or just
    `ggp tournament -d FILE`, goes on where the last one stopped, however that was; games, players and
    rounds may be added. Each local player has cores of its own. Ctrl-C stops at once: matches
    under way are played anew next time.
    """
    from rich.console import Console

    from gdl.errors import GdlError
    from ggp.tournament.store import Store

    if report is not None or plots is not None:
        from ggp.tournament.plots import check_installed

        check_installed()
    known = database.is_file()
    if known and not resume:
        raise GdlError(f"{database} has results already", remedy="remove it, or give another --database")
    if not known and not (games and players):
        raise GdlError(
            f"there is no tournament {database} to go on with",
            remedy="begin one: ggp tournament GAMES... --players A,B",
        )
    test = _test(sprt, alpha) if sprt else None
    options: dict[str, object] = {
        "rounds": rounds,
        "startclock": startclock,
        "playclock": playclock,
        "plies": plies,
        "seed": seed,
        "level": machine,
        "max_steps": max_steps,
        "take_turns": take_turns,
    }
    given = {key: value for key, value in options.items() if value is not None}
    console = Console(highlight=False)
    with Store(database, writing=play) as store:
        settings = _settings(store, games or [], players or [], name or database.stem, given)
        if test is not None and len(settings.entrants) != 2:
            raise GdlError("a sequential test is of two players", remedy="give two --players with --sprt")
        try:
            if play:
                store.set("settings", settings.as_json())
                _play(console, settings, store, workers, test)
        finally:
            _show(console, settings, store, test)
            _write(console, settings, store, test, report, plots, json, csv)
        if store.failures():
            raise typer.Exit(1)


def _settings(
    store: Store, games: list[str], players: list[str], name: str, given: dict[str, object]
) -> Settings:
    """What was asked for, on top of what the database has."""
    from dataclasses import replace

    from gdl.errors import GdlError
    from ggp.game import Game
    from ggp.tournament.entrants import parse_entrants
    from ggp.tournament.settings import GameSpec, Settings
    from players.kaskade.make_machine import LEVELS

    kept = store.setting("settings")
    earlier = Settings.from_json(kept) if kept else None
    specs: dict[str, GameSpec] = {}
    for source in games:
        game = Game.load(source)
        roles = len(game.machine("prover").roles)
        if specs.setdefault(game.name, GameSpec(game.name, game.text, roles)).rules != game.text:
            raise GdlError(f"two games are called {game.name}", remedy="rename one of the files")
    entrants = tuple(parse_entrants(players))
    if given.get("level", "auto") not in LEVELS:
        raise GdlError(f"there is no machine {given['level']!r}", remedy=f"choose {', '.join(LEVELS)}")
    if earlier is None:
        if not specs or not entrants:
            raise GdlError("the database has no tournament yet", remedy="give games and --players")
        fields = {"rounds": 2, "startclock": 2.0, "playclock": 1.0, **given}
        return Settings(name=name, games=tuple(specs.values()), entrants=entrants, **fields)  # type: ignore[arg-type]
    wanted = replace(
        earlier,
        games=tuple(specs.values()) or earlier.games,
        entrants=entrants or earlier.entrants,
        **given,  # type: ignore[arg-type]
    )
    return wanted.continues(earlier)


def _test(text: str, alpha: float) -> Sprt:
    from gdl.errors import GdlError
    from ggp.tournament.sprt import Sprt

    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise GdlError(f"--sprt {text} is no pair of Elo differences", remedy="write --sprt 0,20") from None
    if not -1000 <= elo0 < elo1 <= 1000:
        raise GdlError("--sprt ELO0,ELO1 needs ELO0 below ELO1, both within 1000")
    return Sprt(elo0, elo1, alpha, alpha)


def _play(console: Console, settings: Settings, store: Store, workers: int, test: Sprt | None) -> None:
    import asyncio

    from rich.live import Live
    from rich.markup import escape

    from ggp.tournament.runner import Runner
    from ggp.tournament.tables import LiveTable

    runner = Runner(settings, store, workers, test)
    table = LiveTable(console, runner.results, settings.labels, runner.total, test)
    done = runner.total - runner.left
    console.print(
        f"[bold]{len(settings.games)}[/] games, [bold]{len(settings.entrants)}[/] players,"
        f" [bold]{runner.total}[/] matches" + (f", {done} of them played already" if done else "")
    )
    for label in runner.crowded:
        console.print(
            f"[yellow]{escape(label)} has more workers than cores to itself: its matches run alone, and its"
            " players share the cores[/]",
            soft_wrap=True,
        )
    if console.is_terminal:
        with Live(table, console=console, refresh_per_second=4, transient=True):
            asyncio.run(runner.run(table))
    else:
        asyncio.run(runner.run(table))


def _show(console: Console, settings: Settings, store: Store, test: Sprt | None) -> None:
    from ggp.tournament.scores import block_scores
    from ggp.tournament.tables import cross, games, standings, test_line

    results = store.results()
    if not results:
        return
    labels = settings.labels
    console.print(standings(results, labels))
    if len(labels) > 2:
        console.print(cross(results, labels))
    if len(settings.games) > 1:
        console.print(games(results, labels))
    if test is not None:
        console.print(test_line(test, block_scores(results, *labels)), markup=False)
    for fixture, error in store.failures():
        console.print(
            f"not played: {fixture.game} {fixture.round}: {' - '.join(fixture.seats)}: {error}",
            style="red",
            markup=False,
            soft_wrap=True,
        )


def _write(
    console: Console,
    settings: Settings,
    store: Store,
    test: Sprt | None,
    report: Path | None,
    plots: Path | None,
    json: Path | None,
    csv: Path | None,
) -> None:
    from ggp.tournament.export import write_csv, write_json

    results = store.results()
    if plots is not None:
        from ggp.tournament.plots import figures, write_plots

        write_plots(figures(results, settings.labels, test), plots)
    if report is not None:
        from ggp.tournament.report import html_report

        report.write_text(html_report(settings, results, store.failures(), test), encoding="utf-8")
    if json is not None:
        write_json(store, json)
    if csv is not None:
        write_csv(store, csv)
    for path in (report, plots, json, csv):
        if path is not None:
            console.print(f"written: {path}", markup=False)
