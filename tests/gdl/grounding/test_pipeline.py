"""Ground rules mean what the game means, whatever the grounder splits, drops and reorders."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import TooLargeError
from gdl.grounding import instantiate
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import GroundLimits, ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import Term, sort_key
from tests.gdl.grounding.ground_evaluator import GroundEvaluator
from tests.places import GAMES


def load(path: Path) -> Rules:
    return parse_rules(path.read_text(encoding="utf-8", errors="replace"))


def text(*lines: str) -> Rules:
    return parse_rules("\n".join(lines))


def names(terms: tuple[Term, ...]) -> list[str]:
    return [str(t) for t in terms]


def split_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instantiate, "SPLIT_FROM", 0)
    monkeypatch.setattr(instantiate, "SPLIT_GAIN", 1e9)
    monkeypatch.setattr(instantiate, "MIN_RULES", 1)
    monkeypatch.setattr(instantiate, "GAIN", 1e9)


@pytest.mark.parametrize("game", ["atarigo", "checkers", "hex", "kalah", "ninemensmorris", "tron"])
def test_splitting_rules_changes_nothing_in_any_state(monkeypatch: pytest.MonkeyPatch, game: str) -> None:
    rules = load(GAMES / f"{game}.kif")
    with monkeypatch.context() as patched:
        patched.setattr(instantiate, "SPLIT_FROM", 1 << 60)
        patched.setattr(instantiate, "MIN_RULES", 1 << 60)
        plain = ground(rules)
    with monkeypatch.context() as patched:
        split_everything(patched)
        parts = ground(rules)
    assert plain.bases == parts.bases
    assert plain.moves == parts.moves
    assert parts.stats["auxiliary_atoms"] > 0 or parts.atom_count > plain.atom_count
    whole, decomposed = GroundEvaluator(plain), GroundEvaluator(parts)
    generator = random.Random(1)
    inputs = len(plain.bases) + plain.move_count
    for _ in range(4):
        share = generator.choice((0.05, 0.3, 0.6))
        chosen = {a for a in range(inputs) if generator.random() < share}
        assert whole.answers(chosen) == decomposed.answers(chosen)


def test_a_relation_too_large_to_be_solved_is_solved_where_it_is_read() -> None:
    digits = " ".join(f"(next_digit {i} {i + 1})" for i in range(60))
    g = ground(
        text(
            "(role a) (init (at 0 0 0 0)) (legal a go)",
            digits,
            "(<= (digit ?x) (next_digit ?x ?y))",
            "(<= (digit ?y) (next_digit ?x ?y))",
            "(<= (after ?a ?b ?c ?d ?a ?b ?c ?e) (digit ?a) (digit ?b) (digit ?c) (next_digit ?d ?e))",
            "(<= (next (at ?e ?f ?g ?h)) (true (at ?a ?b ?c ?d)) (after ?a ?b ?c ?d ?e ?f ?g ?h))",
        ),
        GroundLimits(max_atoms=100_000),
    )
    assert len(g.bases) == 61


def check_form(g: GroundRules) -> None:
    """What GroundRules promises about its arrays."""
    assert list(g.bases) == sorted(g.bases, key=sort_key)
    for own in g.moves:
        assert list(own) == sorted(own, key=sort_key)
    assert g.heads.dtype == np.int32
    assert g.bodies.dtype == np.int32
    assert g.body_start.dtype == np.int64
    assert len(g.body_start) == len(g.heads) + 1
    inputs = len(g.bases) + g.move_count
    defined = set(g.heads.tolist())
    assert all(head >= inputs for head in defined)
    assert {x >> 1 for x in g.bodies.tolist()} <= defined | set(range(inputs))
    assert {a for a in g.next_atoms.tolist() if a >= 0} <= defined
    assert set(g.legal_atoms.tolist()) <= defined
    assert len(g.legal_atoms) == g.move_count
    rules = [
        (head, tuple(sorted(g.bodies[g.body_start[i] : g.body_start[i + 1]].tolist())))
        for i, head in enumerate(g.heads.tolist())
    ]
    assert len(set(rules)) == len(rules)
    facts = {head for head, body in rules if not body}
    assert not any(x >> 1 in facts for _, body in rules for x in body)
    assert all(len(set(body)) == len(body) for _, body in rules)


@pytest.mark.parametrize(
    "path",
    [GAMES / f"{g}.kif" for g in ["connectfour", "hex", "kalah", "nim", "sokoban", "tron"]],
    ids=lambda p: p.stem,
)
def test_arrays_keep_their_promises_and_no_rule_comes_twice(path: Path) -> None:
    check_form(ground(load(path)))


SWITCH = (
    "(role a) (role b)",
    "(init (light off)) (init (clock 0)) (init (ghost here))",
    "(succ 0 1) (succ 1 2) (succ 2 3)",
    "(<= (legal a flip) (true (light ?x)))",
    "(legal b noop) (legal nobody cheat)",
    "(<= (next (light on)) (does a flip) (true (light off)))",
    "(<= (next (light off)) (does a flip) (true (light on)))",
    "(<= (next (clock ?n)) (true (clock ?m)) (succ ?m ?n))",
    "(<= (next (cheated ?p)) (does ?p cheat))",
    "(<= terminal (true (clock 3)))",
    "(<= terminal (true (clock 7)))",
    "(<= (goal ?r 100) (role ?r) (true (light on)))",
    "(<= (goal ?r 0) (role ?r) (not (true (light on))))",
    "(<= (goal ?r high) (role ?r))",
)


def test_only_what_can_happen_becomes_an_atom() -> None:
    g = ground(text(*SWITCH))
    check_form(g)
    clocks = [f"(clock {number})" for number in range(4)]
    assert names(g.bases) == [*clocks, "(ghost here)", "(light off)", "(light on)"]
    assert [names(m) for m in g.moves] == [["flip"], ["noop"]]
    assert sorted({(r, v) for r, v, _ in g.goal_atoms}) == [(0, 0), (0, 100), (1, 0), (1, 100)]


def test_a_proposition_that_only_holds_at_first_stays_a_base_without_next() -> None:
    g = ground(text(*SWITCH))
    ghost = names(g.bases).index("(ghost here)")
    assert g.initial[ghost]
    assert g.next_atoms[ghost] == -1


def test_a_legal_move_that_always_holds_is_a_rule_without_a_body() -> None:
    g = ground(text(*SWITCH))
    noop = int(g.legal_atoms[1])
    (rule,) = np.flatnonzero(g.heads == noop)
    assert g.body_start[rule] == g.body_start[rule + 1]


def test_a_role_without_moves_has_none() -> None:
    g = ground(
        text("(role a) (role z)", "(init p)", "(legal a go)", "(<= (next p) (does a go))", "(goal a 1)")
    )
    assert [names(m) for m in g.moves] == [["go"], []]
    assert g.terminal_atom == -1


def test_the_initial_state_is_evaluated_with_real_negation() -> None:
    g = ground(
        text(
            "(role a) (cell 1) (cell 2) (blocked 2) (legal a go)",
            "(<= (init (free ?c)) (cell ?c) (not (blocked ?c)))",
            "(<= (init quiet) (not busy))",
            "(<= (init loud) busy)",
            "(<= busy (true (free 1)))",
            "(<= (next (free 2)) (does a go))",
            "(<= (next ?x) (true ?x))",
        )
    )
    assert {str(b) for b, holds in zip(g.bases, g.initial, strict=True) if holds} == {"(free 1)", "quiet"}
    assert set(names(g.bases)) == {"(free 1)", "(free 2)", "quiet"}


def test_negations_of_what_cannot_hold_vanish_and_those_of_facts_kill_the_rule() -> None:
    g = ground(
        text(
            "(role a) (init p) (legal a go)",
            "(<= always (role ?r))",
            "(<= (next p) (true p) (not never))",
            "(<= (next q) (true p) (not (sure a)))",
            "(<= never (true (no such)))",
            "(<= (sure ?r) (legal ?r ?m) (not never))",
            "(<= (next r) (true q))",
        )
    )
    check_form(g)
    assert names(g.bases) == ["p"]
    assert len(g.bodies) == 1


def test_positive_recursion_that_stays_cyclic_is_grounded() -> None:
    g = ground(
        text(
            "(role a) (edge 1 2) (edge 2 3) (edge 3 1) (init (on 1))",
            "(<= (legal a (put ?x)) (edge ?x ?y))",
            "(<= (next (on ?x)) (does a (put ?x)))",
            "(<= (next (on ?x)) (true (on ?x)))",
            "(<= (linked ?x ?x) (true (on ?x)))",
            "(<= (linked ?x ?z) (linked ?x ?y) (edge ?y ?z) (true (on ?z)))",
            "(<= terminal (linked 1 3) (linked 3 2))",
        )
    )
    check_form(g)
    evaluator = GroundEvaluator(g)
    on = {str(b): i for i, b in enumerate(g.bases)}
    assert evaluator.answers({on["(on 1)"], on["(on 2)"], on["(on 3)"]})["terminal"]
    assert not evaluator.answers({on["(on 1)"], on["(on 3)"]})["terminal"]


def test_deep_function_terms_are_built_and_taken_apart() -> None:
    rules = text(
        "(role a) (init (stack nil)) (item x) (item y)",
        "(longer 0 1) (longer 1 2) (longer 2 3) (longer 3 4) (longer 4 5) (longer 5 6) (longer 6 7)",
        "(<= (length nil 0))",
        "(<= (length (cons ?i ?s) ?n) (true (stack (cons ?i ?s))) (size (cons ?i ?s) ?n))",
        "(<= (size (cons ?i ?s) ?n) (item ?i) (size ?s ?m) (longer ?m ?n))",
        "(size nil 0)",
        "(<= (legal a (push ?i)) (item ?i) (true (stack ?s)) (size ?s ?n) (longer ?n ?more))",
        "(<= (legal a pop) (true (stack (cons ?i ?s))))",
        "(<= (next (stack (cons ?i ?s))) (does a (push ?i)) (true (stack ?s)) (size (cons ?i ?s) ?n))",
        "(<= (next (stack ?s)) (does a pop) (true (stack (cons ?i ?s))))",
        "(<= terminal (true (stack (cons x (cons y (cons x (cons y (cons x nil))))))))",
    )
    g = ground(rules)
    check_form(g)
    assert len(g.bases) == 2**8 - 1
    assert names(g.moves[0]) == ["pop", "(push x)", "(push y)"]
    evaluator = GroundEvaluator(g)
    number = {str(b): i for i, b in enumerate(g.bases)}
    answers = evaluator.answers({number["(stack (cons x nil))"], g.does_atom(0, 2)})
    assert answers["next"] == {number["(stack (cons y (cons x nil)))"]}


def test_wide_relations_beyond_any_key_are_grounded() -> None:
    width = 70
    variables = " ".join(f"?v{i}" for i in range(width))
    constants = " ".join("ab"[i % 2] for i in range(width))
    swapped = " ".join("ba"[i % 2] for i in range(width))
    g = ground(
        text(
            f"(role r) (init (w {constants})) (legal r go) (swap a b) (swap b a)",
            f"(<= (next (w {variables})) (does r go) (true (w {' '.join(f'?u{i}' for i in range(width))}))",
            " ".join(f"(swap ?u{i} ?v{i})" for i in range(width)) + ")",
        )
    )
    assert names(g.bases) == [f"(w {constants})", f"(w {swapped})"]


BOMB = (
    "(role a) (legal a go) (init (n 0))",
    " ".join(f"(digit {i})" for i in range(40)),
    f"(<= (next (big {' '.join(f'?x{i}' for i in range(8))})) (true (n 0))",
    " ".join(f"(digit ?x{i})" for i in range(8)) + ")",
)


def test_a_product_beyond_memory_is_refused_with_its_place() -> None:
    with pytest.raises(TooLargeError) as caught:
        ground(text(*BOMB), GroundLimits(memory_bytes=200_000_000))
    assert caught.value.place is not None
    assert caught.value.place.line == 3
    assert caught.value.remedy


def test_terms_that_grow_for_ever_are_refused() -> None:
    rules = text("(role a) (legal a go) (init (n z))", "(<= (next (n (s ?x))) (true (n ?x)))")
    with pytest.raises(TooLargeError):
        ground(rules)


@pytest.mark.parametrize(
    "limits", [GroundLimits(max_rules=100), GroundLimits(max_atoms=100), GroundLimits(cpu_seconds=0.0)]
)
def test_every_limit_is_kept(limits: GroundLimits) -> None:
    with pytest.raises(TooLargeError):
        ground(load(GAMES / "connectfour.kif"), limits)
