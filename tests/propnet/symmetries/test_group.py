"""Automorphisms: the groups of known games, and what an automorphism is, state by state."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.rules import Rules
from propnet.analysis.cones import observed
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.symmetries.group import Automorphism, automorphisms, closure
from tests.places import GAMES
from tests.propnet.circuits import Circuit, term, tic_tac_toe
from tests.propnet.symmetries.games import Game, game_of

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


@pytest.mark.parametrize("name", ["tictactoe", "lightsout", "hanoi"])
def test_networks_without_their_rules_have_automorphisms(name: str) -> None:
    game = game_of(GAMES / f"{name}.kif")
    group = automorphisms(game.network)
    assert len(group) > 1
    check_on_states(game, group)


def check_on_states(game: Game, group: list[Automorphism], walks: int = 60) -> None:
    """Compare what holds in the states of random playouts, and in their images' images, with their images."""
    network = game.network
    machine = PropnetMachine(Rules(()), network)
    rng = np.random.default_rng(3)
    counts = observed(network)
    # Half of the walks begin in the image of the initial state, which may be another state.
    start = network.initial[None, :]
    starts = np.concatenate([image(start, group[row % len(group)].bases) for row in range(walks)])
    records = pack(starts)
    seen = 0
    for _ in range(40):
        evaluation = machine.evaluate(records)
        records = records[~evaluation.terminal]
        legal = unpack(evaluation.legal, network.move_count)[~evaluation.terminal]
        if not len(records):
            break
        joints = chosen(machine, legal, rng)
        after = machine.successors(records, joints)
        bits = unpack(records, len(network.bases))
        rows = np.arange(len(records))
        seen += len(rows)
        for g in group:
            renamed = pack(image(bits, g.bases))
            theirs = machine.evaluate(renamed)
            mine = machine.evaluate(records)
            assert np.array_equal(theirs.terminal, mine.terminal)
            assert np.array_equal(theirs.goals, mine.goals)
            assert np.array_equal(unpack(theirs.legal, network.move_count), image(legal, g.moves))
            moves = np.empty_like(joints)
            for role in range(joints.shape[1]):
                first = machine.role_moves[role]
                moves[:, role] = g.moves[joints[:, role] + first] - first
            following = machine.successors(renamed, moves)
            expected = image(unpack(after, len(network.bases)), g.bases)
            assert np.array_equal(unpack(following, len(network.bases))[:, counts], expected[:, counts])
        records = after
    assert seen >= 200


def image(rows: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    renamed = np.empty_like(rows)
    renamed[:, permutation] = rows
    return renamed


def chosen(machine: PropnetMachine, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal joint move per row."""
    parts = [legal[:, low:high] for low, high in pairwise(machine.role_moves.tolist())]
    return np.stack([(rng.random(part.shape) * part).argmax(axis=1) for part in parts], axis=1).astype(
        np.int32
    )


def test_a_group_is_closed_and_bounded() -> None:
    game = game_of(GAMES / "tictactoe.kif")
    elements = {g.bases.tobytes() for g in game.group}
    assert elements == {f.then(g).bases.tobytes() for f in game.group for g in game.group}
    assert game.group[0].trivial
    assert closure(game.group, game.group[0], 7) is None
    for most in (1, 2, 4):
        assert len(automorphisms(game.network, game.ground, most)) <= most
    assert len(automorphisms(game.network, game.ground, effort=0)) == 1


def test_rules_of_another_game_are_refused() -> None:
    with pytest.raises(ValueError, match="ground rules"):
        automorphisms(game_of(GAMES / "hanoi.kif").network, game_of(GAMES / "tictactoe.kif").ground)


def walk_in_a_circle(size: int, broken: bool = False) -> Network:
    """A token steps round a circle, or rests; which places are connected to place 0 is a loop of gates. With
    ``broken`` one place's rule is another one."""
    places = [term("at", i) for i in range(size)]
    c = Circuit(places, [[term("left"), term("right"), term("rest")]])
    first = c.first_gate
    # Gate i: not reached, that is no neighbour is reached and nothing is there.
    for i in range(size):
        c.all_of([c.base(places[i]) ^ 1, 2 * (first + (i + 1) % size), 2 * (first + (i - 1) % size)])
    everywhere = c.all_of([2 * (first + i) + 1 for i in range(size)])
    c.moves_from_here()
    left, right, rest = (c.move(0, term(name)) for name in ("left", "right", "rest"))
    following = [
        c.any_of(
            [
                c.all_of([left, c.base(places[(i + 1) % size])]),
                c.all_of([right, c.base(places[(i - 1) % size])]),
                c.all_of([rest, c.base(places[i])]),
            ]
        )
        for i in range(size)
    ]
    if broken:
        following[2] = c.all_of([following[2], rest])
    goals = [(0, 100, everywhere)]
    initial = [i == 0 for i in range(size)]
    loop_init = [1] * size + [0] * (len(c.start) - 1 - size)
    return c.network(following, [0, 0, 0], goals, 1, initial, [(0, size)], loop_init)


@given(st.integers(3, 9))
@settings(max_examples=7, deadline=None)
def test_loops_are_mapped_to_loops(size: int) -> None:
    network = walk_in_a_circle(size)
    group = automorphisms(network)
    assert len(group) == 2 * size
    check_on_states(Game(Rules(()), None, network, group), group)  # type: ignore[arg-type]
    assert len(automorphisms(walk_in_a_circle(size, broken=True))) == 2  # what leaves place 2


def test_what_breaks_a_symmetry_is_seen() -> None:
    """Another function, another goal, another legality: each leaves fewer automorphisms."""
    network = tic_tac_toe()
    assert len(automorphisms(network)) == 8
    other_next, other_legal = network.next_literals.copy(), network.legal_literals.copy()
    other_next[0] = 2  # a corner keeps what it has
    other_legal[0] = 1
    for changed in (
        replace(network, next_literals=other_next),
        replace(network, legal_literals=other_legal),
        replace(network, terminal_literal=2),
    ):
        assert len(automorphisms(changed)) == 2
    moved = network.initial.copy()
    moved[0] = True
    assert len(automorphisms(replace(network, initial=moved))) == 8
