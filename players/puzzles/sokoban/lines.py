"""Solutions as people write them: pushes by square and direction, and all steps as a string of letters.

In such a string ``u r d l`` are steps and ``U R D L`` pushes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from gdl.errors import GdlError
from players.puzzles.sokoban.geometry import Geometry, Position

Push = tuple[int, int]
"""The square that a box is pushed from, and the direction."""

LETTERS = "urdl"


def steps_of(geometry: Geometry, start: Position, pushes: Iterable[Push]) -> str:
    """The steps of the keeper that make these pushes, by shortest walks between them.

    Raises:
        GdlError: a push cannot be made.
    """
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    boxes, keeper = set(start.boxes), start.keeper
    parts: list[str] = []
    for number, (box, direction) in enumerate(pushes, 1):
        ahead = neighbours[box][direction]
        way = _walk(neighbours, boxes, keeper, neighbours[box][direction ^ 2])
        if box not in boxes or ahead in boxes or ahead == geometry.size or way is None:
            raise GdlError(f"push {number} cannot be made: box on square {box}, direction {direction}")
        parts += [way, LETTERS[direction].upper()]
        boxes.remove(box)
        boxes.add(ahead)
        keeper = box
    return "".join(parts)


def after_steps(geometry: Geometry, start: Position, steps: Sequence[str]) -> Position:
    """The position after a string of steps; the case of the letters says nothing.

    Raises:
        GdlError: a letter is not one of u r d l, or a step cannot be made.
    """
    boxes, keeper = set(start.boxes), start.keeper
    for number, letter in enumerate(steps, 1):
        direction = LETTERS.find(letter.lower())
        if direction < 0:
            raise GdlError(f"step {number} is {letter!r}", remedy="steps are u, r, d and l")
        ahead = int(geometry.neighbours[keeper, direction])
        if ahead in boxes:
            beyond = int(geometry.neighbours[ahead, direction])
            if beyond in boxes or beyond == geometry.size:
                raise GdlError(f"step {number}, {letter}, pushes a box against something")
            boxes.remove(ahead)
            boxes.add(beyond)
        elif ahead == geometry.size:
            raise GdlError(f"step {number}, {letter}, runs into a wall")
        keeper = ahead
    return Position(tuple(sorted(boxes)), keeper)


def is_solved(geometry: Geometry, position: Position) -> bool:
    """Whether every box stands on a goal."""
    return set(position.boxes) <= set(geometry.goals.tolist())


def _walk(neighbours: list[list[int]], boxes: set[int], start: int, end: int) -> str | None:
    """A shortest walk, as letters; None where there is none."""
    outside = len(neighbours) - 1
    if start == end:
        return ""
    came: dict[int, tuple[int, str]] = {start: (start, "")}
    waiting = deque([start])
    while waiting:
        square = waiting.popleft()
        for letter, there in zip(LETTERS, neighbours[square], strict=True):
            if there == outside or there in boxes or there in came:
                continue
            came[there] = square, letter
            if there == end:
                letters = []
                while there != start:
                    there, letter = came[there]
                    letters.append(letter)
                return "".join(reversed(letters))
            waiting.append(there)
    return None
