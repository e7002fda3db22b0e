"""Solutions as users write them: pushes by square and direction, and all steps as a string of letters; and
the squares that a keeper can walk to, for code outside kernels.

In such a string ``u r d l`` are steps and ``U R D L`` pushes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from gdl.errors import GdlError
from players.puzzles.sokoban.geometry import Geometry, Position

Push = tuple[int, int]
"""The square from which a box is pushed, and the direction."""

LETTERS = "urdl"


def reachable(neighbours: Sequence[Sequence[int]], shut: Set[int], start: int) -> set[int]:
    """Return the squares that a keeper can walk to from ``start`` without entering a ``shut`` square; the
    outside must be shut."""
    seen, waiting = {start}, [start]
    for square in waiting:  # the list grows
        for there in neighbours[square]:
            if there not in shut and there not in seen:
                seen.add(there)
                waiting.append(there)
    return seen


def shortest_walk(
    neighbours: Sequence[Sequence[int]], shut: Set[int], start: int, end: int
) -> list[int] | None:
    """Return the directions of a shortest walk, with the arguments of :func:`reachable`; None if there is
    none."""
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    waiting = [start]
    for square in waiting:  # the list grows
        if square == end:
            break
        for direction, there in enumerate(neighbours[square]):
            if there not in shut and there not in came:
                came[there] = square, direction
                waiting.append(there)
    if end not in came:
        return None
    way = []
    while end != start:
        end, direction = came[end]
        way.append(direction)
    return way[::-1]


def steps_of(geometry: Geometry, start: Position, pushes: Iterable[Push]) -> str:
    """Return the keeper's steps that make these pushes, with shortest walks between them.

    Raises:
        GdlError: a push cannot be made.
    """
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    shut, keeper = {*start.boxes, geometry.size}, start.keeper
    parts: list[str] = []
    for number, (box, direction) in enumerate(pushes, 1):
        ahead = neighbours[box][direction]
        way = shortest_walk(neighbours, shut, keeper, neighbours[box][direction ^ 2])
        if box not in shut or ahead in shut or way is None:
            raise GdlError(f"push {number} cannot be made: box on square {box}, direction {direction}")
        parts += [*(LETTERS[step] for step in way), LETTERS[direction].upper()]
        shut.remove(box)
        shut.add(ahead)
        keeper = box
    return "".join(parts)


class MadeStep(NamedTuple):
    """A step that was made: its direction, the keeper's new square, whether it was a push, and the squares of
    the boxes, which change with the next step."""

    direction: int
    keeper: int
    pushed: bool
    boxes: Set[int]


def follow(geometry: Geometry, start: Position, steps: Iterable[str]) -> Iterator[MadeStep]:
    """Make steps one by one; the case of the letters does not matter.

    Raises:
        GdlError: a letter is not one of u r d l, or a step cannot be made.
    """
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    outside = geometry.size
    boxes, keeper = set(start.boxes), start.keeper
    for number, letter in enumerate(steps, 1):
        direction = LETTERS.find(letter.lower())
        if direction < 0:
            raise GdlError(f"step {number} is {letter!r}", remedy="steps are u, r, d and l")
        keeper = neighbours[keeper][direction]
        pushed = keeper in boxes
        if pushed:
            beyond = neighbours[keeper][direction]
            if beyond in boxes or beyond == outside:
                raise GdlError(f"step {number}, {letter}, pushes a box against something")
            boxes.remove(keeper)
            boxes.add(beyond)
        elif keeper == outside:
            raise GdlError(f"step {number}, {letter}, runs into a wall")
        yield MadeStep(direction, keeper, pushed, boxes)


def after_steps(geometry: Geometry, start: Position, steps: Iterable[str]) -> Position:
    """Return the position after a string of steps. Raises GdlError as :func:`follow` does."""
    last = MadeStep(-1, start.keeper, False, frozenset(start.boxes))
    for last in follow(geometry, start, steps):  # noqa: B007 (only the last one counts)
        pass
    return Position(tuple(sorted(last.boxes)), last.keeper)


def is_solved(geometry: Geometry, position: Position) -> bool:
    """Return whether every box stands on a goal."""
    return set(position.boxes) <= set(geometry.goals.tolist())
