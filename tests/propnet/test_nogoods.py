"""In the network with nogoods a move is legal if and only if the state after it contains none of them, or the
states after all moves do."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gdl.errors import RulesError
from gdl.rules import Rules
from ggp.game import Game
from propnet.build import build
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.nogoods import compile_nogoods, with_nogoods
from propnet.substitute import EffortError
from tests.propnet.ground_cases import ground_rules


def containing(bits, sets):
    """Which states, bool (n, bases), contain one of the sets."""
    found = np.zeros(len(bits), np.bool_)
    for nogood in sets:
        found |= np.all([bits[:, (x >> 1) - 1] ^ bool(x & 1) for x in nogood], axis=0)
    return found


def left_moves(plain, bits, sets):
    """The moves, bool (n, moves), that are legal in states and complete no set."""
    records = pack(bits)
    legal = unpack(plain.evaluate(records).legal, plain.network.move_count)
    rows, moves = np.nonzero(legal)
    after = plain.successors(records[rows], moves[:, None].astype(np.int32))
    legal[rows, moves] = ~containing(unpack(after, bits.shape[1]), sets)
    return legal


def assert_left_out(plain, played, bits, sets):
    """Looked at where no set holds before and the match goes on. Returns how many moves are left out."""
    going = ~containing(bits, sets) & ~plain.evaluate(pack(bits)).terminal
    bits = bits[going]
    legal, left = (unpack(m.evaluate(pack(bits)).legal, m.network.move_count) for m in (plain, played))
    wanted = left_moves(plain, bits, sets)
    wanted = np.where(wanted.any(axis=1)[:, None], wanted, legal)
    assert (left == wanted).all()
    return int(np.count_nonzero(legal & ~left))


def all_true(bases):
    """The nogood in which these base propositions are all true."""
    return tuple(2 * (1 + base) for base in bases)


def visited(machine, steps=60, seed=0):
    """Different states met in random play: bool (n, bases)."""
    rng = np.random.default_rng(seed)
    first = np.repeat(machine.records([machine.initial_state()]), 128, axis=0)
    records, seen = first, []
    for _ in range(steps):
        seen.append(records)
        evaluation = machine.evaluate(records)
        legal = unpack(evaluation.legal, machine.network.move_count)
        moves = np.where(legal, rng.random(legal.shape), -1).argmax(axis=1)
        over = evaluation.terminal | ~legal.any(axis=1)
        records = np.where(over[:, None], first, machine.successors(records, moves[:, None].astype(np.int32)))
    return unpack(np.unique(np.concatenate(seen), axis=0), len(machine.network.bases))


def rare_sets(bits, size, count, seed=0):
    """Sets of literals, each of which holds in a few of the states."""
    rng = np.random.default_rng(seed)
    sets = []
    while len(sets) < count:
        row = bits[rng.integers(len(bits))]
        bases = rng.choice(len(row), size, replace=False)
        nogood = tuple(2 * (1 + b) + int(not row[b]) for b in bases.tolist())
        if containing(bits, [nogood]).mean() < 0.02:
            sets.append(nogood)
    return sets


@settings(max_examples=150, deadline=None)
@given(ground_rules(moves_anywhere=False), st.integers(0, 2**32))
def test_random_networks_with_random_sets(ground, seed):
    assume(len(ground.roles) == 1)
    try:
        network = build(ground)
    except RulesError:
        assume(False)
    plain = PropnetMachine(Rules(()), network)
    rng = random.Random(seed)
    bases = len(network.bases)
    sets = [
        [2 * (1 + rng.randrange(bases)) + rng.randrange(2) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(1, 4))
    ]
    bits = (np.arange(1 << bases)[:, None] >> np.arange(bases) & 1).astype(np.bool_)
    try:
        guide = compile_nogoods(network, sets)
    except EffortError:
        assert any(low >= network.base_gates for low, _ in network.loops.tolist())
        return
    played = PropnetMachine(Rules(()), guide) if guide else plain
    assert_left_out(plain, played, bits, sets)
    records = pack(bits)
    moves = np.full((len(bits), 1), rng.randrange(network.move_count), np.int32)
    assert (plain.successors(records, moves) == played.successors(records, moves)).all()
    ours, theirs = plain.evaluate(records), played.evaluate(records)
    assert (ours.terminal == theirs.terminal).all()
    assert (ours.goals == theirs.goals).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"), [("sokoban", 3), ("queens", 2), ("lightsout", 5), ("pegsolitaire", 6)]
)
def test_games(name, size):
    plain = Game.load(name).machine("propnet")
    bits = visited(plain)
    sets = rare_sets(bits, size, 40)
    played = with_nogoods(plain, sets)
    assert assert_left_out(plain, played, bits, sets)


RECURSIVE = """
(role you) (init (at 1)) (init (open 1 2)) (init (open 2 3)) (init (open 3 4)) (init (open 4 1))
(<= (reach ?x) (true (at ?x)))
(<= (reach ?y) (reach ?x) (true (open ?x ?y)))
(edge 1 2) (edge 2 3) (edge 3 4) (edge 4 1)
(<= (legal you (walk ?x ?y)) (reach ?x) (edge ?x ?y) (true (open ?x ?y)))
(<= (next (at ?y)) (does you (walk ?x ?y)))
(<= (next (open ?x ?y)) (true (open ?x ?y)) (not (does you (walk ?x ?y))))
(<= terminal (not (true (open 1 2))) (not (true (open 2 3))))
(goal you 100)
"""


def test_gates_are_spliced_into_networks_with_recursion():
    plain = Game.load(RECURSIVE).machine("propnet")
    assert len(plain.network.loops)
    bits = visited(plain)
    out = 0
    for base in range(len(plain.network.bases)):
        for sets in ([all_true([base])], [(2 * (1 + base) + 1,)], [all_true([base, 0]), (3 + 2 * base,)]):
            out += assert_left_out(plain, with_nogoods(plain, sets), bits, sets)
    assert out


def test_fewer_sets_where_the_limits_do_not_allow_for_all():
    plain = Game.load("pegsolitaire").machine("propnet")
    bits = visited(plain)
    sets = rare_sets(bits, 6, 40)
    inputs = len(plain.network.gate_inputs)
    with pytest.raises(EffortError):
        compile_nogoods(plain.network, sets, most_inputs=inputs + 200)
    played = with_nogoods(plain, sets, most_inputs=inputs + 200)
    assert inputs < len(played.network.gate_inputs) <= inputs + 200
    assert with_nogoods(plain, sets, effort=10) is plain
    assert with_nogoods(plain, []) is plain


def test_several_roles_and_other_literals_are_refused():
    with pytest.raises(ValueError, match="one role"):
        compile_nogoods(Game.load("tictactoe").machine("propnet").network, [(2,)])
    network = Game.load("queens").machine("propnet").network
    for literal in (0, 1, 2 * (1 + len(network.bases))):
        with pytest.raises(ValueError, match="base proposition"):
            compile_nogoods(network, [(literal,)])
