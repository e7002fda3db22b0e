"""No state that contains a dead set leads to the goal: held against retrograde analysis of whole games."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.dead_sets import all_states, named_at_once
from gdl.errors import RulesError, TooLargeError
from gdl.rules import Rules
from ggp.game import Game
from players.puzzles.dead_sets.search import dead_sets
from propnet.build import build
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.nogoods import with_nogoods
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


@settings(max_examples=60, deadline=None)
@given(ground_rules(moves_anywhere=False), st.integers(1, 3))
def test_no_state_of_a_random_network_that_contains_a_dead_set_leads_to_the_goal(ground, most):
    assume(len(ground.roles) == 1)
    try:
        machine = PropnetMachine(Rules(()), build(ground))
    except RulesError:
        assume(False)
    assert_dead(machine, dead_sets(machine, most))


WALK = """
(role you) (init (at 0 0)) (init (step 0))
(<= (base (at ?x ?y)) (place ?x ?y)) (<= (base (step ?n)) (number ?n))
(<= (legal you (go ?x2 ?y2)) (true (at ?x1 ?y1)) (way ?x1 ?y1 ?x2 ?y2))
(<= (next (at ?x ?y)) (does you (go ?x ?y)))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= terminal (true (at 9 9)))
(<= terminal (true (step 8)))
(<= (goal you 100) (true (at 9 9)))
(<= (goal you 0) (not (true (at 9 9))))
"""


@st.composite
def walks(draw):
    """Rules of a walk on a random directed graph of ten places, and its edges."""
    places = [(0, 0), (9, 9), *((1, n) for n in range(8))]
    edges = draw(
        st.lists(st.tuples(st.sampled_from(places), st.sampled_from(places)), min_size=4, max_size=24)
    )
    ways = "".join(f"(way {a} {b} {c} {d})" for (a, b), (c, d) in edges)
    known = "".join(f"(place {a} {b})" for a, b in places)
    counted = "".join(f"(number {n}) (after {n} {n + 1})" for n in range(8)) + "(number 8)"
    return WALK + ways + known + counted, edges


@settings(max_examples=15, deadline=None)
@given(walks())
def test_in_a_walk_the_places_that_lead_nowhere_are_dead(case):
    text, edges = case
    machine = Game.load(text).machine("propnet")
    found = dead_sets(machine, 1)
    assert_dead(machine, found)
    leading, reached = {(9, 9)}, {(0, 0)}
    for _ in range(10):
        leading |= {a for a, b in edges if b in leading}
        reached |= {b for a, b in edges if a in reached and a != (9, 9)}
    if (0, 0) not in leading:
        assert not found.sets
        return
    single = [nogood[0] for nogood in found.sets if len(nogood) == 1]
    named = {str(machine.network.bases[(x >> 1) - 1]) for x in single if not x & 1}
    # Which places there are is learnt from random play, which may not come to all of them.
    assert named <= {f"(at {x} {y})" for x, y in reached - leading}


@pytest.mark.parametrize(
    ("name", "sizes", "fatal"),
    [
        ("haystack", (6, 0, 0), 1.0),
        ("troublemaker01", (0, 2, 0), 1.0),
        ("troublemaker02", (0, 3, 0), 1.0),
        ("survival", (5, 0, 0), 1.0),
        ("circlesolitaire", (3, 0, 0), 0.6),
    ],
)
def test_games_whose_dead_states_are_known(corpus, name, sizes, fatal):
    machine = Game.load(str(corpus / "games" / f"{name}.kif")).machine("propnet")
    found = dead_sets(machine)
    assert found.sizes == sizes
    assert_dead(machine, found)
    assert named_at_once(all_states(machine, 100), machine, found) >= fatal


@pytest.mark.parametrize("name", ["coins", "maze", "stateSpaceSmall", "blocksWorldSerial"])
def test_there_are_no_false_ones_where_few_or_none_are_found(corpus, name):
    machine = Game.load(str(corpus / "games" / f"{name}.kif")).machine("propnet")
    assert_dead(machine, dead_sets(machine, 2))


def test_two_queens_that_attack_each_other_are_dead(corpus):
    machine = Game.load(str(corpus / "games" / "queens06ug.kif")).machine("propnet")
    squares = [(x, y) for x in range(6) for y in range(6)]
    attacks = [
        (a, b)
        for a, b in combinations(squares, 2)
        if a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1])
    ]
    assert dead_sets(machine, 2).sizes == (0, len(attacks))


def test_a_nonogram_is_solved_by_any_rollout(corpus):
    machine = Game.load(str(corpus / "games" / "nonogram_5x5_1.kif")).machine("propnet")
    assert (machine.playouts(1000).goals != 100).all()
    better = with_nogoods(machine, dead_sets(machine).sets)
    assert (better.playouts(1000).goals == 100).all()


def test_little_effort_finds_less_and_ends_soon():
    machine = Game.load("queens").machine("propnet")
    for effort in (0, 10_000, 1_000_000, 10_000_000):
        found = dead_sets(machine, effort=effort)
        assert found.complete <= 2
        assert found.sets or found.target == -1 or not any(found.sizes)


def test_a_game_without_moves_has_no_dead_sets():
    rules = "(role you) (init (at 0)) (<= (legal you go) (true (at 1))) (<= (next (at 0)) (true (at 0)))"
    machine = Game.load(rules + "(<= terminal (true (at 2))) (goal you 100)").machine("propnet")
    assert not dead_sets(machine).sets


def test_several_roles_are_refused():
    with pytest.raises(ValueError, match="one role"):
        dead_sets(Game.load("tictactoe").machine("propnet"))


def test_games_with_too_many_states_are_refused():
    with pytest.raises(TooLargeError):
        all_states(Game.load("pegsolitaire").machine("propnet"), 100, 1000)
