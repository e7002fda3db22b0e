"""Atoms that rules read alike become one, and nothing else changes."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground
from gdl.grounding.simplify import RuleTable, join
from gdl.syntax.parser import parse_rules
from propnet.build import build
from tests.examples import examples
from tests.propnet.ground_cases import assignments, ground_answers, ground_rules

Rule = tuple[int, list[int]]


def _joined(game: GroundRules) -> GroundRules:
    """The game after :func:`join`, however little that gains."""
    lengths = np.diff(game.body_start)
    table = RuleTable(game.heads.copy(), np.repeat(np.arange(len(lengths)), lengths), game.bodies.copy())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gdl.grounding.simplify.JOINED", 1.0)
        join(table, _fixed(game))
    return _with_rules(
        game,
        [
            (head, table.literals[table.rule_of == rule].tolist())
            for rule, head in enumerate(table.heads.tolist())
        ],
    )


def _fixed(game: GroundRules) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Inputs and outputs."""
    fixed = np.arange(game.atom_count) < len(game.bases) + game.move_count
    goals = [atom for _, _, atom in game.goal_atoms]
    outputs = np.array([*game.next_atoms, *game.legal_atoms, *goals, game.terminal_atom])
    fixed[outputs[outputs >= 0]] = True
    return fixed


def _rules(game: GroundRules) -> list[Rule]:
    start = game.body_start.tolist()
    return [(int(head), game.bodies[start[i] : start[i + 1]].tolist()) for i, head in enumerate(game.heads)]


def _with_rules(game: GroundRules, rules: list[Rule]) -> GroundRules:
    return replace(
        game,
        heads=np.array([head for head, _ in rules], np.int32),
        body_start=np.cumsum([0, *[len(body) for _, body in rules]]),
        bodies=np.array([x for _, body in rules for x in body], np.int32),
    )


def _split(game: GroundRules, rng: random.Random, times: int) -> tuple[GroundRules, int]:
    """The game with some atoms that nothing denies in two: each of the two has some of the rules, and
    whatever reads one has a twin that reads the other. And how many atoms were split."""
    rules, atoms, fixed = _rules(game), game.atom_count, _fixed(game)
    free = set(np.flatnonzero(~fixed).tolist()) - {x >> 1 for _, body in rules for x in body if x & 1}
    done = 0
    for _ in range(times):
        read = sorted(free & {x >> 1 for _, body in rules for x in body})
        if not read:
            break
        atom, twin = rng.choice(read), atoms
        free.add(twin)
        rules = [(twin if head == atom and rng.random() < 0.5 else head, body) for head, body in rules]
        for head, body in rules.copy():
            if 2 * atom in body:
                rules.append((head, [2 * twin if x == 2 * atom else x for x in body]))
        atoms += 1
        done += 1
    rng.shuffle(rules)
    return replace(_with_rules(game, rules), atom_count=atoms), done


@examples(300)
@given(ground_rules(), st.integers(0, 4), st.integers(0, 2**32))
def test_joined_atoms_keep_every_output_in_every_state(game: GroundRules, times: int, seed: int) -> None:
    split, _ = _split(game, random.Random(seed), times)
    joined = _joined(split)
    assert len(joined.bodies) <= len(split.bodies)
    bases, does = assignments(game, seed)
    assert ground_answers(joined, bases, does) == ground_answers(split, bases, does)


@examples(100)
@given(ground_rules(recursion=False), st.integers(1, 6), st.integers(0, 2**32))
def test_what_is_split_is_joined_again(game: GroundRules, times: int, seed: int) -> None:
    # Repeated literals, and rules that are there twice, would tell atoms apart.
    plain = _with_rules(
        game,
        list(
            {
                (head, tuple(sorted(set(body)))): (head, sorted(set(body))) for head, body in _rules(game)
            }.values()
        ),
    )
    split, done = _split(plain, random.Random(seed), times)
    read, read_before = ({x >> 1 for x in some.bodies.tolist()} for some in (_joined(split), plain))
    assert len(read) <= len(read_before)
    assert done == 0 or len(read) < len({x >> 1 for x in split.bodies.tolist()})


def _count_rules(cells: int) -> str:
    """Two players mark cells; who has marked more in the end wins. The rules count both players' cells."""
    text = ["(role x) (role o) (init (step 0))"]
    for i in range(cells):
        text += [f"(cell {i}) (next_cell {i} {i + 1}) (number {i})"]
    return (
        "\n".join(text)
        + f"""
(number {cells}) (<= (plus ?n ?m) (next_cell ?n ?m))
(<= (base (mark ?c ?r)) (cell ?c) (role ?r)) (<= (input ?r (mark ?c)) (role ?r) (cell ?c))
(<= (legal ?r (mark ?c)) (role ?r) (cell ?c) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= (next (mark ?c x)) (does x (mark ?c)))
(<= (next (mark ?c o)) (does o (mark ?c)) (not (does x (mark ?c))))
(<= (next (mark ?c ?r)) (true (mark ?c ?r)))
(<= open (cell ?c) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= terminal (not open))
(count {cells} 0 0)
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?k ?n) (true (mark ?c x)) (plus ?k ?m))
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?m ?k) (true (mark ?c o)) (plus ?k ?n))
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?m ?n) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= (less ?m ?n) (plus ?m ?n)) (<= (less ?m ?n) (plus ?m ?k) (less ?k ?n))
(<= (goal x 100) (count 0 ?m ?n) (less ?n ?m)) (<= (goal o 0) (count 0 ?m ?n) (less ?n ?m))
(<= (goal o 100) (count 0 ?m ?n) (less ?m ?n)) (<= (goal x 0) (count 0 ?m ?n) (less ?m ?n))
(<= (goal ?r 50) (role ?r) (count 0 ?m ?m))
"""
    )


def test_two_counts_that_are_only_compared_become_their_difference() -> None:
    # The counts at a cell are pairs of numbers, their difference is one number: it grows with the square.
    gates = {cells: len(build(ground(parse_rules(_count_rules(cells)))).gate_inputs) for cells in (8, 16, 32)}
    assert gates[32] < 5 * gates[16] < 25 * gates[8]
    game = ground(parse_rules(_count_rules(16)))
    bases, does = assignments(game, 1)
    assert ground_answers(_joined(game), bases, does) == ground_answers(game, bases, does)
