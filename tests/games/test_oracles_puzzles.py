"""Solutions of puzzles that their oracles accept, too; lengths that are known."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable
from typing import Final

import pytest

from tests.games.oracles.catalogue import oracle_of, oracles_in
from tests.games.oracles.match import Match, apart, words
from tests.games.oracles.paper import Paper
from tests.games.rules_of_games import prover
from tests.players.puzzles.frontier.plain import machine_of, searched

SHORTEST: Final = {
    "atomix": 24, "chineserings": 42, "couples": 11, "frogs": 15, "guarini": 16, "iceboxes": 17,
    "icemaze": 18, "keymaze": 68, "merlin": 6, "missionaries": 11, "snakecube": 17, "torchbridge": 5,
    "trianglepegs": 13, "waterjugs": 7, "wolfgoat": 7,
}  # fmt: skip
"""Moves of a shortest solution. Those of the crossings, jugs, frogs, knights, rings and pegs stand in books;
the other puzzles are ours."""
SEARCHED: Final = {
    "ballsort": 15, "bishops": 36, "fifteen": 20, "foreandaft": 46, "klotski": 116, "pocketcube": 9,
    "pyraminx": 9, "rushhour": 36, "threelights": 9,
}  # fmt: skip
"""The same, of puzzles with many states. 116 is Klotski's number in steps of one square; the bishops' 36 and
fore and aft's 46 stand in books, too."""
FILLED: Final = ("hidato", "tents")
"""Puzzles of one solution, in which nothing that was written goes away."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORTEST)
def test_shortest_solutions_have_as_many_moves_as_the_head_says(name: str) -> None:
    waiting = deque([(oracle_of(name)(), 0)])
    seen = set[frozenset[str]]()
    while waiting:
        match, moves = waiting.popleft()
        if match.goals() == [100]:
            assert moves == SHORTEST[name]
            return
        for move in match.options()[0]:
            after = pickle.loads(pickle.dumps(match))
            after.play([move])
            key = frozenset(fact for fact in after.facts() if not fact.startswith("(step"))
            if key not in seen:
                seen.add(key)
                waiting.append((after, moves + 1))
    pytest.fail("there is no solution")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILLED)
def test_a_puzzle_that_is_filled_has_one_solution(name: str) -> None:
    layer = {frozenset(oracle_of(name)().facts()): oracle_of(name)()}
    solutions = 0
    while layer:
        solutions += sum(match.goals() == [100] for match in layer.values())
        following = {}
        for match in layer.values():
            for move in fewest(match):
                after = pickle.loads(pickle.dumps(match))
                after.play([move])
                following[frozenset(after.facts())] = after
        layer = following
    assert solutions == 1


def accepted(name: str, moves: Iterable[str]) -> None:
    """Assert that our rules and the oracle agree on a line, and that it solves the puzzle."""
    match, state = oracle_of(name)(), prover(name).initial_state()
    for move in moves:
        assert not apart(state, match)
        state = state.play(move)
        match.play([move])
    assert not apart(state, match)
    assert match.over and match.goals() == [100]


@pytest.mark.slow
@pytest.mark.parametrize("name", oracles_in("paper"))
def test_a_puzzle_on_paper_has_one_solution_that_our_rules_accept(name: str) -> None:
    match = oracle_of(name)()
    assert isinstance(match, Paper)
    (moves,) = match.solutions()
    accepted(name, moves)


def fewest(match: Match) -> list[str]:
    """The moves of the square that has fewest of them; all moves where each has one."""
    squares: dict[tuple[str, ...], list[str]] = {}
    for move in match.options()[0]:
        squares.setdefault(tuple(words(move)[1:3]), []).append(move)
    several = all(len(own) == 1 for own in squares.values())
    return match.options()[0] if several or not squares else min(squares.values(), key=len)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHED)
def test_the_search_of_all_states_finds_lines_that_are_as_short(name: str) -> None:
    result = searched(machine_of(name))
    assert result.value == 100 and len(result.moves) == SEARCHED[name]
    accepted(name, [str(machine_of(name).move(0, number)) for number in result.moves])
