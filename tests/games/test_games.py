"""Games in subfolders of ``games/``, move by move beside an oracle of their own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ggp.game import Game
from ggp.rule_files import find_rules_file, installed_game
from ggp.traces import find_traces
from tests.games.oracles.oracle import Oracle, difference
from tests.games.oracles.puzzles import PUZZLES
from tests.games.oracles.several import SEVERAL
from tests.games.rules_of_games import FILES
from tests.places import GAMES, in_turn

ORACLES = {
    "boards": "tests.games.oracles.boards",
}
"""Folder -> the module with its oracles."""
NAMES = [name for name, path in FILES.items() if path.parent.name in ORACLES]
FEW, MANY = 150, 1000
"""Positions of a usual run, and of a slow one."""


def oracle_of(name: str) -> Callable[[], Oracle]:
    """What begins a match of a game by its oracle."""
    module = importlib.import_module(ORACLES[FILES[name].parent.name])
    found: Callable[[], Oracle] = getattr(module, name)
    return found


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_random_matches_agree_with_the_oracle(name: str) -> None:
    found, done = difference(Game.load(name).machine("propnet"), oracle_of(name), FEW, 1)
    assert not found
    assert done >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_random_matches_agree_with_the_oracle(name: str) -> None:
    machine = Game.load(name).machine("propnet")
    assert not difference(machine, oracle_of(name), MANY, 2)[0]
    assert not difference(machine, oracle_of(name), MANY, 3, keen=0.5)[0]


def test_every_game_in_a_subfolder_has_an_oracle_and_is_found_by_its_name() -> None:
    inside = {name for name, path in FILES.items() if path.parent != GAMES}
    assert inside == {*NAMES, *PUZZLES, *SEVERAL}
    for name in NAMES:
        assert callable(oracle_of(name))
        assert find_rules_file(name) == find_rules_file(f"{name.upper()}.KIF") == FILES[name]
        assert installed_game(name) == FILES[name]


def test_the_rules_of_a_trace_are_found_in_subfolders() -> None:
    for games in (None, GAMES):
        (trace,) = find_traces([GAMES / "playthroughs" / "clobber.jsonl"], games)
        assert trace.rules == FILES["clobber"]


def test_a_slip_in_the_rules_is_found(tmp_path: Path) -> None:
    """The comparison is no formality: rules that forbid one move of many differ at once."""
    text = FILES["clobber"].read_text(encoding="utf-8")
    slip = text.replace("(next_column e f)", "(next_column f e)").replace("(next_column f e)\n", "", 1)
    assert slip != text
    path = tmp_path / "clobber.kif"
    path.write_text(slip, encoding="utf-8")
    assert difference(Game.load(path).machine("propnet"), oracle_of("clobber"), FEW, 1)[0]
