"""Findings on small maps, with a sentence each, and what is said after a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ggp.sokoban.findings import Finding, count, findings, sentences, why_dead
from ggp.sokoban.glyphs import Mark, as_text, draw, frame_of, in_unicode, legend
from ggp.sokoban.machine_stage import MachineStage
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import is_solved

_STYLES = {
    "dead squares": ("bold #ff8a80 on #5a1f24",),
    "tunnels": ("bold #ffd180 on #4a3a16", "bold #fff59d on #54480f"),
    "rooms": ("on #1f3d5a", "on #2d4a22", "on #50285a", "on #5a4a1c", "on #1d5050", "on #5a2a2a"),
    "packing order": ("bold #ffffff on #7a2e36",),
    "dead sets": ("bold #ffab91 on #40232a",),
}
_ON_A_BOX = "bold #ffffff on #b71c1c"
_BESIDE = 3


def show_findings(console: Console, stage: LevelStage, found: Iterable[Finding]) -> None:
    """Print each finding: its sentence, its map, and its examples side by side."""
    unicode = in_unicode(console)
    console.print(as_text(draw(stage, stage.start, unicode)))
    console.print(legend(unicode))
    bare = Position((), stage.start.keeper)
    for finding in found:
        console.print()
        console.print(Text.assemble((finding.kind, "bold"), f": {finding.sentence}"))
        if finding.labels:
            console.print(as_text(draw(stage, bare, unicode, marks=_marks(finding))))
        if finding.examples:
            pictures = [_example(stage, squares, unicode) for squares in finding.examples]
            console.print(Text("for example", "dim"))
            console.print(Columns(pictures, padding=(0, _BESIDE)))


def show_reasons(console: Console, stage: LevelStage, position: Position, reasons: Iterable[Finding]) -> None:
    """Print why a position is dead, each reason on a map of the position."""
    unicode = in_unicode(console)
    for finding in reasons:
        console.print(Text.assemble(("dead: ", "bold red"), (finding.kind, "bold"), f": {finding.sentence}"))
        marks = {square: Mark(label, _ON_A_BOX) for square, label in finding.labels.items()}
        console.print(as_text(draw(stage, position, unicode, marks=marks)))


def _marks(finding: Finding) -> dict[int, Mark]:
    styles = _STYLES.get(finding.kind, (_ON_A_BOX,))
    order = {label: number for number, label in enumerate(sorted(set(finding.labels.values())))}
    return {
        square: Mark(label if len(label) > 1 else f" {label}", styles[order[label] % len(styles)])
        for square, label in finding.labels.items()
    }


def _example(stage: LevelStage, squares: tuple[int, ...], unicode: bool) -> Text:
    """A set of boxes, and what lies around it, without the keeper: he may be anywhere."""
    keeper = next(square for square in range(stage.geometry.size) if square not in squares)
    hidden = {keeper: Mark("()" if keeper in stage.geometry.goals.tolist() else "")}
    position = Position(squares, keeper)
    return as_text(draw(stage, position, unicode, marks=hidden, frame=frame_of(stage, squares)))


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
