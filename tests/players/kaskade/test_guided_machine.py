"""A guided machine plays as the native one does, and its playouts are those of the guide."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ggp.game import Game
from players.batch_machine import NetworkBatch, batch_machine_of
from players.kaskade import guided_machine
from players.kaskade.guided_machine import GuidedMachine, compiled_guide, guide_network, guided
from players.kaskade.stages import build_native, load_native, load_propnet
from propnet.native.machine import NativeMachine
from propnet.storage.network_bytes import to_bytes


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))


@pytest.fixture(scope="module")
def game():
    return Game.load("connectfour")


def lengths(machine, decisive):
    batch = batch_machine_of(machine, decisive=decisive)
    assert isinstance(batch, NetworkBatch)
    records = machine.records([machine.initial_state()])
    return batch.playouts(records, 7, 100, float("inf"), 512).lengths


def test_only_playouts_are_guided(game):
    plain = game.machine("native")
    machine = guided(plain)
    assert isinstance(machine, GuidedMachine)
    state = machine.initial_state()
    assert machine.legal_moves(state, 0) == plain.legal_moves(plain.initial_state(), 0)
    assert (machine.playouts(512, seed=1).lengths == plain.playouts(512, seed=1).lengths).all()
    assert (lengths(machine, False) == lengths(plain, True)).all()
    # Where rows of three are completed or blocked, a match is longer.
    assert lengths(machine, True).mean() > lengths(machine, False).mean() + 5


def test_it_goes_to_another_process_with_its_guide(game):
    machine = guided(game.machine("native"))
    copy = pickle.loads(pickle.dumps(machine))
    assert isinstance(copy, GuidedMachine)
    assert copy.guide.compiled == 1.0
    assert (lengths(machine, True) == lengths(copy, True)).all()


def test_the_builder_delivers_native_code_first_and_then_the_guide(game, own_cache):
    network = game.machine("propnet").network
    before = load_propnet(game.rules, to_bytes(network), None)
    machines = [
        load_native(game.rules, product, before) for product in build_native(game.text, to_bytes(network))
    ]
    assert len(machines) > 1
    assert {type(machine) for machine in machines[:-1]} == {NativeMachine}
    assert isinstance(machines[-1], GuidedMachine)
    assert (lengths(machines[-1], True) == lengths(guided(game.machine("native")), True)).all()


def test_games_without_a_guide_are_left_alone(own_cache):
    for name in ("rockpaperscissors", "sokoban", "hex"):
        game = Game.load(name)
        machine = game.machine("native")
        assert compiled_guide(machine, 60.0) is None
        assert guided(machine) is machine
        if name != "sokoban":
            network = to_bytes(machine.network)
            assert all(
                product.split(b"\n", 1)[0].count(b" ") == 0 for product in build_native(game.text, network)
            )


def test_what_was_found_is_kept_whichever_it_is(own_cache, monkeypatch):
    for name in ("tictactoe", "rockpaperscissors"):
        machine = Game.load(name).machine("propnet")
        first = guide_network(machine)
        with monkeypatch.context() as patch:
            patch.setattr(guided_machine, "forced_moves", None)  # would fail if it were called
            again = guide_network(machine)
        assert (first is None) == (again is None)
        if first is not None and again is not None:
            assert again.moves == first.moves
            assert np.array_equal(again.gate_inputs, first.gate_inputs)
