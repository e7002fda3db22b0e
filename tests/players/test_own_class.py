"""A player's class is found by module:Class in the current folder; what cannot play is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from players.player import Choice, Player
from players.registry import check_name, find_class, make_player

GOOD = (
    "from ggp import Choice, Player\nclass First(Player):\n    def decide(self, state, options, deadline):\n"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])


def _write(name: str, text: str) -> None:
    """A module whose name no other test uses: modules stay imported."""
    Path(f"{name}.py").write_text(text)


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
