"""What is said after a match of Sokoban: the line that was played, and what the analysis found."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ggp.sokoban.findings import count, findings, sentences
from ggp.sokoban.findings_view import show_reasons
from ggp.sokoban.machine_stage import MachineStage
from ggp.sokoban.why_dead import why_dead
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import is_solved


def show_epilogue(console: Console, level: MachineStage, positions: Sequence[Position], solver: str) -> None:
    """Print pushes, moves and who found them; why the last position is dead, if it is; a line for each thing
    that was found in the level.

    Args:
        console: where to.
        level: the game's level.
        positions: of the match, the first and the last included.
        solver: who has played; may be empty.
    """
    stage = level.stage
    steps = level.steps(positions)
    pushes = sum(letter.isupper() for letter in steps)
    solved = is_solved(stage.geometry, positions[-1])
    head = "solved" if solved else "not solved"
    by = f", by {solver}" if solver else ""
    text = f": {pushes} {'push' if pushes == 1 else 'pushes'} in {count(len(steps), 'move')}{by}"
    console.print()
    console.print(Text.assemble((head, "bold green" if solved else "yellow"), text))
    show_reasons(console, stage, positions[-1], why_dead(stage, positions[-1]))
    for sentence in sentences(findings(stage)):
        console.print(Text(f"  {sentence}", "dim"))
