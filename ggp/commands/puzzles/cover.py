"""``ggp cover``: solves exact covers and packing puzzles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.printing import show

PUZZLE = typer.Argument(
    help="A packing puzzle or a cover problem; :N for the N-th problem of a BurrTools file.",
    metavar="FILE[:N]",
    show_default=False,
)
FIRST = typer.Option("--first", "-n", min=1, help="Print at most N solutions.", show_default="1")
SECONDS = typer.Option("--seconds", "-s", min=0, help="Wall time.", show_default="as long as it takes")
WORKERS = typer.Option("--workers", "-w", min=1, help="Threads that search side by side.")
JSON = typer.Option("--json", help="One JSON object: solutions, complete, nodes, ...")
_RESUME = typer.Option(metavar="SAVED", help="Save the search here every 5 s; resume it if the file exists.")
ROTATIONS = typer.Option("--keep-rotations", help="Packing: print rotated and reflected copies too.")
_APART = typer.Option("--apart", help="Packing: print how each solution comes apart.")
_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="OUT",
    help="Packing: draw the solutions as .svg, or .html with pieces in space.",
)


def command(
    puzzle: Annotated[str, PUZZLE],
    every: Annotated[bool, typer.Option("--all", help="Print all solutions.")] = False,
    first: Annotated[int | None, FIRST] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count all solutions: often faster.")] = False,
    seconds: Annotated[float | None, SECONDS] = None,
    workers: Annotated[int, WORKERS] = 1,
    as_json: Annotated[bool, JSON] = False,
    resume: Annotated[Path | None, _RESUME] = None,
    keep_rotations: Annotated[bool, ROTATIONS] = False,
    apart: Annotated[bool, _APART] = False,
    output: Annotated[Path | None, _OUTPUT] = None,
) -> None:
    """Solve an exact cover, or a packing puzzle.

    Prints one solution, or as many as you ask for. Exit status: 0 with a solution, 1 without.
    `docs/cover.md` describes the files. `ggp rules` writes a packing puzzle as a game.
    """
    from gdl.errors import GdlError
    from ggp.cover.instance import DRAWN, load_instance
    from ggp.cover.solve import CoverRequest, solve_cover
    from players.puzzles.cover.outcome import CoverOptions
    from players.puzzles.level_name import read_level_name

    if every + count + (first is not None) > 1:
        raise GdlError("--all, --first and --count exclude each other", remedy="give one of them")
    limit = None if every or count else first or 1
    options = CoverOptions(workers=workers, delivers=not count, first=limit)
    if output is not None:
        if count:
            raise GdlError("--count prints no solutions", remedy="give --all, or leave --output out")
        if output.suffix.lower() not in DRAWN:
            raise GdlError(f"--output {output}: not a known kind of file", remedy=f"write {', '.join(DRAWN)}")
    path, problem = read_level_name(puzzle)
    instance = load_instance(path, problem, every=keep_rotations, apart=apart)
    if instance.remark:
        show(f"ggp: {puzzle}: {instance.remark}", err=True)
    if status := solve_cover(instance, CoverRequest(options, seconds, resume, output), as_json):
        raise typer.Exit(status)
