"""What clocks rule out becomes constant, and nothing else changes in the states that they go through."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from propnet.build import build
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, Shape
from propnet.passes.timed import STATES, timed_constants
from tests.examples import examples
from tests.propnet.ground_cases import ALL, WIDTH, circuit_words


@st.composite
def clocked(draw: st.DrawFn) -> tuple[Circuit, list[bool], int]:
    """A random circuit, some of whose base propositions are clocks, its initial state, how many clocks."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    clocks = rng.randint(1, 6)
    shape = Shape(clocks + rng.randint(0, 4), (rng.randint(1, 3), 2), 1, rng.randint(0, 1))
    builder = CircuitBuilder(shape.first_gate)

    def grow(pool: list[int], count: int) -> None:
        for _ in range(count):
            inputs = rng.sample(pool, min(rng.choice((2, 2, 3)), len(pool)))
            made = builder.conjunction([x ^ (rng.random() < 0.5) for x in inputs])
            if made > 1:
                pool.append(made)

    slow = [2 * node for node in range(1, 1 + clocks)]
    grow(slow, rng.randint(0, 15))
    every = [2 * node for node in range(1, shape.first_gate)] + slow[clocks:]
    grow(every, rng.randint(0, 15))
    pick = [rng.choice(slow) ^ (rng.random() < 0.5) for _ in range(clocks)]
    # The other base propositions follow moves; what else they are does not matter, they are anything below.
    pick += [2 * shape.first_move + rng.randrange(2) for _ in range(clocks, shape.bases)]
    others = shape.first_cut_output + shape.cuts - shape.bases
    pick += [rng.choice(every) ^ (rng.random() < 0.5) for _ in range(others)]
    return Circuit(shape, builder.gates, pick), [rng.random() < 0.5 for _ in range(shape.bases)], clocks


@examples(300)
@given(clocked(), st.integers(0, 2**32))
def test_outputs_are_the_same_in_all_states_of_the_clocks(
    case: tuple[Circuit, list[bool], int], seed: int
) -> None:
    circuit, initial, clocks = case
    rewritten = timed_constants(circuit, np.array(initial))
    assert rewritten.gate_inputs <= circuit.gate_inputs
    rng = random.Random(seed)
    bases = [ALL if value else 0 for value in initial]
    inputs = circuit.shape.first_gate - 1 - circuit.shape.bases
    for _ in range(70):
        words = bases + [rng.getrandbits(WIDTH) for _ in range(inputs)]
        outputs = circuit_words(circuit, words)
        assert circuit_words(rewritten, words) == outputs
        free = circuit.shape.bases - clocks
        bases = outputs[:clocks] + [rng.getrandbits(WIDTH) for _ in range(free)]


def _steps(count: int) -> str:
    """Players in turn; who was to move in each step is noted."""
    succ = " ".join(f"(succ {i} {i + 1})" for i in range(count))
    return f"""
(role x) (role o) (init (control x)) (init (step 0)) {succ}
(<= (legal ?r wait) (role ?r)) (<= (legal ?r (mark ?k)) (role ?r) (true (step ?k)))
(<= (next (control x)) (true (control o))) (<= (next (control o)) (true (control x)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (owner ?k ?r)) (true (step ?k)) (true (control ?r)))
(<= (next (owner ?k ?r)) (true (owner ?k ?r)))
(<= (next (marked ?k)) (does ?r (mark ?k)) (true (owner ?j ?r)) (succ ?j ?k))
(<= (next (marked ?k)) (true (marked ?k)))
(<= terminal (true (step {count}))) (goal x 50) (goal o 50)
"""


def test_a_step_belongs_to_the_player_whose_turn_it_then_is() -> None:
    network = build(ground(parse_rules(_steps(10))))
    following = {str(base): int(x) for base, x in zip(network.bases, network.next_literals, strict=True)}
    for step in range(10):
        absent, present = ("o", "x") if step % 2 == 0 else ("x", "o")
        assert following.get(f"(owner {step} {absent})", FALSE) == FALSE
        assert following[f"(owner {step} {present})"] != FALSE


def _binary_counter(bits: int) -> Circuit:
    """Bases count in binary, with a carry that is true only in the last state."""
    shape = Shape(bits, (2,), 0, 0)
    builder = CircuitBuilder(shape.first_gate)
    outputs = []
    carry = TRUE
    for bit in range(bits):
        own = 2 * (1 + bit)
        both = builder.conjunction([own, carry])
        neither = builder.conjunction([own ^ 1, carry ^ 1])
        outputs.append(builder.conjunction([both ^ 1, neither ^ 1]))
        carry = both
    return Circuit(shape, builder.gates, [*outputs, carry, carry, carry])


def test_clocks_with_too_many_states_are_left_alone() -> None:
    bits = STATES.bit_length()
    circuit = _binary_counter(bits)
    assert timed_constants(circuit, np.zeros(bits, np.bool_)) is circuit
    # From the same counter, one bit shorter, nothing is taken away either: it goes through all states.
    short = _binary_counter(bits - 2)
    assert timed_constants(short, np.zeros(bits - 2, np.bool_)).gate_inputs == short.gate_inputs
