"""Slips of people who are new to GDL: each is found where it stands, and told in words that help."""

from __future__ import annotations

import re
import time

import pytest

from gdl.checks.run import Severity, check_text
from gdl.errors import ParseError
from gdl.syntax.format import convert

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
    assert told == [
        ("foreign-comment", "11:1"),
        ("foreign-comment", "12:1"),
        ("undefined-relation", "13:18"),
    ]


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
