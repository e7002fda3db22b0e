"""Players are made by name, with options or without; bad names are refused with what there is."""

from __future__ import annotations

import time

import pytest

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.baselines.montecarlo import MonteCarloPlayer
from players.kaskade.make_machine import make_machine
from players.registry import (
    NAMES,
    check_name,
    is_registered,
    make_player,
    with_option,
)
from players.uct.player import UctPlayer
from players.uct.tuning import Tuning


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_made_by_its_name_in_any_case(name: str) -> None:
    assert make_player(name.upper(), 7).name == name
    assert make_player(name, 7).seed == 7


def test_options_are_read_from_the_name_and_go_before_defaults() -> None:
    for name, playouts in (
        ("montecarlo:playouts=12", 12),
        ("montecarlo: playouts = 12 ,", 12),
        ("montecarlo", 3),
    ):
        player = make_player(name, playouts=3, workers=1)
        assert isinstance(player, MonteCarloPlayer)
        assert player.playouts == playouts


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("deep", r"no player 'deep'.*uct"),
        ("montecarlo:depth=3", r"montecarlo has no option 'depth'.*playouts"),
        ("legal:x=1", r"legal has no option 'x'.*no options"),
        ("montecarlo:playouts=many", r"playouts=many"),
        ("montecarlo:playouts", r"written key=value"),
    ],
)
def test_bad_names_are_refused_with_a_remedy(name: str, message: str) -> None:
    for ask in (make_player, check_name):
        with pytest.raises(GdlError, match=message):
            ask(name)


def test_an_option_is_added_where_it_fits() -> None:
    assert with_option("montecarlo", "playouts", 3) == "montecarlo:playouts=3"
    assert with_option("uct:memory=5", "playouts", 3) == "uct:memory=5,playouts=3"
    assert with_option("montecarlo:playouts=4", "playouts", 3) == "montecarlo:playouts=4"
    assert with_option("legal", "playouts", 3) == "legal"


def test_names_of_the_registry_are_told_from_classes() -> None:
    assert is_registered("uct")
    assert is_registered("uct:playouts=1")
    assert not is_registered("some.module:Player")
    assert not is_registered("uct:Player")


STEPS = """(role a) (role b) (init (now)) (<= (legal ?r ?m) (role ?r) (choice ?m))
(choice good) (choice bad) (<= (next (did ?r ?m)) (does ?r ?m)) (<= terminal (true (did a ?m)))
(<= (goal ?r 80) (true (did ?r good))) (<= (goal ?r 20) (true (did ?r bad)))"""


@pytest.mark.parametrize("name", ["greedy", "montecarlo", "uct", "uct-sequential"])
@pytest.mark.parametrize("level", ["prover", "propnet"])
def test_players_that_look_ahead_take_what_is_one_move_away(name: str, level: str) -> None:
    machine = make_machine(parse_rules(STEPS), level)
    state = machine.initial_state()
    for role in (0, 1):
        player = make_player(name, 3, playouts=600)
        player.start(machine, role, state, 0.0, time.monotonic())
        choice = player.choose(state, time.monotonic() + 60.0)
        assert machine.rules.spell(machine.move(role, choice.move)) == "good"
        assert len(choice.candidates) == 2
        player.stop()


def test_options_of_uct_are_those_of_its_search_and_its_own() -> None:
    player = make_player("uct:exploration=0.4,policy=equal,prove=0", playouts=5, memory=1 << 24)
    assert isinstance(player, UctPlayer)
    assert player._tuning == Tuning(
        exploration=0.4, policy="equal", prove=False, memory=1 << 24, proof_memory=0
    )
    assert player.options["paths"] == 512
    assert make_player("uct-sequential").options["paths"] == 1
    for text in ("paths=0", "per_leaf=-1", "workers=-1", "selection=tuned", "prior=mast", "number=1"):
        with pytest.raises(GdlError):
            check_name(f"uct:{text}")
