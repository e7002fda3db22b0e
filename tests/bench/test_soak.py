"""The soak's game manager and its count of what is wrong are right about a server that is well."""

from __future__ import annotations

import sys

import pytest

from bench import soak
from bench.soak_referee import Manager, SoakPlan, SoakTally


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and signals of Linux")
def test_a_short_soak_finds_nothing_wrong_and_leaves_nothing() -> None:
    words = (
        "--turns 8 --matches 2 --startclock 60 --playclock 60 --per-match 3 --burners 0 --kill-every 0"
        " --player legal --machine prover --look 0.1 --quiet 0.5"
    )
    options = soak.parser().parse_args([*words.split(), "--games", "tictactoe rockpaperscissors"])
    found = soak.Soak(options).run()
    assert found["turns"] == 8
    assert found["matches"] >= 4
    assert [found[name] for name in ("illegal", "lost", "tracebacks", "exit_status")] == [0, 0, 0, 0]
    assert found["left_processes"] == found["left_shared"] == []
    assert found["faults"] == []


@pytest.mark.parametrize(
    ("replies", "counted"),
    [
        ({"START": "ready", "PLAY": "(mark 1 1)"}, (0, 1)),
        ({"START": "ready", "PLAY": "busy"}, (1, 0)),
        ({"START": "ready", "PLAY": ""}, (1, 0)),
        ({"START": "busy"}, (1, 0)),
        ({"START": "ready", "PLAY": "(mark a 1)"}, (0, 0)),
    ],
)
def test_lost_matches_and_illegal_moves_are_seen(
    monkeypatch: pytest.MonkeyPatch, replies: dict[str, str], counted: tuple[int, int]
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    manager = Manager(SoakPlan("m", 0, ("tictactoe",), 1, 10, 10, per_match=1))
    monkeypatch.setattr(
        manager, "_ask", lambda message, clock: (replies.get(message.split()[1], "done"), 0.1)
    )
    manager._match("m", "tictactoe", 0)
    assert (manager.tally.lost, manager.tally.illegal) == counted
    assert manager.tally.late == (replies.get("PLAY") == "")


def test_tallies_add_up() -> None:
    one = SoakTally(turns=1, late=1, slowest=0.5, times=[0.5])
    one.add(SoakTally(turns=2, illegal=1, slowest=0.7, times=[0.1, 0.7]))
    assert (one.turns, one.late, one.illegal, one.slowest, len(one.times)) == (3, 1, 1, 0.7, 3)
