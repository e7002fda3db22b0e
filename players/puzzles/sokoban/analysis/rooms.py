"""Rooms: what tunnels leave of a level, with their entrances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.analysis.tunnels import tunnel_squares
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Int32s

NO_ROOM = -1


@dataclass(frozen=True, slots=True)
class Room:
    """A part of a level that only tunnels lead to.

    Attributes:
        squares: ascending.
        goals: those of its squares that are goals.
        entrances: the squares of tunnels beside it.
    """

    squares: tuple[int, ...]
    goals: tuple[int, ...]
    entrances: tuple[int, ...]


def rooms(geometry: Geometry) -> list[Room]:
    """All rooms of a level, by their lowest squares."""
    numbers = room_numbers(geometry)
    goals = set(geometry.goals.tolist())
    found = []
    for number in range(int(numbers.max(initial=NO_ROOM)) + 1):
        squares = np.flatnonzero(numbers == number).tolist()
        beside = set(geometry.neighbours[squares].ravel().tolist()) - {geometry.size, *squares}
        found.append(Room(tuple(squares), tuple(sorted(goals & set(squares))), tuple(sorted(beside))))
    return found


def room_numbers(geometry: Geometry) -> Int32s:
    """Which room each square is in: int32, shape (size + 1,); NO_ROOM in tunnels and outside."""
    numbers = np.full(geometry.size + 1, NO_ROOM, np.int32)
    tunnel = tunnel_squares(geometry)
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    count = 0
    for first in range(geometry.size):
        if tunnel[first] or numbers[first] != NO_ROOM:
            continue
        numbers[first] = count
        waiting = [first]
        while waiting:
            for there in neighbours[waiting.pop()]:
                if there != geometry.size and not tunnel[there] and numbers[there] == NO_ROOM:
                    numbers[there] = count
                    waiting.append(there)
        count += 1
    return numbers
