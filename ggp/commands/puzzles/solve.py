"""``ggp solve``: solves a puzzle (a game of one role, or a level) without a match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import GAME_HELP, parse_bytes
from ggp.printing import show

if TYPE_CHECKING:
    from gdl.errors import GdlError
    from ggp.sokoban.output_options import OutputOptions
    from players.puzzles.sokoban.levels.level import Level
    from players.puzzles.sokoban.solution import Metric


def command(
    game: Annotated[str, typer.Argument(help=GAME_HELP, show_default=False)],
    seconds: float = typer.Option(
        10.0, "--seconds", "-s", min=0, help="Wall time, after kernels are compiled."
    ),
    memory: str = typer.Option("600M", help="Memory for the solvers: 600M, 2G."),
    solver: str | None = typer.Option(
        None, help="Use only this solver; module:Class is one of yours.", show_default="all that fit"
    ),
    workers: int = typer.Option(1, "--workers", "-w", min=1, help="With --all: processes side by side."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object: game, value, moves, proven, ..."),
    shorter: str | None = typer.Option(
        None, metavar="pushes|moves", help="Sokoban levels: go on for a solution with fewer of these."
    ),
    every: bool = typer.Option(False, "--all", help="All levels of a level file, a line for each."),
    fps: float | None = typer.Option(
        None, min=0.1, help="Sokoban: show the solution in the terminal, at this many steps per second."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Sokoban: write it as .svg that moves, .sok or .lurd."
    ),
    explain: bool = typer.Option(False, "--explain", help="Sokoban: show on maps how the level works."),
) -> None:
    """Solve a puzzle: a game of one role, or a level.

    The prover replays the line before it is shown. Exit status: 0 with a line, 1 without.
    Sokoban levels (FILE.xsb, FILE.xsb:N) need no rules; --seconds applies to each of them.
    `ggp explore` searches all states of a puzzle for a shortest line, `ggp tabulate` finds the value of every
    state of a game of several roles, `ggp cover` solves packings and exact covers.
    """

    from gdl.errors import GdlError
    from ggp.game import Game
    from ggp.stopwatch import Stopwatch
    from players.puzzles.sokoban.levels.read import names_level_file

    output_options = None
    if fps is not None or output is not None or explain:
        from ggp.sokoban.output_options import OutputOptions

        output_options = OutputOptions(fps, output, explain)
        output_options.check(every)
    if workers > 1 and not every:
        raise GdlError("--workers is for --all", remedy="leave it out: one puzzle is solved in one process")
    clock = Stopwatch()
    room = parse_bytes(memory)
    if every or names_level_file(game):
        _solve_levels(game, every, seconds, room, solver, workers, shorter, as_json, output_options)
        return
    if shorter is not None:
        raise GdlError("--shorter is for files of Sokoban levels")
    loaded = Game.load(game)

    from ggp.solving.solve_puzzle import NOTHING, SolveRequest, solve_puzzle
    from ggp.solving.view import SolveView, as_json_object, doubt_of
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
            order = SolveRequest(loaded.text, seconds - clock.wall, room, solver, own=own)
            best = solve_puzzle(order, watch)
        except KeyboardInterrupt:
            interrupted = True
    last = replayed(loaded.rules, best) if best.value >= 0 else None
    doubt = "" if interrupted else doubt_of(loaded.rules, last)
    if as_json:
        import orjson

        show(orjson.dumps(as_json_object(loaded.name, best, clock, doubt)))
    else:
        view.show(best, clock, doubt)
    if output_options is not None and level is not None and not interrupted:
        line_of_steps = steps_of_moves(machine, level, best.moves) if best.value >= 0 else None
        output_options.after(view.console, level.stage, line_of_steps, best.solver)
    if interrupted:
        raise typer.Exit(130)
    if best.value < 0:
        raise typer.Exit(1)


def _solve_levels(
    name: str,
    every: bool,
    seconds: float,
    memory: int,
    only: str | None,
    workers: int,
    shorter: str | None,
    as_json: bool,
    output_options: OutputOptions | None,
) -> None:
    """Solve one level of a file, or all."""

    from gdl.errors import GdlError, sound
    from ggp.rule_files import locate_level
    from ggp.solving.levels import LevelRequest, LevelView, as_line, is_solved, solve_levels
    from ggp.stopwatch import Stopwatch
    from players.puzzles.sokoban.levels.read import find_level, levels_of_file, names_level_file, split_name

    if not names_level_file(name):
        raise GdlError(f"{name!r} is not a level file", remedy="--all is for .xsb, .sok, .slc and .txt files")
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
    elif not as_json and found:
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
