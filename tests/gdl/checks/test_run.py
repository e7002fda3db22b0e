"""Diagnostics: each kind of finding is found, where it is, in words that help, and clean rules have none."""

from __future__ import annotations

import random
import re
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gdl.checks.run import KINDS, Severity, check, check_text
from gdl.errors import GdlError, ParseError, Place
from gdl.prover.machine import ProverMachine
from gdl.syntax.format import convert
from gdl.syntax.parser import parse_rules
from gdl.syntax.sexpr import Atom, Group, SExpr, read
from gdl.terms import ARITIES
from tests.places import GAME_FILES

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
    ("hint", CLEAN + "; draw: at as castle\n"),
    ("hint", CLEAN + "; kinds: opera\n"),
    ("hint", CLEAN + "; say: (castle) as castle\n"),
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


# --- Slips of people who are new to GDL: each is found where it stands, and told in words that help
GAME = """\
(role white) (role black)
(init (control white)) (init (n 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r go) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (control black)) (true (control white)))
(<= (next (control white)) (true (control black)))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= terminal (true (n 3)))
(goal white 100) (goal black 0)
"""

# The sentence that is put behind the game (on line 11), the place of the finding, and what it must say.
SLIPS: list[tuple[str, str, list[str]]] = [
    # Keywords around facts and moves.
    ("(<= (legal ?r pass) (control ?r))", "11:21", ["a fact of the state", "write (true (control ?r))"]),
    ("(<= (q ?x) (succ ?x 1) (not (n ?x)))", "11:29", ["a fact of the state", "write (true (n ?x))"]),
    ("(<= (next (p 1)) go)", "11:18", ["a move", "write (does ?player go)"]),
    ("(n 4)", "11:1", ["a fact of the state", "write (init (n 4))"]),
    ("(<= (n ?x) (true (n ?x)))", "11:1", ["a fact of the state", "write (next (n ?x))"]),
    ("(<= (legal white p) (does white go))", "11:21", ["'legal' depends on 'does'", "next rule"]),
    ("(<= (next (p 1)) (next (p 2)))", "11:18", ["'next' may only stand in heads"]),
    ("(does white go)", "11:1", ["'does' cannot be the head", "write next, init or legal"]),
    ("(<= legal white go)", "11:1", ["'legal' has 0 arguments, but takes 2", "write (legal role move)"]),
    ("(init (p 1) (p 2))", "11:1", ["'init' has 2 arguments, but takes 1", "one for each proposition"]),
    ("(role red green)", "11:1", ["'role' has 2 arguments", "write (role name)", "one for each player"]),
    ("(terminal now)", "11:1", ["'terminal' has 1 argument, but takes none", "alone"]),
    ("(< = (q 1) (succ 0 1))", "11:1", ["GDL has no '<=='", "write <=, without a blank"]),
    ("(<== (q 1) (succ 0 1))", "11:1", ["GDL has no '<=='", "write <=, without a blank"]),
    ("(<= (distinct ?x ?y) (succ ?x ?y))", "11:1", ["'distinct' cannot be the head", "built in"]),
    ("(<= (gaol white 50) terminal)", "11:1", ["did you mean 'goal'?"]),
    ("(<= (q ?x) (succ ?x 1) (disinct ?x 1))", "11:24", ["did you mean 'distinct'?"]),
    ("(role red)", "11:1", ["the role red has no goal"]),
    ("(role white)", "11:1", ["the same fact stands at 1:1 already"]),
    ("(goal red 50)", "11:1", ["red stands for a role", "is none"]),
    ("(<= (goal white 150) terminal)", "11:1", ["the goal value 150 is not in 0..100"]),
    ("(<= (goal white half) terminal)", "11:1", ["the goal value half is not a number"]),
    ("(init (cell 1 b)) (init (cell 2 b))", "11:1", ["no next rule has 'cell'", "keeps it"]),
    # What other languages have.
    ("(<= (q ?x) (succ ?x ?y) (= ?x ?y))", "11:25", ["no equality", "the same variable"]),
    ("(<= (q ?a) (succ ?a ?b) (!= ?a ?b))", "11:25", ["no inequality", "write (distinct ?a ?b)"]),
    ("(<= (q ?x) (exists ?y (succ ?x ?y)))", "11:12", ["GDL has no quantifiers", "formula alone"]),
    ("(<= (q 1) (forall ?y (succ ?x ?y)))", "11:11", ["GDL has no quantifiers", "counterexample", "(not "]),
    ("(<= (next (m (+ ?x 1))) (true (n ?x)))", "11:1", ["no arithmetic", "(+ ?x 1)", "facts", "(succ 1 2)"]),
    ("(<= (q ?x) (true (n ?x)) (plus ?x 1 2))", "11:26", ["no arithmetic", "facts"]),
    ("(<= (q ?x) (succ ?x ?y) (< ?x ?y))", "11:25", ["no comparisons", "facts", "(less 1 2)"]),
    ("(<= (q ?x) (succ ?x ?y) (<= ?x ?y))", "11:25", ["no comparisons", "facts", "(less 1 2)"]),
    ("(<= (next (n (succ ?x))) (true (n ?x)))", "11:1", ["'succ' is a relation", "ask for (succ ?x1 ?y)"]),
    ("(<= (q ?x) (succ ?x 2) (! (succ ?x 1)))", "11:24", ["GDL has no '!'", "(not "]),
    ("(<= (q ?x) (succ ?x 2) (~succ ?x 1))", "11:24", ["GDL has no '~'", "write (not (succ ?x 1))"]),
    ("(<= (q ?x) (succ ?x 2) not (succ ?x 1))", "11:24", ["'not' stands alone", "write (not "]),
    ("(<= (q ?x) (succ ?x 2) or (succ ?x 1))", "11:24", ["'or' stands alone", "write (or "]),
    ("(=> (succ 1 ?x) (q ?x))", "11:1", ["GDL has no '=>'", "write the head first: (<= head body...)"]),
    ("(<= (q X Y) (succ X Y))", "11:1", ["'X' is a constant", "write ?X"]),
    ("(<= q (succ _ 1))", "11:7", ["'_' is a constant", "variable"]),
    # Characters.
    ("// the end", "11:1", ["comments do not begin with '//'", "';'"]),
    ("# the end of (the rules)", "11:1", ["comments do not begin with '#'", "';'"]),
    ("(q 1) /* the\n end */", "11:7", ["comments do not begin with '/*'", "';'"]),
    ("(q “a”)", "11:4", ["left double quotation mark", "without quotation marks"]),
    ('(q "a")', "11:4", ["'\"'", "without quotation marks"]),
    ("（q a)", "11:1", ["fullwidth left parenthesis", "write '('"]),
    ("(q [a b])", "11:4", ["'['", "write '('"]),
    ("(q a–b)", "11:5", ["en dash", "write '-'"]),
    ("(<= (q ？x) (succ ？x 1))", "11:8", ["fullwidth question mark", "write '?'"]),
    ("(<= (q ?x ?y) (succ ?x, ?y))", "11:23", ["','", "blanks separate arguments"]),
    ("(q a).", "11:6", ["a full stop", "leave it out"]),
    ("(<= (q ?x) (suсс ?x 1))", "11:15", ["another alphabet", "cyrillic"]),
    # Parentheses and the shape of rules.
    ("(<= (q 1) (succ 0 1)", "11:1", ["never closed", "add the missing ')'"]),
    ("(<= (q 1) (succ 0 1)))", "11:22", ["closes nothing"]),
    ("<= (q 1) (succ 0 1)", "11:1", ["outside of parentheses", "write (<= head body...)"]),
    ("(<= (or (q 1) (q 2)) (succ 0 1))", "11:5", ["'or' cannot stand in the head", "a rule for each"]),
    ("(<= (not (q 1)) (succ 0 1))", "11:5", ["'not' cannot stand in the head", "does not hold"]),
    ("(<= (q 1) (not (succ 0 1) (succ 0 2)))", "11:11", ["'not' takes one formula", "(and ...)"]),
    # Variables and names.
    ("(cell ?x 1)", "11:1", ["the fact has the variable ?x", "a fact for each value of ?x"]),
    ("(<= (q ?x) (succ ?y 1))", "11:1", ["variable ?x", "no positive literal of the body binds it"]),
    ("(<= (q ?x) (succ ?x 1) (not (succ ?x ?z)))", "11:29", ["no positive literal binds ?z"]),
    ("(<= (q ?x) (succ ?x 1) (distinct ?x ?z))", "11:24", ["no positive literal binds ?z", "distinct"]),
    ("(<= (q ?x) (succ ?x))", "11:12", ["'succ' with 1 argument", "only one with 2"]),
    ("(<= (q ?x) (suc ?x 1))", "11:12", ["did you mean 'succ'?"]),
    ("(<= (q ?x) (line ?x))", "11:12", ["no rule defines 'line' with 1 argument"]),
    ("(<= p (not q)) (<= q (not p))", "11:12", ["depends on its own negation"]),
    ("(<= (p 1) (not (p 1)))", "11:16", ["depends on its own negation"]),
]

