"""``ggp solve``: solves a puzzle (a game of one role) without a match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import GAME_HELP, parse_bytes
from ggp.printing import show

if TYPE_CHECKING:
    from gdl.errors import GdlError
    from ggp.sokoban.output_options import SokobanOutput
    from players.puzzles.sokoban.levels.level import Level
    from players.puzzles.sokoban.solution import Metric


def command(
    game: Annotated[str | None, typer.Argument(help=GAME_HELP, show_default=False)] = None,
    seconds: float | None = typer.Option(
        None,
        "--seconds",
        "-s",
        min=0,
        help="Wall time, after kernels are compiled.",
        show_default="10; as long as it takes with --solver frontier",
    ),
    memory: str = typer.Option(
        "600M",
        help="Memory for the solvers: 600M, 2G; for the whole process with --solver frontier, --strong.",
    ),
    solver: str | None = typer.Option(
        None, help="Use only this solver; module:Class is one of yours.", show_default="all that fit"
    ),
    workers: int = typer.Option(1, "--workers", "-w", min=1, help="Processes that search side by side."),
    seed: int = typer.Option(0, min=0, help="Seed of the solvers' randomness."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object: game, value, moves, proven, ..."),
    shorter: str | None = typer.Option(
        None, metavar="pushes|moves", help="Sokoban levels: go on for a solution with fewer of these."
    ),
    every: bool = typer.Option(False, "--all", help="All levels of a level file, a line for each."),
    fps: float | None = typer.Option(
        None, min=0.1, help="Sokoban: show the solution in the terminal, at this many steps per second."
    ),
    lurd: bool = typer.Option(False, "--lurd", help="Sokoban: print the steps alone: u r d l U R D L."),
    run_lengths: bool = typer.Option(False, "--run-length", help="With --lurd: 3r instead of rrr."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Sokoban: write it as .gif, .svg, .png (the start), .sok or .lurd."
    ),
    explain: bool = typer.Option(False, "--explain", help="Sokoban: what the analysis finds, on maps."),
    scratch: Path | None = typer.Option(
        None,
        metavar="DIR",
        help="Frontier, --strong: folder for states that exceed the memory; --resume continues from it.",
    ),
    disk: str | None = typer.Option(
        None, help="Frontier, --strong: disk space for all files in DIR: 20G.", show_default="all"
    ),
    resume: Path | None = typer.Option(
        None,
        metavar="DIR",
        help="Frontier, --strong: resume the search saved in DIR; for the frontier without GAME.",
    ),
    symmetry: bool = typer.Option(
        True,
        "--symmetry/--no-symmetry",
        help="Frontier, --strong: merge states that differ only by names.",
    ),
    plot: Path | None = typer.Option(
        None, metavar="FILE", help="Frontier: draw the layers as .svg, .png or .pdf."
    ),
    strong: bool = typer.Option(
        False, "--strong", help="Any number of roles: the value of every state, into --tables if given."
    ),
    tables: Path | None = typer.Option(
        None, metavar="DIR", help="Folder of the table that --strong writes and --query reads."
    ),
    query: str | None = typer.Option(
        None, metavar="STATE", help="The value of a state and its moves: init, or all that is true in it."
    ),
) -> None:
    """Solve a puzzle, or a whole game with --strong.

    The prover replays the line before it is shown. Exit status: 0 with a line, 1 without.
    Sokoban levels (FILE.xsb, FILE.xsb:N) need no rules; --seconds applies to each of them. With --solver
    frontier all states are searched breadth-first, and the line is a shortest one.
    """

    from gdl.errors import GdlError
    from ggp.game import Game
    from ggp.solving.frontier_options import FRONTIER, check_options, wants_frontier
    from ggp.stopwatch import Stopwatch
    from players.puzzles.sokoban.levels.read import names_level_file

    if strong and plot is None and solver != FRONTIER:
        from ggp.solving.strong import solve_strongly
        from players.strong.ranked.solve import StrongOptions

        if game is None:
            raise GdlError("no game was named", remedy="ggp solve GAME; `ggp games` lists the names")
        whole, files = Game.load(game), None if disk is None else parse_bytes(disk)
        order = StrongOptions(
            parse_bytes(memory), workers, resume or scratch, files, resume is not None, symmetry
        )
        solve_strongly(whole, order, tables, as_json and query is None, query is None)
    elif wants_frontier(solver, scratch, disk, resume, plot, symmetry):
        check_options(
            {
                "--all": every,
                "--seed": seed != 0,
                "--shorter": shorter is not None,
                "--fps": fps is not None,
                "--lurd": lurd,
                "--run-length": run_lengths,
                "--output": output is not None,
                "--explain": explain,
                "--strong": strong,
                "--query": query is not None,
                "--tables": tables is not None,
            },
            scratch,
            disk,
            resume,
        )
        _search_frontier(game, seconds, memory, workers, scratch, disk, resume, plot, symmetry, as_json)
        return
    if game is None:
        raise GdlError("no game was named", remedy="ggp solve GAME; `ggp games` lists the names")
    if strong or query is not None:
        from ggp.solving.strong import answer_query

        if query is not None:
            answer_query(Game.load(game), query, tables, as_json)
        return
    if tables is not None:
        raise GdlError("--tables goes with --strong or --query")
    seconds = 10.0 if seconds is None else seconds
    output_options = None
    if fps is not None or lurd or run_lengths or output is not None or explain:
        from ggp.sokoban.output_options import SokobanOutput

        output_options = SokobanOutput(fps, lurd, run_lengths, output, explain)
        output_options.check(as_json, every)
    clock = Stopwatch()
    room = parse_bytes(memory)
    if every or names_level_file(game):
        _solve_levels(game, every, seconds, room, solver, workers, shorter, as_json, output_options)
        return
    if shorter is not None:
        raise GdlError("--shorter is for files of Sokoban levels")
    loaded = Game.load(game)

    from ggp.solving.team import NOTHING, SolveRequest, solve_together
    from ggp.solving.view import SolveView, doubt_of
    from players.solvers import Solution, replayed

    own = solver if solver is not None and ":" in solver else None
    if own is not None:
        from players.solvers import add_own

        solver = add_own(own)
    view, level = SolveView(loaded.name, seconds), None
    if output_options is not None:
        from ggp.sokoban.machine_stage import not_sokoban, stage_of_machine, steps_of_moves

        machine = loaded.machine("propnet")
        level = stage_of_machine(machine, loaded.name)
        if level is None:
            raise not_sokoban(loaded.name)
        output_options.before(view.console, level.stage, as_json)
    best, interrupted = NOTHING, False

    def watch(solution: Solution, at_work: list[str]) -> None:
        nonlocal best
        best = solution
        view.watch(solution, at_work)

    with view:
        try:
            best = solve_together(
                SolveRequest(loaded.text, seconds - clock.wall, room, solver, workers, seed, own),
                watch,
            )
        except KeyboardInterrupt:
            interrupted = True
    last = replayed(loaded.rules, best) if best.value >= 0 else None
    doubt = "" if interrupted else doubt_of(loaded.rules, last)
    if as_json:
        import orjson

        line = {
            "game": loaded.name,
            "value": best.value if best.value >= 0 else None,
            "moves": best.moves,
            "proven": best.proven,
            "solver": best.solver or None,
            "seconds_cpu": round(clock.cpu, 3),
            "seconds_wall": round(clock.wall, 3),
            "states": best.states,
            "doubt": doubt,
        }
        show(orjson.dumps(line))
    elif not lurd:
        view.show(best, clock, doubt)
    if output_options is not None and level is not None and not interrupted:
        line_of_steps = steps_of_moves(machine, level, best.moves) if best.value >= 0 else None
        output_options.after(view.console, level.stage, line_of_steps, best.solver)
    if interrupted:
        raise typer.Exit(130)
    if best.value < 0:
        raise typer.Exit(1)


def _search_frontier(
    game: str | None,
    seconds: float | None,
    memory: str,
    workers: int,
    scratch: Path | None,
    disk: str | None,
    resume: Path | None,
    plot: Path | None,
    symmetry: bool,
    as_json: bool,
) -> None:
    """Solve by the frontier search."""
    from ggp.solving.frontier_search import load_game, solve_by_frontier
    from players.puzzles.frontier.outcome import FrontierOptions

    options = FrontierOptions(
        memory=parse_bytes(memory),
        workers=workers,
        scratch=resume or scratch,
        disk=None if disk is None else parse_bytes(disk),
        resume=resume is not None,
        symmetry=symmetry,
    )
    status = solve_by_frontier(load_game(game, resume), options, seconds, plot, as_json)
    if status:
        raise typer.Exit(status)


def _solve_levels(
    name: str,
    every: bool,
    seconds: float,
    memory: int,
    only: str | None,
    workers: int,
    shorter: str | None,
    as_json: bool,
    output_options: SokobanOutput | None,
) -> None:
    """Solve one level of a file, or all."""

    from gdl.errors import GdlError, sound
    from ggp.rule_files import locate_level
    from ggp.solving.levels import LevelRequest, LevelView, as_line, is_solved, solve_levels
    from ggp.stopwatch import Stopwatch
    from players.puzzles.sokoban.levels.read import find_level, levels_of_file, names_level_file, split_name

    if not names_level_file(name):
        raise GdlError(
            f"{name!r} is not a level file", remedy="--all is for .xsb, .sok, .slc, .txt and .html files"
        )
    clock = Stopwatch()
    path, first = split_name(locate_level(name))
    levels: dict[int, Level | GdlError]
    levels = dict(enumerate(levels_of_file(path), 1)) if every else {first: find_level(locate_level(name))}
    view = LevelView(path.stem, seconds)
    if output_options is not None:
        from ggp.sokoban.stage import LevelStage

        stage = LevelStage.of_level(sound(levels[first]))
        output_options.before(view.console, stage, as_json)
    found, interrupted = [], False
    with view:
        try:
            order = LevelRequest(seconds, memory, only, workers, _metric(shorter))
            for number, solution in solve_levels(levels, order, view.watch):
                found.append(solution)
                title = "" if isinstance(solution, GdlError) else sound(levels[number]).title
                if as_json:
                    show(as_line(path.stem, number, title, solution), end="")
                elif every:
                    view.row(number, title, solution)
        except KeyboardInterrupt:
            interrupted = True
    if not as_json and every:
        view.totals(found, clock)
    elif not as_json and found and not (output_options and output_options.lurd):
        view.show(sound(found[0]), clock)
    if output_options is not None and not interrupted:
        solution = sound(found[0])
        output_options.after(
            view.console, stage, solution.steps if is_solved(solution) else None, solution.solver
        )
    if interrupted:
        raise typer.Exit(130)
    if not all(map(is_solved, found)):
        raise typer.Exit(1)


def _metric(name: str | None) -> Metric | None:
    from gdl.errors import GdlError
    from players.puzzles.sokoban.solution import Metric

    try:
        return None if name is None else Metric(name)
    except ValueError:
        raise GdlError(f"--shorter is {name!r}", remedy="it is pushes or moves") from None
