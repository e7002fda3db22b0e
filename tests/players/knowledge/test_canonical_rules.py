"""Scrambled and reordered copies of a game have its fingerprint, and no other game has."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.rule_files import installed_games
from players.knowledge.canonical_rules import CanonicalNames, FingerprintError, canonical_names

GAMES = sorted(path.stem for path in installed_games())
TEN = (
    "amazons", "breakthrough", "checkers", "chess", "connectfour", "hex", "kalah", "ninemensmorris",
    "othello", "tictactoe",
)  # fmt: skip


def _names_of(text: str) -> CanonicalNames:
    return canonical_names(parse_rules(text, "test"))


def _shuffled(rules: Rules, rng: random.Random) -> Rules:
    """The rules, their bodies and the parts of their formulas in another order."""

    def formula(old: Formula) -> Formula:
        match old:
            case Literal():
                return old
            case Not(inner):
                return Not(formula(inner))
            case And(parts) | Or(parts):
                return type(old)(tuple(rng.sample([formula(part) for part in parts], len(parts))))

    mixed = [Rule(r.head, tuple(rng.sample([formula(p) for p in r.body], len(r.body)))) for r in rules]
    return Rules(tuple(rng.sample(mixed, len(mixed))), rules.spelling, rules.name)


@pytest.mark.parametrize("game", TEN)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_scrambled_and_shuffled_copy_has_the_same_fingerprint(game: str, seed: int) -> None:
    rules = Game.load(game).rules
    copy, mapping = scramble(rules, seed)
    ours, theirs = canonical_names(rules), canonical_names(_shuffled(copy, random.Random(seed)))
    assert ours.fingerprint == theirs.fingerprint
    assert sorted(ours.new.values()) == sorted(theirs.new.values())
    assert ours.new.keys() == {old for old in mapping if not old.startswith("?")}
    assert theirs.new.keys() == {mapping[old] for old in ours.new}


def test_canonical_names_of_a_copy_are_those_of_the_game_where_no_names_are_alike() -> None:
    rules = Game.load("connectfour").rules
    ours = canonical_names(rules)
    copy, mapping = scramble(rules, 3)
    theirs = canonical_names(copy)
    # A mirror image of the board is the only other way to name it, and numbers in order tell it from that.
    assert {mapping[old]: new for old, new in ours.new.items()} == theirs.new


def test_no_two_games_have_the_same_fingerprint() -> None:
    prints = {canonical_names(Game.load(game).rules).fingerprint for game in GAMES}
    assert len(prints) == len(GAMES)


def test_names_that_can_all_be_exchanged_cost_little_and_are_told_apart_by_what_they_do() -> None:
    colours = [f"c{number}" for number in range(12)]

    def game(order: list[str], last: str) -> str:
        facts = "\n".join(f"(colour {name})" for name in order)
        return f"(role r)\n{facts}\n(<= terminal (true (painted {last} {last})))"

    same = {_names_of(game(colours[shift:] + colours[:shift], "c0")).fingerprint for shift in range(12)}
    assert same == {_names_of(game(colours, "c5")).fingerprint}
    assert _names_of(game(colours[:-1], "c0")).fingerprint not in same


def test_graphs_that_refinement_cannot_tell_apart_have_different_fingerprints() -> None:
    def ring(names: list[str]) -> str:
        pairs = zip(names, names[1:] + names[:1], strict=True)
        return "\n".join(f"(edge {a} {b})\n(edge {b} {a})" for a, b in pairs)

    names = [f"n{number}" for number in range(6)]
    one = _names_of(f"(role r)\n{ring(names)}")
    two = _names_of(f"(role r)\n{ring(names[:3])}\n{ring(names[3:])}")
    again = _names_of(f"(role r)\n{ring([names[i] for i in (3, 0, 5, 1, 4, 2)])}")
    assert one.fingerprint != two.fingerprint
    assert one.fingerprint == again.fingerprint


def test_variables_that_look_alike_in_a_rule_do_not_matter() -> None:
    first = _names_of("(role r)\n(<= (twins ?a ?b) (likes ?a ?b) (likes ?b ?a) (distinct ?a ?b))")
    second = _names_of("(role r)\n(<= (twins ?y ?x) (distinct ?y ?x) (likes ?x ?y) (likes ?y ?x))")
    other = _names_of("(role r)\n(<= (twins ?a ?b) (likes ?a ?b) (likes ?a ?b) (distinct ?a ?b))")
    assert first.fingerprint == second.fingerprint != other.fingerprint
    orders = "abcdefgh", "hgfedcba"
    rules = (
        " ".join(f"(likes ?{a} ?{b})" for a, b in zip(order, order[::-1], strict=True)) for order in orders
    )
    third, fourth = (_names_of(f"(role r)\n(<= p {body})") for body in rules)
    assert third.fingerprint == fourth.fingerprint


def test_numbers_that_can_become_goals_tell_games_apart() -> None:
    first, second = (_names_of(f"(role r)\n(goal r {value})\n(cell 1 1)") for value in (100, 50))
    assert first.fingerprint != second.fingerprint


def test_a_search_that_would_take_long_is_given_up() -> None:
    with pytest.raises(FingerprintError):
        canonical_names(Game.load("chess").rules, effort=10)
    with pytest.raises(FingerprintError):
        _names_of("\n".join(f"(p {number})" for number in range(10_000)))


def test_every_public_game_has_a_fingerprint_that_its_scrambled_copy_has(corpus_games: list[Path]) -> None:
    homes: dict[str, list[str]] = {}
    for path in corpus_games[::10]:
        rules = Game.load(path).rules
        found = canonical_names(rules).fingerprint
        assert canonical_names(scramble(rules, 11)[0]).fingerprint == found
        homes.setdefault(found, []).append(path.stem)
    assert all(len(games) == 1 for games in homes.values())
