"""KIF: what is written is read, with its places, as by its grammar; canonical layout; rules; line ends."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyparsing as pp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.errors import GdlError, ParseError, Place
from gdl.excerpt import excerpt
from gdl.hints import read_hints
from gdl.reading import plain, text_of
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.syntax.format import convert, format_text
from gdl.syntax.notation import Notation
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.syntax.sexpr import MAX_DEPTH, Atom, Group, SExpr, Source, read
from gdl.terms import Term
from ggp.rule_files import installed_games
from tests.examples import examples

Nested = str | list["Nested"]


def nested(words: st.SearchStrategy[str]) -> st.SearchStrategy[Nested]:
    """Words in nested lists."""
    return st.recursive(words, lambda inner: st.lists(inner, max_size=5), max_leaves=25)


def shape(part: SExpr) -> Nested:
    """An expression without its places."""
    return part.text if isinstance(part, Atom) else [shape(p) for p in part.parts]


def write(part: Nested, blank: Callable[[], str] = lambda: " ") -> str:
    """The text of nested lists, with blanks before each part and each closing parenthesis."""
    if isinstance(part, str):
        return part
    return f"({''.join(blank() + write(p, blank) for p in part)}{blank()})"


# --- KIF as a pyparsing grammar: slow, short, and the oracle of the scanner in :mod:`gdl.syntax.sexpr`
BLANKS = " \t\n\r\f\v\xa0\ufeff"
Placed = tuple[str, int]
"""A word, or ``()``, and its offset."""


@cache
def _grammar() -> pp.ParserElement:
    """KIF as a pyparsing grammar: slow, short, and the oracle of the scanner in :mod:`gdl.syntax.sexpr`.

        text       = { expression }
        expression = word | "(" { expression } ")"

    ``;`` begins a comment to the end of its line; a word is a run of other printable characters than blanks,
    parentheses and semicolons. The replacement character stands for bytes that were no text: no word has it.
    """
    blank = pp.Suppress(pp.Regex(rf"(?:[{BLANKS}]|;[^\n]*)*"))
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    word = pp.Word(printable, exclude_chars=" ();\ufffd").set_parse_action(
        lambda _, at, found: [(found[0], at)]
    )
    opened = pp.Literal("(").set_parse_action(lambda _, at, found: [("()", at)])
    expression = pp.Forward()
    group = pp.Group(opened + blank + pp.ZeroOrMore(expression) + pp.Suppress(")"))
    expression <<= (word | group) + blank
    return (blank + pp.ZeroOrMore(expression)).leave_whitespace().parse_with_tabs()


def read_by_grammar(text: str) -> tuple[list[Nested], list[Placed]] | None:
    """The expressions of a text, and all words and groups with their offsets in the order of the text; None
    where it is no KIF."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        found = _grammar().parse_string(text, parse_all=True)
    except pp.ParseException:
        return None
    finally:
        sys.setrecursionlimit(usual)
    places: list[Placed] = []
    shapes = [_shape(part, places, 0) for part in found]
    return None if any(shape is None for shape in shapes) else (shapes, places)  # type: ignore[return-value]


def _shape(part: Any, places: list[Placed], depth: int) -> Nested | None:
    if isinstance(part, tuple):
        places.append(part)
        return str(part[0])
    if depth >= MAX_DEPTH:
        return None
    places.append(part[0])
    inner = [_shape(one, places, depth + 1) for one in part[1:]]
    return None if any(one is None for one in inner) else inner  # type: ignore[return-value]


# --- Reading KIF into expressions: structure, places, comments, faults
words = st.text("abz?19<=_+'\"|#é", min_size=1, max_size=5)
blanks = st.text(" \t\n\r\f", min_size=1, max_size=3) | st.just(" ; a (comment\n")


@given(st.lists(nested(words), max_size=5), st.data())
def test_what_is_written_is_read_whatever_the_blanks(sentences: list[Nested], data: st.DataObject) -> None:
    text = "\n".join(write(s, lambda: data.draw(blanks)) for s in sentences)
    assert [shape(p) for p in read(text)[1]] == sentences


