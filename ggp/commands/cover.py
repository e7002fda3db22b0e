"""``ggp cover``: solves exact covers and packing puzzles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PUZZLE = typer.Argument(help="A cover problem: JSON, or DLX text.", metavar="FILE", show_default=False)
FIRST = typer.Option("--first", "-n", min=1, help="Tell so many.", show_default="1")
SECONDS = typer.Option("--seconds", "-s", min=0, help="Wall time.", show_default="as long as it takes")
WORKERS = typer.Option("--workers", "-w", min=1, help="Threads that search side by side.")
JSON = typer.Option("--json", help="One JSON object: solutions, complete, nodes, ...")
RESUME = typer.Option(metavar="SAVED", help="Save the search there every 5 s; go on from it if it is there.")
ENGINE = typer.Option(help="This one alone.", show_default="chosen for the problem")
REDUCE = typer.Option("--reduce/--no-reduce", help="Make the problem smaller before it is searched.")


def command(
    puzzle: Annotated[Path, PUZZLE],
    every: Annotated[bool, typer.Option("--all", help="Tell all solutions.")] = False,
    first: Annotated[int | None, FIRST] = None,
    count: Annotated[bool, typer.Option("--count", help="Count all, tell none: often faster.")] = False,
    seconds: Annotated[float | None, SECONDS] = None,
    workers: Annotated[int, WORKERS] = 1,
    as_json: Annotated[bool, JSON] = False,
    resume: Annotated[Path | None, RESUME] = None,
    engine: Annotated[str | None, ENGINE] = None,
    reduce: Annotated[bool, REDUCE] = True,
) -> None:
    """Solve an exact cover.

    One solution is told, or as many as are asked for. Exit status: 0 with a solution, 1 without.
    `docs/cover.md` says what files look like.
    """
    from gdl.errors import GdlError
    from ggp.cover.instance import load_instance
    from ggp.cover.solve import CoverOrder, solve_cover
    from players.puzzles.cover.outcome import CoverOptions

    if every + count + (first is not None) > 1:
        raise GdlError("--all, --first and --count exclude each other", remedy="give one of them")
    limit = None if every or count else first or 1
    options = CoverOptions(engine=engine, workers=workers, delivers=not count, first=limit, reduce=reduce)
    status = solve_cover(load_instance(puzzle), CoverOrder(options, seconds, resume), as_json)
    if status:
        raise typer.Exit(status)
