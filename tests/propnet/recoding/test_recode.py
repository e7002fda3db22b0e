"""Random networks, with positive recursion among them, are the same functions after random recodings."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propnet.build import build
from propnet.recoding.coding import Codec, CodeGates, Coding, ExclusiveGroup, products_of
from propnet.recoding.recoded import recode
from tests.examples import examples
from tests.propnet.ground_cases import WIDTH, assignments, ground_rules, network_answers


def random_coding(bases: int, rng: random.Random) -> Coding:
    """Base propositions dealt out to groups of the key, to clocks, and to what is left out."""
    order = rng.sample(range(bases), bases)
    left_out = [order.pop() for _ in range(rng.choice((0, 0, 1))) if order]
    groups = []
    while order:
        size = rng.choice((1, 2, 3, 4, 5, 6))
        groups.append(ExclusiveGroup(tuple(order[:size]), rng.random() < 0.4))
        order = order[size:]
    clocks = rng.choice((0, 0, 1))
    return Coding(bases, tuple(groups[clocks:]), tuple(groups[:clocks]), tuple(left_out))


def fitting_states(coding: Coding, initial: np.ndarray, rng: random.Random) -> np.ndarray:
    """Random states that the coding fits, shape (WIDTH, bases)."""
    states = np.tile(initial, (WIDTH, 1))
    for group in coding.all_groups:
        states[:, list(group.members)] = False
        for row in range(WIDTH):
            options = [*group.members] if group.exact else [*group.members, None]
            if (chosen := rng.choice(options)) is not None:
                states[row, chosen] = True
    return states


def words_of(bits: np.ndarray) -> list[int]:
    """A word per column."""
    return [sum(int(bit) << row for row, bit in enumerate(column)) for column in bits.T.tolist()]


def columns_of(words: list[int]) -> np.ndarray:
    """Bits, shape (WIDTH, words)."""
    return np.array([[word >> row & 1 for word in words] for row in range(WIDTH)], np.bool_)


@examples(150)
@given(ground_rules(), st.integers(0, 2**32))
def test_random_networks_are_the_same_recoded(ground, seed):
    rng = random.Random(seed)
    network = build(ground)
    coding = random_coding(len(network.bases), rng)
    new = recode(network, coding)
    codec = Codec(coding, network.initial)
    states = fitting_states(coding, network.initial, rng)
    codes = codec.encode(states)
    assert not codes[:, -1].any()
    np.testing.assert_array_equal(codec.decode(codes), states)
    does = assignments(ground, seed)[1]
    before = network_answers(network, words_of(states), does)
    after = network_answers(new, words_of(codes), does)
    assert (after.legal, after.goals, after.terminal) == (before.legal, before.goals, before.terminal)
    np.testing.assert_array_equal(columns_of(after.next), codec.encode(columns_of(before.next)))
    np.testing.assert_array_equal(new.initial, codec.encode(network.initial[None, :])[0])


@examples(150)
@given(st.integers(0, 2**32))
def test_gates_over_members_say_what_their_literals_say(seed):
    rng = random.Random(seed)
    widths = [rng.randint(1, 7) for _ in range(rng.randint(1, 2))]
    builder = CodeGates(1 + sum(widths))
    groups, first = [], 1
    for width in widths:
        none = rng.random() < 0.5
        most = (1 << width) - none
        least = max(1, (1 << width) // 2 + 1 - none) if width > 1 else most
        codes = list(range(none, none + rng.randint(least, most)))
        bits = [2 * (first + bit) for bit in range(width)]
        decoded = dict(zip(builder.add_group(bits, codes, none), codes, strict=True))
        groups.append((first, codes + [0] * none, decoded))
        first += width
    members = [x for _, _, known in groups for x in known]
    cases = [{start: rng.choice(codes) for start, codes, _ in groups} for _ in range(40)]

    def value(literal: int, case: dict[int, int]) -> bool:
        node = literal >> 1
        if node == 0:
            true = True
        elif node < builder.first_gate:
            start = max(start for start in case if start <= node)
            true = bool(case[start] >> (node - start) & 1)
        else:
            true = all(value(x, case) for x in builder.gates[node - builder.first_gate])
        return true != bool(literal & 1)

    for _ in range(6):
        chosen = rng.sample(members, rng.randint(1, len(members)))
        literals = [x ^ (rng.random() < 0.9) for x in chosen]
        gate = builder.conjunction(literals)
        for case in cases:
            said = [
                (case[start] == code) != negated
                for x, negated in [(y ^ 1, True) if y ^ 1 in chosen else (y, False) for y in literals]
                for start, _, known in groups
                if (code := known.get(x)) is not None
            ]
            assert value(gate, case) == all(said)
            for literal in (gate, gate ^ 1):
                products = products_of(builder, literal)
                assert value(literal, case) == any(all(value(x, case) for x in p) for p in products)


def test_a_coding_names_each_proposition_once():
    with pytest.raises(ValueError, match="each base proposition once"):
        Coding(3, (ExclusiveGroup((0, 1)),))
    with pytest.raises(ValueError, match="each base proposition once"):
        Coding(3, (ExclusiveGroup((0, 1)), ExclusiveGroup((1, 2))))
    with pytest.raises(ValueError, match="without members"):
        Coding(2, (ExclusiveGroup((0, 1)), ExclusiveGroup(())))
