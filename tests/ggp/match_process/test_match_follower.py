"""All who follow a match come to the same state, whatever the manager reports."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.match_process.match_follower import Follower
from ggp.protocol.messages import NO_MOVE
from tests.examples import examples
from tests.ggp.match_process.test_foresight import play
from tests.ggp.server.live import MARKS

Sent = list[tuple[str, dict[str, Any]]]


def follower(
    history: list[list[str]] | None = None,
    rules: str = MARKS,
    role: str = "robot",
    answers: list[str | None] | None = None,
) -> tuple[Follower, Sent]:
    sent: Sent = []
    message = {"seed": 1, "role": role, "history": history or [], "answers": answers or []}
    begun = Follower(parse_rules(rules), message, lambda kind, **fields: sent.append((kind, fields)))
    return begun, sent


TEXTS = st.sampled_from(["(mark 1 1)", "(Mark 2 2)", "noop", "pass", "wait", "(foo", "?x", "()", NO_MOVE])


TURNS = st.lists(st.tuples(st.lists(TEXTS, max_size=3), st.integers(1, 2)), max_size=5).map(
    lambda drawn: [moves for moves, times in drawn for _ in range(times)]
)
"""Reported joint moves; some come twice: a PLAY that is sent again, or the same once more."""


@examples(60)
@given(TURNS, st.data())
def test_one_who_comes_later_stands_where_the_others_do(turns: list[list[str]], data: st.DataObject) -> None:
    first, sent = follower()
    history: list[list[str]] = []
    answered = None
    for number, moves in enumerate([None, *turns], 1):
        told_before = answered
        first.play(play(number, moves, told_before, False))
        kind, fields = sent[-1]
        if kind == "options":
            if fields["joint"] is not None:
                history.append(list(fields["joint"]))
            answered = fields["safe"]
        advanced = data.draw(st.booleans())
        if kind == "options":
            before = history[:-1] if fields["joint"] is not None and not advanced else history
            second, heard = follower(before)
            second.play(play(number, moves, told_before, advanced or before == history))
            assert second.match.state.propositions == first.match.state.propositions
            assert heard[-1][1]["safe"] in ("noop", "(Mark 1 1)", "(Mark 2 2)", NO_MOVE)


def test_who_comes_later_to_a_hidden_match_counts_turns_without_percepts() -> None:
    """In the dialect that tells of percepts only, such a PLAY looks like the first one."""
    rules = Game.load("montyhall").text
    first, sent = follower(rules=rules, role="candidate")
    history: list[list[str]] = []
    answers: list[str | None] = []
    answered = None
    for number in range(1, 4):
        first.play(play(number, None, answered, False))
        fields = sent[-1][1]
        if fields["joint"] is not None:
            history.append(list(fields["joint"]))
            answers.append(answered)
        second, heard = follower(history, rules, "candidate", answers)
        second.play(play(number, None, answered, True))
        assert second.match.options() == first.match.options()
        assert heard[-1][1]["joint"] == fields["joint"]
        answered = fields["safe"]
    assert history == [["made noop"], [f"made {answers[1]}"]]


def test_goals_are_told_at_the_end() -> None:
    first, sent = follower([["(mark 1 1)", "pass"], ["(mark 1 1)", "wait"]])
    first.finish({"moves": ["noop", "pass"]})
    assert sent == [("over", {"goals": [100, 50], "turns": 3})]
