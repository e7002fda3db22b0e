"""Games of chance and of hidden information: how they are classified, checked, scrambled and formatted."""

from __future__ import annotations

import pytest

from gdl.checks.run import Severity, check_text
from gdl.information import Information, information_of
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.scramble import rename, scramble
from gdl.syntax.format import convert, format_text
from gdl.syntax.parser import parse_rules
from ggp.game import Game

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
