"""All who follow a match come to the same state on any machine; while they wait they look ahead."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.soak.game_manager import KINDS, junk
from gdl.grounding.pipeline import ground
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from ggp.game import Game
from ggp.match_process import match_follower
from ggp.match_process.match_follower import Follower, Foresight, Practice
from ggp.match_process.match_state import MatchState
from ggp.protocol.messages import NO_MOVE, Play, parse_message
from propnet.build import build
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.ggp.server.live import MARKS
from tests.places import GAME_FILES

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


# --- All who follow a match come to the same state, whatever the manager reports
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


# --- A follower looks a turn ahead while it waits: it knows answers to joint moves that are not reported yet
def messages(game: str, role: str) -> tuple[Follower, list[tuple[str, dict[str, Any]]]]:
    sent: list[tuple[str, dict[str, Any]]] = []
    start = {"role": role, "seed": 1, "history": []}
    rules = parse_rules((GAME_FILES[game]).read_text())
    return Follower(rules, start, lambda kind, **fields: sent.append((kind, fields))), sent


def play(
    number: int, moves: list[str] | None, answered: str | None, advanced: bool = False
) -> dict[str, Any]:
    told = {"delivered": True, "late": False, "advanced": advanced}
    return {"id": number, "moves": moves, "answered": answered, **told}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["breakthrough", "tictactoe", "rockpaperscissors", "sokoban", "chess"])
def test_replies_are_legal_after_their_joint_moves(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a follower says before a PLAY is an answer to it, whatever the others did."""
    monkeypatch.setattr(match_follower, "AHEAD_SECONDS", 60.0)
    rules = parse_rules((GAME_FILES[game]).read_text())
    machine = ProverMachine(rules)
    draw = random.Random(3)
    follower, sent = messages(game, str(machine.roles[-1]))
    role = follower.match.role
    state, joint, answered, known = machine.initial_state(), None, None, 0
    for number in range(1, 13):
        if state.terminal:
            break
        sent.clear()
        follower.play(play(number, joint, answered))
        while follower.look_ahead():
            pass
        replies = [r for kind, fields in sent if kind == "foreseen" for r in fields["replies"]]
        assert all(fields["id"] == number for kind, fields in sent if kind == "foreseen")
        for reported, reply in replies:
            assert reply in state.play(*reported).legal[str(machine.roles[role])]
        legal = list(state.legal.values())
        count = math.prod(map(len, legal))
        ends = (
            sum(state.play(*each).terminal for each in product(*legal))
            if count <= match_follower.AHEAD
            else 0
        )
        assert len(replies) == count - ends or count > match_follower.AHEAD
        assert len(replies) <= match_follower.AHEAD
        known += len(replies)
        joint = [draw.choice(moves) for moves in legal]
        answered = joint[role]
        state = state.play(*joint)
    assert known > 5


def test_what_is_legal_in_the_first_turn_is_told_at_the_start_of_a_match() -> None:
    follower, sent = messages("connectfour", "red")
    ((kind, fields),) = sent
    assert (kind, fields["id"]) == ("foreseen", 0)
    ((reported, reply),) = fields["replies"]
    assert reported is None
    assert follower.match.is_legal(reply)


def test_what_is_known_is_told_before_the_next_turn_is_begun() -> None:
    follower, sent = messages("tictactoe", "x")
    follower.play(play(1, None, None))
    follower.look_ahead()
    follower.look_ahead()
    sent.clear()
    follower.play(play(2, ["(mark a 1)", "noop"], "(mark a 1)"))
    assert [kind for kind, _ in sent] == ["foreseen", "options"]
    assert sent[0][1]["id"] == 1


def test_where_information_is_hidden_a_move_is_guessed_that_is_legal_after_most() -> None:
    """Own shots are known as they are made; a guess is a square at which the role has not shot before."""
    machine = ProverMachine(parse_rules((GAME_FILES["battleships"]).read_text()))
    follower, sent = messages("battleships", "blue")
    draw = random.Random(2)
    state, told, own = machine.initial_state(), Play("m", (), 0, None).told, None
    right = guesses = 0
    for number in range(1, 11):
        sent.clear()
        follower.play(play(number, told, own))  # type: ignore[arg-type]
        while follower.look_ahead():
            pass
        joint = [draw.choice(machine.legal_moves(state, role)) for role in range(2)]
        own = machine.rules.spell(machine.move(0, joint[0]))
        percepts = map(machine.rules.spell, sorted(machine.percepts(state, joint)[0]))
        told = Play("m", tuple(percepts), number, own).told
        state = machine.next_state(state, joint)
        legal = [machine.rules.spell(machine.move(0, move)) for move in machine.legal_moves(state, 0)]
        for fields in (fields for kind, fields in sent if kind == "foreseen"):
            assert (fields["id"], fields["replies"]) == (number, [])
            guesses, right = guesses + 1, right + (fields["guess"] in legal)
    assert guesses == 10 and right >= 8


