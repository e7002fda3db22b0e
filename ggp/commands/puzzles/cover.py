"""``ggp cover``: solves exact covers and packing puzzles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.printing import show

PUZZLE = typer.Argument(help="A packing puzzle or a cover problem.", metavar="FILE", show_default=False)
FIRST = typer.Option("--first", "-n", min=1, help="Print at most N solutions.", show_default="1")
SECONDS = typer.Option("--seconds", "-s", min=0, help="Wall time.", show_default="as long as it takes")
WORKERS = typer.Option("--workers", "-w", min=1, help="Threads that search side by side.")
JSON = typer.Option("--json", help="One JSON object: solutions, complete, nodes, ...")
_RESUME = typer.Option(metavar="SAVED", help="Save the search here every 5 s; resume it if the file exists.")
_ENGINE = typer.Option(help="Use only this engine.", show_default="chosen for the problem")
PROBLEM = typer.Option(min=1, help="Number of the problem in a BurrTools file.", show_default="the first")
ROTATIONS = typer.Option("--keep-rotations", help="Packing: print rotated and reflected copies too.")
_RENDER = typer.Option(metavar="OUT", help="Draw the solutions: .svg, or .html with pieces in space.")
_EXPORT = typer.Option(metavar="OUT", help="Write the solutions into an .xmpuzzle file.")
_APART = typer.Option("--apart", help="Packing: print how each solution comes apart.")
GDL = typer.Option("--gdl", help="Packing: print it as the rules of a game, one piece per move.")


def command(
    puzzle: Annotated[Path, PUZZLE],
    every: Annotated[bool, typer.Option("--all", help="Print all solutions.")] = False,
    first: Annotated[int | None, FIRST] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count all solutions: often faster.")] = False,
    seconds: Annotated[float | None, SECONDS] = None,
    workers: Annotated[int, WORKERS] = 1,
    as_json: Annotated[bool, JSON] = False,
    resume: Annotated[Path | None, _RESUME] = None,
    engine: Annotated[str | None, _ENGINE] = None,
    problem: Annotated[int | None, PROBLEM] = None,
    keep_rotations: Annotated[bool, ROTATIONS] = False,
    apart: Annotated[bool, _APART] = False,
    gdl: Annotated[bool, GDL] = False,
    render: Annotated[Path | None, _RENDER] = None,
    export: Annotated[Path | None, _EXPORT] = None,
) -> None:
    """Solve an exact cover, or a packing puzzle.

    Prints one solution, or as many as you ask for. Exit status: 0 with a solution, 1 without.
    `docs/cover.md` describes the files.
    """
    from gdl.errors import GdlError
    from ggp.cover.instance import load_instance
    from ggp.cover.solve import CoverRequest, solve_cover
    from players.puzzles.cover.outcome import CoverOptions

    if every + count + (first is not None) > 1:
        raise GdlError("--all, --first and --count exclude each other", remedy="give one of them")
    limit = None if every or count else first or 1
    options = CoverOptions(engine=engine, workers=workers, delivers=not count, first=limit)
    keep = tuple(path for path in (render, export) if path is not None)
    if count and keep:
        raise GdlError("--count prints no solutions", remedy="give --all, or leave --render and --export out")
    if export is not None and export.suffix.lower() != ".xmpuzzle":
        raise GdlError(f"{export} is not an .xmpuzzle file", remedy="give a name that ends in .xmpuzzle")
    instance = load_instance(puzzle, problem, every=keep_rotations, apart=apart)
    if instance.remark:
        show(f"ggp: {puzzle}: {instance.remark}", err=True)
    if gdl:
        show(instance.as_rules().encode(), end="")
        return
    status = solve_cover(instance, CoverRequest(options, seconds, resume, keep), as_json)
    if status:
        raise typer.Exit(status)
