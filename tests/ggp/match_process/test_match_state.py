"""Following a match by what the manager reports: re-sent turns, repeated turns, nonsense."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.soak.game_manager import KINDS, junk
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from ggp.game import Game
from ggp.match_process.match_state import MatchState
from ggp.protocol.messages import Play, parse_message
from tests.examples import examples

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


def begun(*played: tuple[str, ...]) -> tuple[MatchState, list[str]]:
    events: list[str] = []
    match = MatchState(ProverMachine(RULES), 0, lambda level, event, **fields: events.append(event))
    match.follow(None, None, True, False)
    for joint in played:
        assert match.follow(joint, joint[0], True, False)
    return match, events


def test_the_first_play_sent_twice_is_seen() -> None:
    assert not begun()[0].follow(None, "go", True, False)


def test_the_same_joint_move_again_is_a_new_turn_where_all_fits() -> None:
    match, _ = begun(REST)
    assert match.follow(REST, "go", True, False)
    assert match.history == [REST, REST]


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
    match, _ = begun(REST)
    assert not match.follow(REST, answered, delivered, late), why
    assert match.history == [REST]


def test_after_a_late_answer_the_manager_may_have_moved_for_us() -> None:
    match, _ = begun(REST)
    assert match.follow(REST, "wait", True, True)


def test_moves_that_are_not_legal_twice_are_a_repetition() -> None:
    match, _ = begun(REST, ("go", "jump"))
    assert not match.follow(("GO", "( jump )"), "go", True, False)
    assert match.history == [REST, ("go", "jump")]


def test_a_replayed_match_goes_on_where_it_stood() -> None:
    match, _ = begun(REST, ("wait", "jump"))
    again, events = begun()
    again.replay(match.history)
    again.resume(("wait", "jump"))
    assert again.state == match.state
    assert not again.follow(("wait", "jump"), "go", True, False)
    assert events == []


@pytest.mark.parametrize("joint", [("((", "nonsense"), ("go",), ("go", "rest", "rest"), ("go", "jump")])
def test_a_report_that_cannot_be_leads_nowhere(joint: tuple[str, ...]) -> None:
    match, events = begun()
    assert not match.can_be(joint)
    assert not match.follow(joint, "wait", True, False)
    assert match.history == []
    assert events == ["these moves cannot be"]
    assert match.follow(REST, "wait", True, False)


def test_a_report_that_is_legal_in_the_state_before_puts_the_match_right() -> None:
    match, events = begun(("go", "rest"), ("go", "jump"), ("go", "rest"))
    corrected = ("wait", "jump")
    assert not match.follow(corrected, "go", True, False), "not here, nor one turn before"
    match, events = begun(("go", "rest"), ("go", "jump"))
    assert match.can_be(("wait", "jump"))
    assert match.follow(("wait", "jump"), "go", True, False)
    assert match.history == [("go", "rest"), ("wait", "jump")]
    assert events == ["the match went another way"]
    assert not match.follow(("WAIT", "jump"), "go", True, False), "it is sent again"


def test_a_wrong_correction_is_taken_back_where_only_that_explains_the_report() -> None:
    ways = """
    (role me) (init (at 0)) (<= (legal me (go ?n ?k)) (true (at ?n)) (kind ?k)) (kind 1) (kind 2)
    (<= (next (at (f ?n ?k))) (does me (go ?n ?k))) (<= terminal (true (at end))) (goal me 0)
    """
    match = MatchState(ProverMachine(parse_rules(ways)), 0, lambda level, event, **fields: None)
    assert match.follow(None, None, True, False)
    assert match.follow(("(go 0 1)",), None, True, False)
    assert match.follow(("(go 0 2)",), None, True, False)
    assert match.history == [("(go 0 2)",)]
    again, _ = begun()
    again = MatchState(match.machine, 0, lambda level, event, **fields: None)
    again.replay([("(go 0 1)",), ("(go 0 2)",)])
    for one in (match, again):
        assert one.follow(("(go (f 0 1) 2)",), None, True, False)
        assert one.history == [("(go 0 1)",), ("(go (f 0 1) 2)",)]


def test_the_end_gives_the_goals() -> None:
    match, _ = begun(REST, REST, REST)
    assert match.finish(REST) == [100, 0]
    assert begun()[0].finish(None) is None


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_answers_stay_legal_whatever_is_sent_besides(kind: str) -> None:
    rules = Game.load("tictactoe").rules
    machine = ProverMachine(rules)
    asked = 0
    for seed in range(8):
        rng = random.Random(seed)
        role = seed % 2
        match = MatchState(machine, role, lambda level, event, **fields: None)
        told: str | None = None

        def answer(moves: tuple[str, ...] | None, match: MatchState = match) -> str:
            nonlocal told
            new = match.follow(moves, told, True, False)
            if new or told is None or not match.is_legal(told):
                told = match.text(match.role, match.options()[0])
            return told

        state = machine.initial_state()
        played: list[tuple[State, list[str]]] = []
        while not state.terminal:
            reply = answer(tuple(played[-1][1]) if played else None)
            joint = [rng.choice(machine.legal_moves(state, each)) for each in (0, 1)]
            joint[role] = machine.move_id(role, parse_term(reply))
            assert joint[role] in machine.legal_moves(state, role)
            if rng.random() < 0.4:
                play = parse_message(f"( PLAY m {junk(kind, machine, played, state, rng)} )")
                assert isinstance(play, Play)
                answer(play.moves)
            asked += 1
            played.append((state, [rules.spell(machine.move(r, m)) for r, m in enumerate(joint)]))
            state = machine.next_state(state, joint)
    assert asked > 40


@examples(50)
@given(
    st.lists(st.lists(st.sampled_from(["go", "rest", "(", "", "?x", "()", "jump", "9" * 5000]), max_size=4))
)
def test_whatever_is_reported_there_is_a_state_with_a_legal_move(turns: list[list[str]]) -> None:
    match, _ = begun()
    for joint in turns:
        match.follow(joint, "go", True, False)
        assert match.options()
    assert len(match.history) <= 4
