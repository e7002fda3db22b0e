"""Every level makes a machine, guided or not; what native code may cost; playouts that are stuck."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import NetworkBatch, batch_machine_of
from players.kaskade import guided_machine
from players.kaskade.guided_machine import GuidedMachine, compiled_guide, guide_network, guided
from players.kaskade.make_machine import LEVELS, compile_budget, make_machine
from players.kaskade.stages import build_native, load_native, load_propnet
from players.uct.tuning import Tuning
from propnet.native.machine import NativeMachine
from propnet.storage.network_bytes import to_bytes
from tests.players.uct.searching import search_of


def test_the_budget_for_native_code_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GGP_COMPILE_SECONDS", raising=False)
    assert compile_budget(7.0) == 7.0
    monkeypatch.setenv("GGP_COMPILE_SECONDS", "2.5")
    assert compile_budget(7.0) == 2.5


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_budget_that_is_no_time_is_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GGP_COMPILE_SECONDS", text)
    with pytest.raises(GdlError, match="GGP_COMPILE_SECONDS"):
        compile_budget(1.0)


def test_no_budget_means_that_the_network_is_interpreted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GGP_COMPILE_SECONDS", "0")
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))  # what was compiled before is native at once
    machine = make_machine(Game.load("nim").rules, "native")
    assert isinstance(machine, NativeMachine)
    assert machine.compiled == 0.0
    assert machine.playouts(100, seed=1).lengths.min() > 0


def test_every_level_makes_a_machine_that_knows_its_level() -> None:
    rules = Game.load("tictactoe").rules
    levels = {level: make_machine(rules, level).level for level in LEVELS}
    assert levels == {"prover": "prover", "propnet": "propnet", "native": "native", "auto": "native"}


# --- A guided machine plays as the native one does, and its playouts are those of the guide


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


# --- A playout that comes to a state where a role has no legal move has no result, on any machine
STUCK = """
(role you) (init on)
(<= (legal you go) (true on))
(<= (next off) (does you go))
(<= (goal you 90) (true off))
(<= (goal you 0) (not (true off)))
(<= terminal (not (true on)) (not (true off)))
"""


@pytest.mark.parametrize("level", ["prover", "propnet", "native"])
def test_goals_that_hold_in_a_state_without_moves_are_no_result(level: str) -> None:
    machine = make_machine(parse_rules(STUCK, "the rules"), level)
    played = machine.playouts(5)
    assert played.cut == 5 and played.lengths.tolist() == [1] * 5
    assert (played.goals == -1).all()
    batched = batch_machine_of(machine)
    records = batched.record(machine.initial_state())[None, :]
    ends = batched.playouts(records, 1, 100, float("inf"), 3)
    assert (ends.goals == -1).all() and ends.finished.all()
    one_step = machine.playouts(5, max_steps=1)
    assert (one_step.goals == 90).all(), "cut after a number of moves, the goals say how it stands"


def test_a_search_claims_nothing_of_a_puzzle_that_cannot_be_ended() -> None:
    machine = make_machine(parse_rules(STUCK, "the rules"), "propnet")
    search = search_of(machine, Tuning(memory=1 << 22))
    for _ in range(5):
        search.step(time.monotonic() + 60.0, 1000)
    assert search.statistics().value == -1
    assert search.line.value < 90
