"""A network says what the ground rules say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import RulesError, TooLargeError
from gdl.grounding.ground_rules import GroundRules
from gdl.terms import Term
from propnet.build import PASSES, BuildLimits, Pass, build
from propnet.network import Network
from propnet.passes.circuit import Circuit
from tests.examples import examples
from tests.propnet.ground_cases import assignments, ground_answers, ground_rules, network_answers, walks


def assert_alike_in_play(network: Network, ground: GroundRules, seed: int, steps: int) -> None:
    for bases, does, going in walks(ground, seed, steps):
        ours, theirs = network_answers(network, bases, does), ground_answers(ground, bases, does)
        for answers in (ours, theirs):
            answers.next = [word & going for word in answers.next]
        assert ours == theirs


@examples(300)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_of_random_rules_agrees_with_them_along_legal_play(ground: GroundRules, seed: int) -> None:
    assert_alike_in_play(build(ground), ground, seed, 4)


@examples(300)
@given(ground_rules(), st.integers(0, 2**32))
def test_passes_that_know_no_states_agree_with_the_rules_in_every_state(
    ground: GroundRules, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propnet.build.constant_latches", lambda circuit, initial: circuit)
        network = build(ground)
    for turn in range(3):
        bases, does = assignments(ground, seed + turn)
        assert network_answers(network, bases, does) == ground_answers(ground, bases, does)


@examples(50)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_is_right_when_the_time_for_passes_is_over(ground: GroundRules, seed: int) -> None:
    assert_alike_in_play(build(ground, BuildLimits(seconds=0.0)), ground, seed, 3)


Rule = tuple[int, list[int]]


def _game(
    rules: list[Rule], atoms: int, next_atom: int = -1, legal: int = -1, terminal: int = -1, moves: int = 2
) -> GroundRules:
    """One role, one base proposition (atom 0), and moves (from atom 1)."""
    return GroundRules(
        roles=(Term("r"),),
        bases=(Term("p"),),
        moves=(tuple(Term("m", Term(str(i))) for i in range(moves)),),
        atom_count=atoms,
        heads=np.array([head for head, _ in rules], np.int32),
        body_start=np.cumsum([0, *[len(body) for _, body in rules]]),
        bodies=np.array([x for _, body in rules for x in body], np.int32),
        next_atoms=np.array([next_atom], np.int32),
        legal_atoms=np.array([legal] * moves, np.int32),
        goal_atoms=(),
        terminal_atom=terminal,
        initial=np.zeros(1, bool),
    )


def test_legal_and_terminal_that_read_moves_see_none_made() -> None:
    # a3 :- does m0.   a4 :- not a3.   next and legal are a4, terminal is a3.
    network = build(_game([(3, [2]), (4, [7])], 5, next_atom=4, legal=4, terminal=3))
    assert network.legal_literals.tolist() == [0, 0]
    assert network.terminal_literal == 1
    assert network.next_literals.tolist() == [2 * 2 + 1]


def test_recursion_without_a_base_case_is_false() -> None:
    network = build(_game([(3, [8]), (4, [6])], 5, next_atom=3))
    assert network.next_literals.tolist() == [1]
    assert network.gates == 0


def test_recursion_that_is_acyclic_once_ground_makes_no_loop() -> None:
    # A cycle of rules in which every rule but one needs another atom still has a loop ...
    ring: list[Rule] = [(3, [8, 0]), (4, [6, 2]), (3, [2])]
    assert len(build(_game(ring, 5, next_atom=4)).loops) <= 1
    # ... a chain has none.
    assert len(build(_game([(3, [8, 0]), (4, [0, 2])], 5, next_atom=3)).loops) == 0


def test_atom_that_depends_on_its_negation_is_refused() -> None:
    with pytest.raises(RulesError, match="own negation"):
        build(_game([(3, [9]), (4, [6]), (3, [4])], 5, next_atom=3))


def test_what_never_changes_is_a_constant() -> None:
    # Next of p is p unless move 1 is made; legal are the moves while p does not hold, and it holds at first.
    rules: list[Rule] = [(3, [0, 5]), (4, [1])]
    ground = replace(_game(rules, 5, next_atom=3, legal=4), initial=np.array([True]))
    network = build(ground)
    assert network.next_literals.tolist() == [0]
    assert network.legal_literals.tolist() == [1, 1]
    # With p false at first, they are legal, and p stays false.
    network = build(replace(ground, initial=np.array([False])))
    assert network.next_literals.tolist() == [1]
    assert network.legal_literals.tolist() == [0, 0]


def test_too_many_literals_are_refused() -> None:
    with pytest.raises(TooLargeError):
        build(_game([(3, [0, 2])], 4, next_atom=3), BuildLimits(literals=1))


def test_deep_rules_need_no_deep_stack() -> None:
    depth = 5_000
    rules: list[Rule] = [(3, [0])]
    for atom in range(4, 3 + depth):
        rules += [(atom, [2 * (atom - 1) + 1, 2 * (atom % 2)])]
    network = build(_game(rules, 3 + depth, next_atom=2 + depth))
    assert network.gates < depth


def test_nested_products_stay_within_the_effort_for_factoring() -> None:
    moves = 120
    rules: list[Rule] = [(1 + moves, [2 * m + 3 for m in range(k)] + [2 * k + 2]) for k in range(moves)]
    rules.append((2 + moves, []))
    network = build(_game(rules, 3 + moves, next_atom=1 + moves, legal=2 + moves, moves=moves))
    assert network.gates == 0
    assert network.next_literals.tolist() == [0]


def test_stats_follow_the_passes() -> None:
    network = build(_game([(3, [0, 2]), (3, [1, 4])], 4, next_atom=3))
    assert network.stats["finish.gates"] == network.gates
    assert network.stats["finish.inputs"] == len(network.gate_inputs)
    assert "extract.cpu_s" in network.stats


def test_a_row_adds_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    gate_inputs: list[int] = []

    def watch(circuit: Circuit) -> Circuit:
        gate_inputs.append(circuit.gate_inputs)
        return circuit

    monkeypatch.setattr("propnet.build.PASSES", (*PASSES[:4], Pass("watch", watch, 0.0), *PASSES[4:]))
    game = _game([(3, [0, 2]), (3, [1, 4]), (4, [])], 5, next_atom=3, legal=4)
    stats = build(game).stats
    names = list(dict.fromkeys(key.split(".")[0] for key in stats))
    rows = [row.name for row in PASSES]
    assert names == [
        "prune",
        "construct",
        "constant_latches",
        *rows[:4],
        "watch",
        *rows[4:],
        "finish",
        "build",
    ]
    assert [stats["watch.inputs"]] == gate_inputs == [stats["extract.inputs"]]
