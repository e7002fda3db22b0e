"""Following a match of hidden information by what one role is told: both dialects, repetitions, nonsense."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from gdl.prover.machine import ProverMachine
from ggp.game import Game
from ggp.match_process.blind_match import BlindMatch
from ggp.protocol.messages import Play

Told = tuple[str, ...] | None
WORDS = ["ok", "tie", "(card king)", "yes", "(", "?x", "(move first bet)"]


@cache
def prover_of(name: str) -> ProverMachine:
    return ProverMachine(Game.load(name).rules)


def begun(name: str = "montyhall", turns: int = 0) -> tuple[BlindMatch, list[str]]:
    """A match of the first role that was told of so many turns in which nothing happened."""
    events: list[str] = []
    match = BlindMatch(prover_of(name), 0, lambda level, event, **fields: events.append(event))
    for turn in range(turns):
        own = "noop" if turn else None
        match.follow(numbered(turn, own), own, True, False)
    return match, events


def numbered(turn: int, own: str | None, *percepts: str) -> Told:
    return Play("m", percepts, turn, own).told


def legal(match: BlindMatch) -> set[str]:
    return {match.text(match.role, move) for move in match.options()}


@pytest.mark.parametrize("first", [0, 1])
def test_numbered_turns_are_followed_and_repetitions_are_seen(first: int) -> None:
    match, events = begun()
    assert match.follow(numbered(first, None), None, True, False)
    assert not match.follow(numbered(first, None), "noop", True, False)
    turn = numbered(first + 1, "noop")
    assert match.follow(turn, "noop", True, False)
    assert not match.follow(turn, "(choose 1)", True, False)
    assert legal(match) == {"(choose 1)", "(choose 2)", "(choose 3)"}
    assert match.follow(numbered(first + 2, "(choose 2)"), "(choose 1)", True, False)
    assert match.follow(numbered(first + 3, "noop", "(opened 1)"), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert len(match.belief) == 2 and events == ["another move than ours"]
    assert str(match.observed[1].move) == "(choose 2)"  # the manager's word counts


def test_a_move_in_place_of_an_illegal_answer_is_not_doubted() -> None:
    """Whoever doubts it looks at all ways that the match may have gone, in each turn from then on."""
    match, events = begun()
    match.follow(numbered(0, None), None, True, False)
    match.follow(numbered(1, "noop"), "nil", True, False)
    assert match.follow(numbered(2, "(choose 2)"), "(choose 9)", True, False)
    assert match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    assert not events and match._now.doubt == 0


def test_the_first_state_that_fits_comes_before_the_rest_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    match, events = begun("mastermind", 5)
    asked, firsts = 0, []
    perceives = match.machine.perceives

    def counted(*question: Any) -> bool:
        nonlocal asked
        asked += 1
        return perceives(*question)

    monkeypatch.setattr(match.machine, "perceives", counted)
    match.on_first = lambda state: firsts.append((asked, state))
    guess = "(guess red red orange orange)"
    seen = [numbered(5, guess, "(black 1)", "(white 0)"), numbered(6, guess, "(black 4)", "(white 4)")]
    assert match.follow(seen[0], guess, True, False)
    assert len(match.belief) == 256 and asked == 1296
    ((early, state),) = firsts
    assert early < asked / 4 and state in match.belief.states()
    assert match.machine.legal_moves(state, 0) == match.options()
    assert match.follow(seen[1], guess, True, False)
    assert len(firsts) == 1 and events == ["percepts that fit no state"]


@pytest.mark.parametrize("nothing", [None, ()])
def test_bare_percepts_are_followed_by_our_own_answers(nothing: Told) -> None:
    match, events = begun()
    assert match.follow(None, None, True, False)
    assert match.follow(nothing, "noop", True, False)
    assert match.follow(nothing, "(choose 3)", True, False)
    assert match.follow(("(opened 1)",), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert not match.follow(("(opened 1)",), "switch", False, False)  # our answer never left
    assert not events


def test_an_answer_that_came_late_may_have_been_replaced() -> None:
    for late, possible in ((False, 3), (True, 9)):
        match, _ = begun()
        match.follow(None, None, True, False)
        match.follow((), "noop", True, False)
        match.follow(("(opened 1)",), "(choose 3)", True, late)
        assert len(match.belief) == possible  # that percept cannot be, so nothing is known of the doors
        assert match.options()


@pytest.mark.parametrize(
    ("told", "event"),
    [
        (numbered(2, "(choose 1)", "thunder"), "percepts that fit no state"),
        (numbered(2, "(fly away)"), "percepts that fit no state"),
        (numbered(2, "(choose 1)", "(opened"), "percepts that are not terms"),
        (numbered(2, "(choose 1)", "?x"), "percepts that are not terms"),
        (numbered(9, "(choose 1)"), "a wrong turn number"),
        (numbered(1, "noop", "(opened 2)"), "percepts that fit no state"),
    ],
)
def test_nonsense_is_logged_and_a_legal_move_stays_known(told: Told, event: str) -> None:
    match, events = begun(turns=2)
    match.follow(told, "(choose 1)", True, False)
    assert event in events
    assert match.options()
    match.follow(numbered(3, "noop"), "noop", True, False)
    assert match.options()


@pytest.mark.parametrize("name", ["kuhn", "blindtictactoe", "numberguessing"])
def test_any_percepts_in_any_order_leave_a_legal_move(name: str) -> None:
    rng = random.Random(3)
    prover = prover_of(name)
    for _ in range(3):
        match, _ = begun(name)
        match.follow(numbered(0, None), None, True, False)
        for turn in range(1, 12):
            percepts = rng.sample(WORDS, 2)
            own = match.text(0, match.options()[0]) if match.options() else None
            told = numbered(rng.choice([turn, turn, turn - 1, turn + 5]), own, *percepts)
            match.follow(told, own, True, False)
            state = match.state
            assert prover.is_terminal(state) or match.options()


def test_a_match_is_resumed_from_its_history() -> None:
    match, _ = begun()
    match.follow(numbered(1, None), None, True, False)
    match.follow(numbered(2, "noop"), "noop", True, False)
    match.follow(numbered(3, "(choose 2)"), "(choose 2)", True, False)
    resumed, _ = begun()
    resumed.replay(match.history, ["noop", "(choose 2)"])
    assert resumed.resume(numbered(3, "(choose 2)"))
    assert resumed.observed == match.observed
    assert resumed.follow(numbered(4, "noop", "(opened 1)"), "noop", True, False)
    assert legal(resumed) == {"stay", "switch"}


@pytest.mark.parametrize(
    "junk",
    [
        numbered(1000, "(nonsense 1)", "thunder"),
        numbered(7, "(choose 1)"),
        numbered(2, "(fly away)"),
        numbered(2, "(choose 3)", "(opened 3)"),
        numbered(2, "(choose 1)", "?x"),
    ],
)
def test_a_doubtful_turn_gives_way_to_the_one_that_is_so(junk: Told) -> None:
    match, events = begun(turns=2)
    assert match.follow(junk, "(choose 2)", True, False)
    assert match.options()
    assert match.follow(numbered(2, "(choose 2)"), "stay", True, False)
    assert events[-1] == "earlier PLAYs came from another sender"
    assert match.follow(junk, "noop", True, False)  # once more: it gives way as before
    assert match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert len(match.history) == 3
    # A process that comes later is told of both.
    clean = match.history
    resumed, _ = begun()
    resumed.replay([clean[0], ("turn 2", "(fly away)", "thunder"), *clean[1:]])
    assert resumed.observed == match.observed
    assert sorted(resumed.belief.weights.round(3)) == [0.333, 0.667]


@pytest.mark.parametrize("junk", [("?x",), ("thunder",), ("(opened 1)", "(opened 2)")])
def test_bare_percepts_that_fit_no_state_give_way_to_those_that_do(junk: Told) -> None:
    match, _ = begun()
    match.follow(None, None, True, False)
    match.follow((), "noop", True, False)
    assert match.follow(junk, "(choose 2)", True, False)
    assert match.follow((), "stay", True, False)
    assert match.follow(("(opened 1)",), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert len(match.history) == 3 and str(match.observed[1].move) == "(choose 2)"
    resumed, _ = begun()
    resumed.replay([(), junk, (), ("(opened 1)",)], ["noop", "(choose 2)", "stay", "noop"])
    assert resumed.observed == match.observed


def test_percepts_that_fit_none_of_some_worlds_only_stay() -> None:
    match, _ = begun()
    match.follow(None, None, True, False)
    match.belief.exact = False
    match.follow((), "noop", True, False)
    match.follow(("(opened 1)", "(opened 2)"), "(choose 2)", True, False)
    match.follow(("(opened 1)",), "stay", True, False)
    assert len(match.history) == 3


@pytest.mark.parametrize("bare", [False, True])
def test_turns_of_two_managers_in_two_dialects_are_followed_side_by_side(bare: bool) -> None:
    match, _ = begun()
    turns = [
        numbered(0, None),
        numbered(1, "noop"),
        numbered(2, "(choose 2)"),
        numbered(3, "noop", "(opened 1)"),
    ]
    others = [None, (), (), ("(opened 1)",)]
    told, strange = (others, turns) if bare else (turns, others)
    for turn, answer, other in zip(told, [None, "noop", "(choose 2)", "noop"], strange, strict=True):
        for one in (other, turn):
            assert match.follow(one, answer, True, False)
    assert legal(match) == {"stay", "switch"} and len(match.history) == 3


def test_a_turn_that_cannot_be_is_not_taken_back_twice() -> None:
    """After the last turn no state follows; what comes then is forgotten without what came before."""
    match, events = begun(turns=2)
    match.follow(numbered(2, "(choose 2)"), "(choose 2)", True, False)
    match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    before = match.observed
    match.follow(numbered(4, "stay"), "stay", True, False)
    assert "a turn that cannot be" in events
    match.follow(numbered(4, "switch"), "stay", True, False)
    assert match.observed == before and len(match.history) == 4


def test_nonsense_costs_the_prover_no_more_than_some_hundred_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """In mastermind with a thousand possible codes: what can never be perceived is not looked for."""
    match, events = begun("mastermind")
    calls = {"percepts": 0, "next_state": 0}
    for name in calls:
        usual = getattr(ProverMachine, name)

        def counting(self: ProverMachine, *args: object, name: str = name, usual: object = usual) -> object:
            calls[name] += 1
            return usual(self, *args)  # type: ignore[operator]

        monkeypatch.setattr(ProverMachine, name, counting)
    match.follow(numbered(0, None), None, True, False)
    for turn in range(1, 5):
        match.follow(numbered(turn, "noop"), "noop", True, False)
    assert len(match.belief) == 1296 and not events
    for turn in range(5, 9):
        calls.update(dict.fromkeys(calls, 0))
        match.follow(numbered(turn, match.text(0, match.options()[0]), "(nonsense 1)"), None, True, False)
        assert events[-1] == "percepts that fit no state"
        assert calls["percepts"] == 0 and calls["next_state"] <= 256
        assert 0 < len(match.belief) <= 256
