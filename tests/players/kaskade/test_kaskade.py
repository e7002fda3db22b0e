"""The kaskade: machines come as they are built; nothing that happens to a builder reaches the player."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.kaskade import BEGUN, FAILED, READY, Kaskade
from players.kaskade.stages import STAGES, Stage
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.storage.network_bytes import keep, to_bytes
from tests.places import ROOT
from tests.players.kaskade.odd_stages import GAME, LONG, Log, needs_proc, stage
from tests.waiting import process_state, runs, until

pytestmark = pytest.mark.usefixtures("own_cache")


def test_the_prover_answers_at_once_and_every_machine_that_comes_says_the_same(
    log: Log, make: Callable[..., Kaskade]
) -> None:
    kaskade = make(*STAGES)
    kaskade.begin(GAME)
    prover = kaskade.prover()
    assert prover.level == "prover"
    assert kaskade.wait("propnet", LONG)
    kaskade.wait(kaskade.levels[-1], LONG)
    machine = kaskade.best()
    assert machine.level == kaskade.levels[-1]
    state = machine.initial_state()
    assert state == prover.initial_state()
    assert state.legal == prover.initial_state().legal
    assert state.play("go") == prover.initial_state().play("go")
    until(lambda: not kaskade.rising)
    assert [(e.level, e.what) for e in log.all()][:2] == [("propnet", BEGUN), ("propnet", READY)]


def test_a_game_that_was_built_before_is_not_built_again(make: Callable[..., Kaskade]) -> None:
    game = Game.load("tictactoe")
    network = build(ground(game.rules))
    assert keep(game.rules, to_bytes(replace(network, stats={"made by this test": 1.0})))
    kaskade = make(STAGES[0])
    kaskade.begin(game.text, game.rules)
    assert kaskade.wait("propnet", LONG)
    machine = kaskade.best()
    assert isinstance(machine, PropnetMachine)
    assert machine.network.stats == {"made by this test": 1.0}


def test_stages_are_built_on_each_other(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "add"), stage("three", "add"))
    kaskade.begin(GAME)
    assert kaskade.wait("three", LONG)
    assert kaskade.best().level == "three"
    events = [(e.level, e.what) for e in log.all() if e.level != "three"]
    assert events == [("one", BEGUN), ("one", READY), ("two", BEGUN), ("two", READY)]


def test_a_stage_may_deliver_several_times(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver_thrice"))
    kaskade.begin(GAME)
    until(lambda: not kaskade.rising)
    assert [e.what for e in log.all()] == [BEGUN, READY, READY, READY]


@pytest.mark.parametrize(("level", "levels"), [("prover", ()), ("one", ("one",)), ("auto", ("one", "two"))])
def test_the_cap_holds(make: Callable[..., Kaskade], level: str, levels: tuple[str, ...]) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "add"), level=level)
    assert kaskade.levels == levels
    assert len(kaskade._builders) == len(levels)
    kaskade.begin(GAME)
    assert kaskade.wait("two", LONG) == ("two" in levels)
    until(lambda: not kaskade.rising)
    assert kaskade.best().level == (levels or ("prover",))[-1]


def test_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(GdlError, match="no machine 'abacus'"):
        Kaskade("abacus")


def test_rules_that_cannot_be_built_leave_the_prover(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(*STAGES)
    kaskade.begin("(<=)", parse_rules(GAME))
    assert not kaskade.wait("propnet", LONG)
    assert kaskade.best().level == "prover"
    assert "has no head" in log.all()[-1].detail


# --- Nothing that happens to a builder of a kaskade reaches the player, and nothing of it is left
@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize(
    ("function", "limits", "reason"),
    [
        ("fail", {}, "ZeroDivisionError: this stage is broken at odd_builders.py"),
        ("kill_itself", {}, "killed by SIGKILL"),
        ("stop_itself", {}, "stopped by a signal"),
        ("sleep", {"seconds": 1.0}, "took more than 1 s"),
        ("sleep_with_a_child", {"seconds": 2.0}, "took more than 2 s"),
        ("work_forever", {"cpu_seconds": 0.1}, "CPU time"),
        ("take_memory", {"memory": 400_000_000}, "more memory than it may"),
        ("take_file_space", {"memory": 120_000_000}, "OSError|memory"),
        ("leave", {}, "ended with status 3, and said 'goodbye'"),
        ("deliver_nothing", {}, "delivered nothing"),
        ("be_unloadable", {}, "ZeroDivisionError: this cannot be loaded"),
        ("talk_nonsense", {}, "sends what it should not"),
        ("talk_json_nonsense", {}, "sends what it should not"),
        ("talk_without_end", {}, "sends what it should not"),
        ("announce_too_much", {}, "sends what it should not"),
        ("no_such_function", {}, "no_such_function"),
    ],
)
def test_a_stage_that_fails_leaves_the_one_before_and_says_why(
    log: Log, make: Callable[..., Kaskade], function: str, limits: dict[str, float], reason: str
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", function, **limits))
    kaskade.begin(GAME)
    until(lambda: not kaskade.rising)
    failure = log.all()[-1]
    assert (failure.level, failure.what) == ("two", FAILED)
    assert re.search(reason, failure.detail), failure.detail
    machine = kaskade.best()
    # Those two may have delivered something before they failed.
    assert machine.level in ("one", "two" if "space" in function or "child" in function else "one")
    assert machine.initial_state().legal == {"me": ["go", "wait"]}


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_builder_that_is_killed_or_stopped_from_outside_is_replaced_once(
    log: Log, gated: tuple[Kaskade, Path], number: signal.Signals
) -> None:
    kaskade, gate = gated
    os.kill(kaskade._builders[1].pid, number)
    until(lambda: len(kaskade._builders) == 3)
    gate.touch()
    assert kaskade.wait("two", LONG)
    assert not [event for event in log.all() if event.what == FAILED]


@needs_proc
@pytest.mark.parametrize(("number", "times"), [(signal.SIGKILL, 2), (signal.SIGSEGV, 1)])
def test_a_builder_that_is_killed_again_or_crashes_is_told(
    log: Log, make: Callable[..., Kaskade], number: signal.Signals, times: int
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "sleep"))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    for place in range(times):
        until(lambda place=place: len(kaskade._builders) == 2 + place)  # type: ignore[misc]
        os.kill(kaskade._builders[1 + place].pid, number)
    assert not kaskade.wait("two", LONG)
    assert f"killed by {number.name}" in log.all()[-1].detail
    assert kaskade.best().level == "one"


def test_a_builder_that_dies_before_the_rules_come_is_replaced(make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver"))
    os.kill(kaskade._builders[0].pid, signal.SIGKILL)
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)


@needs_proc
def test_what_a_builder_has_started_dies_with_it(make: Callable[..., Kaskade]) -> None:
    children: list[int] = []
    hanging = stage("one", "sleep_with_a_child")

    def load(rules: object, product: bytes, before: object) -> Machine:
        children.append(int(product))
        return ProverMachine(parse_rules(GAME))

    kaskade = make(Stage("one", hanging.job, load))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    assert runs(children[0])
    kaskade.close(LONG)
    until(lambda: not runs(children[0]))


@pytest.mark.parametrize("function", ["sleep", "stop_itself", "work_forever"])
def test_closing_does_not_wait_for_a_builder_that_hangs(
    log: Log, make: Callable[..., Kaskade], function: str
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", function), stage("three", "add"))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    kaskade.close(LONG)
    assert not kaskade.rising
    assert kaskade.best().level == "one", "what is ready stays"
    assert FAILED not in {event.what for event in log.all()}


def test_a_kaskade_that_nobody_begins_leaves_nothing(make: Callable[..., Kaskade]) -> None:
    make(stage("one", "deliver"))


@needs_proc
@pytest.mark.parametrize("function", ["sleep", "stop_itself", "work_forever", "when_never"])
def test_builders_end_when_the_player_is_killed(function: str) -> None:
    begin = "" if function == "when_never" else f"k.begin({GAME!r})\n"
    script = (
        "import time\n"
        "from players.kaskade.kaskade import Kaskade\n"
        "from tests.players.kaskade.odd_stages import stage\n"
        f"k = Kaskade(stages=[stage('one', {function!r})])\n{begin}"
        "print(k._builders[0].pid, flush=True)\n"
        "time.sleep(3600)\n"
    )
    player = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )
    assert player.stdout is not None
    with player:
        builder = int(player.stdout.readline())
        if function == "stop_itself":
            until(lambda: process_state(builder) == "T")
        player.kill()
    until(lambda: not runs(builder))
