"""The frontier finds the layers, the ends and the lines that plain breadth-first search finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.prover.machine import ProverMachine
from players.puzzles.frontier.outcome import SearchLimits
from players.sorted_sets.files import has_commit
from tests.examples import examples
from tests.games.small_sokoban import SOLUTION, small_sokoban
from tests.games.tiles import tiles
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, passes, searched
from tests.players.puzzles.frontier.random_rules import random_rules, shortest_ends

OURS = ["eightpuzzle", "hanoi"]
CORPUS = [
    "asteroids", "blocks", "brain_teaser_extended", "buttons", "circlesolitaire", "coins",
    "duplicateStateMedium", "hanoi", "haystack", "hitori", "lightsOn", "maze", "pancakes6", "stateSpaceSmall",
    "untwistycomplex2",
]  # fmt: skip
"""Small games whose keys are narrow."""


def assert_as_plain(text: str) -> None:
    machine = machine_of(text)
    plain = passes(machine)
    result = searched(machine)
    assert result.layers == plain.layers
    assert result.states == sum(plain.layers)
    assert {value: len(line) for value, line in result.lines.items()} == plain.ends


@pytest.mark.parametrize("name", OURS)
def test_our_games_are_searched_as_plain_search_does(name: str) -> None:
    assert_as_plain(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_public_games_are_searched_as_plain_search_does(name: str, corpus: Path) -> None:
    path = corpus / "games" / f"{name}.kif"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    assert_as_plain(path.read_text())


def test_the_eight_puzzle_has_181440_states_in_32_layers() -> None:
    result = searched(machine_of(tiles(3, 3)))
    assert result.complete and result.value == -1 and not result.moves
    assert result.states == 181_440 and len(result.layers) == 32
    assert result.layers[:6] == [1, 2, 4, 8, 16, 20]
    assert result.layers[-2:] == [221, 2]
    assert result.key_bits <= 36


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    machine = machine_of("eightpuzzle")
    alone = searched(machine)
    result = searched(machine, SearchLimits(PLENTY, workers=workers, symmetry=False))
    assert result.layers == alone.layers
    assert result.lines == alone.lines


@pytest.mark.slow
@examples(40)
@given(seed=st.integers(0, 10_000), clocked=st.sampled_from([0.3, 0.9]), symmetry=st.booleans())
@example(seed=10, clocked=0.9, symmetry=False)
@example(seed=26, clocked=0.9, symmetry=True)
def test_random_games_end_as_trying_everything_says(seed: int, clocked: float, symmetry: bool) -> None:
    machine = machine_of(random_rules(seed, clocked))
    prover = ProverMachine(machine.rules)
    if prover.is_terminal(prover.initial_state()):
        return
    ends = shortest_ends(prover)
    result = searched(machine, SearchLimits(PLENTY, symmetry=symmetry))
    assert result.value == max(ends) and result.shortest
    told = {value: len(line) for value, line in result.lines.items()}
    assert told == ends if result.complete else told.items() <= ends.items()


def test_a_small_sokoban_is_solved_by_as_few_moves_as_can_be() -> None:
    machine = machine_of(small_sokoban().text)
    plain = passes(machine)
    result = searched(machine)
    assert result.layers == plain.layers
    assert result.value == 100 and len(result.moves) == plain.ends[100] == SOLUTION.count("move")


def lights(size: int) -> str:
    """Lights out without an end: all is dark at first."""
    text = "(role player) (<= (legal player (press ?x ?y)) (number ?x) (number ?y)) (goal player 0)"
    text += """(<= (changes ?x ?y) (does player (press ?x ?y)))
        (<= (changes ?x ?v) (does player (press ?x ?y)) (beside ?y ?v))
        (<= (changes ?u ?y) (does player (press ?x ?y)) (beside ?x ?u))
        (<= (next (lit ?x ?y)) (true (lit ?x ?y)) (not (changes ?x ?y)))
        (<= (next (lit ?x ?y)) (changes ?x ?y) (not (true (lit ?x ?y))))
        (<= terminal (true (lit 1 1)) (not (true (lit 1 1))))"""
    text += " ".join(f"(number {n})" for n in range(size))
    return text + " ".join(f"(beside {n} {n + 1}) (beside {n + 1} {n})" for n in range(size - 1))


@pytest.mark.parametrize(("size", "rank"), [(2, 4), (3, 9), (4, 12)])
def test_lights_out_has_as_many_states_as_the_rank_of_its_moves_says(size: int, rank: int) -> None:
    # Ranks over GF(2): K. Sutner, 1989; 5x5 has 23.
    assert searched(machine_of(lights(size))).states == 2**rank


def ring_and_walk() -> str:
    """Going round in a ring of three: place 1 ends the match after seven steps only. A walk of nine steps
    along other places ends it too, with the same goal."""
    succ = " ".join(f"(succ {n} {n + 1})" for n in range(10))
    walk = " ".join(f"(walk {n} {n + 1})" for n in range(9))
    return f"""
        (role r) (init (at ring 0)) (init (step 0)) {succ} {walk} (ring 0 1) (ring 1 2) (ring 2 0)
        (legal r round) (<= (legal r walk) (true (at ?any 0)))
        (<= (next (at ring ?b)) (true (at ring ?a)) (ring ?a ?b) (does r round))
        (<= (next (at walk 1)) (true (at ring 0)) (does r walk))
        (<= (next (at walk ?b)) (true (at walk ?a)) (walk ?a ?b))
        (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
        (<= terminal (true (step 7)) (true (at ring 1)))
        (<= terminal (true (at walk 9))) (<= terminal (true (step 10)))
        (<= win (true (at ring 1))) (<= win (true (at walk 9)))
        (<= (goal r 100) win) (<= (goal r 0) (not win))"""


def test_a_shortest_line_may_be_one_that_only_the_clock_ends() -> None:
    result = searched(machine_of(ring_and_walk()))
    assert result.shortest and result.value == 100 and len(result.moves) == 7


@pytest.mark.slow
def test_a_search_for_a_shorter_line_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    machine = machine_of(ring_and_walk())
    looking = 0
    for steps in range(1, 1000, 3):
        scratch = tmp_path / f"{steps}"
        search = begun(machine, SearchLimits(PLENTY, scratch, symmetry=False))
        for _ in range(steps):
            next(search._steps, None)
        over = search.shortest
        looking += search.proven and not over
        search.close()
        if over:
            break
        if has_commit(scratch):
            result = searched(machine, SearchLimits(PLENTY, scratch, symmetry=False))
            assert result.shortest and len(result.moves) == 7
    assert over and looking > 3
