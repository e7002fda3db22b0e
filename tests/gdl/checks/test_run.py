"""Diagnostics: each kind of finding is found, where it is, and clean rules have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.checks.run import KINDS, Severity, check, check_text
from gdl.errors import GdlError, Place
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules

CLEAN = """\
; One player walks from one end of a corridor to the other, within four steps.
(role walker)
(base (at 1)) (base (at 2)) (base (at 3))
(base (step 1)) (base (step 2)) (base (step 3)) (base (step 4))
(input walker forward)
(input walker wait)
(init (at 1))
(init (step 1))
(<= (legal walker forward) (true (at ?x)) (distinct ?x 3))
(<= (legal walker wait) (not arrived))
(<= (next (at ?y)) (does walker forward) (true (at ?x)) (after ?x ?y))
(<= (next (at ?x)) (does walker wait) (true (at ?x)))
(<= (next (step ?t)) (true (step ?s)) (after ?s ?t))
(<= terminal (or arrived (true (step 4))))
(<= (goal walker 100) arrived)
(<= (goal walker 0) (not arrived))
(<= arrived (true (at 3)))
(after 1 2) (after 2 3) (after 3 4)
"""


def without(start: str) -> str:
    """The clean rules without the sentences that start like this."""
    lines = [line for line in CLEAN.splitlines() if not line.startswith(start)]
    return "\n".join(lines)


# What is put behind the clean rules (or instead of them), and the kinds of finding it must give.
TRIGGERS: list[tuple[str, str]] = [
    ("unclosed-parenthesis", CLEAN + "(<= (p ?x) (q ?x)"),
    ("arrow-alone", CLEAN + "<= (p 1) arrived"),
    ("comparison", CLEAN + "(<= (p ?x) (after ?x 2) (<= ?x 3))"),
    ("foreign-bracket", CLEAN + "(p 1]"),
    ("foreign-character", CLEAN + "[p 1]"),
    ("foreign-character", CLEAN + "(p 1, 2)"),
    ("foreign-comment", CLEAN + "// the end"),
    ("not-in-gdl", CLEAN + "(<= (p ?x) (after ?x ?y) (!= ?x ?y))"),
    ("connective-alone", CLEAN + "(<= (p ?x) (after ?x 2) not (after ?x 3))"),
    ("variable-without-mark", CLEAN + "(<= (p X) (after X 2))"),
    ("state-without-true", CLEAN + "(<= p (at 3))"),
    ("state-without-next", CLEAN + "(at 2)"),
    ("state-not-kept", CLEAN + "(init (wall 1)) (init (wall 2))"),
    ("move-without-does", CLEAN + "(<= p forward)"),
    ("relation-as-value", CLEAN + "(<= (next (step (after ?x))) (true (step ?x)))"),
    ("not-infix", "role(x) terminal :- open &"),
    ("unwritable-name", "role('x y')"),
    ("unopened-parenthesis", CLEAN + "(p a))"),
    ("forbidden-character", CLEAN + "(p \x00)"),
    ("nesting-too-deep", CLEAN + "(" * 2000 + "a" + ")" * 2000),
    ("text-too-large", "(p a)" * 250_000),
    ("rule-without-head", CLEAN + "(<=)"),
    ("connective-as-head", CLEAN + "(<= (or a b) arrived)"),
    ("variable-as-head", CLEAN + "(<= ?x arrived)"),
    ("negation-arity", CLEAN + "(<= p (not arrived arrived))"),
    ("arrow-in-body", CLEAN + "(<= p (<= q arrived))"),
    ("variable-as-formula", CLEAN + "(<= p ?x)"),
    ("nameless-variable", CLEAN + "(<= (p ?) (after ? 2))"),
    ("variable-as-functor", CLEAN + "(<= (p ?x) (?x a))"),
    ("empty-parentheses", CLEAN + "(<= p ())"),
    ("list-as-functor", CLEAN + "((p) a)"),
    ("no-rules", "; only a comment\n"),
    ("picture-hint", CLEAN + "; draw: at as castle\n"),
    ("mixed-spelling", CLEAN.replace("(not arrived))", "(not ARRIVED))", 1)),
    ("keyword-as-head", CLEAN + "(<= (true (at 1)) arrived)"),
    ("keyword-as-head", CLEAN + "(does walker wait)"),
    ("keyword-as-head", CLEAN + "(distinct a b)"),
    ("keyword-arity", CLEAN + "(legal wait)"),
    ("keyword-arity", CLEAN + "(<= p (true at 1))"),
    ("keyword-arity", CLEAN + "(<= p (does wait))"),
    ("distinct-arity", CLEAN + "(<= p (distinct a))"),
    ("keyword-arity", CLEAN + "(next at 1)"),
    ("keyword-arity", CLEAN + "(goal 100)"),
    ("keyword-arity", CLEAN + "(role a b)"),
    ("keyword-arity", CLEAN + "(terminal now)"),
    ("keyword-arity", CLEAN + "(init a b)"),
    ("keyword-arity", CLEAN + "(base a b)"),
    ("keyword-arity", CLEAN + "(input wait)"),
    ("keyword-in-term", CLEAN + "(<= p (true (legal walker wait)))"),
    ("connective-in-term", CLEAN + "(<= p (true (not arrived)))"),
    ("unsafe-head-variable", CLEAN + "(<= (p ?x) arrived)"),
    ("unsafe-head-variable", CLEAN + "(p ?x)"),
    ("unsafe-head-variable", CLEAN + "(<= (p ?x) (or (after 1 ?x) arrived))"),
    ("unsafe-negated-variable", CLEAN + "(<= p (not (after 1 ?x)))"),
    ("unsafe-distinct", CLEAN + "(<= p (after 1 ?x) (distinct ?x ?y))"),
    ("next-in-body", CLEAN + "(<= p (next (at 1)))"),
    ("init-in-body", CLEAN + "(<= p (init (at 1)))"),
    ("empty-connective", CLEAN + "(<= p (or))"),
    ("empty-connective", CLEAN + "(<= p (not (and)))"),
    ("single-branch", CLEAN + "(<= p (or arrived))"),
    ("double-negation", CLEAN + "(<= p (not (not arrived)))"),
    ("distinct-on-same", CLEAN + "(<= (p ?x) (after ?x 1) (distinct ?x ?x))"),
    ("distinct-on-constants", CLEAN + "(<= p arrived (distinct a b))"),
    ("contradictory-body", CLEAN + "(<= p arrived (not arrived))"),
    ("repeated-literal", CLEAN + "(<= p arrived arrived)"),
    ("rule-implies-itself", CLEAN + "(<= (p ?x) (p ?x))"),
    ("singleton-variable", CLEAN + "(<= (p ?y) (after ?x ?y))"),
    ("misspelt-variable", CLEAN + "(<= (p ?row) (after ?row ?rows))"),
    ("misspelt-relation", CLEAN + "(afte 3 4)"),
    ("no-such-value", CLEAN + "(<= p (after 1 seven))"),
    ("rule-without-body", CLEAN + "(<= p)"),
    ("undefined-relation", CLEAN + "(<= p (before 1 2))"),
    ("misspelt-keyword", without("(<= terminal") + "(<= terminl arrived)"),
    ("misspelt-keyword", CLEAN + "(<= (nxt (at 1)) arrived)"),
    ("misspelt-keyword", CLEAN + "(<= (lega walker wait) (ture (at 1)))"),
    ("misspelt-keyword", CLEAN + "(<= p (nto arrived))"),
    ("unused-relation", CLEAN + "(p a)"),
    ("arity-mismatch", CLEAN + "(after 1)"),
    ("function-arity-mismatch", CLEAN + "(init (at 1 2))"),
    ("relation-used-as-function", CLEAN + "(at 1)"),
    ("duplicate-rule", CLEAN + "(after 1 2)"),
    ("duplicate-rule", CLEAN + "(<= (next (at ?z)) (does walker wait) (true (at ?z)))"),
    ("unreachable-rule", CLEAN + "(<= (p ?x) (r ?x)) (<= (r ?x) (p ?x)) (<= q (p 1))"),
    ("proposition-never-true", CLEAN + "(<= p (true (door open)))"),
    ("move-never-legal", CLEAN + "(<= p (does walker (open door)))"),
    ("does-in-legal", CLEAN + "(<= (legal walker wait) (does walker wait))"),
    ("does-in-legal", CLEAN + "(<= (legal walker wait) moved) (<= moved (does walker forward))"),
    ("does-in-goal", CLEAN + "(<= (goal walker 50) (does walker wait))"),
    ("does-in-terminal", CLEAN + "(<= terminal (does walker wait))"),
    ("sees-in-rules", CLEAN + "(<= (sees walker arrived) arrived) (<= terminal (sees walker arrived))"),
    ("knows-not-supported", CLEAN + "(<= (goal walker 50) (knows walker arrived))"),
    ("true-in-init", CLEAN + "(<= (init (at 2)) (true (at 1)))"),
    ("does-in-init", CLEAN + "(<= (init (at 2)) (does walker wait))"),
    ("state-in-base", CLEAN + "(<= (base (at 2)) (true (at 1)))"),
    ("state-in-input", CLEAN + "(<= (input walker wait) arrived)"),
    ("role-not-ground-fact", CLEAN + "(<= (role ?x) (after ?x 2))"),
    ("role-depends-on-state", CLEAN + "(<= (role runner) arrived)"),
    ("negative-cycle", CLEAN + "(<= (goal walker 50) (not (goal walker 100)) (not (goal walker 0)))"),
    ("unstratified-negation", CLEAN + "(<= p (not q)) (<= q (not p)) (<= (legal walker p) p)"),
    (
        "recursion-restriction",
        CLEAN + "(<= (p ?x) (after ?x ?y)) (<= (p ?x) (p ?z) (not (after ?z ?x)) (after ?x 2))",
    ),
    ("function-nesting-grows", CLEAN + "(<= (next (count (s ?x))) (true (count ?x))) (init (count zero))"),
    ("function-nesting-grows", CLEAN + "(nat zero) (<= (nat (s ?x)) (nat ?x))"),
    ("missing-role", without("(role")),
    ("missing-legal", without("(<= (legal")),
    ("missing-terminal", without("(<= terminal")),
    ("missing-goal", without("(<= (goal")),
    ("missing-init", without("(init")),
    ("missing-next", without("(<= (next")),
    ("goal-not-number", CLEAN + "(<= (goal walker lots) arrived)"),
    ("goal-out-of-range", CLEAN + "(<= (goal walker 101) arrived)"),
    ("goal-out-of-range", CLEAN + "(<= (goal walker -5) arrived)"),
    ("goal-missing-for-role", CLEAN + "(role runner)"),
    ("legal-missing-for-role", CLEAN + "(role runner) (goal runner 0)"),
    ("unknown-role", CLEAN + "(<= p (does runner wait))"),
    ("base-incomplete", CLEAN + "(init (at 4))"),
    ("base-incomplete", CLEAN + "(<= (next (door open)) arrived)"),
    ("input-incomplete", CLEAN + "(legal walker jump)"),
    ("not-playable", "(<= (role ?x) (role ?x)) (legal a b)"),
    ("not-prolog", "role(x). terminal :- a, ."),
    ("unread-directive", "role(x). :- role(y), role(z)."),
    ("ignored-directive", ":- dynamic role/1. role(x)."),
    ("name-changed", "role('the red')."),
]


@pytest.mark.parametrize(
    ("code", "text"), TRIGGERS, ids=[f"{i}-{code}" for i, (code, _) in enumerate(TRIGGERS)]
)
def test_each_kind_of_finding_is_found(code: str, text: str) -> None:
    _, findings = check_text(text, "game.kif")
    matching = [d for d in findings if d.code == code]
    assert matching, [str(d) for d in findings]
    assert all(d.severity is KINDS[code].severity for d in matching)
    assert all(d.message and d.remedy for d in findings)


def test_rules_that_multiply_beyond_the_limits_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdl.compile.pipeline.MAX_FLAT_CLAUSES", 3)
    _, findings = check_text(CLEAN)
    assert [(d.code, d.severity) for d in findings] == [("too-large", Severity.ERROR)]


def test_other_relations_are_no_misspelt_keywords() -> None:
    # Some public games list numbers by (int 1), which is not meant to be init.
    _, findings = check_text(CLEAN + "(int 1) (<= p (int 2)) (goals walker)(<= (note 1) (int 2))\n(int2 1)")
    assert not [d for d in findings if d.code == "misspelt-keyword"]


def test_every_declared_kind_has_a_trigger() -> None:
    assert {code for code, _ in TRIGGERS} | {"too-large"} == set(KINDS)
    assert len(KINDS) >= 25


def test_clean_rules_have_no_findings() -> None:
    rules, findings = check_text(CLEAN)
    assert findings == []
    assert rules == parse_rules(CLEAN)
    assert check(parse_rules(CLEAN)) == []


def test_several_syntax_errors_are_found_in_one_run() -> None:
    text = """\
