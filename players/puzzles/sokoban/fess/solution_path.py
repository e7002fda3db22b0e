"""Macro moves spelled out as pushes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push


def spell_out(geometry: Geometry, start: Position, moves: Iterable[tuple[int, int]]) -> list[Push]:
    """The pushes that make these macro moves, each the fewest: the square of the box, and the stance that it
    comes to (:mod:`players.puzzles.sokoban.fess.macro_moves`)."""
    boxes, keeper = set(start.boxes), start.keeper
    pushes: list[Push] = []
    for origin, stance in moves:
        part = _macro(geometry, boxes, keeper, origin, stance)
        pushes += part
        boxes.remove(origin)
        boxes.add(stance >> 2)
        keeper = part[-1][0]
    return pushes


def _macro(geometry: Geometry, boxes: set[int], keeper: int, origin: int, stance: int) -> list[Push]:
    """The fewest pushes that bring one box from ``origin`` to ``stance``."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    walls = (boxes - {origin}) | {geometry.size}
    end, wanted = stance >> 2, neighbours[stance >> 2][stance & 3]
    came: dict[tuple[int, int], tuple[tuple[int, int], Push]] = {}
    start = origin, min(_region(neighbours, walls | {origin}, keeper))
    waiting = deque([(start, keeper)])
    while waiting:
        here, man = waiting.popleft()
        box = here[0]
        region = _region(neighbours, walls | {box}, man)
        if box == end and wanted in region and here != start:
            pushes: list[Push] = []
            while here != start:
                here, push = came[here]
                pushes.append(push)
            return pushes[::-1]
        for direction in range(4):
            ahead = neighbours[box][direction]
            if neighbours[box][direction ^ 2] not in region or ahead in walls:
                continue
            there = ahead, min(_region(neighbours, walls | {ahead}, box))
            if there not in came and there != start:
                came[there] = here, (box, direction)
                waiting.append((there, box))
    raise ValueError("no pushes of this box make the move")


def _region(neighbours: list[list[int]], walls: set[int], start: int) -> set[int]:
    """The squares that the keeper can walk to."""
    seen = {start}
    waiting = [start]
    while waiting:
        for there in neighbours[waiting.pop()]:
            if there not in walls and there not in seen:
                seen.add(there)
                waiting.append(there)
    return seen
