"""The kaskade: machines come as they are built, each stage on the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.kaskade import BEGUN, READY, Kaskade
from players.kaskade.stages import STAGES
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.storage.network_bytes import keep, to_bytes
from tests.players.kaskade.kaskades import GAME, LONG, Log
from tests.players.kaskade.odd_stages import stage
from tests.waiting import until

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