@given(st.text("ab\n\r\t;()", max_size=40), st.integers(0, 40))
def test_places_count_lines_and_columns_from_one(text: str, offset: int) -> None:
    before = plain(text)[:offset]
    offset = len(before)
    expected = Place(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
    assert Source(text).place(offset) == expected


def test_comments_are_kept_only_when_asked_for() -> None:
    text = "; one\n(a ; two\n b)"
    assert [shape(p) for p in read(text)[1]] == [["a", "b"]]
    assert [shape(p) for p in read(text, keep_comments=True)[1]] == ["; one", ["a", "; two", "b"]]


def test_the_deepest_nesting_that_is_allowed_is_read() -> None:
    (part,) = read("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)[1]
    for _ in range(MAX_DEPTH):
        assert isinstance(part, Group)
        (part,) = part.parts
    assert part == Atom("a", MAX_DEPTH)


@pytest.mark.parametrize("text", ["(role x)\n（init p)", "(role x)\n(init p）", "(role x)\n(init [p)"])
def test_brackets_that_are_no_parentheses_are_blamed_where_parentheses_do_not_match(text: str) -> None:
    if "[" in text:
        text += ")"
    with pytest.raises(ParseError, match="is not a sign of KIF") as caught:
        read(text)
    place = caught.value.place
    assert place is not None and text.splitlines()[1][place.column - 1] in "（）["
    with pytest.raises(ParseError, match="closes nothing"):
        read("; [a remark]\n(role x))")


# --- The fast scanner of KIF against its grammar: both read the same, or both refuse
MOST = 12_000
"""Characters of a public game; the grammar is slow."""


def scanned(text: str) -> tuple[list[Nested], list[Placed]] | None:
    try:
        _, parts = read(text)
    except ParseError:
        return None
    places: list[Placed] = []

    def visit(part: SExpr) -> None:
        places.append((part.text, part.offset) if isinstance(part, Atom) else ("()", part.offset))
        for inner in [] if isinstance(part, Atom) else part.parts:
            visit(inner)

    for part in parts:
        visit(part)
    return list(map(shape, parts)), places


@pytest.mark.slow
@pytest.mark.parametrize("path", list(installed_games()), ids=lambda path: path.stem)
def test_our_games_are_read_alike(path: Path) -> None:
    text = path.read_text(encoding="utf-8")[:MOST].rpartition("\n\n")[0]
    found = read_by_grammar(text)
    assert found is not None
    assert found == scanned(text)
    again = "\n".join(map(write, found[0]))
    assert read_by_grammar(again) is not None
    assert scanned(again)[0] == found[0]  # type: ignore[index]


@pytest.mark.slow
def test_public_games_are_read_alike(corpus_games: list[Path]) -> None:
    small = [path for path in corpus_games if path.stat().st_size < MOST][::6]
    assert small
    for path in small:
        text = text_of(path.read_bytes())
        assert read_by_grammar(text) == scanned(text), path.stem


@examples(80)
@given(
    st.lists(
        nested(st.text("ab?1<=\"'|;", min_size=1, max_size=3).filter(lambda w: ";" not in w)), max_size=4
    )
)
def test_what_is_written_is_read_by_both(sentences: list[Nested]) -> None:
    text = "\n".join(map(write, sentences))
    assert read_by_grammar(text) == scanned(text)
    assert scanned(text) is not None


@examples(400)
@given(st.text("()ab;? \n\t\r\f\v\xa0\ufeff\u2003\u0085\x1c\x00é\u200b\"'", max_size=30))
@example("(" * MAX_DEPTH + ")" * MAX_DEPTH)
@example("(" * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1))
@example("; only a comment")
@example("a;b\n;\n(c;)\n)")
@example("a\u2028b")
@example("a\ufffdb")
def test_both_read_any_text_or_both_refuse_it(text: str) -> None:
    assert read_by_grammar(plain(text)) == scanned(text)


# --- Canonical layout: nothing but layout changes, comments stay, and it is a fixed point
layout_words = st.sampled_from(["<=", "or", "and", "not", "p", "?x", "true", "12", "NOT"])
gaps = st.sampled_from([" ", "\n", "\n\n\n", "  ", " ; c\n", "\n; own line\n", "; x ; y\n\n", "\t;;; ( \r\n"])


def comments(parts: list[SExpr]) -> list[str]:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Atom):
            texts += [part.text] if part.text.startswith(";") else []
        else:
            texts += comments(part.parts)
    return texts


