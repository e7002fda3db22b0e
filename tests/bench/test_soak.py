"""The soak's game manager and its count of what is wrong are right about a server that is well."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from pathlib import Path

import pytest

from bench.soak import run as soak
from bench.soak.game_manager import Manager, Signals, SoakPlan
from bench.soak.heartbeat import Heartbeat


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and signals of Linux")
def test_a_short_soak_finds_nothing_wrong_and_leaves_nothing() -> None:
    words = (
        "--turns 8 --matches 2 --startclock 60 --playclock 60 --per-match 3 --burners 0 --kill-every 0"
        " --player legal --machine prover --look 0.1 --quiet 0.5"
    )
    options = soak.parser().parse_args([*words.split(), "--games", "tictactoe rockpaperscissors"])
    seen = soak.Soak(options).run()
    assert seen["turns"] == 8
    assert seen["matches"] >= 4
    assert [seen[name] for name in ("illegal", "lost", "tracebacks", "exit_status")] == [0, 0, 0, 0]
    assert seen["left_processes"] == seen["left_shared"] == []
    assert seen["faults"] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs to choose a processor")
@pytest.mark.parametrize("game", ["mastermind", "battleships"])
def test_four_matches_with_dear_turns_on_one_processor_are_answered_legally_or_refused(game: str) -> None:
    words = "--turns 56 --matches 4 --startclock 8 --playclock 1 --burners 0 --kill-every 0 --look 0.5"
    core = str(min(os.sched_getaffinity(0)))
    options = soak.parser().parse_args([*words.split(), "--games", game, "--cores", core])
    seen = soak.Soak(options).run()
    assert seen["turns"] == 56
    assert [seen[name] for name in ("illegal", "lost", "tracebacks", "exit_status")] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("replies", "counted"),
    [
        ({"START": "ready", "PLAY": "(mark 1 1)"}, (0, 1)),
        ({"START": "ready", "PLAY": "busy"}, (1, 0)),
        ({"START": "ready", "PLAY": ""}, (1, 0)),
        ({"START": "busy"}, (0, 0)),
        ({"START": "error: no"}, (1, 0)),
        ({"START": "ready", "PLAY": "(mark a 1)"}, (0, 0)),
    ],
)
def test_lost_matches_and_illegal_moves_are_seen(
    monkeypatch: pytest.MonkeyPatch, replies: dict[str, str], counted: tuple[int, int]
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    signals = Signals(1, multiprocessing.get_context("spawn"))
    manager = Manager(SoakPlan("m", 0, ("tictactoe",), 1, 10, 10, per_match=1), signals, 0)
    monkeypatch.setattr(
        manager, "_sent", lambda message, clock: (replies.get(message.split()[1], "done"), 0.1)
    )
    manager._match("m", "tictactoe", 0)
    assert (manager.counts.lost, manager.counts.illegal) == counted
    assert manager.counts.late == (replies.get("PLAY") == "")
    assert manager.counts.busy == (replies["START"] == "busy")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs /dev/shm")
def test_shared_memory_that_nobody_maps_is_counted_as_left_and_that_of_others_is_not() -> None:
    before = set(soak.shared_files())
    left = Path("/dev/shm") / f"soak-test-{os.getpid()}"
    semaphore = multiprocessing.get_context("spawn").Semaphore()  # one that we map
    left.write_bytes(b"left")
    try:
        assert soak.left_shared_files(before, 1.0) == [left.name]
    finally:
        left.unlink()
        semaphore.release()
    assert soak.left_shared_files(before, 1.0) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and signals of Linux")
def test_processes_are_harmed_in_every_phase_of_a_match_until_there_were_enough() -> None:
    words = (
        "--turns 10000 --matches 1 --startclock 10 --playclock 5 --per-match 2 --burners 0 --kill-every 0.05"
        " --kills 12 --player legal --machine prover --look 0.1 --quiet 0.5"
    )
    options = soak.parser().parse_args([*words.split(), "--games", "tictactoe"])
    seen = soak.Soak(options).run()
    assert 12 <= seen["harmed"] < 40
    during = {name.rpartition(" ")[2] for name in seen["harm"]}
    assert len(during & {"START", "PLAY", "STOP"}) >= 2
    assert seen["tracebacks"] == 0
    assert seen["left_processes"] == seen["left_shared"] == []


def test_a_manager_that_stood_still_knows_for_how_long_and_when() -> None:
    beats = Heartbeat()  # never started: it has not looked since
    time.sleep(0.06)
    assert beats.longest(1.0) >= 0.06
    beats._last = now = time.monotonic()
    beats._gaps += [(now - 5.0, 0.9), (now - 0.5, 0.4)]
    assert beats.longest(1.0) == 0.4
    assert beats.longest(10.0) == 0.9
