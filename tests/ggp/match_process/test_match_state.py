"""Following a match by what the manager reports: re-sent turns, repeated turns, nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process.match_state import Ledger

RULES = parse_rules(
    """
    (role me) (role other) (init (n 0))
    (legal me go) (legal me wait) (legal other rest) (<= (legal other jump) (true (n 1)))
    (next1 0 1) (next1 1 2) (next1 2 3) (next1 3 4)
    (<= (next (n ?m)) (true (n ?n)) (next1 ?n ?m))
    (<= terminal (true (n 4))) (goal me 100) (goal other 0)
    """
)

REST = ("go", "rest")


def ledger(*played: tuple[str, ...]) -> tuple[Ledger, list[str]]:
    events: list[str] = []
    made = Ledger(ProverMachine(RULES), 0, lambda level, event, **fields: events.append(event))
    made.follow(None, None, True, False)
    for joint in played:
        assert made.follow(joint, joint[0], True, False)
    return made, events


def test_the_first_play_sent_twice_is_seen() -> None:
    assert not ledger()[0].follow(None, "go", True, False)


def test_the_same_joint_move_again_is_a_new_turn_where_all_fits() -> None:
    made, _ = ledger(REST)
    assert made.follow(REST, "go", True, False)
    assert made.history == [REST, REST]


@pytest.mark.parametrize(
    ("answered", "delivered", "late", "why"),
    [
        ("go", False, False, "the answer never arrived"),
        ("wait", True, False, "it is not what was answered"),
        (None, True, False, "nothing was answered yet"),
    ],
)
def test_the_same_joint_move_again_is_a_repetition_where(
    answered: str | None, delivered: bool, late: bool, why: str
) -> None:
    made, _ = ledger(REST)
    assert not made.follow(REST, answered, delivered, late), why
    assert made.history == [REST]


def test_after_a_late_answer_the_manager_may_have_moved_for_us() -> None:
    made, _ = ledger(REST)
    assert made.follow(REST, "wait", True, True)


def test_moves_that_are_not_legal_twice_are_a_repetition() -> None:
    made, _ = ledger(REST, ("go", "jump"))
    assert not made.follow(("GO", "( jump )"), "go", True, False)
    assert made.history == [REST, ("go", "jump")]


def test_a_replayed_match_goes_on_where_it_stood() -> None:
    made, _ = ledger(REST, ("wait", "jump"))
    again, events = ledger()
    again.replay(made.history)
    again.resume(("wait", "jump"))
    assert again.state == made.state
    assert not again.follow(("wait", "jump"), "go", True, False)
    assert events == []


def test_what_is_unreadable_is_replaced_by_our_own_answer_and_some_legal_move() -> None:
    made, events = ledger()
    assert made.follow(("((", "nonsense"), "wait", True, False)
    assert made.history == [("wait", "rest")]
    assert events == ["illegal joint move"] * 2


def test_the_end_gives_the_goals() -> None:
    made, _ = ledger(REST, REST, REST)
    assert made.finish(REST) == [100, 0]
    assert ledger()[0].finish(None) is None


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["go", "rest", "(", "", "?x", "()", "jump", "9" * 5000]), max_size=4))
)
def test_whatever_is_reported_there_is_a_state_with_a_legal_move(turns: list[list[str]]) -> None:
    made, _ = ledger()
    for joint in turns:
        made.follow(joint, "go", True, False)
        assert made.options()
    assert len(made.history) <= 4
