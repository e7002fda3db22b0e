"""What rules say to people is read within limits, fits on a page whatever they say, and never fails."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks.run import Severity, check_text
from gdl.hints import LONGEST_HOW, MOST_HINTS
from gdl.syntax.parser import parse_rules
from gdl.syntax.preface import KINDS, preface_lines, read_preface
from gdl.words import sentences, shortened
from tests.examples import examples
from tests.games.rules_of_games import NAMES, text
from tests.places import in_turn

HOSTILE = "; how to play: %s\n; kinds: %s\n; sees: %s\n; what you see: %s\n"


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_every_own_game_says_how_to_play_in_four_to_ten_sentences_for_people(name: str) -> None:
    said, faults = read_preface(text(name))
    assert not faults
    assert 4 <= len(sentences(said.how)) <= 10
    assert said.how[-1] == "." and not re.search(r"[?_]\w|\bnoop\b|\d\d? points?\b.*\bgoal", said.how)
    relations = {rule.head.name for rule in parse_rules(text(name), name)}
    assert not any(f"({relation} " in said.how for relation in relations)
    assert said.kinds


def test_a_hint_goes_on_over_indented_lines_in_every_notation() -> None:
    for mark in (";", "%", "//", "#", ";;;"):
        said, faults = read_preface(f"{mark} Title.\n{mark} how to play: One\n{mark}   two.\n{mark} three\n")
        assert (said.how, faults) == ("One two.", ())
    written = "\n".join(f"; {line}" for line in preface_lines("A word. " * 40, "race, puzzle"))
    said, faults = read_preface(written)
    assert (said.how, said.kinds, faults) == (("A word. " * 40).strip(), ("race", "puzzle"), ())


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("how to play:", "'how to play' is empty"),
        ("how to play: " + "a " * LONGEST_HOW, "this hint is too long"),
        ("kinds: board game, opera", "there is no kind 'opera'"),
        ("kinds:", "'kinds' is empty"),
        ("sees: (card ?c)", "'sees' cannot be used"),
        ("sees: (card ?c) as your card is the ?d", "'sees' cannot be used"),
        ("sees: (card ?c ?c) as ?c", "'sees' cannot be used"),
        ("what you see: x\n; what you see: y", "'what you see' is there twice"),
    ],
)
def test_a_wrong_hint_is_a_note_with_its_place_and_a_remedy(hint: str, message: str) -> None:
    notes = [one for one in check_text(f"; Title\n; {hint}\n(role x)\n")[1] if one.code == "hint"]
    assert [(one.message, one.severity) for one in notes] == [(message, Severity.INFO)]
    assert notes[0].place.line in (2, 3) and notes[0].place.column == 3 and notes[0].remedy


def test_percepts_and_facts_are_said_in_the_words_of_the_rules_or_without_signs() -> None:
    said, _ = read_preface("; sees: (under_fire ?x ?y) as you are shot at on ?x?y\n; sees: ok as placed")
    assert read_preface("; sees: (p ?² ?é) as ?é?²")[0].words("(p 1 2)") == "21"
    assert said.words("(under_fire a 1)") == "you are shot at on a1"
    assert said.words("ok") == "placed"
    assert said.words("(under_fire (deep 2) 1)") == "under fire deep 2 1"


@examples(60)
@given(st.lists(st.text(max_size=3000), min_size=4, max_size=4), st.text(max_size=60))
def test_whatever_a_text_says_is_short_and_printable(parts: list[str], fact: str) -> None:
    said, _ = read_preface(HOSTILE % tuple(parts))
    for words, longest in ((said.how, LONGEST_HOW), (said.sight, 200), (said.words(fact), 10**6)):
        assert len(words) <= longest
    assert said.how.isprintable() and said.sight.isprintable() and {*said.kinds} <= {*KINDS}


def test_a_text_of_megabytes_is_read_at_once() -> None:
    for line in ("; how to play: x\n" + ";   y\n" * 400_000, "; kinds: a\n" * 300_000, ";" * 3_000_000):
        assert len(read_preface(line)[1]) <= MOST_HINTS + 1


def test_variables_side_by_side_share_out_no_word() -> None:
    said, _ = read_preface(f"; sees: (p {''.join(f'?v{i}' for i in range(30))}!) as ?v0")
    assert said.words(f"(p {'x' * 1000})") == f"p {'x' * 1000}"


@given(st.text(alphabet="ab .", max_size=60), st.integers(6, 50))
def test_a_text_is_cut_where_a_sentence_or_a_word_ends(said: str, most: int) -> None:
    cut = shortened(said, most)
    assert len(cut) <= most and said.startswith(cut.removesuffix(" …"))
    assert shortened("Take it. Then go home.", 12) == "Take it."
