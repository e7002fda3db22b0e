"""Games are found by name, by path, as text and as levels of Sokoban."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gdl import check_text, format_text, parse_rules, parse_term, parse_terms
from gdl.errors import GdlError
from gdl.syntax.format import convert
from ggp.cli import build
from ggp.game import Game
from ggp.rule_files import installed_games, locate_level
from players.puzzles.sokoban.levels.gdl import level_of_gdl

MAP = "######\n#@ $.#\n######\n"


def test_a_level_is_a_game(tmp_path: Path) -> None:
    path = tmp_path / "three.xsb"
    path.write_text("\n".join([MAP] * 3))
    for source, name in ((path, "three"), (str(path), "three"), (f"{path}:2", "three-2")):
        game = Game.load(source)
        assert game.name == name
        assert level_of_gdl(game.text) is not None
        state = game.machine("prover").initial_state()
        assert state.legal == {"keeper": ["(move right)"]}
        assert state.play("(move right)").play("(move right)").goals == {"keeper": 100}
    with pytest.raises(GdlError, match="no level 4"):
        Game.load(f"{path}:4")


def test_a_text_file_is_a_level_or_rules(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_text(MAP)
    assert level_of_gdl(Game.load(path).text) is not None
    path.write_text("(role a) (legal a b) (init c) (next c) terminal (goal a 1) ; #@$.#\n")
    assert level_of_gdl(Game.load(path).text) is None
    assert [str(role) for role in Game.load(path).machine("prover").roles] == ["a"]


def test_a_folder_with_parentheses_in_its_name_is_no_rules(tmp_path: Path) -> None:
    folder = tmp_path / "levels (old)"
    folder.mkdir()
    (folder / "a.xsb").write_text(MAP)
    assert level_of_gdl(Game.load(f"{folder}/a.xsb:1").text) is not None


def test_levels_that_come_along_are_found_unless_there_is_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate_level("city.xsb:3").endswith("games/levels/city.xsb:3")
    Path("city.xsb").write_text(MAP, encoding="utf-8")
    assert locate_level("city.xsb:3") == "city.xsb:3"
    level = level_of_gdl(Game.load("city.xsb").text)
    assert level is not None
    assert level.width == 6


def test_a_game_in_prolog_is_sent_to_managers_as_kif(tmp_path: Path) -> None:
    ours = Game.load("tictactoe")
    path = tmp_path / "mine.pl"
    path.write_text(convert(ours.text, "prolog"))
    game = Game.load(path)
    assert (game.name, game.rules.notation) == ("mine", "prolog")
    assert parse_rules(game.kif, notation="kif").rules == ours.rules.rules
    assert Game.load(path.read_text()).rules.rules == ours.rules.rules
    # The ending decides where the look does not.
    for ending, notation in (("pl", "prolog"), ("hrf", "infix")):
        other = tmp_path / f"other.{ending}"
        other.write_text("role(x) :- p(x).\np(x).")
        assert Game.load(other).rules.notation == notation


@pytest.mark.parametrize("source", [None, 7, b"tictactoe", [], ""])
def test_what_is_no_name_of_a_game_is_refused_in_a_sentence(source: Any) -> None:
    with pytest.raises(GdlError, match="a game's name, its file or its rules were expected, not"):
        Game.load(source)


@pytest.mark.parametrize("read", [parse_rules, parse_term, parse_terms, format_text, check_text])
@pytest.mark.parametrize("text", [None, 7, b"(role x)", ["(role x)"]])
def test_what_is_no_text_is_refused_in_a_sentence(read: Any, text: Any) -> None:
    with pytest.raises(GdlError, match="a text was expected, not"):
        read(text)


def test_the_list_of_games_counts_the_roles_that_somebody_plays() -> None:
    listed = CliRunner().invoke(build("games"), ["games"], env={"COLUMNS": "100"}).stdout
    roles = dict(re.findall(r"^ (\w+) +(\d(?:, chance)?)  ", listed, re.MULTILINE))
    assert (roles["tictactoe"], roles["hanoi"], roles["kuhn"]) == ("2", "1", "2, chance")
    assert set(roles) == {path.stem for path in installed_games()}
