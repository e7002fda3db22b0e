"""Bodies with more loops and conditions than Python nests: the rest goes into helper functions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from gdl.errors import TooLargeError
from gdl.prover import conditions, evaluator
from gdl.prover.estimates import Estimates
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from tests.gdl.programs import examples, games
from tests.gdl.prover.answers import GAME, assert_answers_are_those_of_the_naive_evaluator

LOOPS = [20, 34, 50]
CONDITIONS = [150, 390]


def shown(text: str) -> set[str]:
    """The moves in the first state, as text, besides ``noop``; the same when the machine has measured."""
    machine = ProverMachine(parse_rules(GAME + text))
    state = machine.initial_state()
    first = machine.legal_moves(state, 0)
    machine.playouts(2, seed=1, max_steps=2)
    assert machine.legal_moves(machine.state_of(state.propositions), 0) == first
    return {str(machine.move(0, m)) for m in first} - {"noop"}


def numbered(literal: str, n: int, start: int = 0) -> str:
    """A literal for each number; ``#`` stands for the number, ``+`` for the next one."""
    return " ".join(literal.replace("#", str(i)).replace("+", str(i + 1)) for i in range(start, n))


def walks(n: int) -> str:
    """Rules for what a chain of edges leads to, one edge a rule; the edges."""
    return (
        "(init (edge a b)) (init (edge b a)) (init (edge b c)) (init (edge c d)) (init (edge d d))"
        "(<= (walk0 ?x ?y) (true (edge ?x ?y)))"
        + numbered("(<= (walk+ ?x ?z) (walk# ?x ?y) (true (edge ?y ?z)))", n)
    )


@pytest.mark.parametrize("kind", ["(init (a# 1))", "(a# 1)"], ids=["state", "static"])
@pytest.mark.parametrize("n", LOOPS)
def test_a_product_of_many_relations_has_all_its_rows(n: int, kind: str) -> None:
    relation = "(true (a# ?x#))" if "init" in kind else "(a# ?x#)"
    twice = [0, 17, n - 1]  # in the outermost function and in its helpers
    text = numbered(kind, n) + "".join(kind.replace("#", str(i)).replace(" 1)", " 2)") for i in twice)
    moves = shown(f"{text} (<= (legal you (m {numbered('?x#', n)})) {numbered(relation, n)})")
    assert len(moves) == 8
    for number in range(8):
        row = ["1"] * n
        for bit, at in enumerate(twice):
            row[at] = str(1 + (number >> bit & 1))
        assert f"(m {' '.join(row)})" in moves


@pytest.mark.parametrize("n", LOOPS)
def test_a_chain_of_edges_leads_where_walking_edge_by_edge_does(n: int) -> None:
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = shown(f"{walks(n)} (<= (legal you (m ?x0 ?x{n})) {chain})")
    assert deep == shown(f"{walks(n)} (<= (legal you (m ?x ?y)) (walk{n - 1} ?x ?y))")
    assert len(deep) == 7  # all numbers are even


@pytest.mark.parametrize("n", LOOPS)
def test_one_match_of_a_deep_part_that_the_head_does_not_read_is_enough(n: int) -> None:
    text = walks(n) + "(init (edge 1 2)) (init (edge 2 3))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    assert shown(f"{text} (<= (legal you go) {chain})") == {"go"}
    assert shown(f"{text} (<= (legal you go) {chain} (true (edge ?x{n} b)))") == {"go"}
    assert shown(f"{text} (<= (legal you go) {chain} (true (edge ?x{n} 2)))") == set()
    assert shown(f"{text} (<= (legal you (m ?y)) (true (edge d ?y)) {chain})") == {"(m d)"}


@pytest.mark.parametrize("n", LOOPS)
def test_relations_made_in_a_helper_and_after_it_are_the_same(n: int) -> None:
    """The inner loops read derived relations that the outer function has not made yet, and a
    later clause reads them again."""
    derived = "(<= (near ?x ?y) (true (edge ?x ?y)) (distinct ?y none))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    text = f"{walks(n)} {derived} (<= (legal you (m ?x0 ?z)) {chain} (near ?x{n} ?z) (not (near ?z a)))"
    again = "(<= (legal you (last ?z)) (near c ?z) (not (near ?z a)))"
    shallow = f"{walks(n)} {derived} (<= (legal you (m ?x ?z)) (walk{n} ?x ?z) (not (near ?z a)))"
    assert shown(text + again) == shown(shallow + again) > {"(last d)"}


@pytest.mark.parametrize("way", ["whole", "top-down", "magic sets"])
@pytest.mark.parametrize("n", [*LOOPS, 19])
def test_a_recursive_relation_is_read_in_a_helper(monkeypatch: pytest.MonkeyPatch, n: int, way: str) -> None:
    if way != "whole":
        monkeypatch.setattr(Estimates, "cheaper", lambda *_: True)
    if way == "magic sets":
        monkeypatch.setattr(Estimates, "top_down", lambda *_: False)
    base = walks(n) + "(<= (path ?x ?y) (true (edge ?x ?y)))"
    end = "(<= (legal you (m ?x ?y)) (path ?x ?y))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = shown(f"{base} (<= (path ?x0 ?z) (path ?w ?x0) {chain} (path ?x{n} ?z)) {end}")
    shallow = f"{base} (<= (path ?x0 ?z) (path ?w ?x0) (walk{n - 1} ?x0 ?y) (path ?y ?z)) {end}"
    assert deep == shown(shallow)
    assert len(deep) == (10 if n % 2 else 7)


