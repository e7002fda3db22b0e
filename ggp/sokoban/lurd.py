"""LURD: solutions as letters, with or without run lengths: read, written and checked.

``u r d l`` are steps, ``U R D L`` pushes; ``3r`` is ``rrr`` and ``2(rU)`` is ``rUrU``, as other programs
write them (http://www.sokobano.de/wiki/index.php?title=Level_format).

>>> read_lurd("3r 2(rU)")
'rrrrUrU'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.errors import Place as TextPlace
from gdl.reading import plain
from gdl.words import counted
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import BadStepError, MadeStep, follow, is_solved

MOST_STEPS = 5_000_000
"""The largest number of steps that is read: a run length may ask for any number."""

_TOKEN = re.compile(r"(\d*)([urdlURDL(])|(\))|(\s+)", re.ASCII)
_HEADING = re.compile(r"\s*(solution|snapshot|savegame)\b", re.IGNORECASE)


def read_lurd(text: str, source: str = "", line: int = 1) -> str:
    """The steps of a text of letters, run lengths and blanks.

    Args:
        text: the steps.
        source: the text's origin, for messages.
        line: the line of ``source`` on which the text begins.

    Raises GdlError, with line and column, if the text is malformed or has more than MOST_STEPS steps.
    """

    def fault(at: int, message: str, remedy: str) -> GdlError:
        before = text[:at]
        place = TextPlace(line + before.count("\n"), at - before.rfind("\n"))
        return GdlError(message, place, remedy, source)

    groups: list[tuple[int, int, list[str]]] = [(1, 0, [])]
    lengths = [0]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise fault(at, f"{text[at]!r} is not a step", "steps are u r d l, pushes U R D L, runs like 3r")
        count, letter, closing, _ = token.groups()
        times = min(int(count[:9]) if count else 1, MOST_STEPS + 1)
        if letter == "(":
            groups.append((times, at, []))
            lengths.append(0)
        elif letter:
            lengths[-1] += times
            if lengths[-1] <= MOST_STEPS:
                groups[-1][2].append(letter * times)
        elif closing:
            if len(groups) == 1:
                raise fault(at, "this ) closes nothing", "take it away")
            times, _, parts = groups.pop()
            inner = lengths.pop() * times
            lengths[-1] += inner
            if lengths[-1] <= MOST_STEPS:
                groups[-1][2].append("".join(parts) * times)
        if lengths[-1] > MOST_STEPS:
            raise fault(at, f"these are more than {MOST_STEPS:,} steps", "shorten it")
        at = token.end()
    if len(groups) > 1:
        raise fault(groups[-1][1], "this ( is never closed", "add a )")
    return "".join(groups[0][2])


def lurd_of_file(text: str, source: str) -> str:
    """The steps of a file: the whole text, or the part after the one line ``Solution`` in a file that also
    has a level (``.sok``).

    Raises GdlError as :func:`read_lurd` does, and if the file has several solutions.
    """
    lines = plain(text).split("\n")
    headings = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    if len(headings) > 1:
        raise GdlError(
            f"this file has {len(headings)} solutions", remedy="put one into a file of its own", source=source
        )
    if not headings:
        return read_lurd("\n".join(lines), source)
    first = headings[0] + 1
    while first < len(lines) and not lines[first].strip():
        first += 1
    last = first
    while last < len(lines) and lines[last].strip():
        last += 1
    return read_lurd("\n".join(lines[first:last]), source, first + 1)


@dataclass(frozen=True, slots=True)
class _LurdVerdict:
    """The result of playing a line of steps in a level.

    Attributes:
        moves: number of steps that can be made, pushes included.
        pushes: number of these steps that push a box.
        solved: whether all steps can be made and all boxes are then on goals.
        fault: the first step that cannot be made, and why; empty if all can be made.
        miswritten: number of letters that are capitals without pushing, or push without being capitals.
        position: the last position.
    """

    moves: int
    pushes: int
    solved: bool
    fault: str
    miswritten: int
    position: Position


def check_lurd(stage: LevelStage, steps: str) -> _LurdVerdict:
    """Make the steps one by one on the stage's map, up to the first that cannot be made."""
    last = MadeStep(-1, stage.start.keeper, False, frozenset(stage.start.boxes))
    count = pushes = miswritten = 0
    fault = ""
    try:
        for last in follow(stage.geometry, stage.start, steps):
            miswritten += steps[count].isupper() != last.pushed
            pushes += last.pushed
            count += 1
    except BadStepError as error:
        fault = "it runs into a wall"
        if error.box is not None:
            what = "a wall" if error.beyond == stage.geometry.size else "another box"
            fault = f"it pushes the box in {stage.name(error.box)} against {what}"
        fault = f"step {count + 1}, {steps[count]}, cannot be made: from {stage.name(last.keeper)} {fault}"
    position = Position(tuple(sorted(last.boxes)), last.keeper)
    solved = not fault and is_solved(stage.geometry, position)
    return _LurdVerdict(count, pushes, solved, fault, miswritten, position)


def snapshot(stage: LevelStage, steps: str, solver: str = "") -> str:
    """A level and its solution as a ``.sok`` file."""
    pushes = sum(letter.isupper() for letter in steps)
    parts = [stage.text(stage.start), ""]
    if stage.title:
        parts += [f"Title: {stage.title}", ""]
    by = f", by {solver}" if solver else ""
    parts.append(f"Solution: {counted(len(steps), 'move')}, {counted(pushes, 'push', 'pushes')}{by}")
    parts += [steps[at : at + 70] for at in range(0, len(steps), 70)]
    return "\n".join(parts) + "\n"