@given(st.lists(nested(layout_words), max_size=5), st.data())
def test_only_the_layout_changes_and_only_once(sentences: list[Nested], data: st.DataObject) -> None:
    def gap() -> str:
        return data.draw(gaps)

    text = "".join(gap() + write(s, gap) for s in sentences) + gap()
    formatted = format_text(text)
    assert [shape(p) for p in read(formatted)[1]] == [shape(p) for p in read(text)[1]]
    assert comments(read(formatted, keep_comments=True)[1]) == comments(read(text, keep_comments=True)[1])
    assert format_text(formatted) == formatted
    assert "\n\n\n" not in formatted
    assert not any(line != line.rstrip() for line in formatted.split("\n"))


@pytest.mark.slow
def test_public_games_keep_their_meaning_and_comments(corpus_games: list[Path]) -> None:
    for path in corpus_games:
        text = path.read_text()
        formatted = format_text(text, path.name)
        assert parse_rules(formatted, path.name) == parse_rules(text, path.name), path.stem
        assert format_text(formatted) == formatted, path.stem
        assert formatted.count(";") == text.count(";"), path.stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  (role   White)(role\nBlack)", "(role White)\n(role Black)\n"),
        ("(p)\n\n\n\n(q)\n(r)\n", "(p)\n\n(q)\n(r)\n"),
        ("(<= p)", "(<= p)\n"),
        (
            "(<= (legal ?r (mark ?x)) (role ?r) (true (cell ?x b)))",
            "(<= (legal ?r (mark ?x))\n  (role ?r)\n  (true (cell ?x b)))\n",
        ),
        (
            "(<= p (not (q ?x)) (or a (and b (not (or c d)))))",
            "(<= p\n  (not (q ?x))\n"
            "  (or\n    a\n    (and\n      b\n      (not\n        (or\n          c\n          d)))))\n",
        ),
        ("; head\n\n(p) ; tail\n; next\n(q)", "; head\n\n(p) ; tail\n; next\n(q)\n"),
        (
            "(<= p ; why\n  ; before q\n  q ; at q\n  r) ; end",
            "(<= p ; why\n  ; before q\n  q ; at q\n  r) ; end\n",
        ),
        ("(<= p\n q ; at q\n )", "(<= p\n  q) ; at q\n"),
        ("(<= p\n q\n ; last words\n )", "(<= p\n  q\n  ; last words\n)\n"),
        ("(p (q a ; c\n) ; d\n) ; e", "(p\n  (q\n    a ; c\n  ) ; d\n) ; e\n"),
        ("(init ; why\n (step 1))", "(init ; why\n  (step 1))\n"),
        ("(p a)\r\n(q b) ; x\r\n", "(p a)\n(q b) ; x\n"),
    ],
)
def test_the_layout(text: str, expected: str) -> None:
    assert format_text(text) == expected
    assert format_text(expected) == expected


def test_what_is_no_kif_is_refused() -> None:
    with pytest.raises(ParseError):
        format_text("(p (q)")


# --- From text to rules: round trips, case, spelling, and what cannot be a rule
rule_names = st.sampled_from(["p", "q", "cell", "true", "does", "distinct", "1", "x-1"])
terms = st.recursive(
    (rule_names | st.sampled_from(["?x", "?y"])).map(Term),
    lambda inner: st.builds(lambda n, a: Term(n, *a), rule_names, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
atoms = st.builds(lambda n, a: Term(n, *a), rule_names, st.lists(terms, max_size=3))
formulas: st.SearchStrategy[Formula] = st.recursive(
    atoms.map(Literal),
    lambda inner: (
        st.builds(Not, inner)
        | st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts)))
        | st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts)))
    ),
    max_leaves=6,
)
rules_of_any_kind = st.lists(
    st.builds(lambda head, body: Rule(head, tuple(body)), atoms, st.lists(formulas, max_size=3)), max_size=6
)


@given(rules_of_any_kind)
def test_rules_are_what_their_text_says(rules: list[Rule]) -> None:
    text = str(Rules(tuple(rules)))
    assert parse_rules(text).rules == tuple(rules)
    assert parse_rules(text.upper()).rules == tuple(rules)


@given(st.lists(terms, max_size=5))
def test_runs_of_terms_are_read_back(run: list[Term]) -> None:
    assert parse_terms(" ".join(map(str, run))) == run


@pytest.mark.slow
@given(rules_of_any_kind)
def test_rules_survive_pickling(rules: list[Rule]) -> None:
    parsed = parse_rules(str(Rules(tuple(rules))), "name")
    assert pickle.loads(pickle.dumps(parsed)) == parsed


def test_equality_minds_neither_places_nor_blanks() -> None:
    assert parse_rules("(<= (p ?x)\n\n   (not (q ?x)))") == parse_rules("(<= (p ?x) (not (q ?x)))")


