"""``ggp serve``: a player that game managers reach over HTTP."""

from __future__ import annotations

import typer

from gdl.errors import GdlError
from ggp.commands import OPERATORS, ORIGINS, check_machine
from ggp.protocol.messages import LONGEST_CLOCK, LONGEST_IDLE, MAX_CLOCK


def command(
    port: int = typer.Option(9147, min=0, max=65535, help="Port; 0 picks a free one."),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; 0.0.0.0 or :: lets others in."),
    player: str = typer.Option(
        "uct",
        help="Player: uct, montecarlo, greedy..., with options (uct:workers=4,knowledge=off); module:Class.",
    ),
    name: str = typer.Option(
        "", help="Name in INFO replies; by default kaskade, and the player if it is not uct."
    ),
    matches: int = typer.Option(
        1, min=1, max=64, help="Matches at once; more are answered busy.", rich_help_panel=OPERATORS
    ),
    machine: str = typer.Option(
        "auto",
        "--machine",
        "-m",
        help="The furthest machine: prover, propnet, native or auto.",
        rich_help_panel=OPERATORS,
    ),
    margin: float = typer.Option(
        0.8,
        min=0.0,
        help="Seconds before the end of a clock at which the answer leaves, until better is learnt.",
        rich_help_panel=OPERATORS,
    ),
    cluster: str = typer.Option(
        "", metavar="ADDRESS", help="Search on a Ray cluster too: HOST:PORT; local-ray:N for N nodes here."
    ),
    longest_clock: int = typer.Option(
        LONGEST_CLOCK,
        min=1,
        max=MAX_CLOCK,
        help="Seconds; longer clocks of a match are cut down to it.",
        rich_help_panel=OPERATORS,
    ),
    longest_idle: int = typer.Option(
        LONGEST_IDLE,
        min=1,
        help="Seconds without a message after which a match is dropped at the latest.",
        rich_help_panel=OPERATORS,
    ),
    allow_origin: list[str] = ORIGINS,
    allow_host: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="Answer browsers under this name too (host.example); managers may use any.",
        rich_help_panel=OPERATORS,
    ),
    any_sender: bool = typer.Option(
        False,
        "--any-sender",
        help="Take PLAY, STOP and ABORT from every address, not only from the one that sent START.",
        rich_help_panel=OPERATORS,
    ),
    open_events: bool = typer.Option(
        False,
        "--open-events",
        help="Let other computers read GET /events, what the search expects included.",
        rich_help_panel=OPERATORS,
    ),
    log_level: str = typer.Option(
        "info", help="debug (each turn), info (each match), warning or error.", rich_help_panel=OPERATORS
    ),
    log_format: str = typer.Option("logfmt", help="logfmt or json.", rich_help_panel=OPERATORS),
) -> None:
    """Answer game managers over HTTP as a player.

    The messages are INFO, PREVIEW, START, PLAY, STOP and ABORT. Each match runs in a process of its
    own; a turn is always answered with a legal move and in time. Ends on Ctrl-C or SIGTERM, with all
    of its processes.
    """

    import asyncio
    from contextlib import nullcontext
    from dataclasses import replace

    from ggp import log_lines
    from ggp.protocol.listener import raise_limit
    from ggp.server.server import Server
    from ggp.server.settings import MatchSettings, ServerConfig
    from players.fleet.open_fleet import standing
    from players.options import read_spec
    from players.processes.launch import FORKS
    from players.processes.limits import cores
    from players.registry import check_name, is_registered, with_option

    levels = ("debug", "info", "warning", "error")
    if log_level.lower() not in levels:
        raise GdlError(f"there is no log level {log_level!r}", remedy=f"choose {', '.join(levels)}")
    check_machine(machine)
    check_name(player)
    name = name or _name_of(player)
    if not all(c.isalnum() or c in "-_.+" for c in name):
        raise GdlError(f"{name!r} cannot be a name in GDL", remedy="use letters, digits and - _ . +")
    log_lines.configure(log_level, log_format)
    # A number of processes in the player's name is meant for each match; otherwise all share the cores.
    named = is_registered(player) and read_spec(player).option("workers") is not None
    settings = MatchSettings(player, machine, margin, cores=None if named else cores())
    with standing(cluster) if cluster else nullcontext("") as nodes:
        if nodes:
            together = with_option(player, "cluster", nodes)
            if together == player:
                raise GdlError(f"{player} searches on no cluster", remedy="uct does")
            settings = replace(settings, player=together)
        config = ServerConfig(
            name=name,
            host=host,
            port=port,
            matches=matches,
            settings=settings,
            longest_clock=longest_clock,
            longest_idle=longest_idle,
            allow_origins=tuple(allow_origin),
            allow_hosts=tuple(allow_host),
            any_sender=any_sender,
            open_events=open_events,
            forks=FORKS,
        )
        asyncio.run(Server(config.fit(raise_limit())).run())


def _name_of(player: str) -> str:
    """The default name of a server: kaskade, and the kind of its player unless that is uct. The player's
    options stay out of the name: they may hold folder names, which are private."""
    from players.options import read_spec
    from players.registry import is_registered

    kind = read_spec(player).kind if is_registered(player) else player.rpartition(":")[2]
    return "kaskade" if kind == "uct" else f"kaskade-{''.join(c for c in kind if c.isalnum() or c in '-_.+')}"
