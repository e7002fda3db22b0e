"""Plies without a choice are passed over, in the tree and at its root, and nothing else changes."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gdl.machine import State
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.uct.forced_plies import ForcedPlies, forced_plies, share_of_forced
from players.uct.player import UctPlayer
from players.uct.root_statistics import merge
from players.uct.search import Search
from players.uct.tree.arrays import OPEN
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.uct.searching import run, search_of

WALKS = """(role a) (role b) (init (at 0)) (init (turn a 0))
(num 0) (num 1) (num 2) (num 3)
(+ 0 1 1) (+ 1 1 2) (+ 2 1 3) (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6)
(<= (legal ?r (jump ?n)) (true (turn ?r 0)) (choice ?n)) (choice 2) (choice 3)
(<= (legal ?r walk) (true (turn ?r ?n)) (distinct ?n 0))
(<= (legal a wait) (true (turn b ?n))) (<= (legal b wait) (true (turn a ?n)))
(<= (next (turn ?r ?n)) (does ?r (jump ?n)))
(<= (next (at ?n)) (does ?r (jump ?m)) (true (at ?n)))
(<= (next (at ?k)) (does ?r walk) (true (at ?n)) (after ?n ?k))
(<= (next (turn ?r ?m)) (does ?r walk) (true (turn ?r ?n)) (after ?m ?n) (distinct ?m 0))
(<= (next (turn b 0)) (does a walk) (true (turn a 1)))
(<= (next (turn a 0)) (does b walk) (true (turn b 1)))
(<= terminal (true (at 6)))
(<= (goal ?r 100) (true (turn ?r ?n))) (<= (goal a 0) (true (turn b ?n)))
(<= (goal b 0) (true (turn a ?n)))"""
"""Roles choose how far to walk, 2 or 3 steps, and then walk one step a ply."""


def _one_by_one(machine: PropnetMachine, state: State) -> State:
    """What :meth:`ForcedPlies.pass_over` does, slowly."""
    roles = range(len(machine.roles))
    while not machine.is_terminal(state):
        options = [machine.legal_moves(state, role) for role in roles]
        if any(len(moves) != 1 for moves in options):
            break
        state = machine.next_state(state, [moves[0] for moves in options])
    return state


@pytest.mark.parametrize("text", [WALKS, "kalah", "checkers"])
def test_states_are_reached_that_single_plies_lead_to(text: str) -> None:
    loaded = network(text)
    rng = np.random.default_rng(1)
    states = [loaded.initial_state()]
    while len(states) < 200:
        state = states[-1]
        if loaded.is_terminal(state):
            state = loaded.initial_state()
        options = [loaded.legal_moves(state, role) for role in range(2)]
        states.append(loaded.next_state(state, [int(rng.choice(moves)) for moves in options]))
    wanted = [_one_by_one(loaded, state) for state in states]
    assert loaded.states(ForcedPlies(loaded).pass_over(loaded.records(states))) == wanted
    assert wanted != states


def test_only_games_with_many_such_plies_are_treated_so() -> None:
    assert share_of_forced(network(WALKS)) > 0.5
    for game, many in (("connectfour", False), ("breakthrough", False), ("checkers", True)):
        batched = batch_machine_of(Game.load(game).machine("propnet"))
        assert (forced_plies(batched, True) is not None) == many
        assert forced_plies(batched, False) is None


def test_waiting_for_ever_is_given_up() -> None:
    machine = network("(role a) (role b) (init p) (<= (next p) (true p)) (<= terminal (not (true p)))"
                       "(legal a wait) (legal b wait) (goal a 0) (goal b 0)")  # fmt: skip
    records = machine.records([machine.initial_state()])
    assert np.array_equal(ForcedPlies(machine).pass_over(records), records)


def _search(machine: PropnetMachine, state: State, role: int, playouts: int = 2000) -> Search:
    return run(search_of(machine, Tuning(), role=role, root=state), playouts)


def test_all_nodes_that_were_opened_have_a_choice_and_the_value_is_right() -> None:
    machine = network(WALKS)
    searches = [_search(machine, machine.initial_state(), role) for role in range(2)]
    arrays = searches[0].tree.arrays
    opened = arrays.opened[: arrays.used[0]["opened"]]
    assert (arrays.nodes["status"][opened] == OPEN).all() and (arrays.counts[opened].max(axis=1) > 1).all()
    # Both roles' searches have proven the same.
    values = [search.statistics().value for search in searches]
    assert values[0] >= 0 and values[0] + values[1] == 100


def test_at_a_root_without_a_choice_the_search_thinks_about_what_comes_of_it() -> None:
    machine = network(WALKS)
    start = machine.initial_state()
    jump = machine.next_state(start, [machine.legal_moves(start, role)[0] for role in range(2)])
    assert [len(machine.legal_moves(jump, role)) for role in range(2)] == [1, 1]
    search = _search(machine, jump, 1, 300)
    statistics = search.statistics()
    assert statistics.counts == (1, 1) and statistics.playouts > 0 and (statistics.visits > 0).any()
    assert merge([1, 1], [statistics]).playouts == statistics.playouts
    nodes = search.tree.nodes
    search.fix(0)
    # The next ply is on the same way: the tree stays.
    search.set_root(machine.next_state(jump, [machine.legal_moves(jump, role)[0] for role in range(2)]))
    assert search.tree.nodes == nodes


def test_whole_matches_are_played_by_legal_moves() -> None:
    machine = network(WALKS)
    players = [UctPlayer(playouts=50), UctPlayer(playouts=50)]
    for role, player in enumerate(players):
        player.start(machine, role, machine.initial_state(), 0.05, time.monotonic() + 0.05)
    state = machine.initial_state()
    while not machine.is_terminal(state):
        joint = [player.choose(state, time.monotonic() + 1).move for player in players]
        assert all(joint[role] in machine.legal_moves(state, role) for role in range(2))
        state = machine.next_state(state, joint)