def test_nothing_is_foreseen_at_the_end() -> None:
    machine = ProverMachine(parse_rules((GAME_FILES["tictactoe"]).read_text()))
    ahead = Foresight(machine, 0, random.Random(1))
    state = machine.initial_state()
    draw = random.Random(1)
    while not state.terminal:
        state = machine.next_state(state, [draw.choice(machine.legal_moves(state, r)) for r in range(2)])
    ahead.turn(9, state)
    while ahead.step():
        pass
    assert ahead.seen() is None


# --- A standby plays at random while it waits, before a match and beside turns, until that brings nothing
class Clock:
    """CPU time that passes only when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(match_follower.time, "process_time", lambda: self.now)


def test_the_pace_is_told_early_and_again_for_a_whole_game_and_the_end_after_it() -> None:
    follower, sent = messages("connectfour", "red")
    while follower.look_ahead():
        pass
    kinds = [kind for kind, _ in sent if kind != "foreseen"]
    assert kinds == ["pace"] * (len(kinds) - 1) + ["practised"]
    paces = [fields for kind, fields in sent if kind == "pace"]
    assert [fields["whole"] for fields in paces[:2]] == [False, True]
    assert all(fields["cpu"] >= fields["lasting"] > 0 for fields in paces)
    assert sorted(paces, key=lambda fields: fields["cpu"]) == paces


@pytest.mark.parametrize("turns", [3, 40, 200])
def test_a_dear_last_turn_counts_however_late_it_comes(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    games = Practice(ProverMachine(parse_rules((GAME_FILES["connectfour"]).read_text())), 0, 1)
    made = 0

    def step() -> bool:
        nonlocal made
        made += 1
        clock.now += 0.4 if made % turns == 0 else 0.002
        return made % turns == 0

    monkeypatch.setattr(games._games, "step", step)
    while not games.whole:
        games.step()
    assert made == turns
    assert games.pace == games.lasting == pytest.approx(0.4)


def test_time_to_write_code_counts_at_first_and_does_not_last(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    machine = ProverMachine(parse_rules((GAME_FILES["connectfour"]).read_text()))
    games, relations = Practice(machine, 0, 1), machine._evaluator.relations

    def step() -> bool:
        clock.now += 0.3
        relations.seconds += 0.2
        return True

    monkeypatch.setattr(games._games, "step", step)
    games.step()
    assert (games.pace, games.lasting) == (pytest.approx(0.3), pytest.approx(0.1))


def test_where_information_is_hidden_a_whole_game_is_measured_with_what_a_role_believes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In mastermind the first four turns are cheap; in the fifth all 1,296 codes are looked at."""
    clock = Clock(monkeypatch)
    follower, sent = messages("mastermind", "breaker")
    machine = follower.match.machine
    plain = machine.perceives

    def perceives(*question: Any) -> bool:
        clock.now += 0.0001
        return plain(*question)

    monkeypatch.setattr(machine, "perceives", perceives)
    while follower.look_ahead():
        pass
    paces = [fields for kind, fields in sent if kind == "pace"]
    assert all(fields["whole"] for fields in paces) and paces[0]["lasting"] > 0.1295


def test_it_leaves_the_match_where_it_is() -> None:
    follower, _ = messages("connectfour", "red")
    before = follower.match.state
    steps = 0
    while follower.look_ahead():
        steps += 1
    assert steps > 5
    assert follower.match.state == before


def test_what_is_left_when_the_match_begins_is_played_beside_its_turns() -> None:
    """Under load a standby has no time before the first PLAY; code for turns to come is made all the same."""
    follower, sent = messages("chess", "white")
    follower.play(play(1, None, None))
    while follower.look_ahead():
        pass
    kinds = [kind for kind, _ in sent]
    assert kinds[-2:] == ["pace", "practised"] and dict(sent)["pace"]["whole"]
    assert kinds.index("options") < kinds.index("foreseen", 1) < kinds.index("pace")


def test_it_ends_when_no_more_code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_follower, "PRACTICE_SECONDS", 1e9)
    monkeypatch.setattr(match_follower, "QUIET_SECONDS", 0.05)
    machine = ProverMachine(parse_rules((GAME_FILES["connectfour"]).read_text()))
    games = Practice(machine, 0, 1)
    before = machine.functions_written
    while not games.over:
        games.step()
    assert machine.functions_written > before