KIF = re.compile(r"\?[a-z]|\((true|does|role|init|next|legal|not|and|or|<=|succ|control|less) ")
"""What no message about infix rules holds."""

LEFT_OUT = [
    ("(role white) (role black)", "the game has no roles", "(role name)"),
    ("(init (control white)) (init (n 0))", "nothing is true at first", "(init ...)"),
    ("(<= terminal (true (n 3)))", "no match of the game ever ends", "terminal rule"),
    ("(goal white 100) (goal black 0)", "the game has no goals", "goal rules"),
]


@pytest.mark.parametrize(("slip", "place", "words"), SLIPS, ids=[slip for slip, _, _ in SLIPS])
def test_slips_are_found_where_they_stand_and_told_in_words_that_help(
    slip: str, place: str, words: list[str]
) -> None:
    _, findings = check_text(GAME + slip)
    told = [
        f"{d.message}; {d.remedy}" for d in findings if str(d.place) == place and d.severity > Severity.INFO
    ]
    assert any(all(word in text for word in words) for text in told), [(str(d), d.remedy) for d in findings]


def test_the_game_behind_which_the_slips_are_put_has_none() -> None:
    assert check_text(GAME)[1] == []


@pytest.mark.parametrize(("missing", "message", "remedy"), LEFT_OUT)
def test_what_a_game_must_have_is_missed(missing: str, message: str, remedy: str) -> None:
    _, findings = check_text(GAME.replace(missing, ""))
    assert [d for d in findings if d.message == message and remedy in d.remedy], findings


