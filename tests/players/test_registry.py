"""Players are made by name, with options or without; bad names are refused with what there is.

A player's class is found by module:Class in the current folder; what cannot play is refused.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.montecarlo import MonteCarloPlayer
from players.options import Option
from players.player import Choice, Player
from players.plugins import plugins
from players.processes.limits import cores
from players.registry import (
    NAMES,
    check_name,
    check_public,
    clusters_of,
    find_class,
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


@pytest.mark.parametrize("name", ["greedy", "montecarlo", "uct"])
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
    player = make_player("uct:exploration=0.4,policy=equal", playouts=5, memory=1000)
    assert isinstance(player, UctPlayer)
    assert player._tuning == Tuning(exploration=0.4, policy="equal", memory=1000)
    for text in ("workers=-1", "exploration=much", "policy=best", "number=1"):
        with pytest.raises(GdlError):
            check_name(f"uct:{text}")


def test_a_name_chooses_few_options_and_a_tuning_in_code_the_rest() -> None:
    assert len(UctPlayer.OPTIONS) <= 8
    for text in ("paths=1", "selection=ucb", "learn=0", "knowledge_share=1", "looks=1"):
        with pytest.raises(GdlError, match="has no option"):
            check_name(f"uct:{text}")
    player = UctPlayer(tuning=Tuning(looks=True), policy="equal", memory=1 << 24)
    assert player._tuning == Tuning(looks=True, policy="equal", memory=1 << 24)


def _declared() -> list[tuple[str, Option]]:
    return [(name, option) for name in NAMES for option in plugins("players")[name].load().OPTIONS]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "option"), _declared(), ids=lambda part: getattr(part, "name", part))
@given(
    text=st.text(max_size=20)
    | st.sampled_from(["/dev/zero", "../x", "~", ".", "os:system", "127.0.0.1:6379", "local-ray:9"])
    | st.integers(-(10**12), 10**12).map(str)
    | st.floats().map(str)
)
def test_what_strangers_may_choose_is_a_number_within_bounds_or_one_of_few_words(
    kind: str, option: Option, text: str
) -> None:
    if option.public is None:
        with pytest.raises(GdlError):
            check_public(f"{kind}:{option.name}={text}")
        return
    try:
        value = option.public(text)
    except ValueError:
        return
    most = {
        "workers": cores(),
        "memory": 1 << 29,
        "paths": 512,
        "per_leaf": 512,
        "exploration": 100,
        "nodes": 400_000,
        "rounds": 20_000,
        "depth": 100,
        "worlds": 64,
    }
    assert isinstance(value, int | float) or (isinstance(value, str) and value.isalnum())
    if isinstance(value, int | float) and option.name != "playouts":
        assert 0 <= value <= most.get(option.name, 1)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "http://127.0.0.1:9",
        "tables:otherwise=os:system",
        "tables:dir=.",
        "uct:knowledge=/dev/zero",
        "uct:cluster=127.0.0.1:6379",
        "UCT : Cluster = 127.0.0.1:6379",
        "uct:workers=1,cluster=local-ray:2",
        f"uct:workers={cores() + 1}",
        "uct:memory=99999999999",
        "montecarlo:playouts=-1",
        "uct:nothing=1",
        "",
    ],
)
def test_names_of_strangers_reach_nothing_unless_the_operator_gave_them(name: str) -> None:
    with pytest.raises(GdlError):
        check_public(name)
    with pytest.raises(GdlError):
        check_public(name, ["uct:workers=1", "legal"])


def test_names_that_the_operator_gave_and_public_options_are_taken() -> None:
    check_public("uct:cluster=127.0.0.1:6379", ["legal", "uct:cluster=127.0.0.1:6379"])
    for name in ("uct", "uct:workers=all,policy=equal,knowledge=off", "montecarlo:playouts=9", "tables"):
        check_public(name)


def test_clusters_are_found_in_names() -> None:
    names = ["uct:workers=1,cluster=a:1", "uct", "mine:Mine", "http://b:2", "uct:cluster=local-ray:2"]
    assert clusters_of(names) == ["a:1", "local-ray:2"]


GOOD = (
    "from ggp import Choice, Player\nclass First(Player):\n    def decide(self, state, options, deadline):\n"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])


def _write(name: str, text: str) -> None:
    """A module whose name no other test uses: modules stay imported."""
    Path(f"{name}.py").write_text(text, encoding="utf-8")


def test_a_class_of_the_current_folder_plays_under_its_name() -> None:
    _write("own_first", f"{GOOD}        return Choice(options[-1])\n")
    player = make_player("own_first:First", 7)
    assert (player.name, player.seed) == ("First", 7)
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    player.start(machine, 0, state, 1.0, 0.0)
    assert player.choose(state, 0.0).move == machine.legal_moves(state, 0)[-1]


def test_what_is_installed_goes_before_the_current_folder() -> None:
    _write("string", "raise RuntimeError('the folder shadows the library')")
    with pytest.raises(GdlError, match=r"another module is called string too: rename string\.py"):
        check_name("string:Mine")


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        ("own_syntax", "x = (", r"own_syntax\.py:1: '\(' was never closed"),
        ("own_raises", "import os\nx = 1 / 0", r"own_raises\.py:2: ZeroDivisionError"),
        ("own_misses", "import no_such_module_at_all", r"own_misses\.py:1: ModuleNotFoundError"),
        ("own_other", "class First: pass", r"is no player \(name a subclass"),
        ("own_lacks", "from ggp import Player\nclass First(Player): pass", r"write the method decide"),
        ("own_empty", "", r"has no First"),
        (
            "own_needs",
            f"{GOOD}        return 1\n    def __init__(self, depth): pass",
            r"with a seed alone.*'depth'",
        ),
    ],
)
def test_what_cannot_play_is_refused_with_its_place(module: str, text: str, message: str) -> None:
    _write(module, text)
    with pytest.raises(GdlError, match=message):
        find_class(f"{module}:First")


@pytest.mark.parametrize("name", ["own_nowhere:First", "own nowhere:First", "own_nowhere:", ":First", "a.:F"])
def test_a_name_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(GdlError, match="no player"):
        find_class(name)


def test_an_address_is_told_where_it_belongs() -> None:
    with pytest.raises(GdlError, match="ggp host"):
        find_class("http://127.0.0.1:9147")


@pytest.mark.parametrize(("answer", "message"), [(3, "returns Choice"), (Choice(77_777), "one of options")])
def test_an_answer_that_is_no_legal_move_is_refused(answer: object, message: str) -> None:
    class Wrong(Player):
        def decide(self, state: object, options: list[int], deadline: float) -> Choice:
            return answer  # type: ignore[return-value]

    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    player = Wrong()
    player.start(machine, 0, state, 1.0, 0.0)
    with pytest.raises(GdlError, match=message):
        player.choose(state, 0.0)