def test_where_code_is_written_all_the_time_it_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_follower, "PRACTICE_SECONDS", 0.05)
    monkeypatch.setattr(match_follower, "QUIET_SECONDS", 1e9)
    games = Practice(ProverMachine(parse_rules((GAME_FILES["connectfour"]).read_text())), 0, 1)
    steps = 0
    while not games.over:
        games.step()
        steps += 1
    assert steps > 5


# --- A follower that goes over to the network names the same legal moves as the prover, or goes back to it
SMALL = ("tictactoe", "connectfour", "rockpaperscissors", "biddingtictactoe", "breakthrough", "sokoban")


@cache
def rules_of(game: str) -> Rules:
    return parse_rules((GAME_FILES[game]).read_text(), game)


def network_machine(game: str) -> PropnetMachine:
    return PropnetMachine(rules_of(game), build(ground(rules_of(game))))


def follower_of(game: str) -> tuple[Follower, Sent]:
    sent: Sent = []
    role = str(ProverMachine(rules_of(game)).roles[-1])
    start = {"role": role, "seed": 1, "history": []}
    return Follower(rules_of(game), start, lambda kind, **f: sent.append((kind, f)), ahead=False), sent


def legal(each: Follower) -> set[str]:
    return {each.match.text(each.match.role, move) for move in each.match.options()}


@pytest.mark.parametrize("game", SMALL)
@pytest.mark.parametrize("seed", range(2))
def test_after_the_change_of_machine_the_same_moves_are_legal(game: str, seed: int) -> None:
    """In random games, with reports sent twice and reports that cannot be, whenever it changes."""
    draw = random.Random(seed)
    proving, _ = follower_of(game)
    changing, sent = follower_of(game)
    machine = network_machine(game)
    change = draw.randrange(1, 6)
    joint, answered, number = None, None, 0
    for _ in range(40):
        for _ in range(draw.choice((1, 1, 1, 2))):
            number += 1
            message = play(number, joint, answered)
            proving.play(message)
            changing.play(message)
            if draw.random() < 0.2:
                number += 1
                odd = play(number, ["nonsense"] * len(machine.roles), answered)
                proving.play(odd)
                changing.play(odd)
            if number >= change and changing.match.machine is not machine:
                while changing.look_ahead():
                    pass
                assert changing.move_to(machine)
            elif draw.random() < 0.7:  # the prover goes along behind, not always at once
                while changing.look_ahead():
                    pass
        state = proving.match.state
        assert changing.match.state == state
        assert changing.match.history == proving.match.history
        assert legal(changing) == legal(proving)
        if state.terminal:
            break
        texts = list(state.legal.values())
        joint = [draw.choice(moves) for moves in texts]
        assert changing.match.can_be(joint) and proving.match.can_be(joint)
        answered = joint[proving.match.role]
    assert changing.match.machine is machine
    ahead = [fields["id"] for kind, fields in sent if kind == "foreseen"]
    assert max(ahead) > 1 or game == "rockpaperscissors"
    assert not [fields for kind, fields in sent if kind == "log" and fields["level"] == "error"]


class Wrong(PropnetMachine):
    """A network that makes another move than it was told, from one turn on."""

    wrong = False

    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        if self.wrong:
            joint_move = [self.legal_moves(state, role)[0] for role in range(len(self.roles))]
        return super().next_state(state, joint_move)


def test_where_machine_and_prover_differ_the_match_goes_on_on_the_prover() -> None:
    game = "tictactoe"
    changing, sent = follower_of(game)
    machine = Wrong(rules_of(game), build(ground(rules_of(game))))
    changing.play(play(1, None, None))
    assert changing.move_to(machine)
    changing.play(play(2, ["(mark c 3)", "noop"], "noop"))
    while changing.look_ahead():
        pass
    assert changing.match.machine is machine
    machine.wrong = True
    joint = ["noop", "(mark b 2)"]
    changing.play(play(3, joint, "(mark b 2)"))
    while changing.look_ahead():
        pass
    assert changing.match.machine.level == "prover"
    expected = ProverMachine(rules_of(game)).initial_state().play("(mark c 3)", "noop").play(*joint)
    assert changing.match.state == expected
    assert [fields["event"] for kind, fields in sent if kind == "log"] == ["a machine is wrong"]


class Silent(PropnetMachine):
    """A network in which nobody may do anything."""

    def legal_moves(self, state: State, role: int) -> list[int]:
        return []


def test_a_machine_that_says_otherwise_where_the_match_stands_is_not_used() -> None:
    changing, sent = follower_of("tictactoe")
    changing.play(play(1, None, None))
    machine: Machine = Silent(rules_of("tictactoe"), build(ground(rules_of("tictactoe"))))
    assert not changing.move_to(machine)
    assert changing.match.machine.level == "prover"
    assert [fields["event"] for kind, fields in sent if kind == "log"] == ["not followed on this machine"]