@pytest.mark.parametrize("slip", [slip for slip, _, words in SLIPS if "did you mean" not in " ".join(words)])
def test_what_other_languages_have_is_not_taken_for_a_misspelt_word_too(slip: str) -> None:
    assert not [d for d in check_text(GAME + slip)[1] if "did you mean" in d.message]


def test_words_of_other_languages_that_the_rules_define_are_words_as_any() -> None:
    rules = "(+ 1 1 2) (< 1 2) (= 1 1) (exists 1 2) (<= (q ?x) (+ ?x 1 2) (< ?x 2) (= ?x 1) (exists ?x 2))"
    assert not [d for d in check_text(GAME + rules)[1] if d.severity > Severity.INFO]


def test_words_within_a_comment_of_another_language_are_not_doubted() -> None:
    _, findings = check_text(GAME + "# the the (control ?r) “curly”\n/* (a ?x)\n (b ?x) */ (<= q (line 1))\n")
    told = [(d.code, str(d.place)) for d in findings if d.severity > Severity.INFO]
    assert told == [("foreign-comment", "11:1"), ("foreign-comment", "12:1"), ("undefined-relation", "13:18")]


def in_infix(slip: str) -> str:
    """The game and the slip in infix GDL; empty where that cannot say it."""
    try:
        return convert(GAME + slip, "infix")
    except ParseError:
        return ""


@pytest.mark.parametrize("text", [text for slip, _, _ in SLIPS if (text := in_infix(slip))])
def test_findings_in_infix_rules_quote_no_kif(text: str) -> None:
    _, findings = check_text(text, notation="infix")
    for finding in findings:
        assert not KIF.search(f"{finding.message}; {finding.remedy}"), finding


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("role(x)\n// the end\n", "2:1", "begin comments with '%'"),
        ("role(x)\n# the end\n", "2:1", "begin comments with '%'"),
        ("role(x)\nq（a)\n", "2:2", "write '('"),
        ("role(x)\nq(“a”)\n", "2:3", "without quotation marks"),
        ("role(x)\nlegal(x,a−b)\n", "2:10", "write '-'"),
    ],
)
def test_infix_rules_are_told_what_to_write_for_typographic_characters(
    text: str, place: str, remedy: str
) -> None:
    _, findings = check_text(text, notation="infix")
    assert [d for d in findings if str(d.place) == place and remedy in d.remedy], findings


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["// a “b”\n" * 15_000, "(p “a” [b])\n" * 12_000, "/* a " * 40_000, "а1 " * 60_000, ", " * 100_000],
)
def test_long_texts_full_of_slips_are_soon_checked(text: str) -> None:
    start = time.process_time()
    _, findings = check_text(text)
    assert findings
    assert time.process_time() - start < 20


