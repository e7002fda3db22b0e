"""No state that contains a dead set leads to the goal: held against retrograde analysis of whole games."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gdl.errors import RulesError
from gdl.rules import Rules
from ggp.game import Game
from propnet.build import build
from propnet.dead_sets.exhaustive import all_states
from propnet.dead_sets.search import dead_sets
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from tests.propnet.ground_cases import ground_rules


def containing(bits, sets):
    """Which states, bool (n, bases), contain one of the sets."""
    found = np.zeros(len(bits), np.bool_)
    for nogood in sets:
        found |= np.all([bits[:, (x >> 1) - 1] ^ bool(x & 1) for x in nogood], axis=0)
    return found


def assert_dead(machine, found, most=300_000):
    """No set holds in a state that leads to the goal. Returns the shares of dead states, and of those
    found."""
    states = all_states(machine, found.target if found.sets else 100, most)
    bits = unpack(states.records, len(machine.network.bases))
    named = containing(bits, found.sets)
    assert not (named & states.alive).any()
    return (~states.alive).mean(), named.mean()


@settings(max_examples=200, deadline=None)
@given(ground_rules(moves_anywhere=False), st.integers(1, 3))
def test_random_networks(ground, most):
    assume(len(ground.roles) == 1)
    try:
        machine = PropnetMachine(Rules(()), build(ground))
    except RulesError:
        assume(False)
    assert_dead(machine, dead_sets(machine, most))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("haystack", None),
        ("troublemaker01", None),
        ("survival", None),
        ("circlesolitaire", None),
        ("blocksWorldSerial", None),
        ("lightsOn", None),
        ("maze", None),
        ("stateSpaceSmall", None),
        ("coins", None),
        ("hidato19", None),
    ],
)
def test_games(corpus, name, sizes):
    machine = Game.load(str(corpus / "games" / f"{name}.kif")).machine("propnet")
    found = dead_sets(machine)
    print(name, found.sizes, assert_dead(machine, found))
