"""Findings of the analysis about a level, and reasons why a position is dead: each as plain data, a sentence
and marked squares, shown on small maps and after a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from ggp.sokoban.glyphs import Mark, as_text, draw, frame_of, in_unicode, legend
from ggp.sokoban.machine_stage import MachineStage
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.deadlocks.bipartite import has_bipartite_deadlock
from players.puzzles.sokoban.deadlocks.corral_deadlock import pushes_needed
from players.puzzles.sokoban.deadlocks.freeze import frozen_boxes
from players.puzzles.sokoban.deadsets.dead_sets import DeadSets, make_dead_sets
from players.puzzles.sokoban.distances import dead_squares
from players.puzzles.sokoban.fess.packing_plan import packing_order
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import is_solved, reachable
from players.puzzles.sokoban.rooms import forced_pushes, rooms, tunnels
from propnet.jit.parts import is_compiled

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SECONDS = 2.0
_EXAMPLES = 6
_MOST_SQUARES = 600


@dataclass(frozen=True, slots=True)
class _Finding:
    """One finding of the analysis.

    Attributes:
        kind: its name: ``dead squares``, ``tunnels``, ``rooms``, ``packing order``, ``dead sets``; for a
            position ``freeze deadlock``, ``corral`` and so on.
        sentence: its meaning in this level, for people.
        labels: up to two characters for each square that it concerns.
        examples: sets of squares with boxes, each a picture of its own.
    """

    kind: str
    sentence: str
    labels: dict[int, str]
    examples: tuple[tuple[int, ...], ...] = ()

    def as_json(self, stage: LevelStage) -> dict[str, object]:
        """The finding for JSON, with places (row and column, from 1) instead of squares."""

        def places(squares: Iterable[int]) -> list[list[int]]:
            return [[part + 1 for part in stage.place(square)] for square in squares]

        groups: dict[str, list[int]] = {}
        for square, label in self.labels.items():
            groups.setdefault(label, []).append(square)
        found: dict[str, object] = {"kind": self.kind, "sentence": self.sentence}
        found["squares"] = {label: places(squares) for label, squares in groups.items()}
        if self.examples:
            found["examples"] = [places(squares) for squares in self.examples]
        return found


def findings(stage: LevelStage) -> list[_Finding]:
    """All findings about a level, walls first. Dead sets take up to two CPU seconds."""
    sets = _dead_sets_of(stage, max(2, len(stage.start.boxes)))
    return [*_of_walls(stage), _sets(sets)]


def _of_walls(stage: LevelStage) -> list[_Finding]:
    """The findings that need only walls and goals."""
    return [_dead(stage), _tunnels(stage), _rooms(stage), *_packing(stage)]


def _dead_sets_of(stage: LevelStage, most: int) -> DeadSets | None:
    """The dead sets of a level, of at most 3 boxes and at most ``most`` boxes. None on maps that are too
    large: pairs alone take time cubic in the number of squares."""
    if stage.geometry.size > _MOST_SQUARES:
        return None
    return make_dead_sets(stage.geometry, most=min(3, most), seconds=_SECONDS)


def _dead(stage: LevelStage) -> _Finding:
    dead = np.flatnonzero(dead_squares(stage.geometry)[:-1]).tolist()
    share = len(dead) / max(1, stage.geometry.size)
    sentence = f"{count(len(dead), 'square')} ({share:.0%}) from where a box never gets to a goal"
    return _Finding("dead squares", sentence, dict.fromkeys(dead, "xx"))


def _tunnels(stage: LevelStage) -> _Finding:
    found = tunnels(stage.geometry)
    forced = np.flatnonzero(forced_pushes(stage.geometry)).tolist()
    sentence = (
        f"{count(len(found), 'tunnel')}; on {count(len(forced), 'square')} (marked >>) a box "
        "that comes by some way is pushed on at once"
    )
    labels = {square: _letter(number) for number, way in enumerate(found) for square in way}
    return _Finding("tunnels", sentence, labels | dict.fromkeys(forced, ">>"))


def _rooms(stage: LevelStage) -> _Finding:
    found = rooms(stage.geometry)
    parts = [
        f"{_letter(number)} with {count(len(room.goals), 'goal')} and "
        f"{count(len(room.entrances), 'entrance')}"
        for number, room in enumerate(found)
        if room.goals
    ]
    with_goals = ": " + "; ".join(parts) if parts else ", none with goals"
    labels = {square: _letter(number) for number, room in enumerate(found) for square in room.squares}
    return _Finding("rooms", count(len(found), "room") + with_goals, labels)


def _packing(stage: LevelStage) -> list[_Finding]:
    packing = packing_order(stage.geometry, stage.start)
    if not packing.layers and not packing.stuck:
        return []
    labels = {
        goal: str(number) for number, layer in enumerate(packing.layers, 1) for goal in layer
    } | dict.fromkeys(packing.stuck, "?")
    goals, layers = count(sum(map(len, packing.layers)), "goal"), count(len(packing.layers), "layer")
    sentence = f"{goals} in {layers}, to be filled in the order of the numbers"
    if packing.stuck:
        goals = count(len(packing.stuck), "goal")
        sentence += f"; no order found for {goals} (marked ?): their boxes are packed together, and first"
    return [_Finding("packing order", sentence, labels)]


def _sets(sets: DeadSets | None) -> _Finding:
    if sets is None:
        sentence = f"not looked for on a map of more than {_MOST_SQUARES} squares"
        return _Finding("dead sets", sentence, {})
    by_size: dict[int, list[tuple[int, ...]]] = {}
    for squares in sets.box_sets():
        by_size.setdefault(len(squares), []).append(squares)
    parts = [f"{len(by_size.get(size, [])):,} of {size} boxes" for size in sets.sizes]
    complete = ", ".join(parts) if parts else "none looked for"
    every = [one for size in sorted(by_size) for one in by_size[size]]
    on = {square: 0 for one in every for square in one}
    for one in every:
        for square in one:
            on[square] += 1
    most = max(on.values(), default=1)
    labels = {square: str(min(9, -(-9 * times // most))) for square, times in on.items()}
    sentence = (
        f"{complete} that can never all be packed, wherever the keeper is; the map says where they lie, "
        "from 1 (few) to 9 (most)"
    )
    return _Finding("dead sets", sentence, labels, _varied(by_size))


def _varied(by_size: dict[int, list[tuple[int, ...]]]) -> tuple[tuple[int, ...], ...]:
    """Some sets of each size that have few squares in common."""
    chosen: list[tuple[int, ...]] = []
    used: set[int] = set()
    each = max(1, _EXAMPLES // max(1, len(by_size)))
    for size in sorted(by_size):
        left = by_size[size]
        for _ in range(min(each, len(left))):
            best = min(left, key=lambda one: (len(used & set(one)), one))
            chosen.append(best)
            used |= set(best)
            left = [one for one in left if one != best]
    return tuple(chosen)


def _letter(number: int) -> str:
    return _LETTERS[number % len(_LETTERS)]


def count(number: int, name: str) -> str:
    """A number with its noun, such as ``3 boxes``."""
    plural = name + ("es" if name.endswith("x") else "s")
    return f"{number:,} {name if number == 1 else plural}"


def sentences(found: Sequence[_Finding]) -> list[str]:
    """A line of text for each finding."""
    return [f"{finding.kind}: {finding.sentence}" for finding in found]


_CORRAL_STATES = 1000


def why_dead(stage: LevelStage, position: Position) -> list[_Finding]:
    """The reasons found, the plainest first. Empty if the position is solved or no reason is found; the
    position may still be dead."""
    if is_solved(stage.geometry, position):
        return []
    return lost_boxes(stage, position) or _lost_together(stage, position)


def lost_boxes(stage: LevelStage, position: Position) -> list[_Finding]:
    """Findings about boxes that can never be packed, whatever the others do. They need no search."""
    geometry = stage.geometry
    goals = set(geometry.goals.tolist())
    dead = dead_squares(geometry)
    lost = [box for box in position.boxes if dead[box]]
    found = []
    if lost:
        sentence = f"{count(len(lost), 'box')} that no pushes can bring to a goal"
        found.append(_Finding("dead square", sentence, dict.fromkeys(lost, "!!")))
    frozen = {box for box in position.boxes if set(frozen_boxes(geometry, position, box)) - goals}
    if frozen - set(lost):
        stuck = sorted({other for box in frozen for other in frozen_boxes(geometry, position, box)})
        missing = sum(box not in goals for box in stuck)
        sentence = f"{count(len(stuck), 'box')} that can never move again, {missing} of them not on a goal"
        found.append(_Finding("freeze deadlock", sentence, dict.fromkeys(stuck, "!!")))
    return found


def _lost_together(stage: LevelStage, position: Position) -> list[_Finding]:
    """Reasons why boxes can never be packed together, though none of them is lost alone."""
    geometry = stage.geometry
    boxes = set(position.boxes)
    sets = _dead_sets_of(stage, len(boxes))
    dead_sets = sets.box_sets() if sets is not None else ()
    within = next((one for one in dead_sets if boxes.issuperset(one)), None)
    if within is not None:
        sentence = f"these {len(within)} boxes can never all be packed, whatever the others do"
        return [_Finding("dead set", sentence, dict.fromkeys(within, "!!"))]
    if has_bipartite_deadlock(geometry, position):
        sentence = "every box reaches some goal, but not each one of its own"
        return [_Finding("bipartite deadlock", sentence, {})]
    if pushes_needed(geometry, position, _CORRAL_STATES) == []:
        shut = {*boxes, geometry.size}
        walked = reachable(geometry.neighbours.tolist(), shut, position.keeper)
        closed = sorted(set(range(geometry.size)) - shut - walked)
        sentence = "boxes close off a part of the map (marked ..), and no push opens it in time"
        return [_Finding("corral deadlock", sentence, dict.fromkeys(closed, ".."))]
    return []


_STYLES = {
    "dead squares": ("bold #ff8a80 on #5a1f24",),
    "tunnels": ("bold #ffd180 on #4a3a16", "bold #fff59d on #54480f"),
    "rooms": ("on #1f3d5a", "on #2d4a22", "on #50285a", "on #5a4a1c", "on #1d5050", "on #5a2a2a"),
    "packing order": ("bold #ffffff on #7a2e36",),
    "dead sets": ("bold #ffab91 on #40232a",),
}
_ON_A_BOX = "bold #ffffff on #b71c1c"
_BESIDE = 3


def show_findings(console: Console, stage: LevelStage, found: Iterable[_Finding]) -> None:
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


def show_reasons(
    console: Console, stage: LevelStage, position: Position, reasons: Iterable[_Finding]
) -> None:
    """Print why a position is dead, each reason on a map of the position."""
    unicode = in_unicode(console)
    for finding in reasons:
        console.print(Text.assemble(("dead: ", "bold red"), (finding.kind, "bold"), f": {finding.sentence}"))
        marks = {square: Mark(label, _ON_A_BOX) for square, label in finding.labels.items()}
        console.print(as_text(draw(stage, position, unicode, marks=marks)))


def _marks(finding: _Finding) -> dict[int, Mark]:
    styles = _STYLES.get(finding.kind, (_ON_A_BOX,))
    order = {label: number for number, label in enumerate(sorted(set(finding.labels.values())))}
    return {
        square: Mark(label if len(label) > 1 else f" {label}", styles[order[label] % len(styles)])
        for square, label in finding.labels.items()
    }


def _example(stage: LevelStage, squares: tuple[int, ...], unicode: bool) -> Text:
    """A set of boxes and the map around it. The keeper is left out, since he may be anywhere."""
    keeper = next(square for square in range(stage.geometry.size) if square not in squares)
    hidden = {keeper: Mark("()" if keeper in stage.geometry.goals.tolist() else "")}
    position = Position(squares, keeper)
    return as_text(draw(stage, position, unicode, marks=hidden, frame=frame_of(stage, squares)))


def show_epilogue(console: Console, level: MachineStage, positions: Sequence[Position], solver: str) -> None:
    """Print pushes, moves and the solver; then, if the last position is dead, why; then a line for each
    finding about the level.

    Args:
        console: the console to print on.
        level: the game's level.
        positions: positions of the match, the first and the last included.
        solver: name of the solver; may be empty.
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
    # The last picture of a match must not wait for kernels to compile.
    ready = is_compiled("sokoban-dead-sets")
    for sentence in sentences(findings(stage) if ready else _of_walls(stage)):
        console.print(Text(f"  {sentence}", "dim"))
    if not ready:
        console.print(Text("  dead sets: from the next match on, once `ggp warm` has compiled them", "dim"))
