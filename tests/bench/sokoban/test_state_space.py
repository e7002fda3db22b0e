"""The oracle of everything Sokoban against a simulator that shares no code with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import TooLargeError
from players.puzzles.sokoban.geometry import STEPS, Geometry, Position, from_level, to_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from tests.examples import examples

Cells = frozenset[tuple[int, int]]


def _by_steps(level: Level) -> tuple[set[tuple[Cells, tuple[int, int]]], set[Cells]]:
    """All (boxes, keeper) that single steps lead to, and the sets of boxes that can still be solved."""
    cells = {(y, x): cell for y, row in enumerate(level.rows) for x, cell in enumerate(row)}
    boxes = frozenset(place for place, cell in cells.items() if cell in "$*")
    goals = {place for place, cell in cells.items() if cell in ".*+"}
    keeper = next(place for place, cell in cells.items() if cell in "@+")
    seen = {(boxes, keeper)}
    parents: dict[tuple[Cells, tuple[int, int]], list[tuple[Cells, tuple[int, int]]]] = {}
    waiting = [(boxes, keeper)]
    while waiting:
        state = waiting.pop()
        boxes, (y, x) = state
        for dy, dx in STEPS:
            there, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
            if cells.get(there, "#") == "#":
                continue
            after = boxes
            if there in boxes:
                if cells.get(beyond, "#") == "#" or beyond in boxes:
                    continue
                after = boxes - {there} | {beyond}
            child = after, there
            parents.setdefault(child, []).append(state)
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    alive = {state for state in seen if state[0] <= goals}
    waiting = list(alive)
    while waiting:
        for parent in parents.get(waiting.pop(), []):
            if parent not in alive:
                alive.add(parent)
                waiting.append(parent)
    return seen, alive  # type: ignore[return-value]


@st.composite
def small_levels(draw: st.DrawFn) -> Level:
    """Rooms of up to 4 by 5 squares with inner walls, one or two boxes."""
    height, width = draw(st.integers(1, 4)), draw(st.integers(3, 5))
    cells = draw(st.lists(st.sampled_from("    #"), min_size=height * width, max_size=height * width))
    places = draw(st.permutations(range(height * width)))
    count = draw(st.integers(1, 2 if height * width > 5 else 1))
    for place in places[:count]:
        cells[place] = "$"
    for place in places[count : 2 * count]:
        cells[place] = "."
    cells[places[2 * count]] = "@"
    rows = ("".join(cells[y * width : (y + 1) * width]) for y in range(height))
    return Level(("#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2)))


def _space(level: Level) -> tuple[Geometry, Position, StateSpace] | None:
    try:
        geometry, start = from_level(level)
    except Exception:
        return None  # a box that nobody can reach
    return geometry, start, explore(geometry, start, 20_000)


@examples(60)
@given(small_levels())
def test_states_and_which_are_alive_are_those_of_a_plain_simulation(level: Level) -> None:
    made = _space(level)
    if made is None:
        return
    geometry, _, space = made
    seen, alive = _by_steps(level)
    places = [tuple(place) for place in geometry.places.tolist()]
    unreachable = frozenset(
        (y, x) for y, row in enumerate(level.rows) for x, cell in enumerate(row) if cell in "$*"
    ) - set(places)

    def region(boxes: Cells, keeper: tuple[int, int]) -> tuple[int, int]:
        inside, waiting = {keeper}, [keeper]
        while waiting:
            y, x = waiting.pop()
            for dy, dx in STEPS:
                there = y + dy, x + dx
                if there in places and there not in boxes and there not in inside:
                    inside.add(there)
                    waiting.append(there)
        return min(inside)

    regions = {(boxes, region(boxes, keeper)): (boxes, keeper) for boxes, keeper in seen}
    ours = {
        (frozenset(places[box] for box in position.boxes) | unreachable, places[position.keeper]): number
        for number in range(space.size)
        for position in [space.position(number)]
    }
    assert ours.keys() == regions.keys()
    for state, number in ours.items():
        assert bool(space.alive[number]) == (regions[state] in alive)


@examples(40)
@given(small_levels(), st.randoms(use_true_random=False))
def test_pushes_replay_as_steps(level: Level, random: object) -> None:
    made = _space(level)
    if made is None:
        return
    geometry, start, space = made
    solved = [number for number in range(space.size) if is_solved(geometry, space.position(number))]
    first: dict[int, tuple[int, tuple[int, int]]] = {}
    for parent, child, box, direction in space.edges.tolist():
        if child and space.depths[child] == space.depths[parent] + 1:
            first.setdefault(child, (parent, (box, direction)))
    for number in solved[:3]:
        pushes = []
        while number:
            number, made_push = first[number]
            pushes.append(made_push)
        steps = steps_of(geometry, start, reversed(pushes))
        assert sum(step.isupper() for step in steps) == len(pushes)
        assert is_solved(geometry, after_steps(geometry, start, steps))
    assert from_level(to_level(geometry, start))[1] == start


@pytest.mark.slow
def test_a_level_of_too_many_states_is_refused() -> None:
    geometry, start = from_level(Level(("#######", "#@ $ .#", "#     #", "#######")))
    with pytest.raises(TooLargeError):
        explore(geometry, start, 3)
