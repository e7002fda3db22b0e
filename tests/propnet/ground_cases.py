"""Random ground rules, and naive evaluators of ground rules, circuits and networks for comparison.

A *word* is a Python integer whose bit k belongs to assignment k, so that many random
assignments are evaluated at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gdl.grounding.ground_rules import GroundRules
from gdl.terms import Term
from propnet.network import Network
from propnet.passes.circuit import Circuit, CircuitBuilder, Shape
from tests.gdl.grounding.ground_evaluator import GroundEvaluator
from tests.propnet.circuits import network_words

WIDTH = 64
ALL = (1 << WIDTH) - 1


@dataclass
class Answers:
    """Words of all outputs: legal, goal and terminal with no move made, next with moves."""

    next: list[int]
    legal: list[int]
    goals: list[int]
    terminal: int


@st.composite
def ground_rules(draw: st.DrawFn, recursion: bool = True, moves_anywhere: bool = True) -> GroundRules:
    """Small stratified rules with negation, facts, unused and undefined atoms, repeated
    literals and (unless forbidden) positive recursion and moves in legal and goal."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    bases = rng.randint(1, 6)
    moves = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    inputs = bases + sum(moves)
    layers = rng.randint(1, 5)
    width = rng.randint(2, 7)
    atoms = inputs + layers * width
    heads, start, bodies = [], [0], []
    for layer in range(layers):
        below = inputs + layer * width
        own = range(below, below + width)
        for head in own:
            for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
                body = []
                for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)) if rng.random() < 0.9 else 0):
                    kind = rng.random()
                    if recursion and kind < 0.3:
                        body.append(2 * rng.choice(own))
                    elif kind < 0.65 or layer == 0:
                        read = rng.randrange(inputs)
                        if moves_anywhere or read < bases or layer * 2 >= layers:
                            body.append(2 * read + (rng.random() < 0.4))
                    else:
                        body.append(2 * rng.randrange(inputs, below) + (rng.random() < 0.4))
                if not body and rng.random() < 0.9:
                    body.append(2 * rng.randrange(bases) + 1)
                heads.append(head)
                bodies += body
                start.append(len(bodies))
    derived = range(inputs, atoms if moves_anywhere else inputs + (layers + 1) // 2 * width)
    ruled = sorted(set(heads) & set(derived)) or [-1]

    def pick() -> int:
        return -1 if rng.random() < 0.1 else rng.choice(ruled)

    def pick_next() -> int:
        return -1 if rng.random() < 0.1 else rng.randrange(inputs, atoms)

    return GroundRules(
        roles=tuple(Term(f"r{i}") for i in range(len(moves))),
        bases=tuple(Term("p", Term(str(i))) for i in range(bases)),
        moves=tuple(tuple(Term("m", Term(str(i))) for i in range(count)) for count in moves),
        atom_count=atoms,
        heads=np.array(heads, np.int32),
        body_start=np.array(start, np.int64),
        bodies=np.array(bodies, np.int32),
        next_atoms=np.array([pick_next() for _ in range(bases)], np.int32),
        legal_atoms=np.array([pick() for _ in range(sum(moves))], np.int32),
        goal_atoms=tuple((r, v, pick()) for r in range(len(moves)) for v in (0, 100)),
        terminal_atom=pick(),
        initial=np.array([rng.random() < 0.5 for _ in range(bases)], bool),
    )


def assignments(ground: GroundRules, seed: int) -> tuple[list[int], list[int]]:
    """Words of random base propositions and of moves, one move per role and assignment."""
    rng = random.Random(seed)
    bases = [rng.getrandbits(WIDTH) for _ in ground.bases]
    does: list[int] = []
    for moves in ground.moves:
        words = [0] * len(moves)
        for k in range(WIDTH):
            words[rng.randrange(len(moves))] |= 1 << k
        does += words
    return bases, does


def walks(ground: GroundRules, seed: int, steps: int) -> Iterator[tuple[list[int], list[int], int]]:
    """Random legal play of ``WIDTH`` matches: words of the base propositions, of the moves, and of
    the matches in which every role has a legal move (the others begin again)."""
    rng = random.Random(seed)
    start = [ALL if value else 0 for value in ground.initial]
    bases = start
    for _ in range(steps):
        legal = ground_answers(ground, bases, [0] * ground.move_count).legal
        does = [0] * ground.move_count
        going = ALL
        first = 0
        for moves in ground.moves:
            own = range(first, first + len(moves))
            for k in range(WIDTH):
                choice = [m for m in own if legal[m] >> k & 1]
                if choice:
                    does[rng.choice(choice)] |= 1 << k
                else:
                    going &= ~(1 << k)
            first += len(moves)
        yield bases, does, going
        following = ground_answers(ground, bases, does).next
        bases = [new & going | old & ~going for new, old in zip(following, start, strict=True)]


def ground_answers(ground: GroundRules, bases: list[int], does: list[int]) -> Answers:
    """What the ground rules say."""
    evaluator = GroundEvaluator(ground)
    still = [*evaluator.evaluate(bases + [0] * len(does), ALL), 0]
    moved = [*evaluator.evaluate(bases + does, ALL), 0]
    return Answers(
        [moved[a] for a in ground.next_atoms],
        [still[a] for a in ground.legal_atoms],
        [still[a] for _, _, a in ground.goal_atoms],
        still[ground.terminal_atom],
    )


def network_answers(network: Network, bases: list[int], does: list[int]) -> Answers:
    """What a network says; legal moves, goals and the end read no moves."""
    values = network_words(network, bases, does, ALL)
    first = network.first_gate

    def literal(x: int) -> int:
        return values[x >> 1] ^ (ALL if x & 1 else 0)

    limit = first + network.base_gates
    still = [*network.legal_literals.tolist(), *network.goals[:, 2].tolist(), network.terminal_literal]
    for x in still:
        assert x >> 1 < limit
        assert not 1 + len(bases) <= x >> 1 < first
    return Answers(
        [literal(int(x)) for x in network.next_literals],
        [literal(int(x)) for x in network.legal_literals],
        [literal(int(x)) for x in network.goals[:, 2]],
        literal(network.terminal_literal),
    )


def circuit_words(circuit: Circuit, inputs: list[int]) -> list[int]:
    """The word of each output of a circuit, given those of its inputs (cuts among them)."""
    values = [ALL, *inputs]
    for gate in circuit.gates:
        word = ALL
        for x in gate:
            assert x >> 1 < len(values)
            word &= values[x >> 1] ^ (ALL if x & 1 else 0)
        values.append(word)
    return [values[x >> 1] ^ (ALL if x & 1 else 0) for x in circuit.outputs]


@st.composite
def circuits(draw: st.DrawFn) -> Circuit:
    """Random circuits, dense in shared literals, with moves, cuts, goals and constants."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    moves = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 2)))
    shape = Shape(rng.randint(1, 4), moves, rng.randint(0, 2), rng.randint(0, 2))
    builder = CircuitBuilder(shape.first_gate)
    literals = list(range(2, 2 * shape.first_gate))
    local = rng.choice((4, 12, 1000))
    for _ in range(rng.randint(0, 60)):
        pool = literals[-local:] if rng.random() < 0.7 else literals
        size = rng.choice((2, 2, 3, 4, 6))
        made = builder.conjunction(rng.sample(pool, min(size, len(pool)))) ^ (rng.random() < 0.5)
        if made > 1 and made not in literals:
            literals.append(made)
    count = shape.first_cut_output + shape.cuts
    outputs = [rng.choice(literals[-20:]) if rng.random() < 0.9 else rng.choice((0, 1)) for _ in range(count)]
    return Circuit(shape, builder.gates, outputs)


def circuit_inputs(circuit: Circuit, seed: int) -> list[int]:
    """Random words of a circuit's inputs, one move per role."""
    rng = random.Random(seed)
    shape = circuit.shape
    words = [rng.getrandbits(WIDTH) for _ in range(shape.bases)]
    for count in shape.moves:
        own = [0] * count
        for k in range(WIDTH):
            own[rng.randrange(count)] |= 1 << k
        words += own
    return words + [rng.getrandbits(WIDTH) for _ in range(shape.cuts)]
