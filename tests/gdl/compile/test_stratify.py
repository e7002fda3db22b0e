"""Stratification: evaluation order, recursion, and what depends on what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.compile.pipeline import compile_rules
from gdl.compile.program import Program
from gdl.compile.stratify import Dependence, Stratum, components
from gdl.errors import RulesError
from gdl.syntax.parser import parse_rules

GAME = "(role r) (init a) (<= (next ?x) (true ?x) (does r go)) (<= (legal r go) (open b)) "


def strata_of(text: str) -> tuple[Program, list[Stratum]]:
    return compile_rules(parse_rules(text))


def dependence(text: str, name: str) -> set[Dependence]:
    program, strata = strata_of(text)
    return {s.dependence for s in strata for p in s.predicates if program.predicates[p].name == name}


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=12, max_size=12))
def test_components_partition_the_graph_and_come_after_what_they_read(reads: list[list[int]]) -> None:
    groups = list(components(reads))
    assert sorted(n for c in groups for n in c) == list(range(12))
    place = {n: i for i, c in enumerate(groups) for n in c}
    reach = [{n} for n in range(12)]
    for _ in range(12):
        for n in range(12):
            for m in list(reach[n]):
                reach[n].update(reads[m])
    for n in range(12):
        assert all(place[m] <= place[n] for m in reads[n])
        assert {m for m in range(12) if place[m] == place[n]} == {m for m in reach[n] if n in reach[m]}


def test_a_long_chain_needs_no_deep_stack() -> None:
    count = 50_000
    assert len(list(components([[n + 1] if n + 1 < count else [] for n in range(count)]))) == count


def test_every_stratum_reads_only_earlier_ones_and_itself() -> None:
    text = GAME + "(<= (open ?x) (true ?x) (not (shut ?x))) (<= (shut ?x) (true ?x) (lock ?x)) (lock c)"
    _, strata = strata_of(text)
    done: set[int] = set()
    for stratum in strata:
        own = set(stratum.predicates)
        for clause in stratum.clauses:
            assert {a.predicate for a in clause.positives} <= done | own
            assert {a.predicate for a in clause.negatives} <= done
        done |= own


def test_what_a_relation_depends_on_is_passed_on() -> None:
    text = GAME + "(<= (open ?x) (true ?x) (fixed ?x)) (<= (fixed ?x) (given ?x)) (given b)"
    assert dependence(text, "fixed") == {Dependence.STATIC}
    assert dependence(text, "open") == {Dependence.STATE}
    assert dependence(text, "next") == {Dependence.MOVE}


def test_recursion_is_marked() -> None:
    text = GAME + "(<= (open ?x) (link a ?x)) (<= (open ?y) (open ?x) (link ?x ?y)) (link a b)"
    program, strata = strata_of(text)
    assert [program.predicates[s.predicates[0]].name for s in strata if s.recursive] == ["open"]


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (open ?x) (true ?x) (not (open ?x)))",
        "(<= (open ?x) (true ?x) (not (shut ?x))) (<= (shut ?x) (true ?x) (not (open ?x)))",
        "(<= (open ?x) (true ?x) (deep ?x)) (<= (deep ?x) (true ?x) (not (open ?x)))",
    ],
)
def test_negation_in_a_cycle_is_refused_and_the_relation_named(rules: str) -> None:
    with pytest.raises(RulesError, match="depends on its own negation"):
        strata_of(GAME + rules)
