"""What is proven of a network holds: ternary simulation, latches, clocks, factors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from propnet.analysis.cones import clocks, relevant
from propnet.analysis.factors import ALTERNATIVE, COMPOUND, Factors, cofactors, factors
from propnet.analysis.ternary import Ternary, latches, phases, unpack_cases
from propnet.build import build
from propnet.network import Network
from propnet.passes.circuit import TRUE
from tests.examples import examples
from tests.propnet.circuits import Circuit, naive, random_network, term, tic_tac_toe

seeds = st.integers(0, 2**32 - 1)


def some_network(rng: Generator, loops: int = 0) -> Network:
    return random_network(rng, int(rng.integers(1, 9)), [3, 2], int(rng.integers(2, 30)), loops=loops)


def legal_moves(network: Network, values: list[bool]) -> list[list[int]]:
    legal, first = [], 0
    for moves in network.moves:
        mine = network.legal_literals[first : first + len(moves)]
        legal.append([i for i, x in enumerate(mine) if values[x]])
        first += len(moves)
    return legal


def successor(network: Network, state: NDArray[np.bool_], rng: Generator) -> NDArray[np.bool_] | None:
    """A state after random legal moves; None where a role has none, or the match is over."""
    values = naive(network, state)
    options = legal_moves(network, values)
    if values[network.terminal_literal] or not all(options):
        return None
    after = naive(network, state, [int(rng.choice(moves)) for moves in options])
    return np.array([after[x] for x in network.next_literals])


@examples(30)
@given(seeds, st.integers(0, 1))
def test_ternary_simulation_allows_for_every_state_that_is_allowed_for(seed: int, loops: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng, loops)
    ternary = Ternary(network)
    bases = len(network.bases)
    states = rng.integers(0, 2, (6, bases)).astype(np.bool_)
    rows = ternary.known(states)
    open_ = rng.integers(0, 2, bases).astype(np.bool_)
    rows[np.repeat(open_, 2)] = ~np.uint64(0)
    step = ternary.step(rows)
    may, following = unpack_cases(step.may, 6), unpack_cases(step.following, 6)
    for case in range(6):
        inside = states[case] ^ (open_ & rng.integers(0, 2, bases).astype(np.bool_))
        values = naive(network, inside)
        reads = network.first_gate + network.base_gates
        sure = [x for x in range(2 * reads) if x >> 1 <= bases or x >> 1 >= network.first_gate]
        assert all(may[case, x] for x in sure if values[x])
        options = legal_moves(network, values)
        if all(options):
            joint = [int(rng.choice(moves)) for moves in options]
            after = naive(network, inside, joint)
            assert all(following[case, 2 * b + (not after[x])] for b, x in enumerate(network.next_literals))


@examples(40)
@given(seeds)
def test_what_is_latched_never_changes_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    latched = latches(Ternary(network))
    for _ in range(3):
        state = np.asarray(network.initial, np.bool_)
        for _ in range(8):
            after = successor(network, state, rng)
            if after is None:
                break
            assert not (latched.true & state & ~after).any()
            assert not (latched.false & ~state & after).any()
            assert not (latched.constant & (state != after)).any()
            state = after


def test_marks_are_latches() -> None:
    latched = latches(Ternary(tic_tac_toe()))
    assert latched.true.tolist() == [True] * 18 + [False]
    assert not latched.false.any()


def test_the_turns_of_tic_tac_toe_come_again() -> None:
    network = tic_tac_toe()
    ternary = Ternary(network)
    clock = clocks(network)
    assert np.flatnonzero(clock).tolist() == [18]
    order = phases(ternary, clock)
    assert order is not None
    assert (len(order.states), order.again, order.end) == (2, 0, None)
    assert phases(ternary, clock, effort=0) is None


@examples(30)
@given(seeds)
def test_cofactors_are_the_next_functions_with_the_move_put_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    for role, moves in enumerate(network.moves):
        effects, _ = cofactors(network, role, 10_000)
        state = rng.integers(0, 2, len(network.bases)).astype(np.bool_)
        reply = int(rng.integers(0, len(network.moves[1 - role])))
        nexts = []
        for move in range(len(moves)):
            joint = [move, reply] if role == 0 else [reply, move]
            after = naive(network, state, joint)
            nexts.append([after[x] for x in network.next_literals])
        # Moves with the same cofactor do the same.
        for base, usual in enumerate(effects.usual):
            kinds: dict[int, set[bool]] = {}
            for move, changed in enumerate(effects.changed):
                kinds.setdefault(changed.get(base, usual), set()).add(nexts[move][base])
            assert all(len(values) == 1 for values in kinds.values())
            assert kinds.get(TRUE, {True}) == {True}


def counters(compound: bool) -> Network:
    """One role, two counters modulo 4 that are to be brought to 3, and a step counter modulo 2."""
    bases = [term("a", i) for i in range(2)] + [term("b", i) for i in range(2)] + [term("odd")]
    if compound:
        moves = [term("go", i, j) for i in range(2) for j in range(2)]
    else:
        moves = [term("a"), term("b"), term("idle")]
    c = Circuit(bases, [moves])
    solved = c.all_of([c.base(base) for base in bases[:4]])
    c.moves_from_here()

    def up(low: int, high: int, tick: int) -> list[int]:
        flip = c.any_of([c.all_of([low, tick ^ 1]), c.all_of([low ^ 1, tick])])
        carry = c.all_of([low, tick])
        return [flip, c.any_of([c.all_of([high, carry ^ 1]), c.all_of([high ^ 1, carry])])]

    if compound:
        ticks = [
            c.any_of([c.move(0, term("go", 1, j)) for j in range(2)]),
            c.any_of([c.move(0, term("go", i, 1)) for i in range(2)]),
        ]
    else:
        ticks = [c.move(0, term("a")), c.move(0, term("b"))]
    following = [
        *up(c.base(bases[0]), c.base(bases[1]), ticks[0]),
        *up(c.base(bases[2]), c.base(bases[3]), ticks[1]),
        c.base(bases[4]) ^ 1,
    ]
    goals = [(0, 100, solved), (0, 0, solved ^ 1)]
    return c.network(following, [0] * len(moves), goals, solved, [False] * 5)


@pytest.mark.parametrize(("compound", "kind"), [(False, ALTERNATIVE), (True, COMPOUND)])
def test_counters_side_by_side_are_factors(compound: bool, kind: str) -> None:
    split = factors(counters(compound))
    assert split is not None
    assert (split.count, split.kind) == (2, kind)
    assert split.bases.tolist() == [0, 0, 1, 1, -1]
    assert split.idle.all()
    assert factors(counters(compound), effort=10) is None


@examples(60)
@given(seeds)
def test_a_factor_s_next_state_depends_on_its_own_state_and_choices_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6, [4], int(rng.integers(2, 9)), widest=3)
    split = factors(network)
    assert split is not None
    check_apart(network, split, rng)


def check_apart(network: Network, split: Factors, rng: Generator) -> None:
    """Change everything outside a factor but clocks, and take another move with the same choice."""
    outside_of_all = split.bases < 0
    matters, _ = relevant(network)
    for factor in range(split.count if split.count > 1 else 0):
        mine = split.bases == factor
        state = rng.integers(0, 2, len(network.bases)).astype(np.bool_)
        changed = np.where(mine | outside_of_all, state, ~state)
        assert (split.bases[~matters] < 0).all()
        first = 0
        pair: list[list[int]] = [[], []]
        for moves in network.moves:
            choices = split.choices[factor, first : first + len(moves)]
            move = int(rng.integers(0, len(moves)))
            same = np.flatnonzero(choices == choices[move])
            pair[0].append(move)
            pair[1].append(int(rng.choice(same)))
            first += len(moves)
        after = [naive(network, start, joint) for start, joint in zip((state, changed), pair, strict=True)]
        for base in np.flatnonzero(mine):
            x = network.next_literals[base]
            assert after[0][x] == after[1][x]


@pytest.mark.parametrize(
    ("game", "kind", "sizes"),
    [
        ("incredible", ALTERNATIVE, [9, 42]),
        ("blocksWorldParallel", COMPOUND, [12, 12]),
        ("dualConnect4", ALTERNATIVE, [96, 96]),
        ("ticTacToe", "", [27]),
    ],
)
def test_public_games_fall_apart_as_they_should(corpus: Path, game: str, kind: str, sizes: list[int]) -> None:
    network = build(ground(parse_rules((corpus / "games" / f"{game}.kif").read_text())))
    split = factors(network)
    assert split is not None
    assert (split.kind, np.bincount(split.bases[split.bases >= 0]).tolist()) == (kind, sizes)
    check_apart(network, split, np.random.default_rng(1))
