"""Playouts on networks with registers are those of the original network, and wrong codings do no harm."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.kaskade.stages import build_native, load_native, load_propnet
from propnet.build import build
from propnet.kernels.records import pack, unpack
from propnet.native.machine import NativeMachine, native_machine
from propnet.recoding.coding import Codec, Coding, ExclusiveGroup
from propnet.recoding.registers import RegisterMachine, RegisterRecoding, register_coding, with_registers
from propnet.storage.network_bytes import to_bytes
from tests.examples import examples
from tests.propnet.ground_cases import assignments, ground_rules, network_answers
from tests.propnet.recoding.test_recode import columns_of, fitting_states, words_of

PIECES, SQUARES = "abcde", range(1, 13)

# A piece that moves to a square with others sends them to its own square. The match ends in time, or when
# a piece reaches the last square.
GAME = f"""
(role white) (role black) (init (control white)) (init (time 1))
{" ".join(f"(piece {p}) (init (at {p} {i}))" for i, p in enumerate(PIECES, 1))}
{" ".join(f"(square {i}) (follows {i} {i + 1})" for i in SQUARES)}
(<= (legal ?r (move ?p ?x)) (true (control ?r)) (piece ?p) (square ?x) (not (true (at ?p ?x))))
(<= (legal white wait) (true (control black))) (<= (legal black wait) (true (control white)))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (next (time ?n)) (true (time ?t)) (follows ?t ?n))
(<= (moved ?p ?x) (does ?r (move ?p ?x)))
(<= (goes ?p) (moved ?p ?x)) (<= (goes ?q) (moved ?p ?x) (true (at ?q ?x)))
(<= (next (at ?p ?x)) (moved ?p ?x))
(<= (next (at ?q ?y)) (moved ?p ?x) (true (at ?p ?y)) (true (at ?q ?x)))
(<= (next (at ?p ?x)) (true (at ?p ?x)) (not (goes ?p)))
(<= terminal (true (at ?p 12)) (true (time ?t)) (distinct ?t 1)) (<= terminal (true (time 13)))
(<= (goal white 100) (true (at a 12))) (<= (goal white 30) (not (true (at a 12))))
(<= (goal black 100) (true (at e 12))) (<= (goal black 60) (not (true (at e 12))))
"""


@pytest.fixture(autouse=True)
def small_registers(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    for name, value in (("FEWEST", 12), ("SAVED", 30), ("FASTER", 0.0)):
        monkeypatch.setattr(f"propnet.recoding.registers.{name}", value)


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ground_rules(), st.integers(0, 2**32))
def test_random_networks_are_the_same_with_registers(ground, seed):
    rng = random.Random(seed)
    network = build(ground)
    order = rng.sample(range(len(network.bases)), len(network.bases))
    groups = []
    while order:
        size = rng.choice((1, 2, 3, 4, 6))
        groups.append(ExclusiveGroup(tuple(order[:size])))
        order = order[size:]
    coding = Coding(len(network.bases), tuple(groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propnet.recoding.registers.FEWEST", 2)
        new = RegisterRecoding(network, coding).recoded()
    codec = Codec(coding, network.initial)
    states = fitting_states(coding, network.initial, rng)
    codes = codec.encode(states)
    does = assignments(ground, seed)[1]
    before = network_answers(network, words_of(states), does)
    after = network_answers(new, words_of(codes), does)
    assert (after.legal, after.goals, after.terminal) == (before.legal, before.goals, before.terminal)
    wanted, got = codec.encode(columns_of(before.next)), columns_of(after.next)
    # What is said of a state that is not broken is true. Some are called broken that are not: where a member
    # of a register stays, and is made true besides.
    kept = ~got[:, -1]
    np.testing.assert_array_equal(got[kept], wanted[kept])
    codes[:, -1] = True
    ended = network_answers(new, words_of(codes), does)
    assert not any(ended.goals)
    assert columns_of([ended.terminal]).all()


def _plain() -> NativeMachine:
    rules = parse_rules(GAME)
    return native_machine(rules, build(ground(rules)))


def _made(plain: NativeMachine, coding: Coding) -> RegisterMachine:
    network = RegisterRecoding(plain.network, coding).recoded()
    code = native_machine(plain.rules, network).code
    return RegisterMachine(plain.rules, plain.network, plain.code, network, code, coding)


def _same_playouts(plain: NativeMachine, other: NativeMachine) -> None:
    start = plain.records([plain.initial_state()])
    legal = unpack(plain.evaluate(start).legal, plain.network.move_count)[0]
    white, black = (np.flatnonzero(part) for part in np.split(legal, [len(plain.network.moves[0])]))
    moves = np.array([[move, black[0]] for move in white], np.int32)
    deep = np.concatenate([start, plain.successors(np.repeat(start, len(moves), axis=0), moves)])
    for records, each in ((start, 1500), (deep, 70), (deep[1:3], 1)):
        tallies = [np.zeros((plain.network.move_count, 2), np.int32) for _ in range(2)]
        ours, theirs = (
            machine.playouts_from(records, 7, each=each, tallies=tally)
            for machine, tally in zip((plain, other), tallies, strict=True)
        )
        np.testing.assert_array_equal(ours.goals, theirs.goals)
        np.testing.assert_array_equal(ours.lengths, theirs.lengths)
        np.testing.assert_array_equal(*tallies)
        row = len(ours.lengths) - 1
        length = int(ours.lengths[row])
        traces = [m.playout_moves(records, row, length, 7, each=each) for m in (plain, other)]
        np.testing.assert_array_equal(*traces)


@pytest.mark.slow
def test_playouts_on_registers_are_the_same_playouts():
    plain = _plain()
    coding = register_coding(plain)
    assert coding is not None
    assert sum(len(group.members) > 1 for group in coding.groups) == len(PIECES) + 1
    machine = _made(plain, coding)
    _same_playouts(plain, machine)
    _same_playouts(plain, pickle.loads(pickle.dumps(machine)))
    assert machine.fits
    records = plain.records([plain.initial_state()])
    bits = unpack(machine.encoded(records), coding.bits)
    np.testing.assert_array_equal(
        bits, Codec(coding, plain.network.initial).encode(unpack(records, coding.bases))
    )
    assert machine.encoded(pack(np.ones((1, coding.bases), np.bool_))) is None


@pytest.mark.slow
def test_a_coding_that_does_not_fit_is_dropped():
    plain = _plain()
    names = [str(name) for name in plain.network.bases]
    # Piece a on one half of the board does not exclude piece b on the other.
    both = [f"(at a {i})" if i < 7 else f"(at b {i})" for i in SQUARES]
    single = [ExclusiveGroup((i,)) for i, name in enumerate(names) if name not in both]
    machine = _made(plain, Coding(len(names), (ExclusiveGroup(tuple(map(names.index, both))), *single)))
    _same_playouts(plain, machine)
    assert not machine.fits


@pytest.mark.slow
def test_the_builder_delivers_native_code_first_and_then_registers(monkeypatch):
    monkeypatch.setattr("players.kaskade.guided_machine.compiled_guide", lambda *_: None)
    rules = parse_rules(GAME)
    network = to_bytes(build(ground(rules)))
    before = load_propnet(rules, network, None)
    for _ in range(2):  # the second time from the network that is stored
        machines = [load_native(rules, product, before) for product in build_native(GAME, network)]
        assert {type(machine) for machine in machines[:-1]} == {NativeMachine}
        assert isinstance(machines[-1], RegisterMachine)
        _same_playouts(machines[0], machines[-1])
        assert machines[-1].fits


def test_small_games_get_no_registers(monkeypatch):
    monkeypatch.setattr("propnet.recoding.registers.SAVED", 2_000)
    plain = _plain()
    assert with_registers(plain) is plain