@pytest.mark.parametrize("n", LOOPS)
def test_members_of_a_mutual_recursion_read_each_other_in_helpers(n: int) -> None:
    base = (
        walks(n) + "(<= (even ?x ?x) (true (edge ?x ?y))) (<= (even ?x ?z) (odd ?x ?y) (true (edge ?y ?z)))"
    )
    end = "(<= (legal you (m ?x ?y)) (odd ?x ?y) (not (even ?x ?y)))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = f"{base} (<= (odd ?x0 ?z) {chain} (even ?x0 ?x{n}) (even ?x{n} ?y) (true (edge ?y ?z))) {end}"
    shallow = (
        f"{base} (<= (odd ?x ?z) (walk{n - 1} ?x ?y) (even ?x ?y) (even ?y ?w) (true (edge ?w ?z))) {end}"
    )
    assert shown(deep) == shown(shallow) != set()


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True], ids=["all hold", "the last fails"])
@pytest.mark.parametrize(
    "literal",
    ["(b# ?x)", "(not (c# ?x))", "(b# ?y#)", "b#", "(b# ?x) (not (c# ?x)) (b# ?y#) (true (a# ?y#))"],
)
@pytest.mark.parametrize("n", CONDITIONS)
def test_a_body_has_hundreds_of_conditions_on_derived_relations(n: int, literal: str, fails: bool) -> None:
    n //= literal.count(") (") + 1
    facts = numbered("(init (a# 1)) (init (a# 2))", n - fails) + f"(init (a0 1)) (init (a{n - 1} 0))"
    facts += f"(init (no{n - 1} 1)) (init (no{n - 1} 2))" if fails else ""
    one = "(<= (b# ?x) (true (a# ?x)) (distinct ?x 0)) (<= b# (true (a# 1))) (<= (c# ?x) (true (no# ?x)))"
    body = "(true (a0 ?x)) " + numbered(literal, n)
    expected = set() if fails else {"(m 1)", "(m 2)"}
    assert shown(f"{facts} {numbered(one, n)} (<= (legal you (m ?x)) {body})") == expected


@pytest.mark.slow
def test_a_body_takes_apart_many_terms() -> None:
    n = 150
    lists = (
        "(init (of nil)) (<= (list ?x) (true (of ?x))) (<= (list (s ?x)) (list ?x) (short ?x))"
        "(<= (short ?x) (true (of ?x))) (<= (short (s ?x)) (true (of ?x)))"
    )
    same = numbered("(list (s ?x#)) (distinct ?x# ?x+)", n - 1, 1)
    moves = shown(
        f"{lists} (<= (legal you (m ?x0)) (list (s ?x0)) (distinct ?x0 ?x1) {same} (list (s ?x{n - 1})))"
    )
    assert moves == {"(m nil)", "(m (s nil))"}


@pytest.mark.parametrize("n", CONDITIONS)
def test_hundreds_of_conditions_stand_in_a_recursive_rule(n: int) -> None:
    facts = walks(1) + numbered("(init (ok# a)) (init (ok# b))", n) + numbered("(init (ok# c))", n - 1)
    rules = numbered("(<= (fine# ?x) (true (ok# ?x)) (distinct ?x none))", n)
    body = f"(path ?x ?y) {numbered('(fine# ?y)', n)} (path ?y ?z)"
    text = f"{facts} {rules} (<= (path ?x ?y) (true (edge ?x ?y))) (<= (path ?x ?z) {body})"
    moves = shown(f"{text} (<= (legal you (m ?x ?y)) (path ?x ?y))")
    assert len(moves) == 8  # of 10, less those that lead over c
    assert not moves & {"(m a d)", "(m b d)"}


@pytest.mark.parametrize("check", ["", "(not (pair ?x0 ?x33))"], ids=["too many rows", "too much time"])
def test_a_deep_product_without_end_is_refused_in_time(check: str) -> None:
    n = 34
    facts = "".join(numbered(f"(init (a# {value}))", n) for value in range(6))
    facts += "(<= (pair ?x ?y) (true (a0 ?x)) (true (a33 ?y)))"
    body = f"{numbered('(true (a# ?x#))', n)} {check}"
    machine = ProverMachine(
        parse_rules(f"{GAME} {facts} (<= (legal you (m {numbered('?x#', n)})) {body})"),
        ProverLimits(rows=100_000, seconds=1.0 if check else 300.0),
    )
    with pytest.raises(TooLargeError, match="1 seconds" if check else "100000 rows"):
        machine.legal_moves(machine.initial_state(), 0)


def test_a_rule_with_too_many_variables_is_refused_before_it_is_planned() -> None:
    n = evaluator.MAX_VARIABLES + 1
    facts = numbered("(init (a# 0))", n)
    rule = f"(<= (legal you (m {numbered('?x#', n)})) {numbered('(true (a# ?x#))', n)})"
    with pytest.raises(TooLargeError, match=f"{n} variables.*make several rules"):
        shown(f"{facts} {rule}")


@pytest.fixture(
    scope="module", params=[("loops", 1, 80), ("indentation", 16, 4), ("both", 1, 3)], ids=lambda p: p[0]
)
def small_functions(request: pytest.FixtureRequest) -> Iterator[None]:
    """Even ordinary bodies are cut into helpers, and look at the limits everywhere."""
    _, loops, indent = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "MAX_NESTED_LOOPS", loops)
        patch.setattr(conditions, "MAX_INDENT", indent)
        patch.setattr(evaluator, "WORK_BETWEEN_TICKS", 1)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("small_functions")
@pytest.mark.parametrize("way", ["as planned", "top-down", "magic sets"])
@examples(60)
@given(text=games())
def test_answers_of_rules_cut_into_helpers_are_those_of_the_naive_evaluator(way: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way != "as planned":
            patch.setattr(Estimates, "cheaper", lambda *_: True)
        machine = ProverMachine(parse_rules(text))
        machine._evaluator._estimates.shallow = way == "magic sets"
        assert_answers_are_those_of_the_naive_evaluator(machine)
