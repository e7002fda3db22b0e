"""The oracle of everything Sokoban against a simulator that shares no code with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import TooLargeError
from players.puzzles.sokoban.geometry import Geometry, Position, from_level, to_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from tests.examples import examples
from tests.players.puzzles.sokoban.levels.simulator import Sokoban
from tests.players.puzzles.sokoban.small_levels import small_levels

LEVELS = small_levels(4, 5, boxes=2)


def _by_steps(level: Level) -> tuple[set[Sokoban], set[Sokoban]]:
    """All states that single steps lead to, and those that can still be solved."""
    first = Sokoban.begin(level)
    parents: dict[Sokoban, list[Sokoban]] = {first: []}
    waiting = [first]
    for state in waiting:  # the list grows
        for child in state.moves().values():
            if child not in parents:
                parents[child] = []
                waiting.append(child)
            parents[child].append(state)
    alive = [state for state in waiting if state.solved]
    seen = set(alive)
    for state in alive:  # the list grows
        for parent in parents[state]:
            if parent not in seen:
                seen.add(parent)
                alive.append(parent)
    return set(waiting), seen


def _space(level: Level) -> tuple[Geometry, Position, StateSpace] | None:
    try:
        geometry, start = from_level(level)
    except Exception:
        return None  # a box that nobody can reach
    return geometry, start, explore(geometry, start, 20_000)


@examples(60)
@given(LEVELS)
def test_states_and_which_are_alive_are_those_of_a_plain_simulation(level: Level) -> None:
    made = _space(level)
    if made is None:
        return
    geometry, _, space = made
    seen, alive = _by_steps(level)
    places = [(x, y) for y, x in geometry.places.tolist()]
    theirs = {
        (state.boxes, min(state.walks(), key=lambda square: square[::-1])): state in alive for state in seen
    }
    ours = {
        (frozenset(places[box] for box in position.boxes), places[position.keeper]): bool(space.alive[number])
        for number in range(space.size)
        for position in [space.position(number)]
    }
    assert ours == theirs


@examples(40)
@given(LEVELS, st.randoms(use_true_random=False))
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
