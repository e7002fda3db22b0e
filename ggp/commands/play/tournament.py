"""``ggp tournament``: many matches between players, rated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gdl.errors import GdlError
from ggp.commands import EVENTS, OPERATORS, check_writable
from ggp.commands.play import Clock, read_clock
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
        min=bounds.ROUNDS["minimum"],
        max=bounds.ROUNDS["maximum"],
        help="Openings of each game. [2]",
    ),
    clock: Clock = "",
    workers: int = typer.Option(
        0, "--workers", "-w", min=0, help="Matches at once; by the cores if 0.", rich_help_panel=OPERATORS
    ),
    plies: int | None = typer.Option(
        None, min=bounds.PLIES["minimum"], max=bounds.PLIES["maximum"], help="Random moves to begin with. [2]"
    ),
    seed: int | None = typer.Option(
        None,
        min=bounds.SEED["minimum"],
        max=bounds.SEED["maximum"],
        help="Random seed of openings, deals and players. [drawn, and saved]",
    ),
    take_turns: bool | None = typer.Option(
        None,
        "--take-turns/--own-cores",
        help="Local players of a match think one after the other on the same cores. [own-cores]",
    ),
    sprt: str = typer.Option("", help="ELO0,ELO1: stop once it is clear which is true."),
    play: bool = typer.Option(True, "--play/--no-play", help="Play, or only show and write what there is."),
    anyway: bool = typer.Option(
        False, "--anyway", help="Begin even if a player at an address does not answer or is busy."
    ),
    events: int | None = EVENTS,
    cluster: str = typer.Option(
        "",
        metavar="ADDRESS",
        help="Play on a Ray cluster: HOST:PORT, or local-ray:N for N nodes here.",
        rich_help_panel=OPERATORS,
    ),
    output: list[Path] = typer.Option(
        [],
        "--output",
        "-o",
        metavar="FILE",
        help="Write a report (.html), all match records (.json) or a line per match and role"
        " (.csv); repeatable.",
    ),
) -> None:
    """Run many matches between players, and rate them.

    They play in every order and from random openings. Each match is saved to disk as soon as it is over. The
    same command again, or just `ggp tournament -d FILE`, resumes the tournament, even after a crash. Games,
    players and rounds may be added. Each local player has cores of its own. Ctrl-C stops at once: unfinished
    matches are replayed next time.
    """
    from ggp.console import new_console
    from ggp.tournament.session import Session, check_outputs, parse_test, settings_of
    from ggp.tournament.settings import check_kept, parse_entrants
    from ggp.tournament.store import Store
    from players.fleet.open_fleet import permit_only
    from players.registry import clusters_of

    check_outputs(output)
    check_writable(*output)
    if not database.exists() and not (games and players):
        raise GdlError(
            f"there is no tournament {database} to go on with",
            remedy="begin one: ggp tournament GAMES... --players A,B",
        )
    test = parse_test(sprt) if sprt else None
    options = {"rounds": rounds, "plies": plies, "seed": seed, "take_turns": take_turns}
    given: dict[str, object] = {key: value for key, value in options.items() if value is not None}
    if clock:
        given["startclock"], given["playclock"] = read_clock(clock, 2.0)
    with Store(database, writing=play) as store:
        settings = settings_of(store, games or [], players or [], database.stem, given)
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
            session.write(output)
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

    from ggp.manager import RemotePlayer, meet
    from ggp.protocol.address import parse_address

    remote = [RemotePlayer(e.label, parse_address(e.spec)) for e in entrants if e.remote]
    if faults := asyncio.run(meet(remote)):
        raise GdlError("; ".join(faults), remedy="--anyway begins nevertheless")
