"""Playouts on networks with registers are those of the network before, and wrong codings do no harm."""

from __future__ import annotations

import pickle
import random
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from propnet.build import build
from propnet.kernels.records import pack, unpack
from propnet.native.machine import NativeMachine, native_machine
from propnet.network import Network
from propnet.recoding.coding import Codec, Coding, ExclusiveGroup
from propnet.recoding.playing import Encoder, RegisterMachine, register_network, with_register_playouts
from propnet.recoding.registers import with_registers
from tests.examples import examples
from tests.propnet.ground_cases import assignments, ground_rules, network_answers
from tests.propnet.recoding.test_recode import columns_of, fitting_states, words_of


def _registers(bases: int, rng: random.Random) -> Coding:
    """Base propositions dealt out to groups, none of them exact."""
    order = rng.sample(range(bases), bases)
    groups = []
    while order:
        size = rng.choice((1, 2, 3, 4, 6))
        groups.append(ExclusiveGroup(tuple(order[:size])))
        order = order[size:]
    return Coding(bases, tuple(groups))


@pytest.fixture
def small_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("propnet.recoding.registers.FEWEST", 2)
    monkeypatch.setattr("propnet.recoding.registers.SAVED", 1)


@pytest.mark.usefixtures("small_registers")
@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ground_rules(), st.integers(0, 2**32))
def test_random_networks_are_the_same_with_registers(ground, seed):
    rng = random.Random(seed)
    network = build(ground)
    coding = _registers(len(network.bases), rng)
    new = with_registers(network, coding)
    codec = Codec(coding, network.initial)
    states = fitting_states(coding, network.initial, rng)
    codes = codec.encode(states)
    does = assignments(ground, seed)[1]
    before = network_answers(network, words_of(states), does)
    after = network_answers(new, words_of(codes), does)
    assert (after.legal, after.goals, after.terminal) == (before.legal, before.goals, before.terminal)
    following = columns_of(before.next)
    wanted, got = codec.encode(following), columns_of(after.next)
    # What is said of a state that is not broken is true. Some are called broken that are not: where a member
    # of a register stays, and is made true besides.
    kept = ~got[:, -1]
    np.testing.assert_array_equal(got[kept], wanted[kept])
    broken = codes.copy()
    broken[:, -1] = True
    ended = network_answers(new, words_of(broken), does)
    assert not any(ended.goals)
    assert columns_of([ended.terminal]).all()


@examples(100)
@given(st.integers(1, 200), st.integers(0, 2**32))
def test_records_are_encoded_as_the_coding_says(bases, seed):
    rng = random.Random(seed)
    coding = _registers(bases, rng)
    initial = np.zeros(bases, np.bool_)
    states = fitting_states(coding, initial, rng)
    codec, encoder = Codec(coding, initial), Encoder.of(coding)
    coded = encoder.encoded(pack(states))
    assert coded is not None
    np.testing.assert_array_equal(unpack(coded, coding.bits), codec.encode(states))
    wide = [group for group in coding.groups if len(group.members) > 1]
    if wide:
        states[rng.randrange(len(states)), list(rng.choice(wide).members[:2])] = True
        assert encoder.encoded(pack(states)) is None


