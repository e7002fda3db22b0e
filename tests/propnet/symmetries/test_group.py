"""Automorphisms: the groups of known games, and what an automorphism is, state by state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.rules import Rules
from propnet.analysis.cones import observed
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.symmetries.group import Renaming, automorphisms, closure
from tests.places import GAMES
from tests.propnet.symmetries.games import Game, game_of, game_of_text

GROUPS = {
    "tictactoe": 8,
    "connectfour": 2,
    "breakthrough": 2,
    "pegsolitaire": 8,
    "lightsout": 8,
    "queens": 2,
    "knightstour": 8,
    "eightpuzzle": 2,  # transposition of the board and of the tiles' names
    "hanoi": 2,
    "ninemensmorris": 16,  # the inner and the outer square may be exchanged
}
"""Elements of our games' groups."""

PUBLIC = {
    "queens06ug": 8,
    "queens12ug": 8,
    "peg": 8,
    "lightsOut": 8,
    "knightsTourLarge": 8,
    "pentago": 8,
    "asteroids": 8,
    "ticTacToe": 8,
    "conn4": 2,
    "breakthroughSmall": 2,
    "knightmove": 2,
    "maze": 1,
}
"""The same of public games."""


@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_our_games(name: str) -> None:
    assert len(game_of(GAMES / f"{name}.kif").group) == GROUPS[name]


@pytest.mark.parametrize("name", PUBLIC)
def test_groups_of_public_games(name: str, corpus: Path) -> None:
    assert len(game_of(corpus / "games" / f"{name}.kif").group) == PUBLIC[name]


@pytest.mark.parametrize(
    "name", ["tictactoe", "connectfour", "pegsolitaire", "eightpuzzle", "ninemensmorris"]
)
def test_automorphisms_are_seen_in_no_state(name: str) -> None:
    game = game_of(GAMES / f"{name}.kif")
    check_on_states(game, game.group)


def check_on_states(game: Game, group: list[Renaming], walks: int = 20) -> None:
    """Compare the states of random matches and their successors with their images."""
    network = game.network
    machine = PropnetMachine(Rules(()), network)
    rng = np.random.default_rng(3)
    counts = observed(network)
    # Half of the walks begin in the image of the initial state, which may be another state.
    starts = [image(network.initial[None, :], group[row % len(group)]) for row in range(walks)]
    records, seen = pack(np.concatenate(starts)), 0
    for _ in range(40):
        records = records[~machine.evaluate(records).terminal]
        if not len(records):
            break
        seen += len(records)
        bits, mine = unpack(records, len(network.bases)), machine.evaluate(records)
        following = [after(machine, record) for record in records]
        for g in group:
            renamed = pack(image(bits, g))
            theirs = machine.evaluate(renamed)
            assert np.array_equal(theirs.terminal, mine.terminal)
            assert np.array_equal(theirs.goals, mine.goals)
            for record, own in zip(renamed, following, strict=True):
                expected, found = image(own, g)[:, counts], after(machine, record)[:, counts]
                assert sorted(map(bytes, expected)) == sorted(map(bytes, found))
        records = pack(np.stack([rng.choice(rows) for rows in following]))
    assert seen >= 100


def after(machine: PropnetMachine, record: np.ndarray) -> np.ndarray:
    """The states after all joint moves."""
    states = [state for _, state in machine.expand(machine.states(record[None]))[0]]
    return unpack(machine.records(states), len(machine.network.bases))


def image(rows: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    renamed = np.empty_like(rows)
    renamed[:, permutation] = rows
    return renamed


def test_a_group_is_closed_and_bounded() -> None:
    game = game_of(GAMES / "tictactoe.kif")
    elements = {g.tobytes() for g in game.group}
    assert elements == {g[f].tobytes() for f in game.group for g in game.group}
    assert np.array_equal(game.group[0], np.arange(len(game.network.bases)))
    assert closure(game.group, 7) is None
    for most in (1, 2, 4):
        assert len(automorphisms(game.network, game.ground, most)) <= most
    assert len(automorphisms(game.network, game.ground, effort=0)) == 1


def test_rules_of_another_game_are_refused() -> None:
    with pytest.raises(ValueError, match="ground rules"):
        automorphisms(game_of(GAMES / "hanoi.kif").network, game_of(GAMES / "tictactoe.kif").ground)


def walk_in_a_circle(size: int, more: str = "") -> Game:
    """A token steps round a circle, or rests; which places are connected to it is a loop of rules."""
    steps = "\n".join(f"(after {place} {(place + 1) % size})" for place in range(size))
    return game_of_text(
        f"""(role r) (init (at 0)) {steps}
        (<= (legal r ?move) (move ?move)) (move left) (move right) (move rest)
        (<= (next (at ?p)) (true (at ?p)) (does r rest))
        (<= (next (at ?q)) (true (at ?p)) (after ?p ?q) (does r right))
        (<= (next (at ?p)) (true (at ?q)) (after ?p ?q) (does r left))
        (<= (reached ?p) (true (at ?p)))
        (<= (reached ?q) (reached ?p) (after ?p ?q))
        (<= (reached ?p) (reached ?q) (after ?p ?q))
        (<= left_out (after ?p ?q) (not (reached ?p)))
        (<= (goal r 100) (not left_out)) (<= (goal r 0) left_out) (<= terminal left_out) {more}"""
    )


@given(st.integers(3, 9))
@settings(max_examples=7, deadline=None)
def test_loops_are_mapped_to_loops(size: int) -> None:
    game = walk_in_a_circle(size)
    assert len(game.group) == 2 * size
    check_on_states(game, game.group)
    # A token stays at place 2, too; the mirror image that keeps this place is left.
    broken = walk_in_a_circle(size, "(<= (next (at 2)) (true (at 2)))")
    assert len(broken.group) == 2


@pytest.mark.parametrize(
    ("more", "elements"),
    [
        ("", 8),
        ("(<= (next (cell a 1 x)) (true (control o)))", 2),
        ("(<= (legal x (mark a 1)) (true (control o)))", 2),
        ("(<= terminal (true (cell a 1 x)))", 2),
        ("(<= (goal x 70) (true (cell a 1 x)))", 2),
    ],
)
def test_what_breaks_a_symmetry_is_seen(more: str, elements: int) -> None:
    """Another function, another goal, another legality: each leaves fewer automorphisms."""
    text = (GAMES / "tictactoe.kif").read_text(encoding="utf-8")
    assert len(game_of_text(f"{text}\n{more}").group) == elements


def test_without_rules_the_identity_alone_is_found() -> None:
    assert len(automorphisms(game_of(GAMES / "tictactoe.kif").network, None)) == 1
