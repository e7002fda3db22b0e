"""An oracle that shares no code with the deadlock sets: plain search over sets of K boxes and keeper
squares."""

from __future__ import annotations

from itertools import combinations

from players.puzzles.sokoban.geometry import Geometry

State = tuple[frozenset[int], int]


def alive_states(geometry: Geometry, count: int) -> set[State]:
    """All (boxes, keeper square) from which ``count`` boxes can be pushed to goals: by single steps,
    backwards."""
    size = geometry.size
    neighbours = geometry.neighbours.tolist()
    alive = {
        (frozenset(boxes), keeper)
        for boxes in combinations(geometry.goals.tolist(), count)
        for keeper in range(size)
        if keeper not in boxes
    }
    waiting = list(alive)
    while waiting:
        boxes, keeper = waiting.pop()
        for direction in range(4):
            back = neighbours[keeper][direction ^ 2]
            if back == size or back in boxes:
                continue
            ahead = neighbours[keeper][direction]
            before = [(boxes, back)]
            if ahead in boxes:
                before.append((boxes - {ahead} | {keeper}, back))
            for state in before:
                if state not in alive:
                    alive.add(state)
                    waiting.append(state)
    return alive
