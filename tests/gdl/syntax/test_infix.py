"""Infix GDL means what the same rules mean in KIF; faults are told where they are, hostile texts end soon."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.errors import ParseError, Place
from gdl.rules import And, Literal, Not, Or, Rule, Rules
from gdl.syntax.format import convert, to_kif
from gdl.syntax.notation import INFIX, form_of
from gdl.syntax.parser import parse_rules, parse_terms
from gdl.syntax.sexpr import MAX_CHARACTERS
from gdl.terms import CONNECTIVES, Term
from tests.gdl.syntax.made_rules import games, relations, renamed, written


@given(games)
@example([Rule(Term("p"), (And((Literal(Term("q")), Literal(Term("r")))),))])
@example([Rule(Term("p"), (Or(()), Not(And((Or((Not(Literal(Term("q"))),)),)))))])
@example([Rule(Term("p", Term("?a-b"), Term("?a_b")))])
def test_rules_written_in_infix_are_read_back_as_they_were(sentences: list[Rule]) -> None:
    rules = Rules(tuple(sentences))
    assert renamed(parse_rules(written(rules, "infix"), notation="infix")) == renamed(rules)


def test_public_games_are_the_same_in_both_notations(corpus_games: list[Path]) -> None:
    for path in corpus_games[::16]:
        rules = parse_rules(path.read_text(errors="replace"), path.name, "kif")
        infix = written(rules, "infix")
        assert form_of(infix).name == "infix", path.stem
        again = parse_rules(infix)
        assert renamed(again) == renamed(rules), path.stem
        assert parse_rules(to_kif(again)).rules == again.rules, path.stem


def test_the_notation_of_the_notes_is_read() -> None:
    rules = parse_rules(
        """
        % Tic-Tac-Toe, as it is taught.
        role(x). role(o)
        legal(W,mark(X,Y)) :- true(cell(X,Y,b)) & true(control(W))
        legal(W, noop) :- true(control(Z)) & W != Z
        line(Z) :- row(_,Z) | column(_,Z)  ; either
        open :- true(cell(M,N,b))
        terminal :- ~open & ~(draw | 'x-wins')
        """
    )
    kif = """
        (role x) (role o)
        (<= (legal ?w (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?w)))
        (<= (legal ?w noop) (true (control ?z)) (distinct ?w ?z))
        (<= (line ?z) (or (row ?1 ?z) (column ?2 ?z)))
        (<= open (true (cell ?m ?n b)))
        (<= terminal (not open) (not (or draw x-wins)))
    """
    assert renamed(rules) == renamed(parse_rules(kif))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("role(x", (1, 7), "expected ',' or ')', found the end of the text"),
        ("role(x)\np(a b)", (2, 5), "expected ',' or ')', found 'b'"),
        ("p :-", (1, 5), "expected a relation, '~' or '(', found the end of the text"),
        ("p :- q & & r", (1, 10), "expected a relation, '~' or '(', found '&'"),
        ("p :- q\n ~r", (2, 2), "expected ':-', '&', '|', '.' or the next sentence, found '~'"),
        ("p :- (q | r", (1, 12), "expected '&', '|' or ')', found the end of the text"),
        ("p(a,)", (1, 5), "expected a name or a variable, found ')'"),
        ("p(X) :- X(a)", (1, 9), "the variable X cannot be a relation or function"),
        ("X :- p", (1, 1), "a variable cannot be the head of a rule"),
        ("p('a b')", (1, 3), "'a b' is not a name of GDL"),
        ("p(\x9ba)", (1, 3), "the character '\\x9b' cannot stand"),
        ("p :- q % c\n  & r(\n", (2, 7), "found the end of the text"),
    ],
)
def test_faults_say_where_and_what_was_expected(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_rules(text, notation="infix")
    assert words in str(caught.value)
    assert caught.value.place == Place(*place)


def test_checks_go_on_behind_a_faulty_sentence() -> None:
    rules, findings = check_text("role(x)\nrole(o\nlegal(x,a) :- q r &\nterminal\np(X) :-\n  ~~\n")
    assert rules is None
    faults = [(d.place.line, d.place.column) for d in findings if d.code == "not-infix"]
    assert faults == [(2, 7), (3, 19), (6, 5)]


def test_texts_beyond_the_limit_are_not_even_begun() -> None:
    with pytest.raises(ParseError, match="more than"):
        INFIX.read("p." * (MAX_CHARACTERS // 2 + 1))


@pytest.mark.parametrize("to", ["infix", "kif"])
def test_conversion_keeps_comments_and_comes_to_rest(to: str) -> None:
    text = "; one\n;   two\n\n(role x) ; three\n(<= (p ?x) ; four\n  (q ?x)\n)\n\n\n(r)\n; five\n"
    there = convert(text, to)  # type: ignore[arg-type]
    mark = "%" if to == "infix" else ";"
    comments = [line.partition(mark)[2] for line in there.splitlines() if mark in line]
    assert comments == [" one", "   two", " three", " four", " five"]
    assert convert(there, to) == convert(there, "auto") == there  # type: ignore[arg-type]
    back = convert(there, "kif")
    assert renamed(parse_rules(back)) == renamed(parse_rules(text))
    assert "\n\n" in there
    assert "\n\n\n" not in there


def test_connectives_cannot_be_heads() -> None:
    for word in CONNECTIVES - {"<="}:
        with pytest.raises(ParseError):
            parse_rules(f"{word}(a) :- b", notation="infix")


def test_places_are_those_of_the_text_with_its_tabs() -> None:
    rules = parse_rules("\trole(x)\n\t\tlegal(x,\ty)")
    assert [rule.place for rule in rules] == [Place(1, 2), Place(2, 3)]
    for text, place in (("\trole(x)\tlegal(x,", Place(1, 18)), ("role(x)\t\t]", Place(1, 10))):
        with pytest.raises(ParseError) as fault:
            parse_rules(text, notation="infix")
        assert fault.value.place == place


@given(st.lists(relations, min_size=1, max_size=4), st.sampled_from([" ", ",", ", ", "\n"]))
def test_moves_and_states_are_read_in_either_notation(parts: list[Term], between: str) -> None:
    ground = [part.substitute({v: Term("v") for v in variables_of(part)}) for part in parts]
    plain = [part for part in ground if all(c.isalnum() or c in "_ ()" for c in str(part))]
    infix = between.join(written(Rules((Rule(part),)), "infix").strip().removesuffix(".") for part in plain)
    assert parse_terms(infix, notation="infix") == plain
    assert parse_terms(" ".join(map(str, plain)), notation="auto") == plain


def variables_of(term: Term) -> set[Term]:
    return {term} if term.is_variable else {v for part in term.args for v in variables_of(part)}


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("mark(1,", 8, "expected a name or a variable, found the end of the text"),
        ("mark(1,1), ,noop", 12, "expected a name or a variable, found ','"),
        ("mark(1,1))", 10, "expected ',' or the next term, found ')'"),
        ("mark(1 1)", 8, "expected ',' or ')', found '1'"),
    ],
)
def test_faults_in_moves_are_told_with_their_column(text: str, column: int, expected: str) -> None:
    with pytest.raises(ParseError) as fault:
        parse_terms(text, "moves", "auto")
    assert fault.value.place == Place(1, column)
    assert expected in fault.value.message


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("p(X) :- q(X), r(X)", "write '&' for 'and'"),
        ("p(X) :- q(X) && r(X)", "write it once"),
        ("p(X) :- \\+ q(X)", "write '~' for 'not'"),
        ("p(X) <= q(X)", "write ':-', with the head before it"),
        ("p(X) :- q(X) & X \\= a", "write X != Y"),
        ("p(X) :- q(X) & X = a", "write one variable or constant in both places"),
        ("p(X+1) :- q(X)", "GDL has no arithmetic"),
        ("p((a,b))", "GDL has no tuples: write a function, pair(a,b)"),
        ("p([a,b])", "GDL has no lists"),
        ("p :- #count{X} = 1", "GDL has no aggregates"),
        ("p(a b)", "write ',' between arguments"),
        ("p(a,)", "leave the ',' before it out"),
        ("p(a", "close the parenthesis"),
        ("p :- q)", "remove it, or open it"),
    ],
)
def test_signs_of_other_languages_are_told_what_to_write_in_infix(text: str, remedy: str) -> None:
    with pytest.raises(ParseError) as caught:
        INFIX.read(text)
    assert remedy in caught.value.remedy, caught.value
