"""A standby plays at random while it waits, before a match and beside turns, until that brings nothing."""

from __future__ import annotations

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process import match_follower
from ggp.match_process.match_follower import Practice
from tests.ggp.match_process.test_foresight import messages, play
from tests.places import GAMES


def test_the_pace_is_told_once_and_the_end_after_it() -> None:
    follower, sent = messages("connectfour", "red")
    while follower.look_ahead():
        pass
    kinds = [kind for kind, _ in sent if kind != "foreseen"]
    assert kinds == ["pace", "practised"]
    assert next(fields["cpu"] for kind, fields in sent if kind == "pace") > 0


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
    assert kinds[-2:] == ["pace", "practised"]
    assert kinds.index("options") < kinds.index("foreseen", 1) < kinds.index("pace")


def test_it_ends_when_no_more_code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_follower, "PRACTICE_SECONDS", 1e9)
    monkeypatch.setattr(match_follower, "QUIET_SECONDS", 0.05)
    machine = ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text()))
    games = Practice(machine, 1)
    before = machine.functions_written
    while not games.over:
        games.step()
    assert machine.functions_written > before


def test_where_code_is_written_all_the_time_it_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_follower, "PRACTICE_SECONDS", 0.05)
    monkeypatch.setattr(match_follower, "QUIET_SECONDS", 1e9)
    games = Practice(ProverMachine(parse_rules((GAMES / "connectfour.kif").read_text())), 1)
    steps = 0
    while not games.over:
        games.step()
        steps += 1
    assert steps > 5
