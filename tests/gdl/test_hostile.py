"""Malformed rules from strangers: a clear error with a place each, no traceback, no hang."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable
from typing import TypeVar

import pytest

from gdl import terms
from gdl.checks.run import Severity, check_text
from gdl.errors import ParseError
from gdl.reading import plain
from gdl.syntax.format import format_text
from gdl.syntax.parser import parse_rules, parse_term
from gdl.syntax.sexpr import MAX_DEPTH

T = TypeVar("T")


def assert_placed(fault: ParseError, text: str, name: str) -> None:
    """The error says where in the text it is, and what."""
    assert fault.place is not None
    assert 1 <= fault.place.line <= plain(text).count("\n") + 1
    assert fault.place.column >= 1
    assert fault.message
    assert fault.code
    assert str(fault).startswith(f"{name}:")


def read_or_refused(read: Callable[[str], T], text: str) -> T | ParseError:
    """What was read, or how it was refused; any other exception passes and fails the test."""
    try:
        return read(text)
    except ParseError as error:
        return error


COUNT = int(os.environ.get("GGP_HOSTILE", "10000"))
"""Texts that are made in all."""

GAME = """\
(role white) (role black) ; two of them
(init (cell 1 1 b)) (init (control white))
(<= (legal ?r (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?x ?y ?r)) (does ?r (mark ?x ?y)))
(<= (next (control black)) (true (control white)))
(<= terminal (not open)) (<= open (or (true (cell ?x ?y b)) (and a (not b))))
(<= (goal ?r 100) (role ?r) (true (cell 1 1 ?r))) (goal white 0)
"""

TOKENS = [
    *"((((()))))", "<=", "not", "or", "and", "distinct", "true", "does", "next", "init", "legal", "role",
    "base", "goal", "terminal", "input", "?x", "?", "a", "B", "100", "-1", ";", "\n", " ", "\x00", "\ud800",
    "a\x9bb", "\u202e", "é", "|", '"',
]  # fmt: skip


def cut(rng: random.Random) -> str:
    """The game, cut off somewhere."""
    return GAME[: rng.randrange(len(GAME))]


def edited(rng: random.Random) -> str:
    """The game with characters lost, doubled, or swapped for others."""
    text = list(GAME)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        text[at] = rng.choice(["", text[at] * 2, rng.choice(TOKENS), chr(rng.randrange(256))])
    return "".join(text)


def word_salad(rng: random.Random) -> str:
    return " ".join(rng.choices(TOKENS, k=rng.randint(1, 40)))


def binary(rng: random.Random) -> str:
    return rng.randbytes(rng.randint(1, 200)).decode(rng.choice(["latin-1", "utf-16-le"]), "replace")


def unicode(rng: random.Random) -> str:
    return "".join(chr(rng.choice([rng.randrange(0x300), rng.randrange(0x110000)])) for _ in range(30))


def deep(rng: random.Random) -> str:
    depth = rng.choice([MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 3000])
    opening = rng.choice(["(", "(f ", "(not ", "(or ", "(<= p ", "(<= (p ?x) (not "])
    return opening * depth + rng.choice(["", "a", "?x"]) + ")" * rng.choice([depth, depth - 1, depth * 2, 0])


def huge_atom(rng: random.Random) -> str:
    word = rng.choice(["a", "9", "?", "<=", "é", '"']) * rng.choice([1_000, 20_000])
    return rng.choice(["{}", "({} a)", "(goal a {})", "(<= {} a)", "(<= (goal ?r {}) (role ?r))"]).format(
        word
    )


def wide(rng: random.Random) -> str:
    count = rng.choice([20, 200])
    return rng.choice(
        [
            "(p " + "a " * count + ")",
            "(<= p " + "(q ?x) " * count + ")",
            "(<= p (or " + "(q ?x) " * count + ")",
            "(<= p " + "(or a b c) " * (count // 10) + ")",
            "(p a) " * count + "(",
        ]
    )


MAKERS: list[Callable[[random.Random], str]] = [
    cut, edited, edited, edited, word_salad, word_salad, word_salad, binary, unicode, deep, huge_atom, wide,
]  # fmt: skip


def hostile_text(number: int) -> str:
    rng = random.Random(number)
    return MAKERS[number % len(MAKERS)](rng)


@pytest.mark.slow
def test_malformed_rules_give_an_error_with_a_place_and_nothing_else() -> None:
    refused = 0
    for number in range(COUNT):
        text = hostile_text(number)
        outcome = read_or_refused(lambda text: parse_rules(text, "hostile.kif"), text)
        if isinstance(outcome, ParseError):
            refused += 1
            assert_placed(outcome, text, "hostile.kif")
        else:
            assert parse_rules(str(outcome)).rules == outcome.rules
    assert refused > COUNT // 2


@pytest.mark.slow
def test_checking_and_formatting_malformed_rules_is_safe() -> None:
    for number in range(0, COUNT, 7):
        text = hostile_text(number)
        rules, diagnostics = check_text(text, "hostile.kif")
        formatted = read_or_refused(format_text, text)
        if rules is None:
            assert any(d.severity is Severity.ERROR and d.place.line >= 1 for d in diagnostics)
        else:
            assert isinstance(formatted, str)
        if isinstance(formatted, str):
            assert format_text(formatted) == formatted


def test_malformed_moves_give_an_error_and_nothing_else() -> None:
    for number in range(0, COUNT, 5):
        outcome = read_or_refused(parse_term, hostile_text(number))
        if isinstance(outcome, ParseError):
            assert outcome.place is not None
        else:
            assert parse_term(str(outcome)) is outcome


def test_nothing_is_kept_of_what_was_read_or_refused() -> None:
    gc.collect()
    before = len(terms._table)
    for number in range(0, COUNT, 5):
        read_or_refused(parse_rules, hostile_text(number).replace("a", f"w{number}"))
    gc.collect()
    assert len(terms._table) <= before + 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(" * 950_000,
        ")" * 950_000,
        "(a)" * 60_000,
        "a " * 20_000,
        ";" * 900_000,
        "\n" * 900_000 + "(",
        "(p " + "(q ?x) " * 100_000,
        "\x00" * 950_000,
    ],
    ids=["opening", "closing", "facts", "words", "comment", "lines", "literals", "zeros"],
)
def test_up_to_a_megabyte_of_anything_is_read_or_refused(text: str) -> None:
    outcome = read_or_refused(parse_rules, text)
    assert not isinstance(outcome, ParseError) or outcome.place is not None
