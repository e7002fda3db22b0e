"""A standby plays at random while it waits, before a match and beside turns, until that brings nothing."""

from __future__ import annotations

from typing import Any

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process import match_follower
from ggp.match_process.match_follower import Practice
from tests.ggp.match_process.test_foresight import messages, play
from tests.places import GAMES


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
    games = Practice(ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text())), 0, 1)
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
    machine = ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text()))
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
    machine = ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text()))
    games = Practice(machine, 0, 1)
    before = machine.functions_written
    while not games.over:
        games.step()
    assert machine.functions_written > before


def test_where_code_is_written_all_the_time_it_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_follower, "PRACTICE_SECONDS", 0.05)
    monkeypatch.setattr(match_follower, "QUIET_SECONDS", 1e9)
    games = Practice(ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text())), 0, 1)
    steps = 0
    while not games.over:
        games.step()
        steps += 1
    assert steps > 5
