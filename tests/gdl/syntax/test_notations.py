"""Infix GDL and Prolog mean what the same rules mean in KIF; faults are told where they are."""

from __future__ import annotations

import contextlib
import random
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.errors import ParseError, Place
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.syntax.format import convert, to_kif
from gdl.syntax.notation import FORMS, INFIX, PROLOG, Notation, form_of
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.syntax.sexpr import MAX_CHARACTERS, MAX_DEPTH
from gdl.terms import CONNECTIVES, Term
from tests.gdl.test_hostile import assert_placed, read_or_refused
from tests.places import GAME_FILES, GAMES

names = st.sampled_from(["p", "q", "cell", "1", "17", "xPlayer", "a_b", "a-b", "+", "it's", "\\", "true"])
variables = st.sampled_from(["?x", "?X1", "?a-b", "?a_b", "?1", "?_", "?über"])


def name(text: str) -> Term:
    return Term(text)


terms = st.recursive(
    st.one_of(names, variables).map(name),
    lambda inner: st.builds(lambda f, args: Term(f, *args), names, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
relations = terms.filter(lambda term: not term.is_variable)
formulas: st.SearchStrategy[Formula] = st.recursive(
    relations.map(Literal),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=3).map(tuple).map(And),
        st.lists(inner, max_size=3).map(tuple).map(Or),
    ),
    max_leaves=6,
)
games = st.lists(
    st.builds(Rule, relations, st.lists(formulas, max_size=3).map(tuple)), min_size=1, max_size=4
)


def renamed(rules: Rules) -> list[Rule]:
    """The rules with the variables of each numbered: notations differ in how they can be called."""

    def term(part: Term, known: dict[Term, Term]) -> Term:
        return part.substitute(known)

    def formula(part: Formula, known: dict[Term, Term]) -> Formula:
        match part:
            case Literal(atom):
                return Literal(term(atom, known))
            case Not(inner):
                return Not(formula(inner, known))
            case And(parts):
                return And(tuple(formula(p, known) for p in parts))
            case Or(parts):
                return Or(tuple(formula(p, known) for p in parts))

    out = []
    for rule in rules:
        atoms = [rule.head, *(found.atom for part in rule.body for found, _ in literals(part))]
        order = dict.fromkeys(v for atom in atoms for v in atom.variables())
        known = {variable: Term(f"?{i}") for i, variable in enumerate(order)}
        out.append(Rule(term(rule.head, known), tuple(formula(part, known) for part in rule.body)))
    return out


def written(rules: Rules, notation: str) -> str:
    """The rules in a notation, a sentence after the other."""
    return "".join(f"{FORMS[notation].write(rule, rules.spelling)}\n" for rule in rules)


# --- Infix GDL and Prolog alike: which of them a text is in, how deep it may nest, what any text comes to
@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("p(a). p(b).", "prolog"),
        ("p(a) p(b)", "infix"),
        ("p(a) :- q(a)", "infix"),
        ("p :- a, b", "prolog"),
        ("p :- a & b.", "infix"),
        ("p :- \\+ a", "prolog"),
        ("p :- ~a.", "infix"),
        ("p :- a ; b.", "prolog"),
        ("role(x) ; the first, or so\nrole(o) ; the second.\np :- q(x)", "infix"),
        ("; role(x), and more :-\nrole(x)", "infix"),
        ("p :- (a\n     ;\n     b), c.", "prolog"),
        ("p(X) :- q(X).\nr(X) :-\n  s(X)\n  ; t(X).", "prolog"),
        (":- dynamic p/1.\np(a).", "prolog"),
        ("#show p/1.\np(a).", "prolog"),
        ("/* (role x) */ role(x).", "prolog"),
        ("% (role x)\nrole(x) role(o)", "infix"),
        ("role(white)\nrole(black).\nlegal(R,a) :- role(R), t.\nlegal(R,b) :- role(R), u.", "prolog"),
        ("p(X) :- q(X), X is 3.", "prolog"),
        ("p :- a, not b.", "prolog"),
        ("% p, q :- r.\n(role x)", "kif"),
        ("; p(x) :- q, r.\n(role x)", "kif"),
        ("terminal (role x)", "kif"),
        ("; role(x) :-\n(role x)", "kif"),
        ("% (role x)\nrole(x)", "infix"),
        ("\ufeff role(x)", "infix"),
        ("open :- closed", "infix"),
        ("terminal", "kif"),
        ("", "kif"),
        ("(p) q(x)", "kif"),
        ("'a-b'(x)", "infix"),
    ],
)
def test_the_notation_is_seen(text: str, notation: str) -> None:
    assert form_of(text).name == notation
    for asked in FORMS:
        assert form_of(text, asked).name == asked


@pytest.mark.slow
@pytest.mark.parametrize(("notation", "games"), [("infix", "[a-k]*.kif"), ("prolog", "[l-z]*.kif")])
def test_installed_games_survive_the_way_there_and_back_with_their_comments(
    notation: Notation, games: str
) -> None:
    for path in sorted(GAMES.rglob(games)):
        text = path.read_text()
        there = convert(text, notation)
        assert form_of(there).name == notation, path.stem
        assert convert(there, "auto") == there, path.stem
        back = convert(there, "kif")
        assert renamed(parse_rules(back)) == renamed(parse_rules(text)), path.stem
        assert back.count(";") == text.count(";"), path.stem