def test_the_first_spelling_of_a_name_is_kept() -> None:
    rules = parse_rules("(role White) (init (Cell 1 WHITE)) (<= TERMINAL (true (cell ?N White)))")
    assert rules.spell(parse_term("(CELL 1 white)")) == "(Cell 1 White)"
    assert rules.spell(rules.rules[2].head) == "TERMINAL"
    assert rules.spell(Term("unheard-of")) == "unheard-of"


def test_places_are_those_of_the_parentheses() -> None:
    rule = parse_rules("\n  (<= p\n    (or q\n      (not r)))").rules[0]
    assert rule.place == Place(2, 3)
    (choice,) = rule.body
    assert isinstance(choice, Or)
    assert choice.place == Place(3, 5)
    assert [p.place for p in choice.parts] == [Place(3, 9), Place(4, 7)]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("(<=)", "rule-without-head", Place(1, 1)),
        ("(p)\n(<= (not p) q)", "connective-as-head", Place(2, 5)),
        ("not", "connective-as-head", Place(1, 1)),
        ("(<= ?x q)", "variable-as-head", Place(1, 5)),
        ("(<= p (not))", "negation-arity", Place(1, 7)),
        ("(<= p (not q r))", "negation-arity", Place(1, 7)),
        ("(<= p (<= q r))", "arrow-in-body", Place(1, 7)),
        ("(<= p ?x)", "variable-as-formula", Place(1, 7)),
        ("(p ?)", "nameless-variable", Place(1, 4)),
        ("(?p x)", "variable-as-functor", Place(1, 1)),
        ("(p ())", "empty-parentheses", Place(1, 4)),
        ("()", "empty-parentheses", Place(1, 1)),
        ("((p) x)", "list-as-functor", Place(1, 1)),
    ],
)
def test_what_cannot_be_a_rule_is_refused_with_place_and_remedy(text: str, code: str, place: Place) -> None:
    with pytest.raises(ParseError) as caught:
        parse_rules(text, "x.kif")
    assert (caught.value.code, caught.value.place) == (code, place)
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["", "a b", "(a) (b)"])
def test_exactly_one_term_is_wanted(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_term(text)
    assert caught.value.code == "not-one-term"


@pytest.mark.parametrize("connective", ["not", "or", "and"])
def test_the_deepest_rules_work_far_down_the_stack(connective: str) -> None:
    depth = MAX_DEPTH - 2
    text = f"(<= p {f'({connective} ' * depth}(q ?x){')' * depth})"
    deep_term = "(f " * (MAX_DEPTH - 1) + "?x" + ")" * (MAX_DEPTH - 1)

    def deep(frames: int) -> None:
        if frames:
            return deep(frames - 1)
        rules = parse_rules(text)
        assert parse_rules(str(rules)) == rules
        assert hash(rules.rules) == hash(parse_rules(text).rules)
        term = parse_term(deep_term)
        assert term.substitute({Term("?x"): Term("a")}).ground
        assert pickle.loads(pickle.dumps(term)) is term
        return None

    deep(min(300, sys.getrecursionlimit() - 700))


def test_every_public_game_parses_and_reads_back(corpus_games: list[Path]) -> None:
    assert len(corpus_games) == 237
    for path in corpus_games[::4]:
        rules = parse_rules(path.read_text(), path.name)
        assert parse_rules(str(rules), path.name).rules == rules.rules


def test_literals_come_in_text_order_with_the_sign_of_their_negations() -> None:
    (rule,) = parse_rules("(<= p (or a (not b) (not (or c (not d) (and e (not (not f)))))))")
    signed = [(str(literal), positive) for literal, positive in literals(rule.body[0])]
    assert signed == [("a", True), ("b", False), ("c", False), ("d", True), ("e", False), ("f", False)]


# --- LF, CR LF and CR end lines, nothing else does: rules, findings, places and excerpts do not mind which
SENTENCES: dict[Notation, tuple[str, list[str]]] = {
    "kif": (
        ";",
        ["(role a)", "(init (p 1))", "(<= (next (p ?x))\n  (true (p ?x)))", "(p", "(q ?x)", ")", ""],
    ),
    "infix": ("%", ["role(a)", "init(p(1))", "next(p(X)) :-\n  true(p(X)) & ~q", "p(", "q(X)", ")"]),
    "prolog": (
        "%",
        ["role(a).", "init(p(1)).", "next(p(X)) :-\n  true(p(X)), \\+ q.", "p(.", "/* two\nlines */"],
    ),
}
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
COMMENTS = st.text("ab (\f\v\x1c\x85\u2028\u2029'", max_size=6) | st.just(" draw: p as pawn") | st.none()


@st.composite
def texts_with_ends(draw: st.DrawFn) -> tuple[Notation, str, str]:
    """A notation, a text of right and wrong sentences with comments, and the same with other line ends."""
    notation = draw(st.sampled_from(list(SENTENCES)))
    mark, sentences = SENTENCES[notation]
    lines = []
    for sentence in draw(st.lists(st.sampled_from([*sentences, ""]), min_size=1, max_size=8)):
        words = draw(COMMENTS)
        lines += (sentence if words is None else f"{sentence} {mark}{words}").split("\n")
    other = "".join(line + draw(ENDS) for line in lines)
    # CR and LF of two empty lines that meet are one line end.
    return notation, plain(other), draw(st.sampled_from(["", "\ufeff"])) + other


@examples(300)
@given(texts_with_ends())
def test_rules_findings_and_layout_are_those_of_the_text_with_line_feeds(
    given_texts: tuple[Notation, str, str],
) -> None:
    notation, lf, other = given_texts

    def outcome(text: str) -> object:
        try:
            rules = parse_rules(text, notation=notation)
        except GdlError as error:
            return str(error)
        return (
            rules,
            [rule.place for rule in rules],
            convert(text, "auto", notation=notation),
            convert(text, "kif", notation=notation),
        )

    assert outcome(other) == outcome(lf)
    found = check_text(other, notation=notation)[1]
    assert found == check_text(lf, notation=notation)[1]
    lines = re.split("\r\n|\r|\n", other.removeprefix("\ufeff"))
    for one in found:
        shown = excerpt(other, one.place, 400)
        line = lines[one.place.line - 1]
        assert shown is None or [c for c in shown[0].partition("| ")[2] if c not in "? "] == [
            c for c in line if c.isprintable() and c not in "? "
        ]
        assert shown is not None or not line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_comment_ends_where_its_line_does(end: str) -> None:
    text = end.join(["(role a) ; one", "; draw: p as pawn", "(init p) ; two", "; draw: q as oak", "(q ?x)"])
    rules = parse_rules(text)
    assert [str(rule.head) for rule in rules] == ["(role a)", "(init p)", "(q ?x)"]
    assert [rule.place for rule in rules] == [Place(1, 1), Place(3, 1), Place(5, 1)]
    assert rules.hints == read_hints(plain(text))[0] != ()
    assert [str(d.place) for d in check_text(text)[1] if d.code == "hint"] == ["4:3"]


@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_signs_end_no_line(sign: str) -> None:
    text = f"(role a) ; one {sign} two\n(q ?x)"
    (found,) = [d for d in check_text(text)[1] if d.code == "unsafe-fact" or "?x" in d.message][:1]
    assert found.place.line == 2
    shown = excerpt(text, found.place)
    assert shown is not None and "(q ?x)" in shown[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=30))
