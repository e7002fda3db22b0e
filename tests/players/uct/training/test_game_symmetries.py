"""Symmetries of games: those we expect are found, and states of play do not tell images apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.uct.training.game_symmetries import (
    GameSymmetries,
    PlayTest,
    find_symmetries,
    random_images,
    renamings,
)
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.symmetries.group import Automorphism
from tests.places import GAMES

SIZES = {
    "tictactoe": (16, 8, 16),
    "connectfour": (4, 2, 4),
    "breakthrough": (4, 2, 4),
    "hex": (4, 2, 2),  # that chains join both ways is seen in play alone
    "othello": (16, 8, 2),  # and so is that the order of counting does not matter
    "atarigo": (16, 8, 16),
    "ninemensmorris": (32, 16, 32),
    "checkers": (2, 1, 2),
    "chess": (2, 1, 1),  # too large to be proven
    "chinesecheckers": (1, 0, 1),
}
"""Elements, those that exchange the roles, and those that are proven."""


@cache
def game(name: str) -> tuple[PropnetMachine, GameSymmetries]:
    """A game's machine and its symmetries."""
    rules = parse_rules((GAMES / f"{name}.kif").read_text())
    grounded = ground(rules)
    machine = PropnetMachine(rules, build(grounded))
    return machine, find_symmetries(machine, grounded)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_expected_symmetries_are_found(name: str) -> None:
    _, found = game(name)
    assert (len(found), int(found.exchanged.sum()), int(found.proven.sum())) == SIZES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_the_identity_is_first_and_all_are_permutations_and_differ(name: str) -> None:
    machine, found = game(name)
    bases = np.arange(len(machine.network.bases))
    assert (found.images[0] == bases).all()
    assert found.proven[0] and not found.exchanged[0]
    assert (np.sort(found.images, axis=1) == bases).all()
    assert (np.sort(found.moves, axis=1) == np.arange(machine.network.move_count)).all()
    assert len(np.unique(found.images, axis=0)) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_states_of_other_matches_do_not_tell_images_apart(name: str) -> None:
    machine, found = game(name)
    test = PlayTest(machine, seed=77)
    assert len(test) > 1000
    for images, moves, exchanged in zip(found.images, found.moves, found.exchanged, strict=True):
        roles = tuple(range(len(machine.roles)))
        assert test.passes(Automorphism(images, moves, (1, 0) if exchanged else roles))


def test_turns_that_a_game_notices_do_not_pass() -> None:
    machine, found = game("connectfour")
    test = PlayTest(machine)
    passed = [test.passes(renaming) for renaming in renamings(machine.rules, machine.network)]
    assert passed.count(True) == 3  # left and right, the roles, and both
    assert passed.count(False) == 4  # whatever turns bottom and top
    assert len(found) == 4


@pytest.mark.parametrize("name", ["tictactoe", "hex", "connectfour", "othello"])
def test_values_go_with_random_images(name: str) -> None:
    machine, found = game(name)
    states = PlayTest(machine, seed=5)._records
    terminal, goals = machine.ends(states)
    both = np.where(goals < 0, 50, goals).astype(np.float32) / np.float32(100)
    for values in (both, both[:, :1]):
        images, turned = random_images(found, states, values, np.random.default_rng(1))
        over, reached = machine.ends(images)
        assert (over == terminal).all()
        assert (images != states).any()
        expected = np.where(reached < 0, 50, reached) / 100
        assert np.allclose(turned[terminal], expected[terminal][:, : values.shape[1]])


def test_games_without_boards_have_the_identity() -> None:
    text = """(role a) (role b) (init (at 0)) (<= (legal ?r (go ?n)) (role ?r) (step ?n)) (step 1) (step 2)
    (<= (next (at ?n)) (does a (go ?n))) (<= terminal (true (at 1)))
    (<= (goal a 100) (true (at 1))) (goal b 0) (<= (goal a 20) (not (true (at 1))))"""
    rules = parse_rules(text)
    machine = PropnetMachine(rules, build(ground(rules)))
    assert len(find_symmetries(machine)) == 1
    assert str(find_symmetries(machine)) == "no symmetries"


def test_a_match_that_is_over_when_it_begins_is_no_trouble() -> None:
    text = """(role wa) (role ba) (init (cell 1 wa)) (init (cell 2 ba))
    (<= (legal ?r (go ?n)) (role ?r) (n ?n)) (n 1) (n 2) (n 3)
    (<= (base (cell ?n ?r)) (n ?n) (role ?r)) (<= (next (cell ?n ?r)) (does ?r (go ?n)))
    (<= terminal (true (cell 1 wa))) (<= (goal ?r 50) (role ?r))"""
    rules = parse_rules(text)
    found = find_symmetries(PropnetMachine(rules, build(ground(rules))))
    assert (found.images[0] == np.arange(found.images.shape[1])).all()
