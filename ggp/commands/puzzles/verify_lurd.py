"""``ggp verify-lurd``: does a line of steps solve a Sokoban level?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gdl.reading import text_of
from gdl.words import counted
from ggp.commands import GameName, read_or_complain

if TYPE_CHECKING:
    from ggp.sokoban.stage import LevelStage


def command(
    level: GameName,
    steps: str = typer.Argument(
        help="Letters (u r d l, pushes U R D L, runs like 3r), a file with them (.lurd, .sok), or - for "
        "standard input."
    ),
) -> None:
    """Check a solution of a Sokoban level.

    Prints the numbers of moves and pushes and whether they solve the level, or the first impossible step
    and the reason. Exit status: 0 solved, 1 not solved, 2 if the level does not exist or the steps cannot be
    read.
    """
    import sys

    from rich.text import Text

    from ggp.console import new_console
    from ggp.sokoban.findings import show_reasons, why_dead
    from ggp.sokoban.glyphs import as_text, draw, in_unicode
    from ggp.sokoban.lurd import check_lurd, lurd_of_file, read_lurd

    stage = _stage_of(level)
    if steps == "-" or _is_file(steps):
        data = read_or_complain(Path(steps))
        if data is None:
            raise typer.Exit(2)
        line = lurd_of_file(text_of(data), "standard input" if steps == "-" else steps)
    else:
        line = read_lurd(steps, "the steps")
    verdict = check_lurd(stage, line)
    console = new_console(soft_wrap=not sys.stdout.isatty())
    console.print(
        as_text(draw(stage, verdict.position, in_unicode(console)))
        if console.is_terminal
        else Text(stage.text(verdict.position))
    )
    console.print(f"{counted(verdict.moves, 'move')}, {counted(verdict.pushes, 'push', 'pushes')}")
    if verdict.miswritten:
        console.print(
            Text(f"{verdict.miswritten} letters are small for pushes, or large for steps", "yellow")
        )
    if verdict.fault:
        console.print(Text(verdict.fault, "red"))
    boxes = verdict.position.boxes
    goals = set(stage.geometry.goals.tolist())
    placed = sum(box in goals for box in boxes)
    how = Text("solved", "bold green") if verdict.solved else Text("not solved", "bold red")
    console.print(how + Text(f": {placed} of {len(boxes)} boxes on goals", "default"))
    if not verdict.solved:
        show_reasons(console, stage, verdict.position, why_dead(stage, verdict.position))
        raise typer.Exit(1)


def _is_file(name: str) -> bool:
    """Whether there is such a file. A long line of letters is none, whatever the system says of it."""
    try:
        return Path(name).is_file()
    except OSError:
        return False


def _stage_of(name: str) -> LevelStage:
    """The level that ``FILE.xsb:N`` or the name of a game names. Raises GdlError: there is none, it is
    broken, or the game is not Sokoban."""
    from ggp.game import Game
    from ggp.rule_files import locate_level
    from ggp.sokoban.machine_stage import not_sokoban, stage_of_machine
    from ggp.sokoban.stage import LevelStage
    from players.puzzles.sokoban.levels.read import find_level, names_level_file

    if names_level_file(name):
        return LevelStage.of_level(find_level(locate_level(name)))
    game = Game.load(name)
    found = stage_of_machine(game.machine("propnet"), game.name)
    if found is None:
        raise not_sokoban(game.name)
    return found.stage