def test_texts_come_back_from_their_bytes(encoding: str, text: str) -> None:
    assert text_of(text.encode(encoding)) == text
    assert text_of(text.replace("\n", "\r\n").encode(encoding)) == text


@given(st.binary(max_size=60))
def test_any_bytes_are_text_or_refused_at_a_nul(data: bytes) -> None:
    try:
        text = text_of(data, "here")
    except GdlError as error:
        refused = str(error)
        text = data.decode("latin-1")
        assert "\0" in text
        assert refused.startswith("here:")
        return
    assert "\r" not in text
    assert text_of(text.encode()) == plain(text)


def test_old_files_are_latin_1() -> None:
    assert text_of(b"(role a) ; caf\xe9\r(init p)") == "(role a) ; caf\u00e9\n(init p)"
    with pytest.raises(GdlError, match=r"^x\.kif:2:3: this is not text \(save the file as UTF-8\)$"):
        text_of(b"\xe9\r\xe9\xe9\0", "x.kif")


def test_public_games_mean_the_same_with_other_line_ends(corpus_games: list[Path]) -> None:
    for path in corpus_games[::40]:
        text = text_of(path.read_bytes())
        for end in ("\r\n", "\r"):
            assert parse_rules(text.replace("\n", end)) == parse_rules(text), path.stem
