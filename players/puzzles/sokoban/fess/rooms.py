"""Rooms and the links between them (Shoham and Schaeffer 2020): a room is a connected area of 2x3 squares."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from players.puzzles.sokoban.geometry import DOWN, RIGHT, Geometry
from propnet.jit.arrays import Int32s, Words

CORRIDOR = -1
MOST_ROOMS = 64


def rooms_of(geometry: Geometry) -> Int32s:
    """The room that each square belongs to, int32, shape (size + 1,); CORRIDOR where it belongs to none, or
    to two. Areas that share two squares are one room. Rooms beyond MOST_ROOMS are corridors."""
    areas = list(_areas(geometry.neighbours, geometry.size))
    parent = list(range(len(areas)))

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    owners: dict[tuple[int, int], int] = {}
    for number, area in enumerate(areas):
        for square in area:
            for direction in (RIGHT, DOWN):
                there = int(geometry.neighbours[square, direction])
                if there in area:
                    other = owners.setdefault((square, there), number)
                    parent[find(number)] = find(other)
    rooms = np.full(geometry.size + 1, CORRIDOR, np.int32)
    shared: set[int] = set()
    names: dict[int, int] = {}
    for number, area in enumerate(areas):
        name = names.setdefault(find(number), len(names))
        for square in area:
            if rooms[square] not in (CORRIDOR, name):
                shared.add(square)
            rooms[square] = name
    rooms[list(shared)] = CORRIDOR
    rooms[rooms >= MOST_ROOMS] = CORRIDOR
    return rooms


def room_links(geometry: Geometry, rooms: Int32s) -> Words:
    """Which rooms the keeper can walk between without entering a third, there being no boxes.

    Returns uint64, shape (MOST_ROOMS,): bit r of entry q is set where rooms q and r are linked."""
    links = [0] * MOST_ROOMS
    for room in range(int(rooms.max(initial=-1)) + 1):
        waiting = np.flatnonzero(rooms == room).tolist()
        seen = set(waiting)
        while waiting:
            for there in geometry.neighbours[waiting.pop()].tolist():
                if there == geometry.size or there in seen:
                    continue
                if rooms[there] in (CORRIDOR, room):
                    seen.add(there)
                    waiting.append(there)
                else:
                    links[room] |= 1 << int(rooms[there])
    return np.array(links, np.uint64)


def _areas(neighbours: Int32s, size: int) -> Iterator[tuple[int, ...]]:
    """All areas of 2x3 or 3x2 squares."""
    for square in range(size):
        for long, short in ((RIGHT, DOWN), (DOWN, RIGHT)):
            line = [square, int(neighbours[square, long])]
            line.append(int(neighbours[line[1], long]))
            area = (*line, *(int(neighbours[s, short]) for s in line))
            if size not in area:
                yield area