def test_comments_of_one_kind_are_told_of_once() -> None:
    _, findings = check_text(GAME + "// one\n// two\n# three\n")
    told = [(str(d.place), d.message) for d in findings]
    assert told == [
        ("11:1", "comments do not begin with '//', here and in 1 other place"),
        ("13:1", "comments do not begin with '#'"),
    ]


# --- Our games with one slip each: it makes one finding, and that names it where it stands
GAMES = (
    *("breakthrough", "chomp", "connectfour", "eightpuzzle", "hanoi"),
    *("hex", "lightsout", "nim", "pegsolitaire", "tictactoe"),
)
TRIED = 4
"""Places of a game at which each slip is made."""
Edit = tuple[int, int, str]
Slip = tuple[list[Edit], int]
"""What changes, and the offset of the sentence or literal whose line the finding is to be at."""
TEXT, SOMEWHERE = -1, -2
"""In place of the offset: the finding concerns the text as a whole, or may be anywhere."""


def ends(part: SExpr) -> tuple[int, int]:
    last = part.end + 1 if isinstance(part, Group) else part.offset + len(part.text)
    return part.offset, last


def first(part: SExpr) -> Atom:
    return part if isinstance(part, Atom) else first(part.parts[0])


def last(part: SExpr) -> SExpr:
    return part.parts[-1] if isinstance(part, Group) else part


def atoms(part: SExpr) -> Iterator[Atom]:
    if isinstance(part, Atom):
        yield part
    else:
        for inner in part.parts:
            yield from atoms(inner)


def literals(part: SExpr) -> Iterator[SExpr]:
    if isinstance(part, Group) and first(part).text in ("not", "and", "or"):
        for inner in part.parts[1:]:
            yield from literals(inner)
    else:
        yield part


def misspelt(atom: Atom, at: int) -> Slip:
    wrong = atom.text[0] + atom.text[2:] if len(atom.text) > 3 else atom.text + "x"
    return [(*ends(atom), wrong)], at


def unwrapped(group: Group, at: int) -> Slip:
    start, end = ends(group.parts[-1])
    return [(group.offset, start, ""), (end, group.end + 1, "")], at


class GameText:
    """The sentences of a game."""

    def __init__(self, name: str) -> None:
        self.text = GAME_FILES[name].read_text()
        _, sentences = read(self.text)
        self.rules = [part for part in sentences if isinstance(part, Group) and first(part).text == "<="]
        self.facts = [part for part in sentences if isinstance(part, Group) and first(part).text != "<="]
        self.heads = [(rule.parts[1], rule) for rule in self.rules] + [(fact, fact) for fact in self.facts]
        self.body = [one for rule in self.rules for part in rule.parts[2:] for one in literals(part)]

    def named(self, *names: str) -> Iterator[Group]:
        """Literals of these relations; without names all that are no keywords."""
        for literal in self.body:
            word = first(literal).text
            if isinstance(literal, Group) and (word in names if names else word not in ARITIES):
                yield literal

    def headed(self, *names: str) -> Iterator[tuple[Group, Group]]:
        for head, sentence in self.heads:
            if isinstance(head, Group) and first(head).text in names:
                yield head, sentence

    def without(self, name: str) -> Iterator[Slip]:
        edits = [(*ends(sentence), "") for head, sentence in self.heads if first(head).text == name]
        if edits:
            yield edits, TEXT


def argument_missing(game: GameText) -> Iterator[Slip]:
    for literal in game.named():
        if len(literal.parts) > 1:
            start, end = ends(last(literal))
            yield [(start - 1, end, "")], literal.offset


def argument_missing_in_the_state(game: GameText) -> Iterator[Slip]:
    places = [(literal, literal.offset) for literal in game.named("true")]
    places += [(head, sentence.offset) for head, sentence in game.headed("next")]
    for group, at in places:
        if isinstance(inner := last(group), Group) and len(inner.parts) > 2:
            start, end = ends(last(inner))
            yield [(start - 1, end, "")], at


def relation_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named():
        yield misspelt(first(literal), literal.offset)


