"""The frontier finds the layers, the ends and the lines that plain breadth-first search finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.prover.machine import ProverMachine
from players.puzzles.frontier.outcome import FrontierOptions
from tests.games.tiles import tiles
from tests.players.puzzles.frontier.plain import GAMES, PLENTY, machine_of, passes, searched
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
    assert_as_plain((GAMES / f"{name}.kif").read_text())


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
    machine = machine_of((GAMES / "eightpuzzle.kif").read_text())
    alone = searched(machine)
    result = searched(machine, FrontierOptions(PLENTY, workers=workers, symmetry=False))
    assert result.layers == alone.layers
    assert result.lines == alone.lines


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_random_games_end_as_trying_everything_says(seed: int) -> None:
    machine = machine_of(random_rules(seed))
    prover = ProverMachine(machine.rules)
    if prover.is_terminal(prover.initial_state()):
        return
    ends = shortest_ends(prover)
    result = searched(machine)
    assert result.value == max(ends)
    if result.complete:
        assert {value: len(line) for value, line in result.lines.items()} == ends