(role a)
(<= (legal a b)
    (true (c d))
(<= (next (c ?x))
    (true (c ?x))))
(<= (not b) c)
(init ())
(<= terminal (true (c d))
(goal a 100)
(<= ?x)
"""
    rules, findings = check_text(text)
    assert rules is None
    errors = [(d.code, d.place.line) for d in findings if d.severity is Severity.ERROR]
    assert errors == [
        ("unclosed-parenthesis", 2),
        ("unopened-parenthesis", 5),
        ("connective-as-head", 6),
        ("empty-parentheses", 7),
        ("unclosed-parenthesis", 8),
        ("variable-as-head", 10),
    ]


def test_literals_in_the_first_column_are_not_taken_for_sentences() -> None:
    text = "(<= (p ?x)\n(q ?x)\n(r ?x))\n(<= (q ?x)\n(r ?x)\n(<= (r a))\n"
    findings = [d for d in check_text(text)[1] if d.severity is Severity.ERROR]
    assert [(d.code, d.place) for d in findings] == [("unclosed-parenthesis", Place(4, 1))]


def test_rules_with_syntax_errors_still_get_findings_that_need_no_other_rule() -> None:
    _, findings = check_text("(<= (p ?x) q)\n(r")
    codes = [d.code for d in findings]
    assert "unclosed-parenthesis" in codes
    assert "unsafe-head-variable" in codes
    assert "undefined-relation" not in codes


def test_findings_come_worst_first_in_text_order_without_repetition() -> None:
    slips = "(<= (q ?x) arrived) (<= p arrived arrived) (<= (true (at 1)) arrived) (<= (r ?y) arrived)"
    _, findings = check_text(CLEAN + slips)
    places = [(-d.severity, d.place.line, d.place.column) for d in findings]
    assert places == sorted(places)
    assert {d.severity for d in findings} == set(Severity)
    assert len(set(findings)) == len(findings)


def test_negation_that_constants_stratify_is_only_a_warning() -> None:
    rules = CLEAN.replace(
        "(<= (goal walker 0) (not arrived))", "(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))"
    )
    _, findings = check_text(rules)
    assert [d.code for d in findings] == ["negative-cycle"]
    assert findings[0].severity is Severity.WARNING


@pytest.mark.slow
def test_public_games_have_no_errors(corpus_games: list[Path]) -> None:
    faulty = {}
    for path in corpus_games:
        rules, findings = check_text(path.read_text(), path.name)
        errors = [str(d) for d in findings if d.severity is Severity.ERROR]
        if errors or rules is None:
            faulty[path.stem] = errors
    assert not faulty


@pytest.mark.parametrize("text", [text for _, text in TRIGGERS], ids=range(len(TRIGGERS)))
def test_what_can_be_played_is_no_error(text: str) -> None:
    _, findings = check_text(text)
    wrong = [d for d in findings if d.severity is Severity.ERROR and d.code != "missing-legal"]
    try:
        machine = ProverMachine(parse_rules(text))
        machine.legal_moves(machine.initial_state(), 0)
    except GdlError:
        assert wrong
    else:
        assert not wrong
