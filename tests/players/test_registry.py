"""Players and plugins by name, with options: what is written comes back, bad names are refused."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players import plugins as plugging
from players import registry
from players.kaskade.make_machine import make_machine
from players.montecarlo import MonteCarloPlayer
from players.options import (
    Option,
    PlayerSpec,
    at_least,
    between,
    number_between,
    one_of,
    read_names,
    read_options,
    read_spec,
    switch,
)
from players.player import Choice, Player
from players.plugins import Kind, plugins
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
from tests.places import ROOT


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


# --- Names of players: what is written comes back, faults are told with their column
WORDS = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9_./:@=-]{0,8}", fullmatch=True)
SPECS = st.builds(PlayerSpec, WORDS, st.lists(st.tuples(WORDS, VALUES), max_size=4).map(tuple))
BLANKS = st.text(" \t", max_size=2)


@given(SPECS, st.data())
def test_a_name_comes_back_whatever_the_blanks(spec: PlayerSpec, data: st.DataObject) -> None:
    def blank() -> str:
        return data.draw(BLANKS)

    options = f"{blank()},{blank()}".join(f"{key}{blank()}={blank()}{value}" for key, value in spec.options)
    text = f"{blank()}{spec.kind}{blank()}" + (f":{blank()}{options}{blank()}" if options else "")
    assert read_spec(text) == spec
    assert read_spec(str(spec)) == spec


@given(st.lists(SPECS, max_size=5))
def test_a_list_is_told_apart_where_names_begin(specs: list[PlayerSpec]) -> None:
    # A value that ends in what looks like a name of its own cannot be told from one.
    assert read_names(", ".join(map(str, specs))) == list(map(str, specs))


def test_lists_as_people_write_them() -> None:
    assert read_names("uct:playouts=1,memory=2, random,,greedy") == [
        "uct:playouts=1,memory=2",
        "random",
        "greedy",
    ]
    assert read_names("") == []
    assert read_names("montecarlo:playouts=1,uct:memory=3") == ["montecarlo:playouts=1", "uct:memory=3"]
    assert read_names("old@http://host:9147, my.module:Player,one@legal,") == [
        "old@http://host:9147",
        "my.module:Player",
        "one@legal",
    ]
    assert read_names("my uct@uct:workers=1,exploration=0.4") == ["my uct@uct:workers=1,exploration=0.4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uct:workers", r"'uct:workers', column 12: expected '=', found the end"),
        ("uct:workers=1,x", r"column 16: expected '=', found the end"),
        ("uct:=1", r"column 5: expected .*found '='"),
        (":workers=1", r"column 1: expected a player's name, found ':'"),
        ("uct workers=1", r"column 5: expected .*found 'workers'"),
        ("x=" * 5_001, r"more than 10,000 characters"),
    ],
)
def test_faults_are_told_with_their_column(text: str, message: str) -> None:
    with pytest.raises(GdlError, match=message) as error:
        read_spec(text)
    assert "\n" not in str(error.value)


def test_faults_in_lists_are_told_with_their_column() -> None:
    with pytest.raises(GdlError, match=r"column 15: expected .*, found '='"):
        read_names("random,workers=2")


@given(st.text("uctrandom:=,@/. \t()\n\x00", max_size=20))
def test_any_text_is_read_or_told(text: str) -> None:
    for read in (read_spec, read_names):
        with contextlib.suppress(GdlError):
            read(text)


# --- Options are declared once: from that come their values, their defaults and their help text
OPTIONS = (
    Option("depth", int, 3, "moves to look ahead"),
    Option("style", one_of(("bold", "shy")), None, "how it plays"),
    Option("think", switch, True, "whether it thinks"),
)


def test_texts_become_values() -> None:
    texts = [("depth", "1"), ("style", "shy"), ("think", "No"), ("depth", "5")]
    assert read_options("x", OPTIONS, texts, "x") == {"depth": 5, "style": "shy", "think": False}


@pytest.mark.parametrize(
    ("name", "text"), [("depth", "deep"), ("style", "odd"), ("think", "2"), ("width", "1")]
)
def test_bad_texts_are_refused(name: str, text: str) -> None:
    with pytest.raises(GdlError, match=name):
        read_options("x", OPTIONS, [(name, text)], "x")


def test_constructors_take_options_and_know_the_defaults() -> None:
    assert MonteCarloPlayer(playouts=4).options == {"playouts": 4}
    assert MonteCarloPlayer().options == {"playouts": None}
    with pytest.raises(TypeError, match="depth"):
        MonteCarloPlayer(depth=4)


def test_an_option_is_closed_to_strangers_until_it_is_declared_public() -> None:
    shared = Option("share", at_least(0), 0, "open, within bounds", public=between(0, 10))
    own = Option("own", at_least(0), 0, "the operator's")
    assert read_options("x", (shared, own), [("share", "10")], "x", public=True) == {"share": 10}
    assert read_options("x", (shared, own), [("share", "11"), ("own", "1")], "x") == {"share": 11, "own": 1}
    with pytest.raises(GdlError, match="a whole number from 0 to 10"):
        read_options("x", (shared, own), [("share", "11")], "x", public=True)
    with pytest.raises(GdlError, match="for the operator alone"):
        read_options("x", (shared, own), [("own", "1")], "x", public=True)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "-0.1", "1.1", "", "0x1", "1" * 5000])
def test_numbers_outside_their_bounds_are_no_values(text: str) -> None:
    for reader in (number_between(0.0, 1.0), between(0, 1), at_least(2)):
        with pytest.raises(ValueError, match="number from"):
            reader(text)


# --- Plugins
def test_every_plugin_of_ours_can_be_loaded() -> None:
    for kind in get_args(Kind):
        for plugin in plugins(kind).values():
            assert plugin.load() is not None


def test_solvers_are_called_what_their_entry_points_are_called() -> None:
    assert {name: plugin.load().name for name, plugin in plugins("solvers").items()} == {
        name: name for name in plugins("solvers")
    }


def test_another_package_adds_a_player_and_replaces_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    other = SimpleNamespace(name="patient-players")
    points = [
        EntryPoint("patient", "players.baselines:LegalPlayer", "kaskade.players"),
        EntryPoint("random", "somewhere.evil:Player", "kaskade.players"),
    ]
    for point in points:
        object.__setattr__(point, "dist", other)
    monkeypatch.setattr(plugging, "entry_points", lambda group: points)
    plugins.cache_clear()
    try:
        found = plugins("players")
        assert found["patient"].load().__name__ == "LegalPlayer"
        assert found["random"].module == "players.baselines"
        assert found["random"].ours and not found["patient"].ours
        monkeypatch.setattr(registry, "_PLUGINS", found)
        assert make_player("patient").name == "legal"
        with pytest.raises(GdlError, match="'patient' is not offered here"):
            check_public("patient")
        check_public("patient", ["patient"])
    finally:
        monkeypatch.undo()
        plugins.cache_clear()


def test_without_a_checkout_the_installed_metadata_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plugging, "_of_checkout", lambda group: None)
    ours = SimpleNamespace(name="kaskade-ggp")
    point = EntryPoint("random", "players.baselines:RandomPlayer", "kaskade.players")
    object.__setattr__(point, "dist", ours)
    monkeypatch.setattr(plugging, "entry_points", lambda group: [point])
    plugins.cache_clear()
    try:
        assert list(plugins("players")) == ["random"]
    finally:
        monkeypatch.undo()
        plugins.cache_clear()


@pytest.mark.parametrize(
    ("door", "specialists"),
    [
        ("players.uct.player", ("players.puzzles", "players.belief", "players.strong", "players.openspiel")),
        ("players.solvers", ("players.puzzles", "players.uct")),
        ("players.registry", ("players.uct", "players.puzzles", "players.belief", "players.strong")),
    ],
)
def test_importing_the_core_brings_no_specialist(door: str, specialists: tuple[str, ...]) -> None:
    code = f"import sys, {door}; print([n for n in sys.modules if n.startswith({specialists!r})])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
