"""Bounds of results in the tree hold, and moves that cannot be better than another one are not tried."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import State
from players.uct.tree.arrays import OPEN
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import best_result, random_game
from tests.players.uct.searching import run, search_of


def results_by_record(machine: PropnetMachine) -> dict[bytes, int]:
    """Role 0's result under best play from each reachable state, by its record."""
    found: dict[bytes, int] = {}
    waiting: list[State] = [machine.initial_state()]
    while waiting:
        state = waiting.pop()
        key = machine.records([state])[0].tobytes()
        if key in found:
            continue
        found[key] = best_result(machine, state)
        if not machine.is_terminal(state):
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            waiting += [machine.next_state(state, joint) for joint in product(*options)]
    return found


@examples(40)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 2), playouts=st.sampled_from([20, 100, 1000]))
def test_the_result_of_each_state_and_move_lies_within_its_bounds(
    seed: int, roles: int, playouts: int
) -> None:
    machine = network(random_game(seed, roles, simultaneous=False, steps=5))
    truth = results_by_record(machine)
    tree = run(search_of(machine, seed=seed), playouts).tree
    arrays = tree.arrays
    for node in range(tree.nodes):
        row, result = arrays.nodes[node], truth[arrays.records[node].tobytes()]
        assert row["proven"] in (-1, result)
        if row["status"] != OPEN or row["to_move"] < 0:
            continue
        own = 100 - result if row["to_move"] else result
        assert row["bound"] <= own <= row["limit"]
        edges = arrays.edges[row["first_move"] : row["first_move"] + row["choices"]]
        for edge in edges[edges["child"] >= 0]:
            after = truth[arrays.records[edge["child"]].tobytes()]
            assert edge["proven"] in (-1, after)
            assert (100 - after if row["to_move"] else after) <= edge["limit"]


DRAWN = """
    (role ann) (role bob) (init (at start))
    (<= (legal ann ?m) (true (at start)) (first ?m))
    (<= (legal bob noop) (not (true (at turn))))
    (<= (legal ann noop) (not (true (at start))))
    (<= (legal bob ?m) (true (at turn)) (second ?m))
    (first draw) (first turn) (second draw) (second loop)
    (<= (next (at draw)) (does ann draw))
    (<= (next (at turn)) (does ann turn))
    (<= (next (at draw)) (does bob draw))
    (<= (next (at start)) (does bob loop))
    (<= terminal (true (at draw)))
    (goal ann 50) (goal bob 50)
"""
"""Ann draws at once, or lets bob do so, who may as well begin the game again."""


def test_a_draw_is_proven_although_one_move_is_never_settled() -> None:
    tree = run(search_of(network(DRAWN)), 500).tree
    assert tree.proven == 50
    assert (tree.arrays.edges["proven"][: int(tree.arrays.used[0]["edges"])] == -1).any()
