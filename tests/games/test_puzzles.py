"""The puzzles: their solutions solve them, and are as short or as many as their headers say."""

from __future__ import annotations

from itertools import combinations

import pytest

from gdl.machine import State
from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from tests.games.known import OPENINGS, SOLVED
from tests.games.rules_of_games import options, play, prover, successors
from tests.games.small_sokoban import SOLUTION, small_sokoban


@pytest.mark.parametrize("name", SOLVED)
def test_known_solution_is_worth_100(name: str) -> None:
    state = play(prover(name).initial_state(), OPENINGS[name])
    assert state.terminal
    assert list(state.goals.values()) == [100]


@pytest.mark.parametrize(("name", "shortest"), [("small_sokoban", 13), ("hanoi", 31)])
def test_shortest_solution_is_as_long_as_we_say(name: str, shortest: int) -> None:
    small = small_sokoban().machine("prover")
    layer = [(small if name == "small_sokoban" else prover(name)).initial_state()]
    seen: set[frozenset[Term]] = set()
    for moves in range(shortest + 1):
        solved = any(100 in state.goals.values() for state in layer)
        assert solved == (moves == shortest)
        following: list[State] = []
        for state in layer:
            for after in successors(state):
                core = frozenset(p for p in after.propositions if p.name != "step")
                if core not in seen:
                    seen.add(core)
                    following.append(after)
        layer = following
    assert len(parse_terms(SOLUTION if name == "small_sokoban" else OPENINGS[name])) == shortest


def test_eight_puzzle_needs_18_moves() -> None:
    """Searched from both ends on tuples, row by row from the top, 0 for the hole."""
    start = tuple(_tile(prover("eightpuzzle").initial_state(), x, y) for y in (3, 2, 1) for x in "abc")
    near: set[tuple[int, ...]] = {start}
    far: set[tuple[int, ...]] = {(1, 2, 3, 4, 5, 6, 7, 8, 0)}
    moves = 0
    while not near & far:
        near = {after for position in near for after in _slides(position)}
        moves += 1
        if not near & far:
            far = {after for position in far for after in _slides(position)}
            moves += 1
    assert moves == len(parse_terms(OPENINGS["eightpuzzle"])) == 18


def _tile(state: State, x: str, y: int) -> int:
    found = [p.args[2].name for p in state.propositions if [a.name for a in p.args[:2]] == [x, str(y)]]
    return int(found[0]) if found else 0


def _slides(position: tuple[int, ...]) -> list[tuple[int, ...]]:
    hole = position.index(0)
    found = []
    for other in range(9):
        if abs(hole // 3 - other // 3) + abs(hole % 3 - other % 3) == 1:
            after = list(position)
            after[hole], after[other] = after[other], 0
            found.append(tuple(after))
    return found


def test_lights_out_needs_8_moves() -> None:
    """Presses commute and two of the same cancel: every set of up to four is tried from each end."""
    lamps = {(x, y): 1 << (5 * y + x) for x in range(5) for y in range(5)}
    presses = [
        sum(lamps.get((x + dx, y + dy), 0) for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)))
        for x, y in lamps
    ]
    corners = lamps[0, 0] | lamps[4, 0] | lamps[0, 4] | lamps[4, 4]
    changes: list[set[int]] = []
    for size in range(5):
        changed = set()
        for chosen in combinations(presses, size):
            change = 0
            for press in chosen:
                change ^= press
            changed.add(change)
        changes.append(changed)
    fewest = min(
        a + b
        for a in range(5)
        for b in range(5)
        if not changes[a].isdisjoint({corners ^ c for c in changes[b]})
    )
    assert fewest == len(parse_terms(OPENINGS["lightsout"])) == 8


def test_sudoku_has_one_solution_and_every_order_of_writing_it_wins() -> None:
    solutions: set[frozenset[Term]] = set()
    seen: set[State] = set()
    waiting = [prover("sudoku").initial_state()]
    while waiting:
        state = waiting.pop()
        if state.goals["player"] == 100:
            solutions.add(state.propositions)
            continue
        writes: dict[tuple[Term, ...], list[int]] = {}
        for move in options(state)[0]:
            writes.setdefault(state.machine.move(0, move).args[:2], []).append(move)
        empty = 81 - len(state.propositions)
        if len(writes) < empty:
            continue  # some cell can hold nothing
        for move in min(writes.values(), key=len):
            after = state.machine.next_state(state, [move])
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert len(solutions) == 1
    (solution,) = solutions
    state = prover("sudoku").initial_state()
    for cell in sorted(solution - state.propositions):
        assert not state.terminal
        state = state.play(Term("write", *cell.args))
    assert state.terminal and state.goals == {"player": 100}


def test_sudoku_that_is_stuck_is_over_and_worth_nothing() -> None:
    state = prover("sudoku").initial_state()
    while not state.terminal:
        state = state.machine.next_state(state, [options(state)[0][0]])
    assert state.goals == {"player": 0}


def test_sokoban_pays_part_for_a_box_on_a_goal() -> None:
    state = small_sokoban().machine("prover").initial_state()
    values = [state.goals["keeper"]]
    for move in parse_terms(SOLUTION):
        state = state.play(move)
        values.append(state.goals["keeper"])
    assert values[-1] == 100
    assert 50 in values
    assert values == sorted(values, key=lambda value: value or 0)
