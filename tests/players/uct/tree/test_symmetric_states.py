"""With symmetric states as one node the search finds the same, and makes moves of the match."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from gdl.grounding.pipeline import ground
from gdl.machine import State
from gdl.syntax.parser import parse_rules
from gdl.terms import sort_key
from players.batch_machine import batch_machine_of
from players.uct.root_statistics import rank
from players.uct.search import Search
from players.uct.tree.arrays import OPEN
from players.uct.tree.symmetric_states import SymmetricStates, symmetric_states
from players.uct.tuning import Tuning
from propnet.build import build
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine

GAMES = Path(__file__).parents[4] / "games"
NAMES = "tictactoe", "connectfour", "breakthrough", "atarigo", "ninemensmorris", "tron", "biddingtictactoe"


def machine_of(name: str) -> PropnetMachine:
    """A game's machine."""
    rules = parse_rules((GAMES / f"{name}.kif").read_text())
    return PropnetMachine(rules, build(ground(rules)))


def search_of(machine: PropnetMachine, symmetry: str, seed: int = 1, role: int = 0) -> Search:
    """A search that has not begun."""
    search = Search(role, seed, Tuning(prove=False, symmetry=symmetry, knowledge="off"))
    search.set_machine(machine)
    return search


def run(search: Search, state: State, playouts: int) -> None:
    """Search from a state."""
    search.set_root(state)
    while search.step(time.monotonic() + 60, playouts):
        pass


def some_states(machine: PropnetMachine, seed: int) -> list[State]:
    """The states of a random match, the terminal one left out."""
    rng = random.Random(seed)
    states = [machine.initial_state()]
    while len(states) < 40:
        joint = [rng.choice(machine.legal_moves(states[-1], role)) for role in range(len(machine.roles))]
        following = machine.next_state(states[-1], joint)
        if machine.is_terminal(following):
            break
        states.append(following)
    return states


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_image_is_the_same_for_all_images(name: str) -> None:
    machine = machine_of(name)
    symmetric = symmetric_states(batch_machine_of(machine), "on")
    assert symmetric is not None
    records = machine.records(some_states(machine, 3))
    smallest = symmetric.of_new_nodes(records)
    bits = unpack(records, len(machine.network.bases))
    for images in symmetric._images:
        turned = pack(bits[:, np.argsort(images)])
        assert (symmetric.of_new_nodes(turned) == smallest).all()


@pytest.mark.parametrize("symmetry", ["auto", "on"])
def test_tictactoe_is_proven_a_draw_with_fewer_states(symmetry: str) -> None:
    machine = machine_of("tictactoe")
    search, plain = search_of(machine, symmetry), search_of(machine, "off")
    run(search, machine.initial_state(), 400_000)
    assert search.tree.proven == 50
    run(plain, machine.initial_state(), search.playouts)
    assert search.tree.nodes * 2 < plain.tree.nodes


@pytest.mark.parametrize("symmetry", ["auto", "on"])
@pytest.mark.parametrize("seed", range(4))
def test_positions_of_tictactoe_are_proven_to_be_worth_the_same(symmetry: str, seed: int) -> None:
    machine = machine_of("tictactoe")
    searches = [search_of(machine, "off"), search_of(machine, symmetry)]
    compared = 0
    for state in some_states(machine, seed)[1:]:
        values, moves = [], []
        for search in searches:
            run(search, state, 20_000)
            values.append(search.tree.proven)
            moves.append(search.statistics().proven)
        if min(values) >= 0:
            compared += 1
            assert values[0] == values[1]
        both = (moves[0] >= 0) & (moves[1] >= 0)
        assert (moves[0][both] == moves[1][both]).all()
    assert compared >= 2


