"""``ggp cover``: solves exact covers and packing puzzles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.printing import show

PUZZLE = typer.Argument(help="A packing puzzle or a cover problem.", metavar="FILE", show_default=False)
FIRST = typer.Option("--first", "-n", min=1, help="Tell so many.", show_default="1")
SECONDS = typer.Option("--seconds", "-s", min=0, help="Wall time.", show_default="as long as it takes")
WORKERS = typer.Option("--workers", "-w", min=1, help="Threads that search side by side.")
JSON = typer.Option("--json", help="One JSON object: solutions, complete, nodes, ...")
RESUME = typer.Option(metavar="SAVED", help="Save the search there every 5 s; go on from it if it is there.")
ENGINE = typer.Option(help="This one alone.", show_default="chosen for the problem")
PROBLEM = typer.Option(min=1, help="Of a BurrTools file: which.", show_default="the first")
ROTATIONS = typer.Option("--keep-rotations", help="Of a packing: tell turns and reflections too.")
RENDER = typer.Option(metavar="OUT", help="Draw what is found: .svg, or .html with pieces in space.")
EXPORT = typer.Option(metavar="OUT", help="Write what is found into an .xmpuzzle file.")
APART = typer.Option("--apart", help="Of a packing: tell how each solution comes apart.")
GDL = typer.Option("--gdl", help="Of a packing: print it as the rules of a game, a piece a move.")


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
    problem: Annotated[int | None, PROBLEM] = None,
    keep_rotations: Annotated[bool, ROTATIONS] = False,
    apart: Annotated[bool, APART] = False,
    gdl: Annotated[bool, GDL] = False,
    render: Annotated[Path | None, RENDER] = None,
    export: Annotated[Path | None, EXPORT] = None,
) -> None:
    """Solve an exact cover, or a packing puzzle.

    One solution is told, or as many as are asked for. Exit status: 0 with a solution, 1 without.
    `docs/cover.md` says what files look like.
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
        raise GdlError("--count tells no solutions", remedy="give --all, or leave --render and --export out")
    if export is not None and export.suffix.lower() != ".xmpuzzle":
        raise GdlError(f"{export} is no .xmpuzzle file", remedy="name one")
    instance = load_instance(puzzle, problem, every=keep_rotations, apart=apart)
    if instance.remark:
        show(f"ggp: {puzzle}: {instance.remark}", err=True)
    if gdl:
        show(instance.as_rules().encode(), end="")
        return
    status = solve_cover(instance, CoverRequest(options, seconds, resume, keep), as_json)
    if status:
        raise typer.Exit(status)
