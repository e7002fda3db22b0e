"""``ggp cluster``: the nodes of a cluster, and the work of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ggp.printing import show

if TYPE_CHECKING:
    from rich.table import Table

    from players.fleet.survey import NodeReport


def command(
    address: Annotated[str, typer.Argument(help="HOST:PORT, or local-ray:N for N nodes here.")],
    watch: Annotated[float, typer.Option(help="Seconds between updates; 0: show once.", min=0.0)] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per node.")] = False,
) -> None:
    """Show the nodes of a cluster and the work of each.

    The command asks each node to describe itself, and its workers for their work: matches of a
    tournament, searches for a player. A node that does not answer within two seconds is silent. Exits
    with status 1 if a node is silent or runs another version of this program.
    """
    import asyncio

    raise typer.Exit(asyncio.run(_status(address, watch, as_json)))


async def _status(address: str, watch: float, as_json: bool) -> int:
    import asyncio

    import orjson
    from rich.live import Live

    from ggp.console import new_console
    from players.fleet.open_fleet import open_fleet
    from players.fleet.survey import survey

    fleet = open_fleet(address)
    try:
        reports = await survey(fleet)
        if as_json:
            for report in reports:
                show(orjson.dumps(report.as_json()))
        else:
            with Live(_table(reports), console=new_console(), auto_refresh=False) as live:
                while watch:
                    await asyncio.sleep(watch)
                    reports = await survey(fleet)
                    live.update(_table(reports), refresh=True)
        return int(not reports or any(report.fault for report in reports))
    finally:
        await fleet.close()


def _table(reports: list[NodeReport]) -> Table:
    from rich.table import Table

    table = Table(title=f"{len(reports)} nodes, {sum(report.node.cores for report in reports)} cores")
    for name in ("node", "computer", "cores", "what it is", "answers in", "what it does"):
        table.add_column(name, justify="right" if name in ("cores", "answers in") else "left")
    for report in reports:
        took = report.fault or f"{1000 * report.seconds:.1f} ms"
        doing = "\n".join(report.doing) or "nothing"
        table.add_row(report.node.id[:12], report.node.host, str(report.node.cores), report.what, took, doing)
    return table