@pytest.mark.parametrize("symmetry", ["auto", "on"])
@pytest.mark.parametrize("name", NAMES)
def test_nodes_have_the_legal_moves_of_their_states_and_children_images_of_successors(
    name: str, symmetry: str
) -> None:
    machine = machine_of(name)
    search = search_of(machine, symmetry, seed=5)
    batched = batch_machine_of(machine)
    everything = symmetric_states(batched, "on")
    assert everything is not None
    # Old nodes were named by the symmetries of old roots: they are compared by their smallest images.
    for state in some_states(machine, 11)[:8]:
        run(search, state, 1500)
        if not search.opened:
            continue
        tree = search.tree
        arrays = tree.arrays
        assert (arrays.records[tree.root] == machine.records([state])[0]).all() or search._passed
        nodes = arrays.nodes[: tree.nodes]
        opened = np.flatnonzero((nodes["status"] == OPEN) & (nodes["to_move"] >= 0))
        checked = [tree.root, *np.random.default_rng(1).permutation(opened)[:40].tolist()]
        for node in checked:
            if nodes["to_move"][node] < 0:
                continue
            legal = [machine.legal_moves(machine.states(arrays.records[[node]])[0], role) for role in (0, 1)]
            listed = [arrays.edges["move"][tree.edges(node, role)].tolist() for role in (0, 1)]
            assert all(set(some) <= set(all_) for some, all_ in zip(listed, legal, strict=True))
            to_move = int(nodes["to_move"][node])
            for edge, move in zip(
                range(tree.edges(node, to_move).start, tree.edges(node, to_move).stop),
                listed[to_move],
                strict=True,
            ):
                child = int(arrays.edges["child"][edge])
                if child < 0:
                    continue
                joint = [mine[0] for mine in listed]
                joint[to_move] = move
                after = batched.successors(arrays.records[[node]], np.array([joint], np.int32))
                if search._forced is not None:
                    after = search._forced.pass_over(after)
                smallest = everything.of_new_nodes(np.vstack([after, arrays.records[[child]]]))
                assert (smallest[0] == smallest[1]).all()


@pytest.mark.parametrize("symmetry", ["auto", "on"])
@pytest.mark.parametrize("name", NAMES)
def test_whole_matches_are_played_with_legal_moves_and_visits_add_up(name: str, symmetry: str) -> None:
    machine = machine_of(name)
    searches = [search_of(machine, symmetry, 3 + role, role) for role in (0, 1)]
    state = machine.initial_state()
    for _ in range(30):
        joint = []
        for role, search in enumerate(searches):
            options = sorted(machine.legal_moves(state, role), key=lambda m: sort_key(machine.move(role, m)))
            run(search, state, 600)
            if not search.opened:
                joint.append(options[0])
                continue
            statistics = search.statistics()
            assert statistics.counts[role] == len(options)
            own = statistics.of_role(role)
            if len(options) > 1 and not search._passed and search.tree.in_turn:
                assert statistics.visits[own].sum() == search.tree.visits
            assert (statistics.totals[own] <= statistics.visits[own] + 1e-3).all()
            joint.append(options[rank(statistics, role).best])
        state = machine.next_state(state, joint)
        if machine.is_terminal(state):
            break


def test_moves_that_lead_to_images_of_each_other_are_one() -> None:
    machine = machine_of("tictactoe")
    search = search_of(machine, "auto")
    run(search, machine.initial_state(), 2000)
    statistics = search.statistics()
    visited = statistics.visits[statistics.of_role(0)]
    assert len(visited) == 9
    assert (visited > 0).sum() == 3  # a corner, a side and the middle
    assert search.tree.choices == 3


def test_a_root_whose_image_is_a_node_takes_its_place_with_its_visits() -> None:
    machine = machine_of("tictactoe")
    search = search_of(machine, "auto")
    start = machine.initial_state()
    run(search, start, 3000)
    symmetric = search.tree.symmetric
    assert isinstance(symmetric, SymmetricStates)
    for move in machine.legal_moves(start, 0):
        again = search_of(machine, "auto")
        run(again, start, 3000)
        state = machine.next_state(start, [move, machine.legal_moves(start, 1)[0]])
        again.set_root(state)
        assert again.tree.visits > 0
        assert (again.tree.arrays.records[again.tree.root] == machine.records([state])[0]).all()


@pytest.mark.parametrize("name", ["hanoi", "kalah", "othello"])
def test_games_of_one_role_without_proven_symmetries_and_large_ones_have_none(name: str) -> None:
    assert symmetric_states(batch_machine_of(machine_of(name)), "auto") is None
