"""``ggp web``: games, matches and rules in a browser."""

from __future__ import annotations

from pathlib import Path

import typer

from gdl.errors import GdlError
from ggp.commands import OPERATORS, ORIGINS, parse_bytes


def command(
    port: int = typer.Option(8080, min=0, max=65535, help="Port; 0 picks a free one."),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; 0.0.0.0 or :: lets others in."),
    records: Path | None = typer.Option(
        None, metavar="DIR", help="A folder of match records to replay.", file_okay=False
    ),
    tournaments: Path | None = typer.Option(
        None, metavar="DIR", help="A folder for tournaments begun on the page; else they go with the server."
    ),
    watch: list[str] = typer.Option([], metavar="URL", help="Show the matches of a server (ggp serve)."),
    allow_origin: list[str] = ORIGINS,
    processes: int = typer.Option(
        48,
        min=8,
        help="Processes for all tables, searches, checks and drawings together.",
        rich_help_panel=OPERATORS,
    ),
    memory: str = typer.Option(
        "",
        metavar="SIZE",
        help="Memory for them together (4G).",
        show_default="half of the computer's",
        rich_help_panel=OPERATORS,
    ),
    allow_host: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="Answer under this name too (host.example): that of a proxy, or of this computer for others.",
        rich_help_panel=OPERATORS,
    ),
    player: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="Offer this player at tables: module:Class, http://host:port, or a name with any options.",
        rich_help_panel=OPERATORS,
    ),
) -> None:
    """Play, watch and replay matches in a browser.

    Prints the address to open. Only this computer can reach it, unless --host says otherwise. Ends on
    Ctrl-C or SIGTERM.
    """
    import asyncio

    from ggp.processes.budget import usual_memory
    from ggp.web.app import serve
    from ggp.web.gate import WebSettings
    from ggp.web.play.seats import check_offer
    from players.fleet.open_fleet import permit_only
    from players.registry import clusters_of

    if not host:
        raise GdlError("--host is empty", remedy="0.0.0.0 or :: listens on every address")
    for folder in (records, tournaments):
        if folder is not None and not folder.is_dir():
            raise GdlError(f"{folder} is not a folder")
    for offered in player:
        check_offer(offered)
    permit_only(clusters_of(player))
    settings = WebSettings(
        host,
        port,
        records,
        tournaments,
        tuple(watch),
        allow_origins=tuple(allow_origin),
        allow_hosts=tuple(allow_host),
        players=tuple(player),
        processes=processes,
        memory=parse_bytes(memory) if memory else usual_memory(),
    )
    asyncio.run(serve(settings))