def keyword_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true", "does", "distinct"):
        yield misspelt(first(literal), literal.offset)
    for head, sentence in game.headed("next", "legal", "goal"):
        yield misspelt(first(head), sentence.offset)


def proposition_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true"):
        yield misspelt(first(last(literal)), literal.offset)
    for head, sentence in game.headed("init"):
        yield misspelt(first(last(head)), sentence.offset)


def constant_misspelt(game: GameText) -> Iterator[Slip]:
    for literal in [*game.named("true"), *game.named()]:
        for atom in atoms(last(literal)):
            if atom is not first(last(literal)) and not atom.text.startswith("?"):
                yield [(*ends(atom), atom.text + "x")], literal.offset


def role_renamed(game: GameText) -> Iterator[Slip]:
    """Only in ``(role ...)``, where other rules name it."""
    words = Counter(atom.text for _, sentence in game.heads for atom in atoms(sentence))
    for fact in game.facts:
        if first(fact).text == "role" and words[first(last(fact)).text] > 1:
            yield [(*ends(last(fact)), first(last(fact)).text + "x")], fact.offset


def true_missing(game: GameText) -> Iterator[Slip]:
    for literal in game.named("true", "does"):
        yield unwrapped(literal, literal.offset)


def next_or_init_missing(game: GameText) -> Iterator[Slip]:
    for head, sentence in game.headed("next", "init"):
        yield unwrapped(head, sentence.offset)


def first_propositions_missing(game: GameText) -> Iterator[Slip]:
    """All init rules of one proposition that next rules only change."""
    edits = defaultdict(list)
    for head, sentence in game.headed("init"):
        edits[first(last(head)).text].append((*ends(sentence), ""))
    if "step" in edits:
        yield edits["step"], SOMEWHERE


def parenthesis_missing(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for part in (rule, rule.parts[1]):
            if isinstance(part, Group):
                yield [(part.end, part.end + 1, "")], rule.offset


def parenthesis_too_many(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for end in (rule.end, *([rule.parts[1].end] if isinstance(rule.parts[1], Group) else [])):
            yield [(end, end, ")")], end


def variable_misspelt_in_the_head(game: GameText) -> Iterator[Slip]:
    for rule in game.rules:
        for atom in atoms(rule.parts[1]):
            if atom.text.startswith("?"):
                yield [(*ends(atom), atom.text + "z")], rule.offset


def marks_missing(game: GameText) -> Iterator[Slip]:
    """All ``?`` of a literal that asks for a relation of facts."""
    facts = {first(fact).text for fact in game.facts}
    for literal in game.named():
        marks = [(a.offset, a.offset + 1, "") for a in atoms(literal) if a.text.startswith("?")]
        if first(literal).text in facts and marks:
            yield marks, literal.offset


MADE_SLIPS: dict[str, Callable[[GameText], Iterator[Slip]]] = {
    slip.__name__: slip
    for slip in (
        argument_missing,
        argument_missing_in_the_state,
        relation_misspelt,
        keyword_misspelt,
        proposition_misspelt,
        constant_misspelt,
        role_renamed,
        true_missing,
        next_or_init_missing,
        first_propositions_missing,
        parenthesis_missing,
        parenthesis_too_many,
        variable_misspelt_in_the_head,
        marks_missing,
    )
} | {
    f"no_{word}": lambda game, word=word: game.without(word)
    for word in ("role", "init", "next", "legal", "goal", "terminal")
}


@pytest.mark.parametrize("slip", MADE_SLIPS)
def test_one_slip_makes_one_finding_where_it_stands(slip: str) -> None:
    tried = 0
    missed: list[str] = []
    for name in GAMES:
        game = GameText(name)
        places = list(MADE_SLIPS[slip](game))
        random.Random(zlib.crc32(name.encode())).shuffle(places)
        for edits, at in places[:TRIED]:
            text = game.text
            for start, end, new in sorted(edits, reverse=True):
                text = text[:start] + new + text[end:]
            found = [d for d in check_text(text)[1] if d.severity > Severity.INFO]
            line = game.text.count("\n", 0, at) + 1 if at >= 0 else 0
            tried += 1
            if len(found) != 1 or (at != SOMEWHERE and found[0].place.line != line):
                missed.append(f"{name}:{line} {text[edits[0][0] :][:50]!r}: {list(map(str, found))}")
    assert tried
    assert not missed, "\n".join(missed)
