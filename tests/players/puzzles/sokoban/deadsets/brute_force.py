"""An oracle that shares no code with the deadlock sets: plain search over sets of K boxes and keeper
squares."""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

from players.puzzles.sokoban.geometry import Geometry, from_level
from players.puzzles.sokoban.levels.level import Level

State = tuple[frozenset[int], int]


@st.composite
def geometries(draw: st.DrawFn, most_goals: int = 4) -> Geometry:
    """Rooms of up to 4 by 5 squares with inner walls, some goals, and no boxes."""
    height, width = draw(st.integers(2, 4)), draw(st.integers(3, 5))
    cells = draw(st.lists(st.sampled_from("     #"), min_size=height * width, max_size=height * width))
    places = draw(st.permutations(range(height * width)))
    for place in places[: draw(st.integers(1, most_goals))]:
        cells[place] = "."
    cells[places[-1]] = "@"
    rows = ("".join(cells[y * width : (y + 1) * width]) for y in range(height))
    return from_level(Level(("#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2))))[0]


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
