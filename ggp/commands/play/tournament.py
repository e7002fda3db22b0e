"""``ggp tournament``: many matches between players, rated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gdl.errors import GdlError
from ggp.commands import check_machine, check_writable
from ggp.tournament import bounds

if TYPE_CHECKING:
    from ggp.tournament.settings import Entrant
    from ggp.tournament.sites import Sites


def command(
    games: list[str] = typer.Argument(None, help="Names of bundled games, or .kif files."),
    players: list[str] = typer.Option(
        None,
        "--players",
        "-p",
        help="By commas: uct:workers=1, random, module:Class, http://host:port; NAME@... gives a name.",
    ),
    database: Path = typer.Option(
        Path("tournament.sqlite"), "--database", "-d", help="Results are kept here; the same file resumes."
    ),
    rounds: int | None = typer.Option(
        None,
        "--rounds",
        "-r",
        min=bounds.ROUNDS.least,
        max=bounds.ROUNDS.most,
        help="Openings of each game. [2]",
    ),
    startclock: float | None = typer.Option(
        None, min=bounds.STARTCLOCK.least, max=bounds.STARTCLOCK.most, help="Seconds. [2]"
    ),
    playclock: float | None = typer.Option(
        None, min=bounds.PLAYCLOCK.least, max=bounds.PLAYCLOCK.most, help="Seconds. [1]"
    ),
    workers: int = typer.Option(0, "--workers", "-w", min=0, help="Matches at once; by the cores if 0."),
    plies: int | None = typer.Option(
        None, min=bounds.PLIES.least, max=bounds.PLIES.most, help="Random moves to begin with. [2]"
    ),
    seed: int | None = typer.Option(
        None,
        min=bounds.SEED.least,
        max=bounds.SEED.most,
        help="Random seed of openings, deals and players. [drawn, and saved]",
    ),
    machine: str | None = typer.Option(None, "--machine", "-m", help="Machine of local players. [auto]"),
    max_steps: int | None = typer.Option(
        None, min=bounds.MAX_STEPS.least, max=bounds.MAX_STEPS.most, help="Cut matches here. [1000]"
    ),
    take_turns: bool | None = typer.Option(
        None,
        "--take-turns/--own-cores",
        help="Local players of a match think one after the other on the same cores. [own-cores]",
    ),
    sprt: str = typer.Option("", help="ELO0,ELO1: stop once it is clear which is true."),
    alpha: float = typer.Option(0.05, min=0.0001, max=0.49, help="Error rates of that test."),
    name: str = typer.Option("", help="Name of the tournament, for records and report."),
    resume: bool = typer.Option(True, "--resume/--no-resume", help="Resume the tournament in the database."),
    play: bool = typer.Option(True, "--play/--no-play", help="Play, or only show and write what there is."),
    anyway: bool = typer.Option(
        False, "--anyway", help="Begin even if a player at an address does not answer or is busy."
    ),
    events: int | None = typer.Option(
        None,
        min=0,
        max=65535,
        metavar="PORT",
        help="Publish matches for `ggp web --watch` on this port; 0 takes a free one.",
    ),
    cluster: str = typer.Option(
        "",
        metavar="ADDRESS",
        help="Play on a Ray cluster: HOST:PORT, or local-ray:N for N nodes here.",
    ),
    report: Path | None = typer.Option(None, help="Write a self-contained HTML page."),
    plots: Path | None = typer.Option(None, help="Write PNG and SVG plots into this folder."),
    json: Path | None = typer.Option(None, help="Write all match records."),
    csv: Path | None = typer.Option(None, help="Write a line per match and role."),
) -> None:
    """Run many matches between players, and rate them.

    They play in every order and from random openings. Each match is saved to disk as soon as it is over. The
    same command again, or just `ggp tournament -d FILE`, resumes the tournament, even after a crash. Games,
    players and rounds may be added. Each local player has cores of its own. Ctrl-C stops at once: unfinished
    matches are replayed next time.
    """
    from ggp.console import new_console
    from ggp.report_page import check_installed
    from ggp.tournament.session import Session, parse_test, settings_of
    from ggp.tournament.settings import check_kept, parse_entrants
    from ggp.tournament.store import Store
    from players.fleet.open_fleet import permit_only
    from players.registry import clusters_of

    if report is not None or plots is not None:
        check_installed()
    check_writable(report, json, csv)
    has_results = database.exists()
    if has_results and not resume:
        raise GdlError(f"{database} has results already", remedy="remove it, or give another --database")
    if not has_results and not (games and players):
        raise GdlError(
            f"there is no tournament {database} to go on with",
            remedy="begin one: ggp tournament GAMES... --players A,B",
        )
    test = parse_test(sprt, alpha) if sprt else None
    if machine is not None:
        check_machine(machine)
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
    with Store(database, writing=play) as store:
        settings = settings_of(store, games or [], players or [], name or database.stem, given)
        if play:
            entrants = parse_entrants(players or [])
            check_kept(settings.entrants, entrants, database.name)
            permit_only([*clusters_of(e.spec for e in entrants), *filter(None, [cluster])])
            if not anyway:
                _check_addresses(settings.entrants)
        session = Session(new_console(), settings, store, test)
        try:
            if play:
                session.play(workers, events, _sites(cluster) if cluster else None)
        finally:
            session.show()
            session.write(report, plots, json, csv)
        if store.failures():
            raise typer.Exit(1)


def _sites(address: str) -> Sites:
    """The nodes of a cluster. Raises GdlError if it cannot be reached."""
    from ggp.tournament.cluster import ClusterSites
    from players.fleet.open_fleet import open_fleet

    return ClusterSites(open_fleet(address))


def _check_addresses(entrants: Iterable[Entrant]) -> None:
    """Raise GdlError if one of them is at an address and cannot play."""
    import asyncio

    from ggp.introductions import meet
    from ggp.manager import RemotePlayer
    from ggp.protocol.address import parse_address

    remote = [RemotePlayer(e.label, parse_address(e.spec)) for e in entrants if e.remote]
    if faults := asyncio.run(meet(remote)):
        raise GdlError("; ".join(faults), remedy="--anyway begins nevertheless")
