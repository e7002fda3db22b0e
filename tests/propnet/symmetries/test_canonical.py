"""Searches over canonical states keep one state of each orbit, and their lines are real lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import StateError
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from propnet.analysis.cones import observed
from propnet.expander import Expander
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.symmetries.canonical import Orbits, paying_orbits
from propnet.symmetries.group import automorphisms
from tests.examples import examples
from tests.places import GAMES
from tests.propnet.circuits import random_network
from tests.propnet.symmetries.games import FOUR_BY_FOUR, game_of


def layers(network: Network, depth: int = 1000) -> list[np.ndarray]:
    """The layers of a breadth-first search: records."""
    machine = PropnetMachine(Rules(()), network)
    expander = Expander(machine)
    found = [machine.records([machine.initial_state()])]
    seen = {found[0][0].tobytes()}
    while len(found[-1]) and len(found) <= depth:
        after = expander.expand(found[-1]).records
        new = {record.tobytes() for record in after} - seen
        seen |= new
        found.append(np.frombuffer(b"".join(sorted(new)), np.uint64).reshape(-1, machine.words))
    return found[:-1] if not len(found[-1]) else found


def canonical_rows(orbits: Orbits, records: np.ndarray) -> set[bytes]:
    return {record.tobytes() for record in orbits.canonical(records)}


@pytest.mark.parametrize(("name", "depth"), [("tictactoe", 100), ("pegsolitaire", 6), ("lightsout", 4)])
def test_a_search_keeps_one_state_of_each_orbit(name: str, depth: int) -> None:
    game = game_of(GAMES / f"{name}.kif")
    plain = layers(game.network, depth)
    kept = layers(Orbits(game.network, game.group).canonical_network(), depth)
    group = Orbits(game.network, game.group)
    assert len(plain) == len(kept)
    for before, after in zip(plain, kept, strict=True):
        assert canonical_rows(group, before) == {record.tobytes() for record in after}
    if name == "tictactoe":
        assert (sum(map(len, plain)), sum(map(len, kept))) == (5478, 765)
    if name == "pegsolitaire":  # OEIS A112737
        assert list(map(len, kept)) == [1, 1, 2, 8, 39, 171, 719]


def test_connect_four_keeps_about_half() -> None:
    """Positions of connect four on 4x4: 161,029 (J. Tromp); those that are their own mirror image stay."""
    game = game_of(GAMES / "connectfour.kif", FOUR_BY_FOUR)
    group = Orbits(game.network, game.group)
    assert len(game.group) == 2
    plain = np.concatenate(layers(game.network, 8))
    kept = np.concatenate(layers(Orbits(game.network, game.group).canonical_network(), 8))
    own = int((pack(unpack(plain, group.bases)[:, group.sources[0]]) == plain).all(axis=1).sum())
    assert 2 * len(kept) == len(plain) + own


def test_positions_whose_start_is_moved_keep_their_depth() -> None:
    """Hanoi: an automorphism exchanges two pegs, and does not map the initial state to itself."""
    game = game_of(GAMES / "hanoi.kif")
    machine = PropnetMachine(Rules(()), game.network)
    assert len(game.group) == 2
    depths = []
    for network in (game.network, Orbits(game.network, game.group).canonical_network()):
        found = layers(network)
        best = [int(machine.evaluate(layer).goals.max()) for layer in found]
        depths.append((best.index(max(best)), max(best)))
        assert len(found) > 10
    assert depths[0] == depths[1]


@pytest.mark.parametrize("name", ["tictactoe", "hanoi", "pegsolitaire"])
def test_unfolded_lines_replay_on_the_prover(name: str) -> None:
    game = game_of(GAMES / f"{name}.kif")
    rng = np.random.default_rng(5)
    orbits = Orbits(game.network, game.group)
    kept = PropnetMachine(Rules(()), orbits.canonical_network())
    now, line = kept.initial_state(), []
    for _ in range(12):
        options = kept.expand([now])[0]
        if not options:
            break
        now = options[rng.integers(len(options))][1]
        line.append(now)
    states = kept.records(line)
    machine = PropnetMachine(game.rules, game.network)
    joints = orbits.unfold(machine, machine.initial_state(), states)
    prover = ProverMachine(game.rules)
    state = prover.initial_state()
    for joint, record in zip(joints, states, strict=True):
        moves = [machine.move(role, index) for role, index in enumerate(joint)]
        state = prover.next_state(state, [prover.move_id(role, move) for role, move in enumerate(moves)])
        there = machine.records([machine.state_of(prover.true_propositions(state.key))])
        assert (orbits.canonical(there) == record).all()
    assert prover.is_terminal(state) == kept.is_terminal(line[-1])


def test_a_line_that_does_not_exist_is_refused() -> None:
    game = game_of(GAMES / "tictactoe.kif")
    machine = PropnetMachine(game.rules, game.network)
    start = machine.initial_state()
    with pytest.raises(StateError):
        Orbits(game.network, game.group).unfold(machine, start, machine.records([start]))


@given(st.integers(0, 2**32), st.integers(2, 80), st.integers(1, 6))
@examples(30)
def test_gates_choose_what_canonical_chooses(seed: int, bases: int, elements: int) -> None:
    """For any permutations, a group or not."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, bases, [4], 60)
    permutations = [rng.permutation(bases).astype(np.int32) for _ in range(elements)]
    identity = np.arange(bases, dtype=np.int32)
    group = [identity, *(one for one in permutations if (one != identity).any())]
    orbits = Orbits(network, group)
    records = pack(rng.random((40, bases)) < 0.5)
    moves = rng.integers(0, 4, (40, 1)).astype(np.int32)
    after = PropnetMachine(Rules(()), network).successors(records, moves)
    kept = PropnetMachine(Rules(()), orbits.canonical_network()).successors(records, moves)
    assert np.array_equal(orbits.canonical(after), kept)
    brute = unpack(after, bases)
    unseen = ~observed(network)
    brute[:, unseen] = network.initial[unseen]
    images = [brute[:, np.argsort(g)] for g in group]
    keys = [[tuple(row.tolist()) for row in image] for image in images]
    mine = [tuple(row.tolist()) for row in unpack(kept, bases)]
    assert mine == [min(row) for row in zip(*keys, strict=True)]


def test_states_of_an_orbit_become_one() -> None:
    game = game_of(GAMES / "tictactoe.kif")
    orbits = Orbits(game.network, game.group)
    plain = np.concatenate(layers(game.network))
    bits = unpack(plain, orbits.bases)
    for left, right in pairwise(automorphisms(game.network, game.ground)):
        first, second = (pack(bits[:, np.argsort(bases)]) for bases in (left, right))
        assert np.array_equal(orbits.canonical(first), orbits.canonical(second))


def test_what_saves_nothing_is_left_out() -> None:
    """Where the only states are their own images."""
    game = game_of(GAMES / "tictactoe.kif")
    found = paying_orbits(game.network, game.ground)
    assert found is not None
    assert len(found[1].initial) == len(game.network.bases)
    frozen = replace(game.network, legal_literals=game.network.legal_literals * 0 + 1)
    assert len(automorphisms(frozen, game.ground)) > 1
    assert paying_orbits(frozen, game.ground) is None
    plain = game_of(GAMES / "rockpaperscissors.kif")
    assert len(plain.group) == 1
    assert paying_orbits(plain.network, plain.ground) is None
