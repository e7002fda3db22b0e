"""``ggp bench``: random playouts per second, and what it takes to get there."""

from __future__ import annotations

import sys

import typer


def command(
    games: list[str] = typer.Argument(help="Names of games that come along, or .kif files."),
    machine: str = typer.Option("propnet", "--machine", "-m", help="prover or propnet."),
    seconds: float = typer.Option(3.0, "--seconds", "-s", min=0.05, help="CPU seconds of playouts per game."),
    seed: int = typer.Option(0, "--seed", help="Seed of the random playouts."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object per game, nothing else."),
) -> None:
    """Measure uniformly random playouts on one thread: per second of CPU time (what the
    machine is worth) and of wall time (what this computer made of it just now)."""
    import orjson
    from rich.console import Console
    from rich.table import Table

    from gdl.errors import GdlError
    from ggp.bench import measure
    from ggp.game import Game

    if machine not in ("prover", "propnet"):
        raise GdlError(f"there is no machine {machine!r} to measure", remedy="choose prover or propnet")
    table = Table(
        "game", "machine", "playouts/cpu s", "states/cpu s", "playouts/wall s", "steps", "gates",
        "inputs", "bases", "moves", "ground s", "build s", "compile s", box=None, header_style="bold",
    )  # fmt: skip
    for column in table.columns[2:]:
        column.justify = "right"
    failed = False
    progress = Console(stderr=True)
    for name in games:
        game = Game.load(name)
        try:
            with progress.status(f"{game.name} on the {machine} ..."):
                found = measure(game.name, game.rules, machine, seconds, seed)
        except GdlError as error:
            failed = True
            print(f"{game.name}: {error}", file=sys.stderr)
            continue
        if as_json:
            typer.echo(orjson.dumps(found.as_dict()))
            continue
        table.add_row(
            found.game, found.machine, f"{found.playouts_per_cpu_s:,.0f}", f"{found.states_per_cpu_s:,.0f}",
            f"{found.playouts_per_wall_s:,.0f}", f"{found.mean_length:.1f}", f"{found.gates:,}",
            f"{found.gate_inputs:,}", f"{found.base_propositions:,}", f"{found.moves:,}",
            f"{found.ground_s:.2f}", f"{found.build_s:.2f}", f"{found.compile_s:.2f}",
        )  # fmt: skip
    if table.row_count:
        Console().print(table)
    if failed:
        raise typer.Exit(1)
