"""``ggp bench``: random playouts per second, and the time to prepare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gdl.errors import GdlError
from ggp.printing import show

if TYPE_CHECKING:
    from ggp.bench import Row


def command(
    games: list[str] = typer.Argument(
        None,
        help="Names of bundled games, .kif files, folders of them, or results measured earlier "
        "(.json, .jsonl) to show or compare. By default the games of the --compare file.",
    ),
    machine: list[str] = typer.Option(
        [], "--machine", "-m", help="prover, propnet, ... or all; may be repeated. The fastest if not given."
    ),
    seconds: float = typer.Option(
        2.0, "--seconds", "-s", min=0.05, help="CPU seconds of playouts per game and machine."
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON object per game and line, nothing else."),
    compare: Path | None = typer.Option(
        None, metavar="OLD.json", help="Show the ratios to these earlier results."
    ),
) -> None:
    """Measure random playouts per second.

    Playouts are uniformly random, on one thread; seconds are CPU time. The median of five batches counts.

    Loading, compiling and warming up do not count. A step is one joint move of one playout.
    In a checkout python -m bench.table measures whole folders, each game in a process of its own, and
    writes Markdown and a plot.
    """
    from ggp.bench import compare as compare_rows
    from ggp.bench import levels, read_results

    chosen = _choose_levels(machine, levels())
    before = read_results(compare)[1] if compare else []
    jobs = [(name, level) for name in _expanded(games or []) for level in chosen]
    if not jobs:
        jobs = [(str(row.get("path", row["game"])), str(row["machine"])) for row in before]
        jobs = [(name, level) for name, level in jobs if not machine or level in chosen]
    if not jobs:
        raise GdlError("there is no game to measure", remedy="`ggp games` lists the bundled ones")
    rows = _measured(jobs, bool(machine), seconds, as_json)
    if not as_json:
        from ggp.bench import comparison, console, measurements

        out = console()
        if compare:
            out.print(comparison(compare_rows(before, rows)))
        elif any(row["status"] == "ok" for row in rows):
            out.print(measurements(rows, out.width))
    failed = [row for row in rows if row["status"] != "ok"]
    for row in failed:
        show(f"{row['game']} on the {row['machine']}: {row['status']}", err=True)
    if failed:
        raise typer.Exit(1)


def _measured(jobs: list[tuple[str, str]], only: bool, seconds: float, as_json: bool) -> list[Row]:
    """The rows of all jobs (game, level), printed as JSON when they are ready. A job that names a file of
    results gives its rows (with ``only`` those of the job's level)."""
    import orjson

    from ggp.bench import measure, read_results
    from ggp.console import new_console
    from ggp.game import Game

    rows: list[Row] = []
    progress = new_console(stderr=True)
    for name, level in jobs:
        if name.endswith((".json", ".jsonl")):
            fresh = [row for row in read_results(Path(name))[1] if not only or row["machine"] == level]
        else:
            game = Game.load(name)
            about = {"game": game.name, "machine": level, "path": name}
            try:
                with progress.status(f"{game.name} on the {level} ..."):
                    result = measure(game.name, game.rules, level, seconds)
                fresh = [{**about, "status": "ok", **result.as_dict()}]
            except GdlError as error:
                fresh = [{**about, "status": f"{type(error).__name__}: {error}"}]
        rows += fresh
        if as_json:
            for row in fresh:
                show(orjson.dumps(row))
    return rows


def _choose_levels(wanted: list[str], known: tuple[str, ...]) -> list[str]:
    """The requested levels, which may be joined by commas; by default the last one of ``known``."""
    names = [name for text in wanted for name in text.split(",") if name] or [known[-1]]
    for name in names:
        if name not in (*known, "all"):
            raise GdlError(
                f"there is no machine {name!r} to measure", remedy=f"choose {', '.join(known)} or all"
            )
    return [level for level in known if level in names or "all" in names]


def _expanded(names: list[str]) -> list[str]:
    """Folders replaced by the rules files in and below them."""
    paths = ((name, Path(name)) for name in names)
    return [
        file
        for name, path in paths
        for file in (map(str, sorted(path.rglob("*.kif"))) if path.is_dir() else [name])
    ]
