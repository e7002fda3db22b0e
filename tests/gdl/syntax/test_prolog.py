"""Prolog's notation means what the same rules mean in KIF; faults are told where they are."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from hypothesis import example, given

from gdl.checks.run import check_text
from gdl.errors import ParseError, Place
from gdl.reading import plain
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.syntax.format import convert
from gdl.syntax.notation import FORMS, PROLOG, form_of
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from tests.gdl.reading import read_or_refused
from tests.gdl.syntax.made_rules import games, renamed, written
from tests.places import GAMES


def simplified(formula: Formula) -> Formula:
    """The formula without connectives of one part, which Prolog cannot say."""
    match formula:
        case Not(inner):
            return Not(simplified(inner))
        case And(parts) | Or(parts):
            simple = tuple(map(simplified, parts))
            return simple[0] if len(simple) == 1 else type(formula)(simple)
    return formula


def compared(rules: Rules) -> list[Rule]:
    """The rules with their variables numbered, without connectives of one part and literals that hold
    always."""
    return [
        Rule(rule.head, tuple(p for p in map(simplified, rule.body) if p != And(())))
        for rule in renamed(rules)
    ]


@given(games)
@example([Rule(Term("p"), (And((Literal(Term("q")), Literal(Term("r")))),))])
@example([Rule(Term("p"), (Or(()), Not(And((Or((Not(Literal(Term("q"))),)),)))))])
@example([Rule(Term("p", Term("?a-b"), Term("?a_b")))])
@example([Rule(Term("p", Term("007"), Term("7"), Term("-1"), Term("1.5"), Term("'"), Term("%")))])
@example([Rule(Term("dif", Term("a"), Term("b")), (Literal(Term("dif", Term("a"), Term("b"))),))])
@example([Rule(Term("fail"), (Literal(Term("true")), Literal(Term("false")), Literal(Term("note"))))])
def test_rules_written_in_prolog_are_read_back_as_they_were(sentences: list[Rule]) -> None:
    rules = Rules(tuple(sentences))
    text = written(rules, "prolog")
    assert compared(parse_rules(text, notation="prolog")) == compared(rules)
    assert convert(text, "auto", notation="prolog") == convert(
        convert(text, "kif", notation="prolog"), "prolog"
    )


def test_public_games_are_the_same_in_prolog_and_keep_their_spelling(corpus_games: list[Path]) -> None:
    for path in corpus_games[3::16]:
        rules = parse_rules(path.read_text(errors="replace"), path.name, "kif")
        text = written(rules, "prolog")
        assert form_of(text).name == "prolog", path.stem
        again = parse_rules(text)
        assert compared(again) == compared(rules), path.stem
        names = {name: spelled for name, spelled in rules.spelling.items() if not name.startswith("?")}
        assert {name: again.spelling[name] for name in names} == names, path.stem


def test_what_prolog_and_answer_set_programs_say_is_understood() -> None:
    rules = parse_rules(
        r"""
        /* Who moves,
           and when. */
        :- dynamic true/1, does/2.
        #show legal/2.
        role(x). role('O').
        legal(R,go) :- true(control(R)), \+ true(done), not blocked(R).
        legal(R,noop):-role(R),not(true(control(R))). % waits
        open(X) :- cell(X,_), dif(X,a), X \= b ; X \== c, cell(_,X) ; cell(X,_2), X != _2.
        terminal :- \+ (open(_) ; true(n(1)), true), not (a, b), true.
        always :- true.
        never :- fail ; false.
        """
    )
    kif = """
        (role x) (role O)
        (<= (legal ?r go) (true (control ?r)) (not (true done)) (not (blocked ?r)))
        (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
        (<= (open ?x) (or (and (cell ?x ?1) (distinct ?x a) (distinct ?x b))
          (and (distinct ?x c) (cell ?2 ?x)) (and (cell ?x ?3) (distinct ?x ?3))))
        (<= terminal (not (or (open ?4) (and (true (n 1)) (and)))) (not (and a b)))
        always
        (<= never (or (or) (or)))
    """
    assert renamed(rules) == renamed(parse_rules(kif))
    assert rules.notation == "prolog"


@pytest.mark.parametrize(
    ("text", "kif"),
    [
        ("p(Row,ROW,row,_row).", "(p ?a ?b row ?c)"),  # Prolog minds the case of variables
        ("p(Foo,foo) :- q(Foo,'FOO').", "(<= (p ?f foo) (q ?f foo))"),  # GDL does not mind that of names
        ("p(_,_,_2,_5).", "(p ?a ?b ?c ?d)"),
        ("p(007,-007,-0,1.50,'007').", "(p 7 -7 0 1.50 007)"),
        (r"p('it''s','it\'s','\\').", r"(p it's it's \)"),
        ("p('Like This',like_this,'(').", "(p like_this_2 like_this _)"),
        ("p('?x','',X).", "(p _x _ ?x)"),
        ("terminal() :- not.", None),
        ("a :- b, c ; d, e.", "(<= a (or (and b c) (and d e)))"),
        ("a :- (b ; c), d.", "(<= a (or b c) d)"),
        (r"a :- \+ b, c.", "(<= a (not b) c)"),
        (r"a :- \+ \+ not b.", "(<= a (not (not (not b))))"),
        (r"a :- \+ b \= c.", "(<= a (not (distinct b c)))"),
        ("a :- 'dif'(b,c), 'true', dif(b).", "(<= a (dif b c) true (dif b))"),
        ("a :- notable(not), distinct(b,c).", "(<= a (notable not) (distinct b c))"),
        ("a :- b. % c, d :- e.\n/* f. */ g.", "(<= a b) g"),
        ("a.b:-c.", "a (<= b c)"),
    ],
)
def test_signs_bind_and_names_are_told_apart_as_in_prolog(text: str, kif: str | None) -> None:
    if kif is None:
        with pytest.raises(ParseError):
            parse_rules(text, notation="prolog")
    else:
        assert renamed(parse_rules(text, notation="prolog")) == renamed(parse_rules(kif, notation="kif"))


@pytest.mark.parametrize(
    ("text", "place", "words", "remedy"),
    [
        ("p :- (a -> b ; c).", (1, 9), "expected ',', ';' or ')', found '->'", "no if-then-else"),
        ("p :- a, !.", (1, 9), r"expected a relation, '\+' or '(', found '!'", "no cut"),
        ("p(X) :- q(X), X = a.", (1, 17), "expected ',', ';' or '.', found '='", "no equations"),
        ("p(X) :- q(X), X is 3+1.", (1, 17), "found 'is'", "no arithmetic"),
        ("p(X) :- q(X), X =< 3.", (1, 17), "found '=<'", "no arithmetic"),
        ("p([a|T]) :- q(T).", (1, 3), "expected a name or a variable, found '['", "no lists"),
        ("{ p } :- q.", (1, 1), "expected the head of a sentence, found '{'", "no choices"),
        ("cell(0..8).", (1, 7), "found '..'", "no intervals"),
        ("p(1a).", (1, 3), "found '1a'", "in quotes, '1a'"),
        ("p('abc).\nq.", (1, 3), 'found "\'"', "close the quote"),
        ('p("abc").', (1, 3), "found '\"'", "single quotes"),
        ("a ; b :- c.", (1, 3), "expected ':-' or '.', found ';'", "write a sentence for each"),
        ("role(x)\nrole(o).", (2, 1), "expected ':-' or '.', found 'role'", "with a full stop"),
        ("p :- a\nq :- b.", (2, 1), "expected ',', ';' or '.', found 'q'", "with a full stop"),
        ("p :- a, b", (1, 10), "found the end of the text", "with a full stop"),
        ("p :- a.\n/* and so on", (2, 1), "found '/*'", "close the comment"),
        ("p :- (a ; b.", (1, 12), "expected ',', ';' or ')', found '.'", "notations.md"),
        (":- a, b.", (1, 1), "':- a' begins a sentence without a head", "no constraints"),
        ("?- a.", (1, 1), "'?- a' begins a sentence without a head", "no constraints, queries"),
        ("#const n = 8.\np.", (1, 1), "the directive '#const' cannot be read", "write its rules out"),
        (":- dynamic p/1\nrole(x).", (2, 1), "expected '.' at the end of the directive", "with a full stop"),
        ("not(a) :- b.", (1, 1), "'not' cannot stand in the head", "a rule for each relation"),
        ("p(\x9ba).", (1, 3), "the character '\\x9b' cannot stand", "remove it"),
    ],
)
def test_faults_say_where_what_was_expected_and_what_to_write(
    text: str, place: tuple[int, int], words: str, remedy: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parse_rules(text, notation="prolog")
    assert words in caught.value.message
    assert remedy in caught.value.remedy
    assert caught.value.place == Place(*place)
    rules, findings = check_text(text, notation="prolog")
    assert rules is None
    assert (words, Place(*place)) in [(words if words in d.message else "", d.place) for d in findings]


def test_checks_go_on_behind_a_faulty_sentence_and_a_missing_stop() -> None:
    text = "role(x)\nrole(o.\nlegal(x,a) :- q r,\n  s.\nterminal.\np(X) :-\n  \\+ , X.\nq :- s\nr :- t.\n"
    rules, findings = check_text(text, notation="prolog")
    assert rules is None
    faults = [(d.place.line, d.place.column) for d in findings if d.code == "not-prolog"]
    assert faults == [(2, 1), (2, 7), (3, 17), (7, 6), (9, 1)]


def test_directives_and_changed_names_are_remarked_upon() -> None:
    rules, findings = check_text(":- dynamic p/1.\nrole('the red').\n#show legal/2.\n")
    assert rules is not None
    remarks = [(d.place, d.message) for d in findings if d.code in ("ignored-directive", "name-changed")]
    assert sorted(remarks, key=lambda remark: remark[0].line) == [
        (Place(1, 1), "the directive ':- dynamic' is passed over"),
        (
            Place(2, 6),
            "'the red' is read as the_red: names of GDL hold no blanks, parentheses, ';' or first '?'",
        ),
        (Place(3, 1), "the directive '#show' is passed over"),
    ]


def test_findings_about_rules_in_prolog_are_written_in_prolog() -> None:
    _, findings = check_text(
        "role(x).\nlegal(x,go(X)) :- \\+ blocked(x,_), (a ; b), (a ; b).\nterminal :- dif(3,3).\n"
        "a. b. blocked(x,1)."
    )
    told = [f"{d.place} {d.message} ({d.remedy})" for d in findings]
    assert any(line.startswith("2:1 the head has the variable X,") for line in told), told
    assert any("binds _, which a negation needs" in line for line in told), told
    assert any("a ; b stands twice" in line for line in told), told
    assert not [line for line in told if "?" in line or "(not" in line or "(<=" in line], told


ENDLESS = [
    "(", "p(", "\\+", "not ", "'", "/*", ":- dynamic ", "#show ", "a.", "a,", ";", "p:-", "%", "\n",
    "1.", "''",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", ENDLESS)
def test_a_megabyte_of_anything_is_read_or_refused(part: str) -> None:
    text = (part * (1_000_000 // len(part)))[:900_000]
    for hostile in (text, "role(x).\np :- a, " + text):
        with contextlib.suppress(ParseError):
            # What is well-formed so far is read on: less of it shows as much.
            PROLOG.read(hostile[: 60_000 if part in ("a.", "a,", "1.") else None])
        form_of(hostile)


_PIECES = [
    "(", ")", ",", ";", ".", ":-", "\\+ ", "not ", "'", "/*", "*/", "%", "\n", "_", "X", "->", "=",
    "\\=", "!", "[", "|", "{", "#show ", ":- dynamic a/1.", "0..3", "1a", "\x00", "é", "true", "fail",
    "dif(X,Y)", "\"",
]  # fmt: skip


@pytest.mark.slow
def test_mutated_games_give_rules_or_an_error_with_a_place() -> None:
    rng = random.Random(8)
    games = [convert((GAMES / f"{name}.kif").read_text(), "prolog") for name in ("tictactoe", "nim", "hanoi")]
    refused = 0
    for number in range(3000):
        text = games[number % 3]
        at = rng.randrange(len(text))
        text = text[at : at + 600]
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["", *_PIECES]) + text[at + rng.randrange(4) :]
        rules = read_or_refused(lambda text: parse_rules(text, "hostile.pl"), text)
        if isinstance(rules, ParseError):
            fault = rules
            refused += 1
            assert fault.place is not None
            assert 1 <= fault.place.line <= plain(text).count("\n") + 1
            assert fault.place.column >= 1
            assert fault.message
            assert fault.code
            assert str(fault).startswith("hostile.pl:")
        else:
            assert compared(parse_rules(written(rules, "prolog"), notation="prolog")) == compared(rules)
    assert refused > 1000


def test_a_files_ending_decides_where_it_is_not_kif() -> None:
    text = "p(X) :- q(X)"
    assert [form_of(text, name=name).name for name in ("a.pl", "a.hrf", "A.LP", "a.txt", "a")] == [
        "prolog", "infix", "prolog", "infix", "infix",
    ]  # fmt: skip
    assert form_of("(p ?x)", name="a.pl").name == "kif"
    endings = [ending for form in FORMS.values() for ending in form.endings]
    assert len(endings) == len(set(endings))


def test_comments_go_with_their_sentences() -> None:
    text = "/* one\n * two\n */\nrole(x). % three\np :- /* four */ q. /* five */\n% six\n"
    there = convert(text, "kif")
    assert there == "; one\n; two\n(role x) ; three\n; four\n(<= p\n  q) ; five\n; six\n"
    assert convert(convert(there, "prolog"), "kif") == there


def test_variables_without_a_name_stay_so() -> None:
    for notation in ("infix", "prolog"):
        text = convert("p(X) :-\n  q(X,_,_),\n  r(_Y,_2).", notation)  # type: ignore[arg-type]
        assert "q(X,_,_)" in text
        assert "r(_Y,_2)" in text
        assert renamed(parse_rules(text)) == renamed(parse_rules(convert(text, "kif")))


def test_moves_are_read_in_prolog() -> None:
    assert parse_terms("mark(b,2), noop", notation="auto") == [parse_term("(mark b 2)"), Term("noop")]
    assert parse_term("'Like This'", notation="prolog") is Term("like_this")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("p(pos((1,1))).", "GDL has no tuples: write a function, pair(1,1)"),
        ("p((T+1)) :- q(T).", "GDL has no arithmetic"),
        ("p :- #count{X : q(X)} = 1.", "GDL has no aggregates"),
        ("p :- X is Y + 1.", "GDL has no arithmetic"),
        ("p :- q & r.", "write ',' for 'and'"),
        ("p :- ~q.", "write '\\+' for 'not'"),
        ("p(a;b).", "write a sentence for each"),
        ("p => q.", "write ':-', with the head before it"),
    ],
)
def test_what_answer_set_programs_have_is_told_in_signs_of_prolog(text: str, remedy: str) -> None:
    with pytest.raises(ParseError) as caught:
        PROLOG.read(text)
    assert remedy in caught.value.remedy, caught.value


def test_names_that_begin_with_an_underscore_and_unequal_numbers_are_read() -> None:
    rules = parse_rules("_next_to(a,b). p(X) :- _next_to(X,Y), X =\\= Y, q(_Z).", notation="prolog")
    assert str(rules) == "(_next_to a b)\n(<= (p ?x) (_next_to ?x ?y) (distinct ?x ?y) (q ?_z))"
