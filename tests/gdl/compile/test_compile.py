"""From rules to flat, stratified programs: the same meaning at every stage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gdl.compile.normalize import Clause, normalize
from gdl.compile.pipeline import compile_rules, flatten
from gdl.compile.program import FlatAtom, FlatClause, Program
from gdl.compile.specialize import specialize
from gdl.compile.stratify import Dependence, Stratum, components, stratify
from gdl.errors import RulesError
from gdl.rules import Literal, Or, Rule, Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from tests.gdl.naive import answers, as_rule, examples, first_state, games, model


def clauses(text: str) -> list[Clause]:
    return normalize(parse_rules(text))


def clauses_of(relation: str, text: str) -> list[Clause]:
    return [c for c in clauses(text) if c.head.name == relation]


def as_rules(normal: list[Clause]) -> Rules:
    """Clauses as rules again, for the naive evaluator."""
    distincts = [[Literal(Term("distinct", a, b)) for a, b in c.distincts] for c in normal]
    pairs = zip(normal, distincts, strict=True)
    return Rules(tuple(as_rule(c.head, c.positives, c.negatives, distinct) for c, distinct in pairs))


@pytest.mark.slow
@examples(150)
@given(games())
def test_clauses_mean_what_the_rules_mean(text: str) -> None:
    rules = parse_rules(text)
    true = first_state(rules)
    assert answers(model(as_rules(normalize(rules)), true)) == answers(model(rules, true))


@pytest.mark.slow
@examples(150)
@given(games())
def test_every_variable_of_a_clause_occurs_in_a_positive_literal(text: str) -> None:
    for clause in clauses(text):
        bound = {v for p in clause.positives for v in p.variables()}
        terms = [clause.head, *clause.negatives, *(t for pair in clause.distincts for t in pair)]
        assert {v for t in terms for v in t.variables()} <= bound


@pytest.mark.parametrize(
    ("rules", "normal"),
    [
        (
            "(<= (legal r ?x) (or (p ?x) (and (q ?x) (not (p ?x)))))",
            ["(<= (legal r ?x) (p ?x))", "(<= (legal r ?x) (q ?x) (not (p ?x)))"],
        ),
        ("(<= (legal r go) (not (not (p a))))", ["(<= (legal r go) (p a))"]),
        ("(<= (legal r a) (distinct a b)) (<= (legal r b) (distinct a a))", ["(legal r a)"]),
        (
            "(<= (legal r (go ?x ?y)) (p ?x) (p ?y) (not (distinct ?x ?y)))",
            ["(<= (legal r (go ?x ?x)) (p ?x))"],
        ),
    ],
    ids=["or", "double negation", "distinct of constants", "not distinct"],
)
def test_connectives_become_clauses(rules: str, normal: list[str]) -> None:
    assert sorted(map(str, clauses_of("legal", f"(role r) (p a) (p b) (q b) {rules}"))) == normal


def test_many_alternatives_become_a_chain_and_not_a_product() -> None:
    choices = " ".join(f"(or (p ?x{i}) (q ?x{i}))" for i in range(30))
    heads = " ".join(f"?x{i}" for i in range(30))
    normal = clauses(f"(role r) (p a) (q b) (<= (legal r (go {heads})) {choices})")
    assert len(normal) < 200
    assert any(c.head.name.startswith("aux;") for c in normal)


def test_not_of_a_conjunction_is_a_disjunction_of_negations() -> None:
    text = "(role r) (p a) (q a) (<= (legal r ?x) (role ?x) (not (and (p ?x) (q ?x))))"
    assert {str(n) for c in clauses_of("legal", text) for n in c.negatives} == {"(p ?x)", "(q ?x)"}


def test_a_variable_of_a_negation_alone_says_that_there_is_none() -> None:
    (legal,) = clauses_of("legal", "(role r) (p a b) (<= (legal r ?x) (role ?x) (not (p ?x ?y)))")
    (negative,) = legal.negatives
    assert negative.name.startswith("aux;")
    assert list(map(str, negative.args)) == ["?x"]


def test_a_free_variable_in_the_head_ranges_over_the_terms_of_the_game() -> None:
    text = "(role r) (p a) (<= (legal r ?x) (role r))"
    assert any(c.positives and c.positives[-1].name == "universe;" for c in clauses(text))
    universe = {str(c.head.args[0]) for c in clauses_of("universe;", text)}
    assert universe == {"r"}  # (p a) is not needed


def test_rules_that_nothing_asks_for_are_dropped() -> None:
    names = {
        c.head.name for c in clauses("(role r) (base (p a)) (input r go) (unused a) (<= terminal (used a))")
    }
    assert names == {"role", "terminal"}


@pytest.mark.parametrize("head", ["(true a)", "(does r a)", "(distinct a b)"])
def test_keywords_of_bodies_cannot_be_heads(head: str) -> None:
    with pytest.raises(RulesError):
        clauses(f"(role r) (<= {head} (role r))")


# --- Flat programs as rules again, for the naive evaluator (those without builds)
def _atom(flat: FlatAtom) -> Term:
    return Term(f"p{flat.predicate}", *map(_argument, flat.args))


def _argument(arg: int) -> Term:
    return Term(f"{arg}") if arg >= 0 else Term(f"?v{-1 - arg}")


def _differ(left: tuple[int, ...], right: tuple[int, ...]) -> Or:
    pairs = zip(left, right, strict=True)
    return Or(tuple(Literal(Term("distinct", *map(_argument, pair))) for pair in pairs))


def _rule(clause: FlatClause) -> Rule:
    assert not clause.builds
    distincts = [_differ(left, right) for left, right in clause.distincts]
    return as_rule(_atom(clause.head), map(_atom, clause.positives), map(_atom, clause.negatives), distincts)


def flat_model(program: Program, true: set[Term]) -> set[Term]:
    """All atoms of a flat program, as atoms of the game, where some ``true`` ones hold."""
    rules = [_rule(c) for c in program.clauses]
    rules += [Rule(_atom(FlatAtom(p, row))) for p, rows in program.facts.items() for row in rows]
    places = [place for t in true if (place := program.row(t)) is not None]
    atoms = model(Rules(tuple(rules)), [_atom(FlatAtom(*place)) for place in places])
    return {program.atom(int(a.name[1:]), tuple(int(arg.name) for arg in a.args)) for a in atoms}


# --- Flattening: no function terms are left, and the meaning is the same
def flat(text: str) -> Program:
    return flatten(normalize(parse_rules(text)))


@pytest.mark.slow
@examples(150)
@given(games())
def test_flat_programs_mean_what_the_rules_mean(text: str) -> None:
    rules = parse_rules(text)
    program = flatten(normalize(rules))
    assume(not any(c.builds for c in program.clauses))
    true = first_state(rules)
    for stage in (program, specialize(program)):
        assert answers(flat_model(stage, true)) == answers(model(rules, true))


def test_a_relation_is_split_by_the_shapes_of_its_arguments() -> None:
    program = flat("(role r) (init (cell 1 2 x)) (init (control r)) (init plain) (legal r noop)")
    assert sorted(p.arity for p in program.named("true", 1)) == [1, 1, 3]
    assert sorted(p.arity for p in program.named("init", 1)) == [1, 1, 3]


def test_rows_and_atoms_are_each_others_inverse() -> None:
    program = flat("(role r) (init (f (g a b) c)) (init d) (legal r (go (h 1)))")
    for text in ("(true (f (g a b) c))", "(true d)", "(does r (go (h 1)))", "(init (f (g x y) z))"):
        place = program.row(parse_term(text))
        assert place is not None
        assert program.atom(*place) is parse_term(text)


def test_an_atom_of_a_shape_that_cannot_be_has_no_row() -> None:
    program = flat("(role r) (init (f a)) (legal r noop)")
    assert program.row(parse_term("(true (g a))")) is None
    assert program.row(parse_term("(true (f (f a)))")) is None
    assert program.row(parse_term("(nothing)")) is None


def test_terms_that_grow_in_recursion_become_opaque_columns_with_builds() -> None:
    program = flat(
        "(role r) (init z) (<= (n (s ?x)) (n ?x)) (<= (n ?x) (true ?x)) (<= (legal r ?x) (n (s ?x)))"
    )
    assert any(c.builds for c in program.clauses)
    assert len(program.predicates) < 60


def test_a_distinct_of_function_terms_is_one_of_their_columns() -> None:
    program = flat(
        "(role r) (init (at 1 2)) (<= (legal r (go ?p ?q)) (true ?p) (true ?q) (distinct ?p ?q))"
        "(<= (next (at ?x ?y)) (true (at ?x ?y)) (distinct (f ?x) (f ?y)))"
    )
    pairs = {len(left) for c in program.clauses for left, _ in c.distincts}
    assert pairs == {1, 2}


@pytest.mark.parametrize("depth", [3, 6, 12])
def test_deeply_nested_facts_flatten(depth: int) -> None:
    term = "a"
    for _ in range(depth):
        term = f"(f {term} b)"
    program = flat(f"(role r) (init {term}) (<= (legal r ?x) (true ?x)) (<= (next ?x) (does r ?x))")
    place = program.row(parse_term(f"(true {term})"))
    assert place is not None
    assert str(program.atom(*place)) == f"(true {term})"


# --- Specialization: predicates in negative cycles are split by the constants of a column
TWO_ROLES = "(role a) (role b) (init p) (legal a n) (legal b n) (<= win (true p)) "


def test_goals_by_negated_goals_are_stratified_and_right() -> None:
    text = TWO_ROLES + (
        "(<= (goal a 100) win) (<= (goal ?r 50) (role ?r) (not (goal ?r 100)) (not win))"
        "(<= (goal ?r 0) (role ?r) (not (goal ?r 100)) (not (goal ?r 50)))"
    )
    flat = flatten(normalize(parse_rules(text)))
    with pytest.raises(RulesError):
        stratify(flat)
    program = specialize(flat)
    stratify(program)
    goals = {str(a) for a in flat_model(program, {Term("true", Term("p"))}) if a.name == "goal"}
    assert goals == {"(goal a 100)", "(goal b 0)"}


def test_a_variable_where_the_constant_was_ranges_over_all_of_them() -> None:
    text = TWO_ROLES + (
        "(<= (goal a 100) win) (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))"
        "(<= (legal a (say ?r ?v)) (goal ?r ?v))"
    )
    program = specialize(flatten(normalize(parse_rules(text))))
    said = {str(a.args[1]) for a in flat_model(program, {Term("true", Term("p"))}) if a.name == "legal"}
    assert said == {"n", "(say a 100)", "(say b 0)"}


def test_programs_without_negative_cycles_stay_as_they_are() -> None:
    program = flatten(normalize(parse_rules(TWO_ROLES + "(<= (goal ?r 100) (role ?r) win)")))
    assert specialize(program) is program


def test_a_real_negative_cycle_stays_one() -> None:
    text = TWO_ROLES + "(<= (q ?x) (role ?x) (not (q ?x))) (<= terminal (q a))"
    with pytest.raises(RulesError):
        stratify(specialize(flatten(normalize(parse_rules(text)))))


# --- Stratification: evaluation order, recursion, and what depends on what
ONE_ROLE = "(role r) (init a) (<= (next ?x) (true ?x) (does r go)) (<= (legal r go) (open b)) "


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
    text = ONE_ROLE + "(<= (open ?x) (true ?x) (not (shut ?x))) (<= (shut ?x) (true ?x) (lock ?x)) (lock c)"
    _, strata = strata_of(text)
    done: set[int] = set()
    for stratum in strata:
        own = set(stratum.predicates)
        for clause in stratum.clauses:
            assert {a.predicate for a in clause.positives} <= done | own
            assert {a.predicate for a in clause.negatives} <= done
        done |= own


def test_what_a_relation_depends_on_is_passed_on() -> None:
    text = ONE_ROLE + "(<= (open ?x) (true ?x) (fixed ?x)) (<= (fixed ?x) (given ?x)) (given b)"
    assert dependence(text, "fixed") == {Dependence.STATIC}
    assert dependence(text, "open") == {Dependence.STATE}
    assert dependence(text, "next") == {Dependence.MOVE}


def test_recursion_is_marked() -> None:
    text = ONE_ROLE + "(<= (open ?x) (link a ?x)) (<= (open ?y) (open ?x) (link ?x ?y)) (link a b)"
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
        strata_of(ONE_ROLE + rules)


# --- The front half as a whole
@pytest.mark.parametrize("text", ["", "(init a)", "(<= (role ?x) (person ?x))"])
def test_rules_without_a_role_are_refused(text: str) -> None:
    with pytest.raises(RulesError, match="no role"):
        compile_rules(parse_rules(text + "(next a)"))


def test_roles_may_be_derived() -> None:
    program, strata = compile_rules(parse_rules("(person me) (<= (role ?x) (person ?x)) (init a)"))
    assert {p.name for p in program.predicates} >= {"role", "person", "init", "true"}
    assert all(s.dependence is not Dependence.MOVE for s in strata)


@pytest.mark.slow
def test_every_public_game_compiles(corpus_games: list[Path]) -> None:
    for path in corpus_games:
        program, strata = compile_rules(parse_rules(path.read_text(), path.name))
        assert sum(len(s.predicates) for s in strata) == len(program.predicates)
        assert sum(len(s.clauses) for s in strata) == len(program.clauses)
