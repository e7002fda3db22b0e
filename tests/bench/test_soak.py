"""What servers are tried with: soaks, hostile visitors; and the lists of tools and of the Dockerfile."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.container import assignments, stages
from bench.hostile_web import crowds, files, mutated
from bench.hostile_web.attack import Attack
from bench.soak import run as soak
from bench.soak.game_manager import Manager, Signals, SoakPlan
from bench.soak.heartbeat import Heartbeat
from tests.places import ROOT


def soaked(words: str, *more: str) -> dict[str, Any]:
    """What a soak with these options has seen."""
    return soak.Soak(soak.parser().parse_args([*words.split(), *more])).run()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and signals of Linux")
def test_a_short_soak_finds_nothing_wrong_and_leaves_nothing() -> None:
    words = (
        "--turns 8 --matches 2 --startclock 60 --playclock 60 --per-match 3 --burners 0 --kill-every 0"
        " --player legal --machine prover --look 0.1 --quiet 0.5"
    )
    seen = soaked(words, "--games", "tictactoe rockpaperscissors")
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
    seen = soaked(words, "--games", game, "--cores", core)
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
    seen = soaked(words, "--games", "tictactoe")
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


# --- ggp web takes malformed rules, mutated requests, and nothing of other sites' pages
QUICK = [one for one in crowds.ATTACKS if one.name in ("half-closed requests", "no HTTP")]


@pytest.mark.slow
def test_what_is_malformed_is_told_and_the_server_goes_on() -> None:
    assert files.malformed_texts(60, 2).faults == []


@pytest.mark.slow
def test_mutated_requests_to_all_routes_are_answered_without_a_500() -> None:
    assert mutated.mutate(250, 5).faults == []


@pytest.mark.parametrize("attack", QUICK, ids=lambda attack: attack.name)
def test_what_is_no_http_or_half_closed_is_answered(attack: Attack) -> None:
    assert attack.run(1, 1).faults == []


def test_a_neighbour_learns_no_id_and_ends_no_match() -> None:
    assert crowds.foreign_messages(1, 1).faults == []


# --- Every instruction of the Dockerfile is read, and one that would not be run is refused
DOCKERFILE = ROOT / "Dockerfile"


def test_stages_commands_and_users_of_ours_are_found() -> None:
    first, last = stages(DOCKERFILE)
    assert (first.name, last.name) == ("wheel", "")
    assert last.command("ENTRYPOINT") == ["ggp"]
    assert last.command("CMD")[0] == "serve"
    assert last.command("HEALTHCHECK")[0] == "python"
    assert int(last.last("USER")) > 0
    installs = [text for name, text in last.steps if name == "RUN"]
    assert all("\n" not in text for text in installs)
    assert any("--require-hashes" in text and "--no-deps" in text for text in installs), "lines are joined"
    assert [name for name, text in last.steps if "--from=wheel" in text] == ["COPY"]


def test_variables_with_quotes_are_read() -> None:
    assert assignments('A=1 B="two words"') == {"A": "1", "B": "two words"}


def test_an_instruction_that_is_not_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM base\nADD http://example.org /x\n")
    with pytest.raises(ValueError, match="ADD is not known"):
        stages(tmp_path / "Dockerfile")


# --- The list of tools names each of them, by a command line that works
BENCH = ROOT / "bench"


def scripts() -> set[str]:
    """The modules that are run, by name; a folder's ``__main__`` by the folder's."""
    names = set()
    for path in BENCH.rglob("*.py"):
        if path.name == "__main__.py" or 'if __name__ == "__main__"' in path.read_text():
            module = path.parent if path.name == "__main__.py" else path.with_suffix("")
            names.add(".".join(module.relative_to(BENCH.parent).parts))
    return names


def test_every_script_is_listed_and_every_listed_one_is_there() -> None:
    text = (BENCH / "README.md").read_text()
    listed = set(re.findall(r"python -m (bench[\w.]*)", text))
    assert listed == scripts()
    assert all(importlib.util.find_spec(name) for name in listed)
    assert len(text.splitlines()) <= 40