@pytest.mark.parametrize(
    ("notation", "begin", "sign", "most", "end"),
    [
        ("infix", "p", "(p", MAX_DEPTH, ")"),
        ("infix", "p :- ", "~", MAX_DEPTH - 1, ""),
        ("infix", "p :- ", "(", MAX_DEPTH, ")"),
        ("infix", "p :- ", "~(", MAX_DEPTH // 2, ")"),
        ("prolog", "p", "(p", MAX_DEPTH, ")"),
        ("prolog", "p :- ", "\\+ ", MAX_DEPTH - 1, ""),
        ("prolog", "p :- ", "not ", MAX_DEPTH - 1, ""),
        ("prolog", "p :- ", "(", MAX_DEPTH, ")"),
        ("prolog", "p :- ", "not(", MAX_DEPTH // 2, ")"),
    ],
)
def test_nesting_is_read_to_its_limit_and_refused_beyond(
    notation: str, begin: str, sign: str, most: int, end: str
) -> None:
    usual, read = sys.getrecursionlimit(), FORMS[notation].read

    def nested(depth: int) -> str:
        inner = "" if begin == "p" else "q"
        return begin + sign * depth + inner + end * depth + ("." if notation == "prolog" else "")

    read(nested(most))
    for depth in (most + 2, 100_000):
        with pytest.raises(ParseError) as caught:
            read(nested(depth))
        assert caught.value.code == "nesting-too-deep"
    assert sys.getrecursionlimit() == usual


@pytest.mark.parametrize("notation", ["infix", "prolog"])
@given(st.text("pX_1(),.:-&|~!='\\%; \n\x00\ufeff+/*#not", max_size=60))
@example("p:-'")
@example("/*/")
@example("'\\xffffffff\\'.")
def test_any_text_is_read_or_refused(notation: Notation, text: str) -> None:
    for tried in (notation, "auto"):
        with contextlib.suppress(ParseError):
            parse_rules(text, notation=tried)  # type: ignore[arg-type]
    _, findings = check_text(text, notation=notation)
    assert all(finding.place.line >= 1 or finding.code.startswith("missing-") for finding in findings)


@pytest.mark.parametrize(
    ("notation", "text", "remedy"),
    [
        ("infix", "p(X) :- q(X), r(X)", "write '&' for 'and'"),
        ("infix", "p(X) :- q(X) && r(X)", "write it once"),
        ("infix", "p(X) :- \\+ q(X)", "write '~' for 'not'"),
        ("infix", "p(X) <= q(X)", "write ':-', with the head before it"),
        ("infix", "p(X) :- q(X) & X \\= a", "write X != Y"),
        ("infix", "p(X) :- q(X) & X = a", "write one variable or constant in both places"),
        ("infix", "p(X+1) :- q(X)", "GDL has no arithmetic"),
        ("infix", "p((a,b))", "GDL has no tuples: write a function, pair(a,b)"),
        ("infix", "p([a,b])", "GDL has no lists"),
        ("infix", "p :- #count{X} = 1", "GDL has no aggregates"),
        ("infix", "p(a b)", "write ',' between arguments"),
        ("infix", "p(a,)", "leave the ',' before it out"),
        ("infix", "p(a", "close the parenthesis"),
        ("infix", "p :- q)", "remove it, or open it"),
        ("prolog", "p(pos((1,1))).", "GDL has no tuples: write a function, pair(1,1)"),
        ("prolog", "p((T+1)) :- q(T).", "GDL has no arithmetic"),
        ("prolog", "p :- #count{X : q(X)} = 1.", "GDL has no aggregates"),
        ("prolog", "p :- X is Y + 1.", "GDL has no arithmetic"),
        ("prolog", "p :- q & r.", "write ',' for 'and'"),
        ("prolog", "p :- ~q.", "write '\\+' for 'not'"),
        ("prolog", "p(a;b).", "write a sentence for each"),
        ("prolog", "p => q.", "write ':-', with the head before it"),
    ],
)
def test_signs_of_other_languages_are_told_what_to_write_instead(
    notation: str, text: str, remedy: str
) -> None:
    with pytest.raises(ParseError) as caught:
        FORMS[notation].read(text)
    assert remedy in caught.value.remedy, caught.value


# --- Infix GDL means what the same rules mean in KIF
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


# --- Prolog's notation means what the same rules mean in KIF; faults are told where they are
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
    games = [convert((GAME_FILES[name]).read_text(), "prolog") for name in ("tictactoe", "nim", "hanoi")]
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
            refused += 1
            assert_placed(rules, text, "hostile.pl")
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


def test_names_that_begin_with_an_underscore_and_unequal_numbers_are_read() -> None:
    rules = parse_rules("_next_to(a,b). p(X) :- _next_to(X,Y), X =\\= Y, q(_Z).", notation="prolog")
    assert str(rules) == "(_next_to a b)\n(<= (p ?x) (_next_to ?x ?y) (distinct ?x ?y) (q ?_z))"
