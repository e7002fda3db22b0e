"""Games under another vocabulary play the same; what is hidden, and chance, are known and kept."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gdl.checks.run import Severity, check_text
from gdl.information import Information, information_of
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.scramble import KEYWORDS, goal_values, rename, scramble
from gdl.syntax.format import convert, format_text
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.game import Game

NIM = """
(role Left) (role right)
(init (heap 5)) (init (control left)) (init (score 0))
(minus 5 4) (minus 4 3) (minus 3 2) (minus 2 1) (minus 1 0)
(worth left 70) (worth right 30)
(<= (legal ?r (take 1)) (true (control ?r)) (true (heap ?n)) (minus ?n ?m))
(<= (legal ?r (take 2)) (true (control ?r)) (true (heap ?n)) (minus ?n ?m) (minus ?m ?k))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (heap ?m)) (does ?r (take 1)) (true (heap ?n)) (minus ?n ?m))
(<= (next (heap ?k)) (does ?r (take 2)) (true (heap ?n)) (minus ?n ?m) (minus ?m ?k))
(<= (next (control right)) (true (control left)))
(<= (next (control left)) (true (control right)))
(<= (next (score ?w)) (does ?r (take ?n)) (worth ?r ?w))
(<= terminal (true (heap 0)))
(<= (goal left ?w) (true (score ?w)))
(<= (goal right ?w) (true (score ?v)) (other ?v ?w))
(other 70 30) (other 30 70)
"""


def structure(term: Term) -> object:
    """A term without its names."""
    return [structure(a) for a in term.args] if term.args else term.is_variable


def test_every_name_but_keywords_and_goal_values_is_new() -> None:
    rules = parse_rules(NIM)
    scrambled, mapping = scramble(rules, seed=3)
    kept = {"0", "30", "70"}
    assert goal_values(rules) == kept
    words = str(rules).replace("(", " ").replace(")", " ").split()
    assert set(mapping) == set(words) - KEYWORDS - kept
    assert {"1", "5", "left", "?r"} <= set(mapping)
    assert not set(mapping) & set(mapping.values())
    assert len(set(mapping.values())) == len(mapping)
    assert all(old.startswith("?") is new.startswith("?") for old, new in mapping.items())
    new_words = set(str(scrambled).replace("(", " ").replace(")", " ").split())
    assert new_words == set(mapping.values()) | (set(words) & (KEYWORDS | kept))


def test_the_same_seed_gives_the_same_names_and_another_one_others() -> None:
    rules = parse_rules(NIM)
    assert scramble(rules, seed=1) == scramble(rules, seed=1)
    assert scramble(rules, seed=1)[1] != scramble(rules, seed=2)[1]


def test_the_inverse_mapping_restores_public_games(corpus_games: list[Path]) -> None:
    for seed, path in enumerate(corpus_games[::5]):
        rules = parse_rules(path.read_text(), path.name)
        scrambled, mapping = scramble(rules, seed)
        assert parse_rules(str(scrambled), path.name) == scrambled
        assert [structure(r.head) for r in scrambled] == [structure(r.head) for r in rules]
        restored = rename(scrambled, {new: old for old, new in mapping.items()})
        assert restored.rules == rules.rules, path.stem


def test_an_unsafe_goal_keeps_all_numbers() -> None:
    rules = parse_rules("(role a) (p 7) (p x) (<= (goal a ?n) (not (q ?n)))")
    assert goal_values(rules) == {"7"}


def test_numbers_that_cannot_be_goals_are_names_like_any_other() -> None:
    rules = parse_rules("(role a) (cell 1 2) (<= (goal a 50) (true (cell 1 2)))")
    assert goal_values(rules) == {"50"}
    assert set(scramble(rules)[1]) == {"a", "cell", "1", "2"}


def test_scrambled_games_play_the_same() -> None:
    prover = pytest.importorskip("gdl.prover.machine")
    rules = parse_rules(NIM)
    scrambled, mapping = scramble(rules, seed=9)
    old: Machine = prover.ProverMachine(rules)
    new: Machine = prover.ProverMachine(scrambled)

    def translated(term: Term) -> Term:
        (rule,) = rename(Rules((parse_rules(str(term)).rules[0],)), mapping)
        return rule.head

    assert tuple(map(translated, old.roles)) == new.roles
    rng = random.Random(4)
    for _ in range(10):
        here, there = old.initial_state(), new.initial_state()
        while True:
            assert {translated(p) for p in here.propositions} == there.propositions
            assert here.terminal is there.terminal
            assert [old.goal(here, r) for r in (0, 1)] == [new.goal(there, r) for r in (0, 1)]
            if here.terminal:
                break
            joint: list[Term] = []
            for role in (0, 1):
                moves = {old.move(role, m) for m in old.legal_moves(here, role)}
                others = {new.move(role, m) for m in new.legal_moves(there, role)}
                assert {translated(m) for m in moves} == others
                joint.append(rng.choice(sorted(moves)))
            here = here.play(*joint)
            there = there.play(*map(translated, joint))


def test_renaming_keeps_the_spelling_of_what_it_does_not_know() -> None:
    rules = parse_rules("(role White) (init (Cell 1))")
    renamed = rename(rules, {"cell": "Square"})
    assert renamed.spell(parse_term("(square 1)")) == "(Square 1)"
    assert renamed.spell(parse_term("white")) == "White"


# --- Games of chance and of hidden information: how they are classified, checked, scrambled and formatted
HIDDEN = """
(role a) (role random)
(init (step 1))
(<= (legal random (toss heads)) (true (step 1)))
(<= (legal random (toss tails)) (true (step 1)))
(<= (legal random noop) (true (step 2)))
(<= (legal a noop) (true (step 1)))
(<= (legal a (guess heads)) (true (step 2)))
(<= (legal a (guess tails)) (true (step 2)))
(<= (next (coin ?s)) (does random (toss ?s)))
(<= (next (coin ?s)) (true (coin ?s)))
(<= (next (step 2)) (true (step 1)))
(<= (next (step 3)) (true (step 2)))
(<= (next (guessed ?s)) (does a (guess ?s)))
(<= terminal (true (step 3)))
(<= (goal a 100) (true (guessed ?s)) (true (coin ?s)))
(<= (goal a 0) (not right))
(<= right (true (guessed ?s)) (true (coin ?s)))
(<= (sees a won) (does a (guess ?s)) (true (coin ?s)))
"""


def codes(text: str) -> dict[str, Severity]:
    """The findings of a text that are no matter of style."""
    return {d.code: d.severity for d in check_text(text)[1] if d.severity > Severity.INFO}


def test_the_rules_say_what_players_are_told() -> None:
    assert information_of(Game.load("tictactoe").rules) is Information.PERFECT
    assert information_of(Game.load("kuhn").rules) is Information.HIDDEN
    open_coin = HIDDEN[: HIDDEN.index("(<= (sees")]
    assert information_of(parse_rules(open_coin)) is Information.CHANCE


def test_a_sound_game_of_chance_has_no_findings_and_chance_needs_no_goal() -> None:
    assert codes(HIDDEN) == {}


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("(<= (sees a) (true (step 1)))", "keyword-arity"),
        ("(<= (sees a x y) (true (step 1)))", "keyword-arity"),
        ("(<= (sees b x) (true (step 1)))", "unknown-role"),
        ("(<= (sees a (p ?x)) (true (step 1)))", "unsafe-head-variable"),
        ("(<= (sees a x) (not (sees a x)))", "unstratified-negation"),
        ("(<= (legal a late) (sees a won))", "sees-in-rules"),
        ("(<= (next late) (sees a won))", "sees-in-rules"),
        ("(<= (goal a 50) helper) (<= helper (sees a won))", "sees-in-rules"),
        ("(<= (legal a late) (does a noop))", "does-in-legal"),
        ("(<= (sees a x) (knows a (step 1)))", "knows-not-supported"),
    ],
)
def test_rules_that_misuse_percepts_are_named(rule: str, code: str) -> None:
    assert code in codes(HIDDEN + rule)


def test_a_relation_of_the_game_may_be_called_knows() -> None:
    assert "knows-not-supported" not in codes(HIDDEN + "(knows a b) (<= (sees a x) (knows a b))")


def behaviour(rules: Rules) -> list[object]:
    """All that can happen in a game of a few states: what is true, legal and seen."""
    machine = ProverMachine(rules)
    told: list[object] = []
    waiting = [machine.initial_state()]
    while waiting:
        state = waiting.pop()
        told.append((sorted(map(str, state.propositions)), sorted(state.legal.items()), state.goals))
        for joint, after in machine.expand([state])[0]:
            moves = [str(machine.move(role, move)) for role, move in enumerate(joint)]
            told.append((moves, [sorted(map(str, seen)) for seen in machine.percepts(state, joint)]))
            waiting.append(after)
    return sorted(told, key=str)


@pytest.mark.parametrize("notation", ["infix", "prolog"])
def test_all_notations_and_the_formatter_keep_percepts(notation: str) -> None:
    rules = parse_rules(HIDDEN)
    assert behaviour(parse_rules(format_text(HIDDEN))) == behaviour(rules)
    converted = parse_rules(convert(HIDDEN, notation), notation=notation)  # type: ignore[arg-type]
    assert behaviour(converted) == behaviour(rules)


def test_scrambling_keeps_chance_and_percepts() -> None:
    rules = parse_rules(HIDDEN)
    scrambled, mapping = scramble(rules, 7)
    assert information_of(scrambled) is Information.HIDDEN
    assert "random" not in mapping and "sees" not in mapping
    back = rename(scrambled, {new: old for old, new in mapping.items()})
    assert behaviour(back) == behaviour(rules)


def test_a_constant_called_random_is_scrambled_where_it_is_no_role() -> None:
    _, mapping = scramble(parse_rules("(role a) (init (mood random)) (legal a noop) terminal (goal a 100)"))
    assert "random" in mapping