def connection_game(size: int) -> str:
    """Stones on a square board; a group has the number of the step in which it last grew. Who connects two
    sides wins. In the last step of a full board nobody may have won: then it is a draw."""
    numbers = " ".join(f"(next_number {i} {i + 1})" for i in range(1, size))
    steps = " ".join(f"(next_step {i} {i + 1})" for i in range(1, size * size + 1))
    return f"""
(role white) (role black) (init (control white)) (init (time 1)) {numbers} {steps}
(<= (line ?x) (next_number ?x ?y)) (<= (line ?y) (next_number ?x ?y))
(<= (legal ?r (put ?x ?y)) (true (control ?r)) (line ?x) (line ?y) (not (taken ?x ?y)))
(<= (taken ?x ?y) (true (stone ?x ?y ?r)))
(<= (legal white wait) (true (control black))) (<= (legal black wait) (true (control white)))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (next (time ?n)) (true (time ?t)) (next_step ?t ?n))
(<= (next (stone ?x ?y ?r)) (does ?r (put ?x ?y)))
(<= (next (stone ?x ?y ?r)) (true (stone ?x ?y ?r)))
(<= (next (whose ?t ?r)) (true (time ?t)) (true (control ?r)))
(<= (next (whose ?t ?r)) (true (whose ?t ?r)))
(<= (next (group ?t ?x ?y)) (true (time ?t)) (does ?r (put ?x ?y)))
(<= (next (group ?t ?x ?y)) (true (time ?t)) (grows ?g) (true (group ?g ?x ?y)))
(<= (next (group ?g ?x ?y)) (true (group ?g ?x ?y)) (not (grows ?g)))
(<= (grows ?g) (does ?r (put ?x ?y)) (true (whose ?g ?r)) (true (group ?g ?v ?w)) (beside ?x ?y ?v ?w))
(<= (beside ?x ?y ?v ?y) (next_number ?x ?v) (line ?y))
(<= (beside ?v ?y ?x ?y) (next_number ?x ?v) (line ?y))
(<= (beside ?x ?y ?x ?w) (next_number ?y ?w) (line ?x))
(<= (beside ?x ?w ?x ?y) (next_number ?y ?w) (line ?x))
(<= (wins white) (true (group ?g 1 ?y)) (true (group ?g {size} ?w)) (true (whose ?g white)))
(<= (wins black) (true (group ?g ?x 1)) (true (group ?g ?v {size})) (true (whose ?g black)))
(<= over (wins ?r)) (<= over (true (time {size * size + 1})))
(<= terminal over)
(<= (goal ?r 100) (wins ?r)) (<= (goal ?r 0) (wins ?o) (role ?r) (distinct ?r ?o))
(<= (goal ?r 50) (role ?r) (not (wins white)) (not (wins black)))
"""


@cache
def _plain() -> NativeMachine:
    rules = parse_rules(connection_game(4))
    return native_machine(rules, build(ground(rules)))


def _same_playouts(plain: NativeMachine, other: NativeMachine) -> None:
    rng = np.random.default_rng(5)
    start = plain.records([plain.initial_state()])
    deep = start
    for _ in range(5):
        legal = unpack(plain.evaluate(deep).legal, plain.network.move_count)
        bounds = plain.role_moves.tolist()
        moves = [
            (legal[:, low:high] * rng.random((len(deep), high - low))).argmax(axis=1)
            for low, high in pairwise(bounds)
        ]
        deep = np.concatenate([start, plain.successors(deep, np.stack(moves, axis=1).astype(np.int32))])
    for records, each in ((start, 1500), (deep, 70), (deep[1:3], 1)):
        tallies = [np.zeros((len(records), plain.network.move_count, 2), np.int32) for _ in range(2)]
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


def _made(plain: NativeMachine, found: tuple[Network, Coding]) -> RegisterMachine:
    network, coding = found
    code = native_machine(plain.rules, network).code
    return RegisterMachine(plain.rules, plain.network, plain.code, code, network, coding)


@pytest.mark.slow
def test_playouts_on_registers_are_the_same_playouts(monkeypatch):
    monkeypatch.setattr("propnet.recoding.registers.FEWEST", 12)
    for module in ("registers", "playing"):
        monkeypatch.setattr(f"propnet.recoding.{module}.SAVED", 100)
    plain = _plain()
    found = register_network(plain)
    assert found is not None
    assert sum(len(group.members) > 1 for group in found[1].groups) >= 16
    assert len(found[0].bases) < len(plain.network.bases) // 2
    machine = _made(plain, found)
    _same_playouts(plain, machine)
    assert machine.encoder is not None
    _same_playouts(plain, pickle.loads(pickle.dumps(machine)))


@pytest.mark.slow
@pytest.mark.usefixtures("small_registers")
def test_a_coding_that_does_not_fit_is_dropped():
    plain = _plain()
    names = list(plain.network.bases)
    # Stones of one colour do not exclude each other.
    stones = tuple(i for i, name in enumerate(names) if name.name == "stone" and str(name.args[2]) == "white")
    others = [ExclusiveGroup((i,)) for i in range(len(names)) if i not in stones]
    coding = Coding(len(names), (ExclusiveGroup(stones), *others))
    machine = _made(plain, (with_registers(plain.network, coding), coding))
    _same_playouts(plain, machine)
    assert machine.encoder is None


def test_small_games_get_no_registers():
    assert with_register_playouts(_plain()) is _plain()
